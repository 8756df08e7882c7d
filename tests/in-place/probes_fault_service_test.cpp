// How the kernel served faults: passes, windows of neighbours, pages mapped, threads that waited at once.

#include <thread>

#include "tests/in-place/probes_fixture.h"

using namespace iotrace;
using namespace iotrace::test;

namespace {

constexpr std::size_t kPages = 4096;

void advise_random(const InTarget& here) {
  ::madvise(const_cast<std::byte*>(here.file), here.bytes, MADV_RANDOM);
}

// The number is right, or this kernel can't give it and the record says why.
template<typename Right>
void check_if_available(const ProbeReadings& readings, const char* key, const std::optional<Count>& number,
                        Right right) {
  INFO(key << " " << number.value_or(0));
  if (number)
    CHECK(right(*number));
  else
    CHECK_FALSE(readings.unavailable.at(key).empty());
}

HookStates passing_over(HookId id, int variants) {
  HookStates states;
  for (int i = 0; i < variants; ++i) states[id].refuse("passed over by a test");
  return states;
}

}

TEST_CASE("each of 1009 cold faults is passed twice, maps one page, and is alone in waiting") {
  const int passed_over = GENERATE(0, 1, 2);  // by tp_btf, by raw_tp, by fentry
  ColdFile file(kPages);
  auto probes = load_probes(file, {"faults", "page_cache"}, passing_over(HookId::kFaultPasses, passed_over));
  constexpr std::size_t kTouched = 1009;
  TargetProcess target(
      file, probes->gate_fd(),
      [](const InTarget& here) {
        for (std::size_t i = 0; i < kTouched; ++i) here.touch(4 * i);
      },
      advise_random);
  file.make_cold();
  ProbeReadings readings = observe(*probes, target);
  const Faults& faults = *readings.faults;
  CHECK(faults.read->count == kTouched);
  check_if_available(readings, "faults.retried", faults.retried, [](Count n) { return n == kTouched; });
  check_if_available(readings, "faults.mapped_pages", faults.mapped_pages,
                     [](Count n) { return n == kTouched; });
  check_if_available(readings, "faults.blocked_threads_max", faults.blocked_threads_max,
                     [](Count n) { return n == 1; });
}

TEST_CASE("111 touches of resident pages 37 apart map the whole window around each, in one pass") {
  const int passed_over = GENERATE(0, 1, 2);
  constexpr std::size_t kTouched = (kPages + 36) / 37;
  ColdFile file(kPages);
  auto probes = load_probes(file, {"faults", "page_cache"}, passing_over(HookId::kFaultAround, passed_over));
  CHECK(exact_once_in_5([&] {
    TargetProcess target(file, probes->gate_fd(), [](const InTarget& here) {
      for (std::size_t page = 0; page < kPages; page += 37) here.touch(page);
    });
    file.make_cold();
    file.fill_page_by_page();
    ProbeReadings readings = observe(*probes, target);
    const Faults& faults = *readings.faults;
    CHECK(faults.around_pages.has_value() != readings.unavailable.contains("faults.around_pages"));
    CHECK(faults.mapped_pages.has_value() != readings.unavailable.contains("faults.mapped_pages"));
    return faults.mapped->count == kTouched && faults.retried.value_or(0) == 0 &&
           faults.blocked_threads_max.value_or(0) == 0 &&
           (!faults.around_pages || faults.around_pages->count() == kTouched) &&
           (!faults.around_pages || !faults.mapped_pages ||
            faults.around_pages->sum() == *faults.mapped_pages);
  }));
}

TEST_CASE("a touch that waits for a page in flight is passed again") {
  constexpr std::size_t kHint = 32;
  ColdFile file(kPages);
  auto probes = load_probes(file, {"faults", "page_cache"});
  TargetProcess target(
      file, probes->gate_fd(),
      [](const InTarget& here) {
        for (std::size_t round = 0; round < 61; ++round) {
          std::size_t first = 2 * kHint * round;
          ::madvise(const_cast<std::byte*>(here.file) + first * page_size(), kHint * page_size(),
                    MADV_WILLNEED);
          here.touch(first + kHint - 1);
        }
        ::madvise(const_cast<std::byte*>(here.file), here.bytes, MADV_DONTNEED);
      },
      advise_random);
  bool waited = false;
  for (int window = 0; window < 20 && !waited; ++window) {  // a fast device may be done before the touch
    file.make_cold();
    ProbeReadings readings = observe(*probes, target);
    const Faults& faults = *readings.faults;
    waited = faults.waited->count > 0;
    check_if_available(readings, "faults.retried", faults.retried,
                       [&](Count n) { return n >= faults.waited->count && n <= 61; });
  }
  CHECK(waited);
}

TEST_CASE("of 7 threads in cold faults several wait at once, and never more than 7") {
  constexpr std::size_t kThreads = 7;
  ColdFile file(kPages);
  auto probes = load_probes(file, {"faults", "page_cache"});
  TargetProcess target(
      file, probes->gate_fd(),
      [](const InTarget& here) {
        std::vector<std::thread> threads;
        for (std::size_t first = 0; first < kThreads; ++first)
          threads.emplace_back([&here, first] {
            for (std::size_t page = first; page < kPages; page += kThreads) here.touch(page);
          });
        for (std::thread& thread : threads) thread.join();
        ::madvise(const_cast<std::byte*>(here.file), here.bytes, MADV_DONTNEED);
      },
      advise_random);
  for (int window = 0; window < 2; ++window) {
    file.make_cold();
    ProbeReadings readings = observe(*probes, target);
    check_if_available(readings, "faults.blocked_threads_max", readings.faults->blocked_threads_max,
                       [](Count n) { return n >= 2 && n <= kThreads; });
  }
}

TEST_CASE("faults of another process on the same file are not of the target") {
  ColdFile file(kPages);
  auto probes = load_probes(file, {"faults", "page_cache"});
  TargetProcess target(file, probes->gate_fd(), [](const InTarget& here) { here.await_signal(1); });
  target.begin(false);
  target.signal(1);
  target.finish();  // what the waiting itself faults on is mapped
  file.make_cold();
  REQUIRE(probes->attach(target.target()));
  target.begin();
  target.await_open();
  void* map = ::mmap(nullptr, file.bytes(), PROT_READ, MAP_SHARED, file.fd(), 0);
  REQUIRE(map != MAP_FAILED);
  for (std::size_t page = 0; page < kPages; page += 37)
    (void)static_cast<volatile std::byte*>(map)[page * page_size()];
  ::munmap(map, file.bytes());
  target.signal(1);
  target.finish();
  auto readings = probes->read();
  REQUIRE(readings);
  const Faults& faults = *readings->faults;
  CHECK(*readings->page_cache->added_pages > 0);
  CHECK(faults.retried.value_or(0) == 0);
  CHECK(faults.mapped_pages.value_or(0) == 0);
  CHECK(faults.blocked_threads_max.value_or(0) == 0);
  CHECK((!faults.around_pages || faults.around_pages->count() == 0));
  for (const LongFault& fault : *faults.longest) CHECK_FALSE(fault.offset_bytes);
}

TEST_CASE("populating a mapping is no fault") {
  ColdFile file(kPages);
  auto probes = load_probes(file, {"faults", "page_cache"});
  TargetProcess target(file, probes->gate_fd(), [](const InTarget& here) {
    constexpr int kPopulateRead = 22;
    ::madvise(const_cast<std::byte*>(here.file), here.bytes, kPopulateRead);
  });
  file.make_cold();
  ProbeReadings readings = observe(*probes, target);
  const Faults& faults = *readings.faults;
  CHECK(*readings.page_cache->added_pages == kPages);
  CHECK(faults.retried.value_or(0) == 0);
  CHECK(faults.mapped_pages.value_or(0) == 0);
  CHECK((!faults.around_pages || faults.around_pages->count() == 0));
}
