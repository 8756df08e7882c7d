#pragma once
// Sleeping on a word of shared memory until another process changes it (futex(2), shared).

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <climits>
#include <ctime>

namespace iotrace {

// Returns when the word is no longer `seen`, was woken, a signal came or the time is up: look again.
template<typename Word> void wait_word(std::atomic<Word>& word, Word seen, std::chrono::nanoseconds timeout) {
  static_assert(sizeof(word) == 4);
  timespec wait{static_cast<time_t>(timeout.count() / 1'000'000'000),
                static_cast<long>(timeout.count() % 1'000'000'000)};
  syscall(SYS_futex, &word, FUTEX_WAIT, static_cast<unsigned>(seen), &wait, nullptr, 0);
}

template<typename Word> void set_word(std::atomic<Word>& word, Word value) {
  word.store(value, std::memory_order_release);
  syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

}
