#include "userspace/worker/compute.h"

#include "userspace/worker/window.h"

namespace iotrace {

void compute_for(std::uint64_t ns) {
  const std::uint64_t end = monotonic_ns() + ns;
  while (monotonic_ns() < end) {
  }
}

}
