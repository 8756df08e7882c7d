#include "userspace/controller/fio.h"

#include <csignal>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "userspace/unique_fd.h"

namespace iotrace {

namespace {

// Where fio finds a file that it has no path to.
constexpr int kFileFdOfFio = 100;

struct Engine {
  std::string_view strategy;
  std::string_view name;
  std::vector<std::string> options;
  bool deep = false;  // as many in flight as an op has reads
};

// fio advises RANDOM for a random job unless it is told not to.
const std::array<Engine, 7>& engines() {
  static const std::array<Engine, 7> all{{
      {"pread", "psync", {"--fadvise_hint=0"}},
      {"direct", "psync", {"--direct=1"}},
      {"mmap", "mmap", {"--fadvise_hint=0"}},
      {"mmap-random", "mmap", {"--fadvise_hint=random"}},
      {"mmap-sequential", "mmap", {"--fadvise_hint=sequential"}},
      {"io_uring", "io_uring", {"--fadvise_hint=0", "--registerfiles=1", "--fixedbufs=1"}, true},
      {"io_uring-direct", "io_uring", {"--direct=1", "--registerfiles=1", "--fixedbufs=1"}, true},
  }};
  return all;
}

const Engine* engine_for(const PlannedRow& row) {
  auto found = std::ranges::find(engines(), row.strategy->name, &Engine::strategy);
  return found == engines().end() ? nullptr : &*found;
}

// Standard output of the program, run as the user and within the limit.
Result<std::string> output_of(const std::string& program, const std::vector<std::string>& arguments,
                              const RunContext& run, const MemoryCgroup* cgroup) {
  int ends[2], start[2];
  if (pipe2(ends, O_CLOEXEC) != 0 || pipe2(start, O_CLOEXEC) != 0)
    return errno_error("make a pipe for fio", errno);
  UniqueFd out(ends[0]), into(ends[1]), wait_for(start[0]), go(start[1]);

  const pid_t controller = getpid();
  const pid_t pid = fork();
  if (pid < 0) return errno_error("fork fio", errno);
  if (pid == 0) {
    char word = 0;
    if (read(wait_for.get(), &word, 1) != 1 || !become(run.user)) _exit(126);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != controller) _exit(126);
    dup2(into.get(), 1);
    dup2(into.get(), 2);
    dup2(run.file_fd, kFileFdOfFio);
    std::vector<char*> words{const_cast<char*>(program.c_str())};
    for (const std::string& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
    words.push_back(nullptr);
    execv(program.c_str(), words.data());
    _exit(127);
  }
  into.reset();
  Status joined = cgroup ? cgroup->add(pid) : Status{};
  if (joined && write(go.get(), "g", 1) != 1) joined = errno_error("start fio", errno);
  if (!joined) kill(pid, SIGKILL);

  std::string text;
  std::array<char, 4096> chunk;
  for (ssize_t length; (length = read(out.get(), chunk.data(), chunk.size())) != 0;) {
    if (length < 0 && errno == EINTR) continue;
    if (length < 0) break;
    text.append(chunk.data(), static_cast<std::size_t>(length));
  }
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (!joined) return joined.error();
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    return Error{fmt::format("fio failed: {}", text.substr(0, text.find('\n')))};
  return text;
}

}

std::optional<std::string> find_fio() {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (std::string program = folder + "/fio"; access(program.c_str(), X_OK) == 0) return program;
  return std::nullopt;
}

std::optional<std::vector<std::string>> fio_arguments(const PlannedRow& row, const Options& options,
                                                      std::uint64_t file_size_bytes,
                                                      const std::string& file_path) {
  const Engine* engine = engine_for(row);
  const bool random = row.pattern->name == "random";
  if (!engine || (!random && row.pattern->name != "sequential")) return std::nullopt;
  if (row.cell.pace != "closed" || row.cell.write_pct > 0 || row.cell.compute_ns > 0 ||
      row.cell.mmap_churn > 0)
    return std::nullopt;

  constexpr std::uint64_t kSector = 512;
  const std::uint64_t align = (std::max(row.cell.align_bytes, kSector) + kSector - 1) / kSector * kSector;
  std::vector<std::string> words{
      "--name=iotrace",
      "--filename=" + file_path,
      "--readonly",
      fmt::format("--rw={}", random ? "randread" : "read"),
      fmt::format("--bs={}", row.read_size_bytes),
      fmt::format("--ioengine={}", engine->name),
      fmt::format("--iodepth={}", engine->deep ? row.reads_per_op : 1),
      fmt::format("--numjobs={}", row.threads),
      "--thread",
      "--group_reporting",
      "--invalidate=0",
      "--norandommap",
      "--randrepeat=0",
      fmt::format("--runtime={:.0f}", std::max(1.0, std::ceil(options.duration_s))),
      "--output-format=json"};
  if (random) words.push_back(fmt::format("--blockalign={}", align));
  if (row.cache_case->device_share_limit)
    words.push_back(fmt::format("--io_size={}", file_size_bytes / 2 / row.threads));
  else
    words.push_back("--time_based");
  if (engine->deep) {
    words.push_back(fmt::format("--iodepth_batch_submit={}", row.reads_per_op));
    words.push_back(fmt::format("--iodepth_batch_complete_min={}", row.reads_per_op));
  }
  words.insert(words.end(), engine->options.begin(), engine->options.end());
  return words;
}

Result<FioPeer> run_fio(const std::string& fio, const RunContext& run, const PlannedRow& row,
                        const MemoryCgroup* cgroup) {
  const std::string path =
      run.file_path.empty() ? fmt::format("/proc/self/fd/{}", kFileFdOfFio) : run.file_path;
  auto arguments = fio_arguments(row, run.options, run.file_size_bytes, path);
  if (!arguments) return Error{"fio has no such strategy"};
  if (auto ready = run.cache->prepare(*row.cache_case); !ready && row.cache_case->start != Case::Start::kAsIs)
    return ready.error();
  auto text = output_of(fio, *arguments, run, cgroup);
  if (!text) return text.error();

  // Warnings may stand before the JSON.
  const auto begin = text->find('{');
  const auto json =
      nlohmann::json::parse(begin == std::string::npos ? "" : text->substr(begin), nullptr, false);
  if (json.is_discarded() || json.value("/jobs/0/error"_json_pointer, 0) != 0)
    return Error{fmt::format("fio failed: {}", text->substr(0, text->find('\n')))};
  const double iops = json.value("/jobs/0/read/iops"_json_pointer, 0.0);
  if (iops <= 0) return Error{"fio finished no read"};
  return FioPeer{.engine = std::string(engine_for(row)->name), .iops = iops};
}

}
