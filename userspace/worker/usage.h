#pragma once
// rusage in the form in which it crosses to the controller.

#include "userspace/worker/shared_block.h"

namespace iotrace {

UsageMark process_usage();
UsageMark thread_usage();  // of the calling thread

// Never below 0: the kernel works out the times of a process and of its threads apart from each other.
UsageMark operator-(const UsageMark& a, const UsageMark& b);

}
