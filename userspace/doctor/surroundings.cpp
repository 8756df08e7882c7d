#include "userspace/doctor/surroundings.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "analysis/result.h"
#include "userspace/host/host.h"

namespace iotrace {

namespace {

// Nameless from the start where the file system can (O_TMPFILE), else for all but a moment.
Result<UniqueFd> make_nameless_file() {
  UniqueFd file(::open(".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (!file && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL)) {
    std::string name = "iotrace-doctor-XXXXXX";
    file.reset(::mkostemp(name.data(), O_CLOEXEC));
    if (file) ::unlink(name.c_str());
  }
  if (!file) return errno_error("make a file in the current folder", errno);
  const std::string bytes(Surroundings::kFileBytes, 'i');
  ssize_t written = ::write(file.get(), bytes.data(), bytes.size());
  if (written < 0) return errno_error("write a file in the current folder", errno);
  if (static_cast<std::size_t>(written) < bytes.size())
    return errno_error("write a file in the current folder", ENOSPC);
  return file;
}

}

Surroundings Surroundings::look() {
  Surroundings here;
  here.root = ::geteuid() == 0;
  here.host = host_facts();
  if (UniqueFd folder(::open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)); folder)
    here.folder = file_facts(folder.get(), ".");
  auto file = make_nameless_file();
  if (file)
    here.file = std::move(*file);
  else
    here.why_no_file = file.error().message;
  return here;
}

}
