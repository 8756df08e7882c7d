#include <algorithm>

#include <fmt/format.h>

#include "analysis/text.h"
#include "userspace/cli/commands.h"
#include "userspace/cli/terminal.h"
#include "userspace/controller/guardian.h"
#include "userspace/doctor/check.h"

namespace iotrace {

namespace {

constexpr std::size_t kWidth = 100;
constexpr std::size_t kIndent = 4 + 2 + kNameWidth + 2;  // grade, name, and a gap after each

constexpr std::string_view kChargingTrap =
    "About memory limits: a page of the page cache is charged to the cgroup that read it first, and stays "
    "charged there "
    "however often others read it. A program whose file somebody else has cached before (a copy, a warm-up, "
    "an earlier run, "
    "a container that is gone) escapes its own limit: it looks limited and reads from memory. So evict the "
    "file first, prove "
    "that nothing is resident, and let the limited program itself read it in. iotrace run does that for "
    "every row; with "
    "systemd-run or docker -m you have to do it yourself (vmtouch -e, or POSIX_FADV_DONTNEED).";

struct Look {
  std::string_view word;
  Style style;
};
constexpr Look look_of(Grade grade) {
  switch (grade) {
  case Grade::kOk: return {"ok", Style::kGood};
  case Grade::kNote: return {"note", Style::kCaution};
  case Grade::kGap: break;
  }
  return {"gap", Style::kBad};
}

void print_indented(std::string_view text) {
  const std::string indented = std::string(kIndent, ' ') + std::string(text);
  fmt::print("{}\n", wrap(indented, kWidth, kIndent));
}

void print(const Answer& answer, bool colour) {
  const Look look = look_of(answer.grade);
  const std::string label = fmt::format("{:4}  {:{}}  ", look.word, answer.name, kNameWidth);
  const std::string text = wrap(label + printable(answer.found), kWidth, kIndent);
  fmt::print("{}{}\n", styled(text.substr(0, 4), look.style, colour), text.substr(4));
  if (!answer.means.empty()) print_indented(answer.means);
  if (!answer.remedy.empty()) print_indented("> " + answer.remedy);
}

}

int doctor_command() {
  auto guardian = Guardian::start();
  if (!guardian) return report_error(guardian.error());
  Surroundings here = Surroundings::look();
  here.guardian = &*guardian;
  const bool colour = wants_colour();

  fmt::print("Linux {} on {}, {} CPUs, as {}\n\n", here.host.kernel, here.host.machine, here.host.cpus,
             here.root ? "root" : "an ordinary user");
  std::size_t gaps = 0;
  for (Check check : checks())
    for (const Answer& answer : check(here)) {
      print(answer, colour);
      gaps += answer.grade == Grade::kGap;
    }
  fmt::print("\n{}\n\n", wrap(kChargingTrap, kWidth, 0));
  if (gaps == 0)
    fmt::print("iotrace run can do all that it is for, here and as this user.\n");
  else
    fmt::print("{}: iotrace run cannot do all that it is for, here and as this user.\n",
               gaps == 1 ? "1 gap" : fmt::format("{} gaps", gaps));
  return gaps == 0 ? 0 : 3;
}

}
