// pressure: nearly all of the file fits into memory, and reclaim never rests.

#include "userspace/cases/all.h"

namespace iotrace {

const Case kPressure{
    .name = "pressure",
    .summary = "read once by the worker, whose memory is limited to 29/32 of the file",
    .start = Case::Start::kFilledInside,
    .memory_of_file = 29.0 / 32,
};

}
