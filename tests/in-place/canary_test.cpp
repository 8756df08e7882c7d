// Canaries: right counts pass, wrong ones condemn their probe and no other, and the file is left as it was.

#include "userspace/probes/canary.h"

#include <list>

#include "tests/in-place/probes_fixture.h"
#include "userspace/probes/kernel_btf.h"

using namespace iotrace;
using namespace iotrace::test;
using Catch::Matchers::Contains;

namespace {

using Event = HookProgram::Event;

constexpr std::size_t kPages = 1024;

ProvenProbes prove(const ColdFile& file, HookStates states = {}, std::vector<std::string> names = {}) {
  if (::geteuid() != 0) skip("not root");
  auto proven = load_proven(names, file.fd(), std::move(states));
  if (!proven && proven.error().kind == ErrorKind::kUnsupported) skip(proven.error().message);
  INFO((proven ? std::string() : proven.error().message));
  REQUIRE(proven);
  return std::move(*proven);
}

std::string text(const std::vector<std::string>& lines) {
  std::string all;
  for (const std::string& line : lines) all += line + "\n";
  return all;
}

// Hooks of which one is hooked in the wrong way, and in no other.
HookStates with_only(HookId id, std::vector<HookProgram> programs) {
  static std::list<Hook> made;
  HookStates states;
  made.push_back({id, states[id].hook->name, {{"wrong", std::move(programs)}}});
  states[id].hook = &made.back();
  return states;
}

struct WrongHook {
  HookId id;
  std::vector<HookProgram> programs;
  std::string probe, says;
};

const std::vector<WrongHook> kWrongHooks{
    // starts of calls are not seen
    {HookId::kSyscalls,
     {{"on_call_exits__tp_btf", Event::kTracepoint, "sys_exit", 2, 2}},
     "syscalls",
     "canary: expected 23 pread64, saw 0; expected 3 pread64 that give EBADF, saw 0"},
    // faults in user mode are not
    {HookId::kFaultStart,
     {{"on_kernel_fault__tp_btf", Event::kTracepoint, "page_fault_kernel", 3, 3}},
     "faults",
     "canary: expected 12 faults with start and end, saw 0; expected 7 faults that read a page, saw 0"},
    {HookId::kFaultEnd,
     {{"on_minor_fault__perf", Event::kPerfMinorFaults}},
     "faults",
     "expected 7 major faults, as getrusage(2) has them, saw 0"},
    {HookId::kPageCache,
     {{"on_page_added__tp_btf", Event::kTracepoint, "mm_filemap_add_to_page_cache", 1, 1}},
     "page_cache",
     "canary: expected at least 7 evicted, saw 0"},
    // no answer to who asks for the lock
    {HookId::kMmapLock,
     {{"on_lock_asked__tp_btf", Event::kTracepoint, "mmap_lock_start_locking", 2, 3},
      {"on_lock_released__tp_btf", Event::kTracepoint, "mmap_lock_released", 2, 3}},
     "mmap_lock",
     "canary: expected 26 acquisitions by writers, saw 0; expected at least "},
    // only windows that marks start; last, as kernels before 6.18 have no such tracepoint
    {HookId::kReadahead,
     {{"on_readahead_mark__tp_btf", Event::kTracepoint, "page_cache_async_ra", 4, 4}},
     "readahead",
     "canary: expected at least 3 windows read ahead, saw 0"},
};

void need_tracepoint(const std::string& name) {
  auto kernel = KernelBtf::load();
  if (kernel && !kernel->arguments_of_tracepoint(name.c_str())) skip("this kernel has no tracepoint " + name);
}

bool available(const ProbeReadings& readings, std::string_view probe) {
  if (probe == "syscalls") return readings.syscalls || readings.madvise;
  if (probe == "faults") return readings.faults.has_value();
  if (probe == "page_cache") return readings.page_cache.has_value();
  if (probe == "readahead") return readings.readahead.has_value();
  if (probe == "block_io") return readings.block_io.has_value();
  if (probe == "reclaim") return readings.reclaim.has_value();
  return readings.mmap_lock.has_value();
}

void check_condemned(const ProvenProbes& proven, const ColdFile& file, const std::string& probe,
                     const std::string& says) {
  INFO(text(proven.failures));
  REQUIRE(proven.failures.size() == 1);
  const std::string& failure = proven.failures.front();
  CHECK_THAT(failure, Catch::Matchers::StartsWith(probe + ": ") && Contains(says));
  CHECK(failure.find("canary: ") == failure.rfind("canary: "));  // said once
  CHECK(proven.unproven.empty());

  TargetProcess target(file, *proven.probes, [](const InTarget& here) { here.touch(0); });
  REQUIRE(proven.probes->attach(target.target()));
  target.run();
  auto readings = proven.probes->read();
  proven.probes->detach();
  REQUIRE(readings);
  for (const ProbeStatus& status : readings->probes) {
    INFO(status.name << ": " << status.reason.value_or(""));
    CHECK(status.variant.has_value() == (status.name != probe));
    CHECK(available(*readings, status.name) == (status.name != probe));
  }
  CHECK_THAT(readings->unavailable.at(probe), Contains(says));
}

}

TEST_CASE("every probe passes its canary, by each way to hook its events") {
  ColdFile file(kPages);
  const bool best = GENERATE(true, false);
  ProvenProbes proven = prove(file, best ? HookStates() : without_best_variants());
  INFO(text(proven.failures));
  CHECK(proven.failures.empty());
  CHECK(proven.unproven.empty());
  for (const ProbeStatus& status : proven.probes->status()) CHECK(status.variant);

  // The next window begins at zero.
  TargetProcess target(file, *proven.probes, [](const InTarget& here) {
    char byte;
    for (int i = 0; i < 23; ++i) (void)!::pread(here.fd, &byte, 1, 0);
  });
  CHECK(calls(observe(*proven.probes, target), "pread64") == 23);
}

TEST_CASE("each probe passes its canary alone") {
  ColdFile file(kPages);
  for (const ProbeInfo& probe : probe_list()) {
    ProvenProbes proven = prove(file, {}, {std::string(probe.name)});
    INFO(probe.name << "\n" << text(proven.failures));
    CHECK(proven.failures.empty());
  }
}

TEST_CASE("canaries do with a file of one page") {
  ColdFile file(1);
  ProvenProbes proven = prove(file);
  INFO(text(proven.failures));
  CHECK(proven.failures.empty());
}

TEST_CASE("an empty file leaves the probes unproven, and loaded") {
  ColdFile file = ColdFile::sparse(0);
  ProvenProbes proven = prove(file);
  CHECK(proven.unproven.size() == proven.probes->status().size());
  CHECK_THAT(text(proven.unproven), Contains("find a page in the file"));
}

TEST_CASE("canaries leave the page cache as they found it") {
  ColdFile file(kPages);
  prove(file);
  CHECK(file.resident_pages() == 0);
  CHECK(exact_once_in_5([&] {
    file.fill_page_by_page();
    prove(file);
    return file.settled_pages(kPages) == kPages;
  }));
}

TEST_CASE("a probe whose hook sees too little is given up for what its canary saw, and no other") {
  const WrongHook& wrong = kWrongHooks[GENERATE(range(std::size_t{0}, kWrongHooks.size()))];
  if (wrong.id == HookId::kReadahead) need_tracepoint(wrong.programs.front().target);
  INFO(wrong.probe << ", " << wrong.programs.front().name);
  ColdFile file(kPages);
  check_condemned(prove(file, with_only(wrong.id, wrong.programs)), file, wrong.probe, wrong.says);
}

TEST_CASE("a hook of hints by io_uring that sees none is given up alone") {
  ColdFile file(kPages);
  ProvenProbes proven = prove(
      file, with_only(HookId::kUring, {{"on_fork__tp_btf", Event::kTracepoint, "sched_process_fork", 2, 2}}));
  INFO(text(proven.failures));
  if (proven.failures.empty()) skip("no io_uring here");
  REQUIRE(proven.failures.size() == 1);
  CHECK_THAT(proven.failures.front(), Catch::Matchers::StartsWith("syscalls: ") &&
                                          Contains("expected 2 madvise by io_uring that give EINVAL, saw 0"));
}

TEST_CASE("a program for the arguments of a later kernel attaches, and its canary finds it out") {
  auto kernel = KernelBtf::load();
  if (!kernel) skip(kernel.error().message);
  const auto arguments = kernel->arguments_of_tracepoint("mmap_lock_acquire_returned");
  if (!arguments || arguments->size() != 4)
    skip("this kernel's mmap_lock_acquire_returned has the arguments of today: needs one before 6.14");
  ColdFile file(kPages);
  check_condemned(
      prove(file,
            with_only(HookId::kMmapLock,
                      {{"on_lock_asked__tp_btf", Event::kTracepoint, "mmap_lock_start_locking", 2, 3},
                       {"on_lock_answered__tp_btf", Event::kTracepoint, "mmap_lock_acquire_returned", 4, 4},
                       {"on_lock_released__tp_btf", Event::kTracepoint, "mmap_lock_released", 2, 3}})),
      file, "mmap_lock", "expected at least ");
}

TEST_CASE("pages that another process maps leave the page cache unproven, and condemn nothing") {
  ColdFile file(kPages);
  file.fill_page_by_page();
  auto* map =
      static_cast<volatile std::byte*>(::mmap(nullptr, file.bytes(), PROT_READ, MAP_SHARED, file.fd(), 0));
  REQUIRE(map != MAP_FAILED);
  for (std::size_t page = 0; page < kPages; ++page) [[maybe_unused]] std::byte byte = map[page * page_size()];
  ProvenProbes proven = prove(file);
  ::munmap(const_cast<std::byte*>(map), file.bytes());
  INFO(text(proven.failures));
  // Pages that stay are read from no device either.
  REQUIRE(proven.unproven.size() == 2);
  CHECK_THAT(proven.unproven[0], Catch::Matchers::StartsWith("page_cache: ") && Contains("can't be evicted"));
  CHECK_THAT(proven.unproven[1], Catch::Matchers::StartsWith("block_io: ") && Contains("can't be evicted"));
  for (const ProbeStatus& status : proven.probes->status()) CHECK(status.variant);
}

TEST_CASE("another process that does the same meanwhile changes no canary") {
  ColdFile file(kPages), other(kPages);
  const pid_t neighbour = ::fork();
  if (neighbour == 0) {
    UniqueFd fd = other.open();
    auto* map = static_cast<std::byte*>(::mmap(nullptr, other.bytes(), PROT_READ, MAP_SHARED, fd.get(), 0));
    for (;;) {
      char byte;
      (void)!::pread(fd.get(), &byte, 1, 0);
      (void)!::pread(-1, &byte, 1, 0);
      ::madvise(map + 1, 1, MADV_SEQUENTIAL);
      ::madvise(map, other.bytes(), MADV_DONTNEED);
      [[maybe_unused]] auto touched = *const_cast<volatile std::byte*>(map);
      ::munmap(::mmap(nullptr, page_size(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), page_size());
      ::posix_fadvise(fd.get(), 0, 0, POSIX_FADV_DONTNEED);
    }
  }
  ProvenProbes proven = prove(file);
  ::kill(neighbour, SIGKILL);
  ::waitpid(neighbour, nullptr, 0);
  INFO(text(proven.failures));
  CHECK(proven.failures.empty());
}
