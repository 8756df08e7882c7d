#include "userspace/memory/cgroup.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <sstream>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "userspace/host/mounts.h"
#include "userspace/host/text_file.h"
#include "userspace/unique_fd.h"

namespace iotrace {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kNamePrefix = "iotrace-";
constexpr std::string_view kSubtreeControl = "/cgroup.subtree_control";
// A killed process leaves its group when it has given back its memory: seconds for many gigabytes.
constexpr auto kRemovePause = std::chrono::milliseconds(10);
constexpr int kRemoveAttempts = 1000;

// Writes to a control file in one call, as the kernel wants it. Returns 0 or the errno.
int write_control(const std::string& path, std::string_view text) {
  UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!fd) return errno;
  return ::write(fd.get(), text.data(), text.size()) < 0 ? errno : 0;
}

Error refused(const std::string& attempt, int error_number, std::string remedy = "run with sudo") {
  Error error = errno_error(attempt, error_number, std::move(remedy));
  bool privilege = error_number == EPERM || error_number == EACCES || error_number == EROFS;
  error.kind = privilege || error_number == EBUSY ? ErrorKind::kUnsupported : ErrorKind::kFailed;
  return error;
}

bool writable(const std::string& folder) {
  return ::faccessat(AT_FDCWD, folder.c_str(), W_OK, AT_EACCESS) == 0;
}

// The caller's group on v2, relative to the hierarchy's root: the line "0::/user.slice".
std::string own_group(const std::string& prefix) {
  std::istringstream lines(read_text(prefix + "/proc/self/cgroup").value_or(""));
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("0::")) return line.substr(3);
  return "/";
}

std::string v2_parent(const std::string& prefix, const Mount& mount) {
  if (writable(prefix + mount.point)) return mount.point;
  std::string above = mount.point + fs::path(own_group(prefix)).parent_path().string();
  auto enabled = read_text(prefix + above + std::string(kSubtreeControl));
  bool delegated = enabled && has_word(*enabled, "memory") && writable(prefix + above);
  return delegated ? above : mount.point;
}

bool option_listed(std::string_view options, std::string_view option) {
  std::string padded = fmt::format(",{},", options);
  return padded.find(fmt::format(",{},", option)) != std::string::npos;
}

void kill_members(const std::string& path) {
  if (write_control(path + "/cgroup.kill", "1") == 0) return;  // v2, Linux 5.14
  std::istringstream members(read_text(path + "/cgroup.procs").value_or(""));
  // 0 stands for a process outside of our PID namespace; kill(0) would hit ourselves.
  for (pid_t pid = 0; members >> pid;)
    if (pid > 0 && pid != ::getpid()) ::kill(pid, SIGKILL);
}

bool other_groups_beside(const fs::path& folder) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (entry.path().filename().string().starts_with(kNamePrefix)) return true;
  return false;
}

}

Result<CgroupHierarchy> memory_cgroup_hierarchy(const std::string& prefix) {
  auto all = mounts(prefix);
  for (const Mount& mount : all) {
    if (mount.fs != "cgroup2") continue;
    auto controllers = read_text(prefix + mount.point + "/cgroup.controllers");
    if (controllers && has_word(*controllers, "memory"))
      return CgroupHierarchy{CgroupVersion::kV2, v2_parent(prefix, mount)};
  }
  for (const Mount& mount : all)
    if (mount.fs == "cgroup" && option_listed(mount.options, "memory"))
      return CgroupHierarchy{CgroupVersion::kV1, mount.point};
  return unsupported("find the memory cgroups: no cgroup file system with the memory controller is mounted; "
                     "mount -t cgroup2 none /sys/fs/cgroup");
}

MemoryCgroup::MemoryCgroup(CgroupVersion version, std::string path, std::string enabled_in,
                           std::uint64_t limit_bytes)
    : version_(version), path_(std::move(path)), enabled_in_(std::move(enabled_in)),
      limit_bytes_(limit_bytes) {}

MemoryCgroup::MemoryCgroup(MemoryCgroup&& other) noexcept
    : version_(other.version_), path_(std::exchange(other.path_, {})),
      enabled_in_(std::exchange(other.enabled_in_, {})), limit_bytes_(other.limit_bytes_) {}

MemoryCgroup& MemoryCgroup::operator=(MemoryCgroup&& other) noexcept {
  std::swap(version_, other.version_);
  std::swap(path_, other.path_);
  std::swap(enabled_in_, other.enabled_in_);
  std::swap(limit_bytes_, other.limit_bytes_);
  return *this;
}

MemoryCgroup::~MemoryCgroup() {
  if (!path_.empty()) remove_cgroup(path_.c_str(), enabled_in_.c_str());
}

Result<MemoryCgroup> MemoryCgroup::make(std::uint64_t limit_bytes, const CgroupAnnounce& announce) {
  auto hierarchy = memory_cgroup_hierarchy();
  if (!hierarchy) return hierarchy.error();
  bool v2 = hierarchy->version == CgroupVersion::kV2;
  std::string control = hierarchy->parent + std::string(kSubtreeControl);
  bool enable = v2 && !has_word(read_text(control).value_or(""), "memory");
  MemoryCgroup group(hierarchy->version, fmt::format("{}/{}{}", hierarchy->parent, kNamePrefix, ::getpid()),
                     enable ? control : "", limit_bytes);
  if (announce) announce(group.path_, group.enabled_in_);

  if (enable)
    if (int error = write_control(control, "+memory"))
      return refused(fmt::format("enable the memory controller in {}", control), error,
                     error == EBUSY ? "processes live in that group itself; run outside of the container"
                                    : "run with sudo");
  int error = ::mkdir(group.path_.c_str(), 0755) == 0 ? 0 : errno;
  if (error == EEXIST) {
    remove_cgroup(group.path_.c_str(), "");
    error = ::mkdir(group.path_.c_str(), 0755) == 0 ? 0 : errno;
  }
  if (error) return refused(fmt::format("make the memory cgroup {}", group.path_), error);

  std::string limit = group.path_ + (v2 ? "/memory.max" : "/memory.limit_in_bytes");
  if (int refusal = write_control(limit, fmt::format("{}", limit_bytes)))
    return refused(fmt::format("limit memory to {} bytes in {}", limit_bytes, limit), refusal, "");
  return group;
}

Status MemoryCgroup::add(pid_t pid) const {
  if (int error = write_control(path_ + "/cgroup.procs", fmt::format("{}", pid)))
    return refused(fmt::format("move process {} into {}", pid, path_), error);
  return {};
}

Result<std::uint64_t> MemoryCgroup::usage_bytes() const {
  std::string file = path_ + (version_ == CgroupVersion::kV2 ? "/memory.current" : "/memory.usage_in_bytes");
  auto usage = read_number(file);
  if (!usage) return Error{fmt::format("read {}: no number there; was the cgroup removed?", file)};
  return *usage;
}

void remove_cgroup(const char* path, const char* enabled_in) {
  for (int attempt = 0; attempt < kRemoveAttempts; ++attempt) {
    // EBUSY: still populated. Anything else won't change by waiting.
    if (::rmdir(path) == 0 || errno != EBUSY) break;
    kill_members(path);
    std::this_thread::sleep_for(kRemovePause);
  }
  // Turned off, the controller would take the limit from another iotrace that relies on it.
  if (*enabled_in && !other_groups_beside(fs::path(path).parent_path())) write_control(enabled_in, "-memory");
}

}
