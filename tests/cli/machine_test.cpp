// Machines that lack something, simulated in a mount namespace of the program's own.

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/cli/program.h"
#include "tests/skip.h"

using namespace iotrace::test;
using Catch::Matchers::Contains;
using nlohmann::json;

namespace {

// In the child that becomes iotrace: mounts made below /sys from here on are seen by it alone. (Not "/": in a
// chroot that is no mount.)
bool own_mounts() {
  return unshare(CLONE_NEWNS) == 0 && mount("none", "/sys", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
}

}

TEST_CASE("probes work without tracefs") {
  need_root();
  TempFolder folder;
  Outcome outcome = run_iotrace(
      {"run", "--size", "8M", "--case", "as-is", "--strategy", "pread", "--threads", "1", "--reps", "1",
       "--ops", "5", "-o", "run.json"},
      {.folder = folder.path(), .prepare = [] {
         if (!own_mounts()) return false;
         for (const char* point : {"/sys/kernel/debug/tracing", "/sys/kernel/debug", "/sys/kernel/tracing"})
           umount2(point, MNT_DETACH);  // where there is one
         return access("/sys/kernel/tracing/events", F_OK) != 0;
       }});
  INFO(outcome.out << outcome.err);
  REQUIRE(outcome.exit_code == 0);
  const json record = read_json(folder.path() / "run.json");
  for (const json& row : record["rows"]) {
    CHECK(row["error"].is_null());
    for (const json& probe : row["probes"]) CHECK(probe["variant"].is_string());
  }
  CHECK(record["rows"][0]["syscalls"].is_array());
}

TEST_CASE("without the kernel's types (BTF) run says so in one line, exit 3") {
  need_root();
  TempFolder folder;
  const auto empty = folder.file("empty", 0);
  auto hide_btf = [&] {
    return own_mounts() && mount(empty.c_str(), "/sys/kernel/btf/vmlinux", nullptr, MS_BIND, nullptr) == 0;
  };
  Outcome outcome = run_iotrace({"run", "--size", "8M", "--case", "as-is", "--threads", "1"},
                                {.folder = folder.path(), .prepare = hide_btf});
  INFO(outcome.out << outcome.err);
  CHECK(outcome.exit_code == 3);
  CHECK(outcome.out.empty());
  CHECK(std::ranges::count(outcome.err, '\n') == 1);
  CHECK_THAT(outcome.err, Contains("BTF"));
  CHECK(folder.entries() == std::vector<std::string>{"empty"});

  Outcome doctor = run_iotrace({"doctor"}, {.folder = folder.path(), .prepare = hide_btf});
  INFO(doctor.out << doctor.err);
  CHECK(doctor.exit_code == 3);
  CHECK_THAT(doctor.out, Contains("gap   probes") && Contains("BTF"));
  CHECK(left_behind() == std::vector<std::string>{});
}

TEST_CASE("without a memory cgroup rows are measured, and say that they had no limit") {
  need_root();
  TempFolder folder;
  auto hide_cgroups = [] {
    if (!own_mounts()) return false;
    std::vector<std::string> points;
    std::ifstream stream("/proc/self/mountinfo");
    for (std::string line; std::getline(stream, line);) {
      if (line.find(" - cgroup") == std::string::npos) continue;
      std::istringstream fields(line);
      std::string id, parent, device, root, point;
      fields >> id >> parent >> device >> root >> point;
      points.push_back(point);
    }
    return std::ranges::all_of(
        points, [](const std::string& point) { return umount2(point.c_str(), MNT_DETACH) == 0; });
  };
  Outcome outcome = run_iotrace({"run", "--probes", "off", "--size", "8M", "--case", "cold", "--strategy",
                                 "pread", "--threads", "1", "--reps", "1", "--ops", "5", "-o", "run.json"},
                                {.folder = folder.path(), .prepare = hide_cgroups});
  INFO(outcome.out << outcome.err);
  CHECK(outcome.exit_code == 0);
  const json record = read_json(folder.path() / "run.json");
  CHECK(record["rows"].size() == 2);
  for (const json& row : record["rows"]) {
    CHECK(row["error"].is_null());
    CHECK(row["cell"]["memory_limit_bytes"].is_null());
    CHECK_THAT(row["unavailable"].value("cell.memory_limit_bytes", ""), Contains("no cgroup file system"));
  }
  Outcome doctor = run_iotrace({"doctor"}, {.folder = folder.path(), .prepare = hide_cgroups});
  INFO(doctor.out << doctor.err);
  CHECK(doctor.exit_code == 3);
  CHECK_THAT(doctor.out, Contains("gap   memory limit"));
}

TEST_CASE("a record that finds the disk full is kept in /tmp, and the report is shown all the same") {
  need_root();
  TempFolder folder, disk;
  if (mount("iotrace-test", disk.path().c_str(), "tmpfs", 0, "size=64k") != 0)
    skip("a tmpfs can't be mounted here");
  { std::ofstream(disk.path() / "filler") << std::string(128 * 1024, 'x'); }
  Program program({"run", "--probes", "off", "--size", "8M", "--case", "as-is", "--strategy", "pread",
                   "--threads", "1", "--reps", "1", "--ops", "5", "-o", (disk.path() / "run.json").string()},
                  {.folder = folder.path()});
  const std::string rescue = "/tmp/iotrace-" + std::to_string(program.pid()) + ".json";
  Outcome outcome = program.wait();
  const bool only_filler = disk.entries() == std::vector<std::string>{"filler"};
  umount2(disk.path().c_str(), MNT_DETACH);
  INFO(outcome.out << outcome.err);
  CHECK(outcome.exit_code == 1);
  CHECK_THAT(outcome.out, Contains("pread"));
  CHECK_THAT(outcome.err, Contains("ENOSPC") && Contains("kept in " + rescue));
  CHECK(only_filler);
  REQUIRE(std::filesystem::exists(rescue));
  CHECK(read_json(rescue)["rows"].size() == 2);  // pread and its control
  std::filesystem::remove(rescue);
}
