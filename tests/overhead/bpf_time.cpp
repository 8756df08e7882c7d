// What BPF programs cost while a command runs:
//
//     bpf_time [--empty] -- COMMAND...
//
// Prints one JSON object: {"programs": {NAME: {"runs": N, "ns": T}}, "peak_rss_bytes": N, "status": N}, with
// the kernel's own account (bpf_stats) of the programs named on_* (iotrace's) and none_* (--empty: programs
// that do nothing on the same hooks, attached while the command runs). Names are as the kernel keeps them,
// cut to 15 characters. The command's output goes to standard error. Needs root.

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "empty.skel.h"

namespace {

struct Cost {
  unsigned long long runs = 0, ns = 0;
};
using Costs = std::map<unsigned, std::pair<std::string, Cost>>;  // by program id

[[noreturn]] void give_up(const std::string& attempt) {
  std::fprintf(stderr, "bpf_time: %s: %s\n", attempt.c_str(), std::strerror(errno));
  std::exit(1);
}

bool is_of_interest(const std::string& name) {
  return name.starts_with("on_") || name.starts_with("none_");
}

// The account so far of every program that is loaded now; what was unloaded since keeps its last one.
void look(Costs& costs) {
  unsigned id = 0;
  while (bpf_prog_get_next_id(id, &id) == 0) {
    int fd = bpf_prog_get_fd_by_id(id);
    if (fd < 0) continue;
    bpf_prog_info info{};
    unsigned size = sizeof info;
    if (bpf_obj_get_info_by_fd(fd, &info, &size) == 0 && is_of_interest(info.name))
      costs[id] = {info.name, {info.run_cnt, info.run_time_ns}};
    close(fd);
  }
}

// Of the process alone; the rusage of wait4(2) holds its children's too. 0: it has ended.
unsigned long long peak_resident_bytes(pid_t pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:")) return std::strtoull(line.c_str() + 6, nullptr, 10) * 1024;
  return 0;
}

// One event per processor, as iotrace has it.
void attach_everywhere(bpf_program* program, unsigned long long event) {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.config = event;
  attributes.sample_period = 1;
  for (int cpu = 0; cpu < libbpf_num_possible_cpus(); ++cpu) {
    int fd = static_cast<int>(syscall(SYS_perf_event_open, &attributes, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC));
    if (fd < 0 && errno == ENODEV) continue;  // offline
    if (fd < 0 || !bpf_program__attach_perf_event(program, fd)) give_up("attach an empty program");
  }
}

// They stay until this process ends.
void attach_empty_programs() {
  empty_bpf* none = empty_bpf__open_and_load();
  if (!none || empty_bpf__attach(none) != 0) give_up("attach the empty programs");
  attach_everywhere(none->progs.none_minor, PERF_COUNT_SW_PAGE_FAULTS_MIN);
  attach_everywhere(none->progs.none_major, PERF_COUNT_SW_PAGE_FAULTS_MAJ);
}

}

int main(int argc, char** argv) {
  const bool with_empty = argc > 1 && std::strcmp(argv[1], "--empty") == 0;
  char** command = argv + 1 + with_empty;
  if (!*command || std::strcmp(*command, "--") != 0 || !command[1]) {
    std::fprintf(stderr, "usage: bpf_time [--empty] -- COMMAND...\n");
    return 2;
  }
  Costs others;  // what is loaded already is somebody else's
  look(others);
  if (bpf_enable_stats(BPF_STATS_RUN_TIME) < 0) give_up("switch bpf_stats on");
  if (with_empty) attach_empty_programs();

  const pid_t child = fork();
  if (child < 0) give_up("fork");
  if (child == 0) {
    dup2(2, 1);
    execvp(command[1], command + 1);
    give_up(std::string("run ") + command[1]);
  }
  Costs costs;
  int status = 0;
  unsigned long long peak = 0;
  while (waitpid(child, &status, WNOHANG) == 0) {
    look(costs);
    peak = std::max(peak, peak_resident_bytes(child));
    usleep(20'000);
  }
  look(costs);

  std::map<std::string, Cost> by_name;
  for (const auto& [id, program] : costs) {
    if (others.contains(id)) continue;
    by_name[program.first].runs += program.second.runs;
    by_name[program.first].ns += program.second.ns;
  }
  nlohmann::json out;
  for (const auto& [name, cost] : by_name) out["programs"][name] = {{"runs", cost.runs}, {"ns", cost.ns}};
  out["peak_rss_bytes"] = peak;
  out["status"] = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  std::printf("%s\n", out.dump(2).c_str());
}
