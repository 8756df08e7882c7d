#pragma once
// Every case, each defined in its own file.

#include "userspace/cases/case.h"

namespace iotrace {

extern const Case kWarm, kResident, kPressure, kHalfCold, kCold, kAsIs;

}
