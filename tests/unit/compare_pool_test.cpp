// Sessions of one configuration as one record.

#include <catch2/catch.hpp>

#include "analysis/compare/pool.h"
#include "tests/unit/compare_fixture.h"

using namespace iotrace;
using namespace iotrace::test;
using Catch::Matchers::Contains;

TEST_CASE("pool: sessions of one configuration add their repetitions, and how far they are apart") {
  RunRecord first = record_of({row("a", kSlow), row("b", kSlow)}),
            second = record_of({row("b", {110, 111, 112, 113, 114, 115}), row("a", kSlowAgain)});
  first.rows[0].device_bytes = 7;
  second.rows[1].device_bytes = 9;
  second.started = "2026-11-30T17:00:00Z";
  auto pooled = pool({{"a1", first, {}}, {"a2", second, {}}});
  REQUIRE(pooled);
  CHECK(pooled->name == "a1+a2");
  CHECK(pooled->more_sessions == std::vector<std::string>{"2026-11-30T17:00:00Z"});
  const Row &a = pooled->record.rows[0], &b = pooled->record.rows[1];
  CHECK(a.untraced->ops_per_ms.n == 12);
  CHECK(*a.untraced->ops_per_ms.median == Approx(0.1025));
  CHECK(a.device_bytes == 7);
  CHECK(*a.noise_floor_ratio < 0.01);
  CHECK(*b.noise_floor_ratio == Approx(112.5 / 102.5 - 1).epsilon(0.02));
}

TEST_CASE("pool: a row that one session lacks, or has an error in, keeps what the others have") {
  RunRecord first = record_of({row("a", kSlow), row("b", kSlow)}), second = record_of({row("a", kSlow)});
  second.rows[0].error = "EIO";
  auto pooled = pool({{"a1", first, {}}, {"a2", second, {}}});
  REQUIRE(pooled);
  for (const Row& row : pooled->record.rows) CHECK(row.untraced->ops_per_ms.n == 6);
}

TEST_CASE("pool: another kernel, probes alone and attach are refused") {
  RunRecord first = record_of({row("a", kSlow)}), other = first;
  other.host.kernel = "6.1";
  auto refused = pool({{"a1", first, {}}, {"a2", other, {}}});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().kind == ErrorKind::kUsage);
  CHECK_THAT(refused.error().message, Contains("a1 and the others are not of one configuration: kernel is"));
  other = first;
  std::swap(other.rows[0].untraced, other.rows[0].traced);
  CHECK_THAT(pool({{"a1", first, {}}, {"a2", other, {}}}).error().message, Contains("a2: --group pools"));
  other = first;
  other.command = "attach";
  CHECK_THAT(pool({{"a1", first, {}}, {"a2", other, {}}}).error().message,
             Contains("a2: a record of attach"));
}
