// rows-identical compares speeds, and speeds are noise on a shared machine: here the readers' group may make
// a fixed number of reads a second, which is all that both strategies wait for.

#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>

#include <catch2/catch.hpp>

#include "tests/cli/program.h"
#include "tests/cli/record_queries.h"
#include "tests/skip.h"

using namespace iotrace::test;
using nlohmann::json;

namespace fs = std::filesystem;

namespace {

// The disk under a folder, also where a partition of it is mounted: "254:0".
std::optional<std::string> disk_under(const fs::path& folder) {
  struct stat facts {};
  if (stat(folder.c_str(), &facts) != 0) return std::nullopt;
  std::error_code error;
  fs::path device = fs::canonical("/sys/dev/block/" + std::to_string(major(facts.st_dev)) + ":" +
                                      std::to_string(minor(facts.st_dev)),
                                  error);
  if (error) return std::nullopt;
  if (fs::exists(device / "partition")) device = device.parent_path();
  std::string numbers;
  std::ifstream(device / "dev") >> numbers;
  return numbers;
}

// A group of processes that may read so often from one disk. (In version 2 iotrace moves its worker out of
// the group, into one with a memory limit.)
class SlowedGroup {
public:
  SlowedGroup(const std::string& disk, unsigned reads_per_second)
      : path_("/sys/fs/cgroup/blkio/iotrace-test-" + std::to_string(getpid())) {
    std::error_code error;
    if (!fs::exists(path_.parent_path() / "blkio.throttle.read_iops_device"))
      skip("no blkio controller of cgroup version 1 that limits reads");
    if (!fs::create_directory(path_, error)) skip("cannot make the cgroup " + path_.string());
    std::ofstream(path_ / "blkio.throttle.read_iops_device") << disk << ' ' << reads_per_second << std::flush;
  }
  ~SlowedGroup() { rmdir(path_.c_str()); }
  SlowedGroup(const SlowedGroup&) = delete;

  bool enter() const {
    std::ofstream processes(path_ / "cgroup.procs");
    return static_cast<bool>(processes << getpid() << std::flush);
  }

private:
  fs::path path_;
};

}

TEST_CASE("rows-identical: a hint that is refused changes nothing, one that works is no equal") {
  need_root();
  TempFolder folder;
  const auto disk = disk_under(folder.path());
  if (!disk) skip("no disk under the folder for temporary files");
  // Slower than any disk and any busy machine, so that the limit alone is the speed.
  const SlowedGroup slowed(*disk, 250);

  const std::string plain = "mmap-random", refused = "mmap-random-willneed-misaligned",
                    hinted = "mmap-random-willneed";
  json record;
  // The kernel lets a group that comes back after a pause read a tenth of a second's share at once: 4 percent
  // of a repetition's 2.5 s, less than the 5 that count as identical. The attempts are for what else happens
  // on a busy disk.
  for (int attempt = 0; attempt < 3; ++attempt) {
    Outcome outcome =
        run_iotrace({"run", "--size", "64M", "--case", "cold", "--threads", "1", "--reps", "6", "--ops", "8",
                     "--seed", "7", "--strategy", plain + "," + refused + "," + hinted, "-o", "run.json"},
                    {.folder = folder.path(), .prepare = [&] { return slowed.enter(); }});
    INFO(outcome.out << outcome.err);
    REQUIRE(outcome.exit_code == 0);
    record = read_json(folder.path() / "run.json");
    if (!is_silent(record, "rows-identical")) break;
  }
  const json finding = the_finding(record, "rows-identical");  // the one: hinted has none
  CHECK(finding["severity"] == "fail");
  CHECK(finding["rows"] == json{row_index(record, refused), row_index(record, plain)});
  CHECK(finding["numbers"]["cells"] == 1);
  CHECK(finding["numbers"]["ratio_low"].get<double>() >= 0.95);
  CHECK(finding["numbers"]["ratio_high"].get<double>() <= 1.05);
  CHECK(finding["remedy"] == "Its hints are refused: look at the return value of madvise.");
  CHECK(row_of(record, refused)["faults"]["read"]["count"] ==
        row_of(record, plain)["faults"]["read"]["count"]);
  CHECK(row_of(record, hinted)["faults"]["read"]["count"] == 0);
}
