#include "userspace/cli/read_record.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include <fmt/format.h>

#include "analysis/record_json.h"
#include "userspace/unique_fd.h"

namespace iotrace {

namespace {

Result<std::string> read_all(const std::string& path, std::string_view command) {
  const std::string remedy = fmt::format("{} needs a record that run -o has written", command);
  UniqueFd opened;
  int fd = STDIN_FILENO;
  if (path != "-") {
    opened.reset(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!opened) {
      Error error = errno_error("open " + path, errno, remedy);
      error.kind = ErrorKind::kUsage;
      return error;
    }
    fd = opened.get();
  }
  std::string text;
  std::vector<char> chunk(1 << 16);
  for (;;) {
    ssize_t length = read(fd, chunk.data(), chunk.size());
    if (length < 0 && errno == EINTR) continue;
    if (length < 0) return errno_error("read " + path, errno, remedy);
    if (length == 0) return text;
    text.append(chunk.data(), static_cast<std::size_t>(length));
  }
}

}

Result<RunRecord> read_record(const std::string& path, std::string_view command) {
  auto text = read_all(path, command);
  if (!text) return text.error();
  auto record = from_json_text(*text);
  if (!record) return Error{path + ": " + record.error().message, record.error().kind};
  return record;
}

}
