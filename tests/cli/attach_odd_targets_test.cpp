// attach on what few programs do: odd names, odd mappings, mappings that come and go, an end at the wrong
// moment.

#include <fcntl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <functional>
#include <sstream>
#include <thread>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "tests/cli/program.h"
#include "tests/skip.h"

using namespace iotrace::test;

namespace {

constexpr std::size_t kPage = 4096, kHuge = 2 << 20;

// A process that does `prepare`, then `work` once it is told to, and stays.
class Target {
public:
  Target(const std::function<void()>& prepare, const std::function<void()>& work) {
    REQUIRE((::pipe2(go_, O_CLOEXEC) == 0 && ::pipe2(told_, O_CLOEXEC) == 0));
    pid_ = ::fork();
    REQUIRE(pid_ >= 0);
    if (pid_ == 0) {
      char byte;
      prepare();
      (void)!::write(told_[1], "", 1);
      (void)!::read(go_[0], &byte, 1);
      work();
      (void)!::write(told_[1], "", 1);
      for (;;) ::pause();
    }
    REQUIRE(heard());
  }
  ~Target() {
    end();
    for (int fd : {go_[0], go_[1], told_[0], told_[1]}) ::close(fd);
  }

  pid_t number() const { return pid_; }
  std::string pid() const { return std::to_string(pid_); }
  void tell() { REQUIRE(::write(go_[1], "", 1) == 1); }
  bool heard() {
    char byte;
    return ::read(told_[0], &byte, 1) == 1;
  }
  void end() {
    if (pid_ < 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

private:
  pid_t pid_ = -1;
  int go_[2], told_[2];
};

char* map_file(const std::filesystem::path& path, std::size_t bytes, int how) {
  const int fd = ::open(path.c_str(), how == MAP_SHARED ? O_RDONLY : O_RDWR);
  void* at = ::mmap(nullptr, bytes, PROT_READ, how, fd, 0);
  ::close(fd);
  if (at == MAP_FAILED) ::_exit(1);
  return static_cast<char*>(at);
}

void touch(const volatile char* at) {
  (void)*at;
}

nlohmann::json file_ending(const nlohmann::json& record, const std::string& end) {
  for (const auto& file : record["files"])
    if (std::string(file["path"]).ends_with(end)) return file;
  return nullptr;
}

// As the kernel counts them, of all threads.
std::uint64_t minor_faults(pid_t pid) {
  std::ifstream stat(fmt::format("/proc/{}/stat", pid));
  std::string line;
  std::getline(stat, line);
  std::istringstream fields(line.substr(line.rfind(')') + 2));
  std::string skipped;
  for (int field = 3; field < 10; ++field) fields >> skipped;
  std::uint64_t faults = 0;
  REQUIRE(fields >> faults);
  return faults;
}

// Attaches, lets the target work, and ends the watch.
struct Watched {
  nlohmann::json record;
  Outcome outcome;
};

Watched watch_work(Target& target) {
  TempFolder folder;
  const auto record = folder.path() / "r.json", metrics = folder.path() / "m.prom";
  // The work may cost more than --max-overhead allows by default, which would switch a probe off.
  Program attach({"attach", "-p", target.pid(), "-d", "60", "-i", "0.3", "--top", "1000", "--max-overhead",
                  "100", "-o", record.string(), "--textfile", metrics.string()});
  REQUIRE(wait_until([&] { return std::filesystem::exists(metrics) || attach.ended(); }));
  target.tell();
  REQUIRE(target.heard());
  ::kill(attach.pid(), SIGINT);
  Outcome outcome = attach.wait();
  INFO(outcome.err);
  REQUIRE(outcome.exit_code == 0);
  return {read_json(record), std::move(outcome)};
}

}

TEST_CASE("attach: a name may hold a line's end and bytes that are no UTF-8") {
  need_root();
  TempFolder folder;
  const auto path = folder.file("two\nlines \xff\x1b[31m.dat", 64 * 1024);
  const int fd = ::open(path.c_str(), O_RDONLY);
  ::fsync(fd);
  ::posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
  ::close(fd);
  const char* mapped = nullptr;
  Target target([&] { mapped = map_file(path, kPage, MAP_SHARED); }, [&] { touch(mapped); });
  const auto [record, outcome] = watch_work(target);
  const nlohmann::json file = file_ending(record, "/two\nlines \xef\xbf\xbd\x1b[31m.dat");
  REQUIRE_FALSE(file.is_null());
  CHECK(file["faults"]["read"]["count"] == 1);
  for (const std::string& text : {outcome.out, outcome.err}) {
    CHECK(text.find("two\nlines") == std::string::npos);
    CHECK(text.find("\x1b[31m") == std::string::npos);
    CHECK(text.find('\xff') == std::string::npos);
  }
  CHECK(outcome.out.find(".dat") != std::string::npos);
}

TEST_CASE(
    "attach: of mappings, those of files are listed: shared memory too, devices, huge pages and vdso not") {
  need_root();
  const std::string shared = fmt::format("/dev/shm/iotrace-test-{}", ::getpid());
  std::ofstream(shared) << std::string(16 * kPage, 'x');
  const int segment = ::shmget(IPC_PRIVATE, 8 * kPage, IPC_CREAT | 0600);
  REQUIRE(segment >= 0);
  struct Gone {
    const std::string& shared;
    int segment;
    ~Gone() {
      ::unlink(shared.c_str());
      ::shmctl(segment, IPC_RMID, nullptr);
    }
  } gone{shared, segment};

  char *in_shm = nullptr, *system_v = nullptr, *zero = nullptr, *huge = nullptr, *memory = nullptr;
  Target target(
      [&] {
        in_shm = map_file(shared, 16 * kPage, MAP_SHARED);
        system_v = static_cast<char*>(::shmat(segment, nullptr, 0));
        zero = map_file("/dev/zero", kHuge, MAP_PRIVATE);
        huge = static_cast<char*>(
            ::mmap(nullptr, 4 * kHuge, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        ::madvise(huge, 4 * kHuge, MADV_HUGEPAGE);
        // Where the machine keeps some of these.
        void* kept =
            ::mmap(nullptr, kHuge, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
        if (kept != MAP_FAILED) memory = static_cast<char*>(kept);
      },
      [&] {
        for (std::size_t page = 0; page < 16; ++page) touch(in_shm + page * kPage);
        for (std::size_t page = 0; page < 8; ++page) system_v[page * kPage] = 1;
        touch(zero);
        for (std::size_t at = 0; at < 4 * kHuge; at += kPage) huge[at] = 1;
        if (memory) memory[0] = 1;
      });
  const auto [record, outcome] = watch_work(target);
  const nlohmann::json in_folder = file_ending(record, shared);
  REQUIRE_FALSE(in_folder.is_null());
  CHECK(in_folder["mapped_bytes"] == 16 * kPage);
  CHECK(in_folder["resident_bytes"] == 16 * kPage);
  const auto v = std::ranges::find_if(
      record["files"], [](const auto& file) { return std::string(file["path"]).starts_with("/SYSV"); });
  REQUIRE(v != record["files"].end());
  CHECK((*v)["mapped_bytes"] == 8 * kPage);
  for (const auto& file : record["files"]) {
    const std::string path = file["path"];
    INFO(path);
    CHECK(path != "/dev/zero");
    CHECK_FALSE(path.starts_with("["));
  }
  // Written page by page: each is a fault.
  CHECK(record["totals"]["faults"]["minor"] >= 8);
  CHECK(record["totals"]["faults"]["major"] == 0);
}

TEST_CASE("attach: mappings that come and go while they are listed do no harm") {
  need_root();
  TempFolder folder;
  const auto stays = folder.file("stays.dat", 16 * kPage), goes = folder.file("goes.dat", 64 * kPage);
  // For some seconds, longer than the few walks that it takes.
  constexpr int kRounds = 20'000;
  Target target([&] { map_file(stays, 16 * kPage, MAP_SHARED); },
                [&] {
                  std::thread others[3];
                  for (std::thread& other : others)
                    other = std::thread([&] {
                      for (int round = 0; round < kRounds; ++round) {
                        char* at = map_file(goes, 64 * kPage, MAP_SHARED);
                        touch(at);
                        ::munmap(at, 64 * kPage);
                      }
                    });
                  for (std::thread& other : others) other.join();
                });
  const std::uint64_t before = minor_faults(target.number());
  const auto [record, outcome] = watch_work(target);
  const nlohmann::json file = file_ending(record, "/stays.dat");
  REQUIRE_FALSE(file.is_null());
  CHECK(file["mapped_bytes"] == 16 * kPage);
  CHECK(record["target"]["processes"][0]["ended"].is_null());
  const nlohmann::json gone = file_ending(record, "/goes.dat");
  REQUIRE_FALSE(gone.is_null());
  // Beside other threads' munmap a touch is not always one fault: the kernel's own count is what holds.
  const auto& all = record["totals"]["faults"];
  CHECK(all["minor"] == minor_faults(target.number()) - before);
  std::uint64_t placed = all["other"]["count"];
  for (const auto& one : record["files"])
    if (!one["faults"].is_null()) placed += one["faults"]["minor"].get<std::uint64_t>();
  CHECK(placed == all["minor"]);
  CHECK(gone["faults"]["minor"] <= 3 * kRounds);
  CHECK(gone["faults"]["minor"] > 3 * kRounds * 99 / 100);
  CHECK(gone["mapped_bytes"] == 0);
}

TEST_CASE("attach: a target that ends while iotrace attaches is reported on, or no longer there") {
  need_root();
  TempFolder folder;
  for (int after_ms : {0, 11, 53, 101, 151, 211, 307}) {
    const auto record = folder.path() / fmt::format("{}.json", after_ms);
    Target target([] {}, [] {});
    Program attach({"attach", "-p", target.pid(), "-d", "60", "-o", record.string()});
    ::usleep(static_cast<useconds_t>(after_ms) * 1000);
    target.end();
    const Outcome outcome = attach.wait();
    INFO(after_ms << " ms: " << outcome.out << outcome.err);
    if (outcome.exit_code == 2) {
      CHECK(outcome.err.find("process") != std::string::npos);
      CHECK(std::ranges::count(outcome.err, '\n') == 1);
      CHECK_FALSE(std::filesystem::exists(record));
    } else {
      CHECK(outcome.exit_code == 0);
      CHECK(read_json(record)["target"]["processes"][0]["ended"] == "exited");
    }
  }
  CHECK(left_behind().empty());
}

TEST_CASE("attach: a textfile's folder that is full is said once, and the watch goes on") {
  need_root();
  TempFolder folder;
  const std::string full = folder.path() / "full";
  std::filesystem::create_directory(full);
  if (::mount("iotrace-test", full.c_str(), "tmpfs", 0, "size=16k") != 0)
    skip("a tmpfs can't be mounted here");
  struct Unmount {
    const std::string& path;
    ~Unmount() { ::umount2(path.c_str(), MNT_DETACH); }
  } unmount{full};
  std::ofstream(full + "/filler") << std::string(16 << 10, 'x');
  Target target([] {}, [] {});
  const Outcome outcome = run_iotrace(
      {"attach", "-p", target.pid(), "-d", "1", "-i", "0.2", "--quiet", "--textfile", full + "/m.prom"});
  INFO(outcome.err);
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.err.find("ENOSPC") != std::string::npos);
  CHECK(std::ranges::count(outcome.err, '\n') == 1);
  CHECK(outcome.out.find("nothing waited") != std::string::npos);
}
