// Each probe alone, and what is left in the kernel afterwards.

#include <bpf/bpf.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "tests/in-place/probes_fixture.h"

using namespace iotrace;
using namespace iotrace::test;

namespace {

// Numbers after `key` in what the kernel says of this process's descriptors: programs, links, maps.
std::set<__u32> ids_of_mine(std::string_view key) {
  std::set<__u32> ids;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fdinfo")) {
    std::ifstream info(entry.path());
    for (std::string word; info >> word;)
      if (__u32 id = 0; word == key && info >> id) ids.insert(id);
  }
  return ids;
}

// The kernel frees some time after the last user is gone.
template<typename Open> bool all_gone(const std::set<__u32>& ids, Open open) {
  for (int attempt = 0; attempt < 500; ++attempt) {
    bool gone = true;
    for (__u32 id : ids) gone = gone && !UniqueFd(open(id));
    if (gone) return true;
    ::usleep(10'000);
  }
  return false;
}

void work(const InTarget& here) {
  static char buffer[4096];
  (void)!::pread(here.fd, buffer, sizeof(buffer), 0);
  here.touch(200);
  ::madvise(const_cast<std::byte*>(here.file), here.bytes, MADV_DONTNEED);
}

}

TEST_CASE("each probe works alone and in pairs, and leaves no program, link or map behind") {
  auto names = GENERATE(values<std::vector<std::string>>({{"syscalls"},
                                                          {"faults"},
                                                          {"page_cache"},
                                                          {"mmap_lock"},
                                                          {"block_io"},
                                                          {"reclaim"},
                                                          {"faults", "page_cache"},
                                                          {"syscalls", "mmap_lock"}}));
  ColdFile file(256);
  std::set<__u32> programs, links, maps;
  {
    auto probes = load_probes(file, names);
    CHECK(ids_of_mine("link_id:").empty());  // attached to nothing yet
    TargetProcess target(file, *probes, work);
    for (int window = 0; window < 2; ++window) {
      file.make_cold();
      ProbeReadings readings = observe(*probes, target);
      CHECK(readings.probes.size() == names.size());
      for (const std::string& name : names) {
        if (name == "syscalls") CHECK(calls(readings, "pread64") == 1);
        if (name == "faults") CHECK(readings.faults->read->count == 1);
        if (name == "block_io") CHECK(*readings.block_io->reads > 0);
        if (name == "reclaim") CHECK(readings.reclaim->direct_stalls == 0);
        if (name == "page_cache") CHECK(*readings.page_cache->by.fault == 1);
        if (name == "mmap_lock")
          CHECK(readings.mmap_lock->write->acquired + readings.mmap_lock->read->acquired > 0);
      }
      CHECK(ids_of_mine("link_id:").empty());
    }
    REQUIRE(probes->attach(target.target()));
    programs = ids_of_mine("prog_id:");
    links = ids_of_mine("link_id:");
    maps = ids_of_mine("map_id:");
    CHECK(!programs.empty());
    CHECK(!links.empty());
    CHECK(!maps.empty());
  }
  CHECK(ids_of_mine("prog_id:").empty());
  CHECK(all_gone(programs, bpf_prog_get_fd_by_id));
  CHECK(all_gone(links, bpf_link_get_fd_by_id));
  CHECK(all_gone(maps, bpf_map_get_fd_by_id));
}

TEST_CASE("nobody else can detach or replace a program while a probe is attached") {
  ColdFile file(256);
  auto probes = load_probes(file);
  TargetProcess target(file, *probes, [](const InTarget& here) {
    char byte;
    for (int i = 0; i < 13; ++i) (void)!::pread(here.fd, &byte, 1, 0);
    here.touch(200);
  });
  file.make_cold();
  REQUIRE(probes->attach(target.target()));
  target.begin();
  target.await_open();
  const std::set<__u32> links = ids_of_mine("link_id:");
  const std::set<__u32> programs = ids_of_mine("prog_id:");
  CHECK(!links.empty());
  for (__u32 id : links) {
    UniqueFd link(bpf_link_get_fd_by_id(id)), program(bpf_prog_get_fd_by_id(*programs.begin()));
    REQUIRE(link);
    // What `bpftool link detach` asks for.
    CHECK(bpf_link_detach(link.get()) == -EOPNOTSUPP);
    CHECK(bpf_link_update(link.get(), program.get(), nullptr) < 0);
  }
  target.finish();
  auto readings = probes->read();
  probes->detach();
  REQUIRE(readings);
  CHECK(calls(*readings, "pread64") == 13);
  CHECK(readings->faults->read->count == 1);
}
