// Whom attach watches: found as asked, refused with a reason, noticed when they end.

#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "userspace/attach/file_catalog.h"
#include "userspace/attach/proc.h"
#include "userspace/attach/targets.h"

using namespace iotrace;

namespace {

// A child that waits until it is killed.
class Child {
public:
  Child() : pid_(::fork()) {
    if (pid_ == 0)
      for (;;) ::pause();
  }
  ~Child() { end(); }
  void kill() { ::kill(pid_, SIGKILL); }
  void end() {
    if (pid_ < 0) return;
    kill();
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }
  pid_t pid() const { return pid_; }

private:
  pid_t pid_;
};

std::string refusal(const TargetRequest& request) {
  auto found = Targets::find(request);
  REQUIRE_FALSE(found);
  CHECK(found.error().kind == ErrorKind::kUsage);
  return found.error().message;
}

mapping_record record_of(std::uint64_t mapping, std::uint64_t inode, const std::string& path) {
  mapping_record record{};
  record.mapping = mapping;
  record.inode = inode;
  record.path_bytes = static_cast<__u32>(path.size() + 1);
  path.copy(record.path, PATH_ROOM - 1);
  return record;
}

}

TEST_CASE("a process's name may hold whatever it likes") {
  std::string rest = " S 4 5 6 7 8 4194304";
  for (int field = 10; field < 48; ++field) rest += " 1";
  rest += " 140721 49";
  for (const char* name : {"java", "a b", "x) R 1 2", "(((", "new\nline", ""}) {
    auto stat = parse_proc_stat("17 (" + std::string(name) + ")" + rest);
    REQUIRE(stat);
    CHECK(stat->name == name);
    CHECK(stat->state == 'S');
    CHECK(stat->arguments_at == 140721);
    CHECK_FALSE(stat->kernel_thread);
  }
  CHECK(parse_proc_stat("2 (kthreadd) S 0 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 20 0 1 0 7 0")->kernel_thread);
  CHECK(parse_proc_stat("17 (short) S 4 5 6 7 8 4194304")->arguments_at == 0);
  CHECK_FALSE(parse_proc_stat(""));
  CHECK_FALSE(parse_proc_stat("17 (cut"));
}

TEST_CASE("who can't be watched is refused in words") {
  CHECK(refusal({.pids = {4194000}}).starts_with("no process 4194000"));
  CHECK(refusal({.comm = "no-such-name"}).find("no process to watch") != std::string::npos);
  CHECK(refusal({.cgroup = "/no/such/group"}).starts_with("no cgroup /no/such/group"));
  if (auto second = read_proc_stat(2); second && second->kernel_thread)
    CHECK(refusal({.pids = {2}}).find("kernel thread") != std::string::npos);
  Child child;
  child.kill();
  while (read_proc_stat(child.pid())->state != 'Z') ::usleep(1000);
  CHECK(refusal({.pids = {child.pid()}}).find("ended already") != std::string::npos);
}

TEST_CASE("a thread is no process, and the answer names its process") {
  std::atomic<pid_t> tid{0};
  std::atomic<bool> over{false};
  std::thread thread([&] {
    tid = static_cast<pid_t>(::syscall(SYS_gettid));
    while (!over) ::usleep(1000);
  });
  while (tid == 0) ::usleep(1000);
  CHECK(process_of_thread(tid) == ::getpid());
  CHECK(refusal({.pids = {tid}}) ==
        fmt::format("{} is a thread of process {}: name that", tid.load(), ::getpid()));
  over = true;
  thread.join();
}

TEST_CASE("a name is found by the 15 bytes that the kernel keeps of it") {
  const pid_t child = ::fork();
  if (child == 0) {
    ::prctl(PR_SET_NAME, "iotrace-test-long-name");
    for (;;) ::pause();
  }
  while (read_proc_stat(child)->name != "iotrace-test-lo") ::usleep(1000);
  for (const char* name : {"iotrace-test-long-name", "iotrace-test-lo"}) {
    auto targets = Targets::find({.comm = name});
    REQUIRE(targets);
    CHECK(targets->alive() == std::vector<pid_t>{child});
  }
  CHECK_FALSE(Targets::find({.comm = "iotrace-test-l"}));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

TEST_CASE("the processes of a cgroup are those in it and below it, and they join while it is watched") {
  char name[] = "/tmp/iotrace-test-XXXXXX";
  REQUIRE(::mkdtemp(name));
  // A folder as the kernel shows one: only the file of its processes is read.
  const std::filesystem::path folder = name;
  std::filesystem::create_directory(folder / "below");
  Child first, second, third;
  std::ofstream(folder / "cgroup.procs") << first.pid() << "\n";
  std::ofstream(folder / "below" / "cgroup.procs") << second.pid() << "\n";
  auto targets = Targets::find({.cgroup = folder.string()});
  REQUIRE(targets);
  std::vector<pid_t> expected{first.pid(), second.pid()};
  std::ranges::sort(expected);
  CHECK(targets->alive() == expected);
  std::ofstream(folder / "below" / "cgroup.procs", std::ios::app) << third.pid() << "\n";
  CHECK(targets->look() == std::vector<pid_t>{third.pid()});
  CHECK(targets->look().empty());
  std::filesystem::remove_all(folder);
}

TEST_CASE("the end of a target is noticed, and it is the only one to end") {
  Child first, second;
  auto targets = Targets::find({.pids = {first.pid(), second.pid(), first.pid()}});
  REQUIRE(targets);
  CHECK(targets->alive() == std::vector<pid_t>{first.pid(), second.pid()});
  const auto ended = static_cast<std::uint32_t>(first.pid());
  first.end();
  CHECK(targets->look().empty());
  CHECK(targets->alive() == std::vector<pid_t>{second.pid()});
  CHECK_FALSE(targets->all_ended());
  const auto processes = targets->processes();
  REQUIRE(processes.size() == 2);
  CHECK(processes[0].pid == ended);
  CHECK(processes[0].ended == "exited");
  CHECK_FALSE(processes[1].ended);
  second.end();
  targets->look();
  CHECK(targets->all_ended());
}

TEST_CASE("a target that becomes another program, or the same one anew, is said to") {
  int go[2];
  REQUIRE(::pipe(go) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    char byte;
    (void)!::read(go[0], &byte, 1);
    ::dup2(go[0], STDIN_FILENO);
    ::execl("/bin/sh", "sh", "-c", "read -r line; exec /bin/sh -c 'read -r line'", nullptr);
    ::_exit(1);
  }
  auto targets = Targets::find({.pids = {child}});
  REQUIRE(targets);
  const std::string shell = std::filesystem::canonical("/bin/sh").string();
  for (const std::string& before : {program_of(child), shell}) {
    CHECK(targets->take_notes().empty());
    const auto arguments = read_proc_stat(child)->arguments_at;
    REQUIRE(::write(go[1], "\n", 1) == 1);
    while (read_proc_stat(child)->arguments_at == arguments) ::usleep(1000);
    targets->look();
    targets->look();
    CHECK(targets->take_notes() == std::vector<std::string>{fmt::format(
                                       "{} replaced itself by exec: {} is now {}", child, before, shell)});
  }
  CHECK_FALSE(targets->all_ended());
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  ::close(go[0]);
  ::close(go[1]);
}

TEST_CASE("the catalog of files keeps names, and tells deleted ones") {
  FileCatalog catalog;
  mapping_record gone = record_of(1, 11, "/data/_0.fdt (deleted)");
  gone.unlinked = 1;
  catalog.add(gone);
  catalog.add(record_of(2, 12, "/data/really (deleted)"));
  mapping_record mapped = record_of(3, 13, "/data/x.vec");
  mapped.start = 4096;
  mapped.end = 5 * 4096;
  mapped.flags = 0x10000;
  catalog.add(mapped);
  CHECK(catalog.find(1)->path == "/data/_0.fdt");
  CHECK(catalog.find(1)->deleted);
  CHECK(catalog.find(2)->path == "/data/really (deleted)");
  CHECK_FALSE(catalog.find(2)->deleted);
  CHECK(catalog.find(3)->mapped_bytes == std::map<std::string, std::uint64_t>{{"RANDOM", 4 * 4096}});
  CHECK(catalog.find(4) == nullptr);
  catalog.walk_begins();
  CHECK(catalog.find(3)->mapped_bytes.empty());
  CHECK(catalog.find(3)->path == "/data/x.vec");
  catalog.add(record_of(3, 99, ""));  // the address means another file now
  CHECK(catalog.find(3)->path.empty());
}

TEST_CASE("extensions and advice in force") {
  CHECK(extension_of("/data/_0.fdt") == ".fdt");
  CHECK(extension_of("/var/log/x.log.12") == ".log");
  CHECK(extension_of("/data.d/plain") == "");
  CHECK(extension_of("/data/.hidden") == "");
  CHECK(advice_in_force(0) == "NORMAL");
  CHECK(advice_in_force(0x8000) == "SEQUENTIAL");
  CHECK(advice_in_force(0x10000) == "RANDOM");
  CHECK(device_name(254u << 20 | 1) == "254:1");
}
