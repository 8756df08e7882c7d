// resident: every page is cached and none is mapped: what the first touch of cached pages costs.

#include "userspace/cases/all.h"

namespace iotrace {

const Case kResident{
    .name = "resident",
    .summary = "all of the file cached, nothing mapped: the cost of first touches",
    .start = Case::Start::kFilled,
    .residency_at_least = 0.999,
    .residency_stays = true,
};

}
