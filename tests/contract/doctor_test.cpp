// Every check of `iotrace doctor` answers, whoever asks and wherever.

#include <unistd.h>

#include <catch2/catch.hpp>

#include "analysis/text.h"
#include "userspace/doctor/check.h"

using namespace iotrace;

namespace {

void check_answers(const Surroundings& here) {
  for (Check check : checks())
    for (const Answer& answer : check(here)) {
      INFO(answer.name << ": " << answer.found);
      CHECK(!answer.name.empty());
      CHECK(display_width(answer.name) <= kNameWidth);
      CHECK(!answer.found.empty());
      CHECK((answer.grade == Grade::kOk || !answer.means.empty()));  // a gap says what it costs
      CHECK(answer.found.find('\n') == std::string::npos);
    }
}

}

TEST_CASE("each check gives a short name, what it found, and for a note or a gap what that means") {
  check_answers(Surroundings::look());
}

TEST_CASE("each check copes with a machine that tells nothing and a folder without files") {
  Surroundings nothing;
  nothing.why_no_file = "make a file in the current folder: EACCES (Permission denied)";
  check_answers(nothing);
}

TEST_CASE("the file that the checks look at has no name in the folder") {
  char old[4096];
  REQUIRE(getcwd(old, sizeof old));
  char folder[] = "/tmp/iotrace-doctor-test-XXXXXX";
  REQUIRE(mkdtemp(folder));
  REQUIRE(chdir(folder) == 0);
  {
    Surroundings here = Surroundings::look();
    CHECK(here.file);
    CHECK(here.folder.fs != "");
    CHECK(rmdir(folder) == 0);  // empty while the file is open
  }
  REQUIRE(chdir(old) == 0);
}
