#include "userspace/worker/bus_error.h"

#include <csignal>
#include <unistd.h>

#include "userspace/worker/word_wait.h"

namespace iotrace {

namespace {

// What a signal handler can see is global by nature: written once, before the handler is installed.
struct {
  SharedBlock* block;
  const std::byte* mapping;
  std::size_t size;
} watched;

// Appends to a fixed buffer; std::to_chars and fmt are not promised to be async-signal-safe.
struct Line {
  char text[256];
  std::size_t length = 0;

  void add(const char* s) {
    while (*s && length < sizeof(text)) text[length++] = *s++;
  }
  void add(std::size_t number) {
    char digits[24];
    std::size_t n = 0;
    do digits[n++] = static_cast<char>('0' + number % 10);
    while (number /= 10);
    while (n && length < sizeof(text)) text[length++] = digits[--n];
  }
};

void on_bus_error(int, siginfo_t* info, void*) {
  const auto* at = static_cast<const std::byte*>(info->si_addr);
  Line line;
  line.add("SIGBUS");
  if (at >= watched.mapping && at < watched.mapping + watched.size) {
    line.add(" while reading the mapped file at offset ");
    line.add(static_cast<std::size_t>(at - watched.mapping));
    line.add(": the file was truncated meanwhile, or the device failed");
  }
  watched.block->fail({line.text, line.length});
  set_word(watched.block->state, WorkerState::kFailed);
  _exit(1);
}

}

void report_bus_errors(SharedBlock& block, const std::byte* mapping, std::size_t size) {
  watched = {&block, mapping, size};
  struct sigaction action {};
  action.sa_sigaction = on_bus_error;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGBUS, &action, nullptr);
}

}
