// half-cold: half of the file fits into memory, so that about every other random read goes to the device.

#include "userspace/cases/all.h"

namespace iotrace {

const Case kHalfCold{
    .name = "half-cold",
    .summary = "read once by the worker, whose memory is limited to half the file",
    .start = Case::Start::kFilledInside,
    .memory_of_file = 0.5,
};

}
