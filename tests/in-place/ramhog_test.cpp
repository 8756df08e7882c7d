// Memory that is really pinned, and really given back, whatever ends its owner.

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <sstream>
#include <thread>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "tests/skip.h"
#include "userspace/controller/guardian.h"
#include "userspace/host/text_file.h"
#include "userspace/memory/host_share.h"
#include "userspace/memory/ramhog.h"

using namespace iotrace;

namespace {

constexpr std::uint64_t kMiB = 1 << 20;
constexpr std::uint64_t kPinned = 64 * kMiB;

// What the host keeps in any case; skips where that and a little more is not there.
std::uint64_t left_to_host() {
  if (::geteuid() != 0) test::skip("needs root to lock memory");
  auto host = host_memory();
  REQUIRE(host);
  const std::uint64_t kept = kept_for_host(host->total_bytes);
  if (host->available_bytes < kept + 4 * kPinned) test::skip("too little memory is available");
  return kept;
}

// "VmLck:     65536 kB" of a process; nullopt: it is gone.
std::optional<std::uint64_t> locked_bytes(pid_t pid) {
  auto status = read_text(fmt::format("/proc/{}/status", pid));
  if (!status) return std::nullopt;
  std::istringstream words(*status);
  std::string word;
  for (std::uint64_t kib = 0; words >> word;)
    if (word == "VmLck:" && words >> kib) return kib << 10;
  return std::nullopt;
}

bool eventually(const std::function<bool()>& holds) {
  for (int attempt = 0; attempt < 3000 && !holds(); ++attempt)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return holds();
}

// Holds 64 MiB under a guardian's eyes until it is killed; says who holds them.
void own_memory(int line, std::uint64_t left) {
  auto guardian = Guardian::start();
  if (!guardian) ::_exit(1);
  auto hog = Ramhog::pin(kPinned, left, [&](pid_t pid) { guardian->guard_ramhog(pid); });
  if (!hog || hog->pinned_bytes() != kPinned) ::_exit(1);
  const pid_t seen[] = {hog->pid(), guardian->pid()};
  if (::write(line, seen, sizeof seen) != sizeof seen) ::_exit(1);
  for (;;) ::pause();
}

}

TEST_CASE("ramhog: memory is locked in a process of its own, and free again when the object goes") {
  const std::uint64_t left = left_to_host();
  pid_t pid = -1, announced = -1;
  {
    auto hog = Ramhog::pin(kPinned, left, [&](pid_t who) { announced = who; });
    INFO((hog ? "" : hog.error().message));
    REQUIRE(hog);
    pid = hog->pid();
    CHECK(announced == pid);
    CHECK(hog->pinned_bytes() == kPinned);
    CHECK(locked_bytes(pid) == kPinned);
    CHECK(read_word(fmt::format("/proc/{}/oom_score_adj", pid)) == "1000");
    CHECK(read_word(fmt::format("/proc/{}/comm", pid)) == "iotrace-ramhog");
  }
  CHECK_FALSE(locked_bytes(pid));
}

TEST_CASE("ramhog: stops before what is available falls below what must be left") {
  static_cast<void>(left_to_host());
  auto host = host_memory();
  auto hog = Ramhog::pin(kPinned, host->total_bytes);  // never that much is available
  REQUIRE(hog);
  CHECK(hog->pinned_bytes() == 0);
  CHECK(locked_bytes(hog->pid()) == 0);
}

TEST_CASE("ramhog: kill -9 of its owner gives the memory back") {
  const std::uint64_t left = left_to_host();
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const pid_t owner = ::fork();
  if (owner == 0) own_memory(ends[1], left);
  ::close(ends[1]);
  pid_t seen[2] = {-1, -1};
  REQUIRE(::read(ends[0], seen, sizeof seen) == sizeof seen);
  ::close(ends[0]);
  REQUIRE(locked_bytes(seen[0]) == kPinned);
  REQUIRE(::kill(owner, SIGKILL) == 0);
  REQUIRE(::waitpid(owner, nullptr, 0) == owner);
  for (pid_t pid : seen) CHECK(eventually([&] { return locked_bytes(pid).value_or(0) == 0; }));
}
