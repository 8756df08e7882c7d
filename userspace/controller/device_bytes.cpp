#include "userspace/controller/device_bytes.h"

#include <fcntl.h>

#include <charconv>
#include <string_view>

#include <fmt/format.h>

#include "userspace/unique_fd.h"

namespace iotrace {

Result<std::uint64_t> device_read_bytes(pid_t pid) {
  const std::string path = fmt::format("/proc/{}/io", pid);
  UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return errno_error("open " + path, errno);
  char text[512];
  ssize_t length = read(fd.get(), text, sizeof text);
  if (length < 0) return errno_error("read " + path, errno);

  constexpr std::string_view key = "\nread_bytes: ";
  std::string_view view(text, static_cast<std::size_t>(length));
  std::size_t at = view.find(key);
  std::uint64_t bytes = 0;
  if (at == std::string_view::npos ||
      std::from_chars(view.data() + at + key.size(), view.data() + view.size(), bytes).ec != std::errc{})
    return Error{path + " has no read_bytes: the kernel lacks CONFIG_TASK_IO_ACCOUNTING"};
  return bytes;
}

}
