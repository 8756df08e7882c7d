// A clock that is behind when something ends: the kernel's own steps back by a few ns at most, and only while
// it is being adjusted, so that the test sets the start into the future instead.

#include <bpf/bpf.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>

#include "tests/in-place/probes_fixture.h"

using namespace iotrace;
using namespace iotrace::test;

namespace {

constexpr std::uint64_t kHour = 3'600'000'000'000;

std::uint64_t now_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

// This process's map of that name.
UniqueFd map_of_mine(std::string_view name) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fdinfo")) {
    std::ifstream info(entry.path());
    for (std::string word; info >> word;) {
      __u32 id = 0;
      if (word != "map_id:" || !(info >> id)) continue;
      UniqueFd map(bpf_map_get_fd_by_id(id));
      bpf_map_info facts{};
      __u32 size = sizeof(facts);
      if (map && bpf_obj_get_info_by_fd(map.get(), &facts, &size) == 0 && name == facts.name) return map;
    }
  }
  return {};
}

// Moves all moments since `since_ns` that are remembered of the thread an hour ahead. How many those were.
std::ptrdiff_t move_ahead(pid_t tid, std::uint64_t since_ns) {
  UniqueFd threads = map_of_mine("threads");
  REQUIRE(threads);
  bpf_map_info facts{};
  __u32 size = sizeof(facts);
  REQUIRE(bpf_obj_get_info_by_fd(threads.get(), &facts, &size) == 0);
  std::vector<std::uint64_t> state(facts.value_size / sizeof(std::uint64_t));
  const __u32 slot = static_cast<__u32>(tid) % facts.max_entries;
  REQUIRE(bpf_map_lookup_elem(threads.get(), &slot, state.data()) == 0);
  const std::uint64_t until_ns = now_ns();
  const auto moments =
      std::ranges::count_if(state, [&](std::uint64_t at) { return at >= since_ns && at <= until_ns; });
  for (std::uint64_t& at : state)
    if (at >= since_ns && at <= until_ns) at += kHour;
  REQUIRE(bpf_map_update_elem(threads.get(), &slot, state.data(), BPF_ANY) == 0);
  return moments;
}

}

TEST_CASE("a call that ends before it began took no time, not centuries") {
  ColdFile file(16);
  std::array<int, 2> pipe{};
  REQUIRE(::pipe(pipe.data()) == 0);
  auto probes = load_probes(file);
  TargetProcess target(file, *probes, [&](const InTarget&) {
    char byte;
    (void)!::read(pipe[0], &byte, 1);  // sleeps
  });
  const std::uint64_t before_ns = now_ns();
  REQUIRE(probes->attach(target.target()));
  target.begin();
  target.await_open();
  std::ptrdiff_t moved = 0;
  for (int attempt = 0; attempt < 1000 && moved == 0; ++attempt) {
    ::usleep(1000);  // until it sleeps in the call
    moved = move_ahead(target.target().tgid, before_ns);
  }
  CHECK(moved > 0);
  REQUIRE(::write(pipe[1], "x", 1) == 1);
  target.finish();
  auto readings = probes->read();
  probes->detach();
  ::close(pipe[0]);
  ::close(pipe[1]);
  REQUIRE(readings);
  REQUIRE(calls(*readings, "read") == 1);
  for (const SyscallCount& entry : *readings->syscalls)
    if (entry.name == "read" && !entry.error) {
      CHECK(entry.lat_ns->count() == 1);
      CHECK(entry.lat_ns->max() == 0);
    }
  CHECK(*readings->time->read_wait_s == 0);
}
