#pragma once
// Ctrl-C and friends: the first one asks the run to end and keep what it has; the second ends it at once
// (the guardian then cleans up).

namespace iotrace {

// Installs the handlers of SIGINT, SIGTERM and SIGHUP.
void watch_for_interrupts();
bool interrupted();

}
