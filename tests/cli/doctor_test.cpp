// `iotrace doctor` as root and as an ordinary user.

#include <unistd.h>

#include <algorithm>
#include <set>
#include <sstream>

#include <catch2/catch.hpp>

#include "tests/cli/program.h"

using namespace iotrace::test;
using Catch::Matchers::Contains;

namespace {

constexpr uid_t kNobody = 65534;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// The grade of the first answer of that name; "" if it was not asked.
std::string grade_of(const std::string& text, const std::string& name) {
  for (const std::string& line : lines_of(text))
    if (line.size() > 6 && line.substr(6).starts_with(name)) return line.substr(0, line.find(' '));
  return "";
}

void check_layout(const Outcome& outcome) {
  CHECK(outcome.err.empty());
  for (const std::string& line : lines_of(outcome.out)) {
    INFO(line);
    CHECK(line.size() <= 100);
    CHECK((line.empty() || line.back() != ' '));
  }
  // What a gap is and costs stands under it.
  CHECK((outcome.exit_code == 3) == (outcome.out.find("\ngap ") != std::string::npos));
  CHECK_THAT(outcome.out, Contains("charged to the cgroup"));
}

}

TEST_CASE("doctor as root names a variant for every probe and leaves nothing behind") {
  need_root();
  TempFolder folder;
  Outcome outcome = run_iotrace({"doctor"}, {.folder = folder.path()});
  INFO(outcome.out << outcome.err);
  check_layout(outcome);
  CHECK((outcome.exit_code == 0 || outcome.exit_code == 3));
  const Outcome probes = run_iotrace({"list", "probes"});
  for (const std::string& probe : lines_of(probes.out))
    CHECK(grade_of(outcome.out, "probe " + probe.substr(0, probe.find(' '))) != "");
  for (const char* name : {"memory limit", "folder", "eviction", "residency", "readahead", "O_DIRECT",
                           "io_uring", "device bytes", "per-VMA locks", "reclaim", "DAMON", "huge pages",
                           "swap", "virtualisation", "tracefs", "fio"}) {
    INFO(name);
    CHECK(std::set<std::string>{"ok", "note", "gap"}.contains(grade_of(outcome.out, name)));
  }
  CHECK(folder.entries().empty());
  CHECK(left_behind() == std::vector<std::string>{});
}

TEST_CASE("doctor tells an ordinary user what needs root, and how, exit 3") {
  need_root();
  TempFolder folder;
  Outcome outcome = run_iotrace({"doctor"}, {.folder = folder.path(), .uid = kNobody});
  INFO(outcome.out << outcome.err);
  check_layout(outcome);
  CHECK(outcome.exit_code == 3);
  CHECK(grade_of(outcome.out, "probes") == "gap");
  CHECK_THAT(outcome.out, Contains("sudo iotrace run") && Contains("--probes off"));
  CHECK(grade_of(outcome.out, "memory limit") == "gap");
  CHECK(grade_of(outcome.out, "eviction") == "ok");  // of a file of one's own
  CHECK(folder.entries().empty());
}

TEST_CASE("doctor in a folder that one may not write to says where to go instead") {
  need_root();
  Outcome outcome = run_iotrace({"doctor"}, {.folder = "/", .uid = kNobody});
  INFO(outcome.out << outcome.err);
  check_layout(outcome);
  CHECK(grade_of(outcome.out, "folder") == "gap");
  CHECK_THAT(outcome.out, Contains("EACCES") && Contains("--file"));
  CHECK(grade_of(outcome.out, "readahead") != "");
}
