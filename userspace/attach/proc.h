#pragma once
// What /proc says of a process, as far as attach asks.

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace iotrace {

struct ProcStat {
  std::string name;  // comm, as it is: any bytes but 0
  char state = '?';  // R, S, D, T, Z, X
  bool kernel_thread = false;
  // Where its arguments lie: an exec puts them elsewhere, also one of the same program. 0: not told.
  unsigned long long arguments_at = 0;
};

// nullopt: there is no such process.
std::optional<ProcStat> read_proc_stat(pid_t pid);
// The line of /proc/PID/stat. Its second field is a name that may hold blanks and brackets.
std::optional<ProcStat> parse_proc_stat(const std::string& line);

// Whose thread it is; of a process, itself. nullopt: there is no such thread.
std::optional<pid_t> process_of_thread(pid_t tid);

// What /proc/PID/exe names; "" where it may not be read.
std::string program_of(pid_t pid);

// Numbers of all processes that /proc shows.
std::vector<pid_t> all_processes();

// Processes of a cgroup and of those below it: `cgroup` is a folder, or a path as /proc/PID/cgroup has it.
// nullopt: there is no such cgroup.
std::optional<std::vector<pid_t>> processes_of_cgroup(const std::string& cgroup);

}
