#include "userspace/controller/interrupt.h"

#include <csignal>
#include <initializer_list>

namespace iotrace {

namespace {

volatile std::sig_atomic_t seen = 0;

void on_signal(int) {
  seen = 1;
}

}

void watch_for_interrupts() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESETHAND;  // the second one does what the signal does by default
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) sigaction(signal, &action, nullptr);
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe behind the report must not skip the clean-up
}

bool interrupted() {
  return seen != 0;
}

}
