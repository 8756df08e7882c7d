// as-is: the cache is left as it was found, its residency recorded.

#include "userspace/cases/all.h"

namespace iotrace {

const Case kAsIs{
    .name = "as-is",
    .summary = "the cache as it is; its residency is recorded",
    .start = Case::Start::kAsIs,
};

}
