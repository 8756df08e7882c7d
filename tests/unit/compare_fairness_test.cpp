// What differs between hosts and files, and what makes a comparison unfair.

#include <catch2/catch.hpp>

#include "analysis/compare/pool.h"
#include "tests/unit/compare_fixture.h"

using namespace iotrace;
using namespace iotrace::test;
using Catch::Matchers::Contains;

TEST_CASE("compare: hosts and files differ where they do, and nowhere else") {
  RunRecord a = record_of({row("a", kSlow)}), b = record_of({row("a", kFast)});
  a.host.kernel = b.host.kernel = "6.18.44";
  a.host.per_vma_locks = true;
  CHECK(compared({a, a})->differences.empty());
  b.host.kernel = "6.1.0";
  b.host.per_vma_locks = false;
  b.file.fs = "xfs";
  b.file.read_ahead_bytes = 128 << 10;
  b.host.memory_bytes = 8ull << 30;
  auto all = compared({a, b, a});
  CHECK(all->differences.size() == 5);
  CHECK(value_of(*all, "kernel", 0) == "6.18.44");
  CHECK(value_of(*all, "kernel", 1) == "6.1.0");
  CHECK(value_of(*all, "kernel", 2) == "6.18.44");
  CHECK(value_of(*all, "per-VMA locks", 0) == "yes");
  CHECK(value_of(*all, "per-VMA locks", 1) == "no");
  CHECK(value_of(*all, "file system", 1) == "xfs");
  CHECK(value_of(*all, "effective read-ahead", 0) == "unknown");
  CHECK(value_of(*all, "effective read-ahead", 1) == "128 KiB");
  CHECK(value_of(*all, "memory", 1) == "8.0 GiB");
}

TEST_CASE("compare: each thing that makes it unfair is named, and none that is not there") {
  RunRecord a = record_of({row("a", kSlow)}), b = record_of({row("a", kFast)});
  for (RunRecord* record : {&a, &b}) record->rows[0].noise_floor_ratio = 0.01;
  a.rows[0].probes = b.rows[0].probes = {{.name = "faults", .variant = "tp_btf"}};
  b.started = "2026-11-30T16:00:00Z";
  auto fair = compared({a, b});
  REQUIRE(fair->warnings.size() == 1);
  CHECK_THAT(fair->warnings[0],
             Contains("not interleaved: A (2026-11-30T15:00:00Z) and B (2026-11-30T16:00:00Z)"));
  CHECK(compared({a, a})->warnings == std::vector<std::string>{"A and B are one and the same run."});

  auto warning = [&](auto change, std::string_view text) {
    RunRecord other = b;
    change(other);
    auto all = compared({a, other});
    INFO(text);
    CHECK(all->warnings.size() == 2);
    CHECK(warns(*all, text));
  };
  warning([](RunRecord& r) { r.partial = true; }, "B is partial");
  warning([](RunRecord& r) { r.seed = 7; }, "other seed: 0 in A, 7 in B");
  warning([](RunRecord& r) { r.file.size_bytes = 1 << 20; }, "other file size: 1 GiB in A, 1 MiB in B");
  warning([](RunRecord& r) { r.options.duration_s = 3; },
          "other repetitions: at most 0 ns in A, 3.00 s in B");
  warning([](RunRecord& r) { r.options.ramhog = true; }, "by pinning the rest in B");
  warning([](RunRecord& r) { r.host.virtualisation = "qemu"; }, "B ran on an emulated processor");
  warning([](RunRecord& r) { r.rows[0].probes[0].lost = 3; }, "B lost 3 events of faults");
  warning([](RunRecord& r) { r.rows[0].probes[0].variant = "perf"; }, "faults (tp_btf in A, perf in B)");
  warning([](RunRecord& r) { r.rows[0].probes[0].name = "reclaim"; },
          "faults (tp_btf in A, absent in B), reclaim (absent in A, tp_btf in B)");
  warning([](RunRecord& r) { r.rows[0].probes.clear(); }, "B ran without probes");
  warning([](RunRecord& r) { r.findings = {{.id = "host-cache"}}; }, "B found a cache below its machine");
}

TEST_CASE("compare: unknown noise, other memory and another device are told") {
  RunRecord a = record_of({row("a", kSlow)}), b = record_of({row("a", kFast)});
  CHECK(warns(*compared({a, b}), "noise floor of 1 of 1 cells is unknown"));
  a.rows[0].cell.memory_limit_bytes = 1 << 29;
  b.rows[0].cell.memory_limit_bytes = 1 << 28;
  CHECK(warns(*compared({a, b}), "in case cold the reader had 50 % of the file in A, 25 % in B"));
  b.file.size_bytes = 1 << 29;
  CHECK_FALSE(warns(*compared({a, b}), "other memory"));
  a.ceiling = {{16384, 64, 1000, 200e6}};
  b.ceiling = {{16384, 64, 1000, 100e6}};
  CHECK(warns(*compared({a, b}), "it delivered 200 MB/s at best in A, 100 in B"));
  b.ceiling = {{16384, 64, 1000, 195e6}};
  CHECK_FALSE(warns(*compared({a, b}), "at best"));
}

TEST_CASE("compare: sessions in turns are interleaved, one after the other they are not") {
  auto session = [](const std::string& hour, const std::vector<Count>& ops) {
    RunRecord record = record_of({row("a", ops)});
    record.started = "2026-11-30T" + hour + ":00:00Z";
    return NamedRecord{hour, record, {}};
  };
  auto warned = [&](const char* a1, const char* a2, const char* b1, const char* b2) {
    auto a = pool({session(a1, kSlow), session(a2, kSlow)}),
         b = pool({session(b1, kFast), session(b2, kFast)});
    auto all = compare_records({*a, *b}, std::nullopt);
    CHECK(the_difference(*all).verdict == Verdict::kFaster);
    return warns(*all, "not interleaved");
  };
  CHECK_FALSE(warned("10", "12", "11", "13"));
  CHECK_FALSE(warned("10", "13", "11", "12"));
  CHECK(warned("10", "11", "12", "13"));
  CHECK(warned("12", "13", "10", "11"));
}
