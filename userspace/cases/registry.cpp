#include "userspace/cases/all.h"

namespace iotrace {

std::span<const Case> cases() {
  static const Case all[] = {
      kWarm, kResident, kPressure, kHalfCold, kCold, kAsIs,
  };
  return all;
}

const Case* find_case(std::string_view name) {
  for (const Case& c : cases())
    if (c.name == name) return &c;
  return nullptr;
}

}
