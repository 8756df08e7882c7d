// What is left to the host, what is pinned for that, and what proves that a limit was reached: the
// arithmetic.

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <catch2/catch.hpp>

#include "userspace/cases/all.h"
#include "userspace/cli/memory_settings.h"
#include "userspace/controller/case_memory.h"
#include "userspace/memory/host_share.h"
#include "userspace/memory/limited_fill.h"

using namespace iotrace;
using Catch::Matchers::Contains;

namespace {

constexpr std::uint64_t kMiB = 1 << 20, kGiB = 1 << 30;

PlannedRow row_of(const Case& cache_case, std::optional<double> step = {}) {
  return {.cache_case = &cache_case, .cell = {.memory_of_file_ratio = step}};
}

// A file of 512 MiB under a limit of 256 MiB, of which so much is charged and resident.
LimitedFill half_of_512(std::optional<std::uint64_t> usage_mib, std::uint64_t resident_mib) {
  LimitedFill fill{.limit_bytes = 256 * kMiB, .residency = {resident_mib * 256, 512 * 256}};
  if (usage_mib) fill.usage_bytes = *usage_mib * kMiB;
  return fill;
}

}

TEST_CASE("a host keeps 1 GiB, or a tenth of its memory if that is more") {
  CHECK(kept_for_host(2 * kGiB) == kGiB);
  CHECK(kept_for_host(10 * kGiB) == kGiB);
  CHECK(kept_for_host(40 * kGiB) == 4 * kGiB);
}

TEST_CASE("so much is pinned that the limit is left, and never more than the host can miss") {
  CHECK(*bytes_to_pin({.total_bytes = 24 * kGiB, .available_bytes = 20 * kGiB}, 8 * kGiB) == 12 * kGiB);
  CHECK(*bytes_to_pin({.total_bytes = 24 * kGiB, .available_bytes = 6 * kGiB}, 8 * kGiB) == 0);
  CHECK(*bytes_to_pin({.total_bytes = 4 * kGiB, .available_bytes = 3 * kGiB}, kGiB) == 2 * kGiB);
  auto too_little = bytes_to_pin({.total_bytes = 4 * kGiB, .available_bytes = 3 * kGiB}, kGiB - 1);
  REQUIRE_FALSE(too_little);
  CHECK_THAT(too_little.error().message, Contains("keeps at least 1 GiB"));
  CHECK_FALSE(bytes_to_pin({.total_bytes = 40 * kGiB, .available_bytes = 30 * kGiB}, 3 * kGiB));
}

TEST_CASE("a cgroup limit leaves the host its part") {
  CHECK(leaves_host_enough("--memory", 3 * kGiB, 4 * kGiB));
  auto refused = leaves_host_enough("--memory 3G", 3 * kGiB + 1, 4 * kGiB);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().kind == ErrorKind::kUsage);
  CHECK_THAT(refused.error().message,
             Contains("--memory 3G would leave less than 1 GiB") && Contains("at most 3 GiB"));
  CHECK_FALSE(leaves_host_enough("--memory", 1, kGiB / 2));
}

TEST_CASE("memory of the host is read from meminfo, and a file without it is an error") {
  std::string folder = "/tmp/iotrace-meminfo-XXXXXX";
  REQUIRE(::mkdtemp(folder.data()));
  std::filesystem::create_directory(folder + "/proc");
  std::ofstream(folder + "/proc/meminfo")
      << "MemTotal:       2048 kB\nMemFree:         7 kB\nMemAvailable:    1024 kB\n";
  auto host = host_memory(folder);
  REQUIRE(host);
  CHECK(host->total_bytes == 2 * kMiB);
  CHECK(host->available_bytes == kMiB);
  std::ofstream(folder + "/proc/meminfo") << "MemTotal:       2048 kB\n";
  CHECK_FALSE(host_memory(folder));
  std::filesystem::remove_all(folder);
}

TEST_CASE("after the fill: usage at the limit, and of the file what the limit can hold") {
  CHECK(check_limited_fill("half-cold", half_of_512(255, 254)));
  CHECK(check_limited_fill("half-cold", half_of_512(256, 240)));
  auto says = [](const LimitedFill& fill) { return check_limited_fill("half-cold", fill).error().message; };
  // The trap: pages that another cgroup had cached are resident, and this one pays for few.
  CHECK_THAT(says(half_of_512(15, 512)),
             Contains("100.00 % of the file") && Contains("charged to another cgroup"));
  CHECK_THAT(says(half_of_512(256, 258)), Contains("charged to another cgroup"));
  CHECK_THAT(says(half_of_512(240, 239)), Contains("holds 240 MiB of its limit of 256 MiB"));
  CHECK_THAT(says(half_of_512(256, 200)), Contains("39.06 % of the file") && Contains("--threads"));
  // Pinned memory says nothing of usage, and is no exact limit.
  CHECK(check_limited_fill("half-cold", half_of_512({}, 200)));
  CHECK(check_limited_fill("half-cold", half_of_512({}, 300)));
  CHECK_FALSE(check_limited_fill("half-cold", half_of_512({}, 330)));
}

TEST_CASE("a limit larger than the file need not be reached, and all of the file is resident") {
  LimitedFill fill{
      .limit_bytes = 1024 * kMiB, .usage_bytes = 515 * kMiB, .residency = {512 * 256, 512 * 256}};
  CHECK(check_limited_fill("pressure", fill));
  fill.residency.resident_pages = 512 * 256 - 131;  // one in a thousand
  CHECK(check_limited_fill("pressure", fill));
  fill.residency.resident_pages -= 1;
  CHECK_FALSE(check_limited_fill("pressure", fill));
}

TEST_CASE("a row's limit: --memory, else the step of the sweep, else the case's share") {
  const Options plain;
  auto limit = [&](const PlannedRow& row) { return **memory_limit(row, plain, 512 * kMiB, 24 * kGiB); };
  CHECK(limit(row_of(kPressure)) == 464 * kMiB);
  CHECK(limit(row_of(kHalfCold)) == 256 * kMiB);
  CHECK(limit(row_of(kPressure, 2.0)) == 1024 * kMiB);
  CHECK(limit(row_of(kCold)) == 256 * kMiB);
  CHECK(**memory_limit(row_of(kCold), plain, 16 * kMiB, 24 * kGiB) == kLeastMemoryBytes);
  CHECK_FALSE(memory_limit(row_of(kWarm), plain, 512 * kMiB, 24 * kGiB)->has_value());
  Options given;
  given.memory_bytes = 100 * kMiB;
  CHECK(**memory_limit(row_of(kCold), given, 512 * kMiB, 24 * kGiB) == 100 * kMiB);
}

TEST_CASE("a file too small or too large for its case says which size would do") {
  const Options plain;
  auto small = memory_limit(row_of(kHalfCold), plain, 100 * kMiB, 24 * kGiB);
  REQUIRE_FALSE(small);
  CHECK_THAT(small.error().message, Contains("50 % of the file are 50 MiB") && Contains("at least 128 MiB"));
  auto large = memory_limit(row_of(kHalfCold), plain, 60 * kGiB, 24 * kGiB);
  REQUIRE_FALSE(large);
  CHECK_THAT(large.error().message, Contains("a limit of 30 GiB") && Contains("24 GiB"));
}

TEST_CASE("a sweep goes from more memory to less by the usual steps") {
  CHECK(memory_steps(1.5, 0.5) == std::vector{1.5, 1.25, 1.12, 1.0, 0.88, 0.75, 0.5});
  CHECK(memory_steps(1.8, 0.9) == std::vector{1.8, 1.5, 1.25, 1.12, 1.0, 0.9});
  CHECK(memory_steps(4, 3) == std::vector{4.0, 3.0});
}

TEST_CASE("a sweep is measured step by step, each step shuffled by itself") {
  Options options{.strategies = {"pread", "mmap", "read"},
                  .cases = {"pressure"},
                  .patterns = {"sequential"},
                  .threads = {1, 4},
                  .read_size_bytes = {4096},
                  .reps = 7,
                  .traced_reps = 1};
  options.memory_sweep = {1.5, 1.0, 0.5};
  auto plan = make_plan({&options, 1}, 42);
  REQUIRE(plan);
  std::vector<double> steps;
  for (const PlannedRepetition& repetition : plan->repetitions) {
    const double step = *plan->rows[repetition.row].cell.memory_of_file_ratio;
    if (steps.empty() || steps.back() != step) steps.push_back(step);
  }
  CHECK(steps == options.memory_sweep);
  // 3 steps x 2 thread counts x (3 strategies x (7 + 1) + a control x 7)
  CHECK(plan->repetitions.size() == 3 * 2 * (3 * 8 + 7));
}
