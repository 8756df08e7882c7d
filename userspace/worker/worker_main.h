#pragma once
// The worker: the process that reads. Exec'd by the controller with the descriptors of shared_block.h, as
// the user whose reads they are; it has no other privilege and knows nothing of probes.

namespace iotrace {

// Returns the exit code; never prints (its words go into the shared block).
int worker_main();

}
