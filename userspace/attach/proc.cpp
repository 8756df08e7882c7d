#include "userspace/attach/proc.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <sstream>

#include <fmt/format.h>

namespace iotrace {

namespace {

namespace fs = std::filesystem;

constexpr unsigned long kKernelThread = 0x00200000;  // PF_KTHREAD, include/linux/sched.h

std::optional<pid_t> number(const std::string& word) {
  pid_t value = 0;
  auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return value;
}

// Where cgroups are mounted: the memory controller's own hierarchy (v1), or the one hierarchy (v2).
std::optional<fs::path> folder_of_cgroup(const std::string& cgroup) {
  std::error_code ignored;
  for (const char* root : {"", "/sys/fs/cgroup", "/sys/fs/cgroup/memory", "/sys/fs/cgroup/unified"}) {
    const fs::path folder = fs::path(root) / (*root ? fs::path(cgroup).relative_path() : fs::path(cgroup));
    if (fs::exists(folder / "cgroup.procs", ignored)) return folder;
  }
  return std::nullopt;
}

void add_processes(const fs::path& folder, std::vector<pid_t>& pids) {
  std::ifstream file(folder / "cgroup.procs");
  std::copy(std::istream_iterator<pid_t>(file), {}, std::back_inserter(pids));
}

}

std::optional<ProcStat> parse_proc_stat(const std::string& line) {
  const auto open = line.find('('), close = line.rfind(')');
  if (open == std::string::npos || close == std::string::npos || close < open) return std::nullopt;
  ProcStat stat;
  stat.name = line.substr(open + 1, close - open - 1);
  std::istringstream rest(line.substr(close + 1));
  // man proc(5): state is field 3, flags are field 9, arg_start is field 48
  rest >> stat.state;
  std::string skipped;
  for (int field = 4; field < 9; ++field) rest >> skipped;
  unsigned long flags = 0;
  rest >> flags;
  if (!rest) return std::nullopt;
  for (int field = 10; field < 48; ++field) rest >> skipped;
  rest >> stat.arguments_at;
  if (!rest) stat.arguments_at = 0;
  stat.kernel_thread = flags & kKernelThread;
  return stat;
}

std::optional<ProcStat> read_proc_stat(pid_t pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid), std::ios::binary);
  std::string text(std::istreambuf_iterator<char>(file), {});
  return parse_proc_stat(text);
}

std::optional<pid_t> process_of_thread(pid_t tid) {
  std::ifstream file(fmt::format("/proc/{}/status", tid));
  for (std::string key; file >> key; file.ignore(std::numeric_limits<std::streamsize>::max(), '\n'))
    if (key == "Tgid:")
      if (pid_t process = 0; file >> process) return process;
  return std::nullopt;
}

std::string program_of(pid_t pid) {
  std::error_code error;
  return fs::read_symlink(fmt::format("/proc/{}/exe", pid), error).string();
}

std::vector<pid_t> all_processes() {
  std::vector<pid_t> pids;
  std::error_code error;
  for (fs::directory_iterator entry("/proc", error), end; !error && entry != end; entry.increment(error))
    if (auto pid = number(entry->path().filename().string())) pids.push_back(*pid);
  std::ranges::sort(pids);
  return pids;
}

std::optional<std::vector<pid_t>> processes_of_cgroup(const std::string& cgroup) {
  const auto folder = folder_of_cgroup(cgroup);
  if (!folder) return std::nullopt;
  std::vector<pid_t> pids;
  add_processes(*folder, pids);
  std::error_code error;
  for (fs::recursive_directory_iterator entry(*folder, error), end; !error && entry != end;
       entry.increment(error))
    if (entry->is_directory(error)) add_processes(entry->path(), pids);
  std::ranges::sort(pids);
  pids.erase(std::ranges::unique(pids).begin(), pids.end());
  return pids;
}

}
