// warm: every page is cached and mapped, so that a read is a copy and nothing else.

#include "userspace/cases/all.h"

namespace iotrace {

const Case kWarm{
    .name = "warm",
    .summary = "all of the file cached and mapped by the worker, then warmed up",
    .start = Case::Start::kFilled,
    .touch = true,
    .warm_up = true,
    .residency_at_least = 0.999,
    .residency_stays = true,
    .no_faults = true,
};

}
