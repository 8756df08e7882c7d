#pragma once
// One question of `iotrace doctor` to the machine. To add one: a function from Surroundings to Answers in the
// file of its subject, and its line in registry.cpp.

#include <span>
#include <string>
#include <vector>

#include "userspace/doctor/surroundings.h"

namespace iotrace {

enum class Grade {
  kOk,
  kNote,  // run works; the user should know what this does to the numbers
  kGap,   // run can't give all that it is for: doctor exits with 3
};

inline constexpr std::size_t kNameWidth = 16;

struct Answer {
  Grade grade = Grade::kOk;
  std::string name;    // what was asked, at most kNameWidth columns
  std::string found;   // what is here
  std::string means;   // what that costs or changes; empty: nothing worth a word
  std::string remedy;  // what to do; empty: nothing to be done
};

using Answers = std::vector<Answer>;
// Never fails: what could not be found out is an answer too.
using Check = Answers (*)(const Surroundings&);

std::span<const Check> checks();

}
