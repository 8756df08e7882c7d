#pragma once
// The process that a test traces: a child that maps the file and the gate, waits, and then opens the gate,
// does its work and closes it, as often as told. Both sides talk through shared memory, so that no system
// call but the work's own is followed.

#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <new>
#include <stdexcept>

#include "bpf/contract.h"
#include "tests/in-place/cold_file.h"
#include "userspace/probes/probe_set.h"

namespace iotrace::test {

// What the work finds in the child.
struct InTarget {
  int fd = -1;                         // the file, opened by the child
  volatile std::byte* file = nullptr;  // its mapping, untouched
  std::size_t bytes = 0;
  std::atomic<std::uint32_t>* signal = nullptr;  // from TargetProcess::signal()
  volatile std::byte* ledger = nullptr;          // where it marks the pages that it has read, if it does
  const gate* marking = nullptr;                 // the present mark

  void touch(std::size_t page) const {
    [[maybe_unused]] std::byte read = file[page * page_size()];
    mark(page);
  }
  void mark(std::size_t first, std::size_t pages = 1) const {
    if (!ledger) return;
    for (std::size_t page = first; page < first + pages; ++page) ledger[page] = std::byte(marking->mark);
  }
  void await_signal(std::uint32_t value) const {
    while (signal->load() < value) sched_yield();
  }
};

// A number that processes forked later share with this one.
class SharedCount {
public:
  SharedCount()
      : at_(::mmap(nullptr, sizeof(Number), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {
    if (at_ == MAP_FAILED) throw std::runtime_error("map shared memory");
    new (at_) Number(0);
  }
  ~SharedCount() { ::munmap(at_, sizeof(Number)); }
  SharedCount(const SharedCount&) = delete;
  SharedCount& operator=(const SharedCount&) = delete;
  std::atomic<std::uint64_t>* operator->() const { return static_cast<Number*>(at_); }

private:
  using Number = std::atomic<std::uint64_t>;
  void* at_;
};

struct WindowUsage {
  bool gate = true;                                  // open it
  std::uint64_t minor_faults = 0, major_faults = 0;  // by rusage
};

class TargetProcess {
public:
  using Work = std::function<void(const InTarget&)>;

  //   prepare  done once, before the child is ready
  TargetProcess(const ColdFile& file, int gate_fd, Work work, Work prepare = {})
      : TargetProcess(file, gate_fd, -1, 0, work, prepare) {}
  // One that marks in the page ledger what it touches.
  TargetProcess(const ColdFile& file, const ProbeSet& probes, Work work, Work prepare = {})
      : TargetProcess(file, probes.gate_fd(), probes.ledger_fd(), probes.ledger_bytes(), work, prepare) {}
  ~TargetProcess() {
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
    ::munmap(shared_, sizeof(Shared));
  }
  TargetProcess(const TargetProcess&) = delete;
  TargetProcess& operator=(const TargetProcess&) = delete;

  ProbeTarget target() const {
    return {.tgid = child_, .mapping_address = shared_->mapping_address, .mapping_bytes = bytes_};
  }

  // One window, from begin to end.
  WindowUsage run(bool gate = true) {
    begin(gate);
    return finish();
  }
  void begin(bool gate = true) {
    shared_->window.gate = gate;
    shared_->signal = 0;
    shared_->wanted.fetch_add(1);
  }
  void signal(std::uint32_t value) { shared_->signal = value; }
  // Until the gate is open.
  void await_open() {
    while (shared_->opened.load() < shared_->wanted.load()) alive("the target's window");
  }
  WindowUsage finish() {
    await(shared_->wanted.load(), "the end of the target's window");
    return shared_->window;
  }

private:
  TargetProcess(const ColdFile& file, int gate_fd, int ledger_fd, std::size_t ledger_bytes, const Work& work,
                const Work& prepare)
      : bytes_(file.bytes()), ledger_bytes_(ledger_bytes) {
    void* shared = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) throw std::runtime_error("map shared memory");
    shared_ = new (shared) Shared;
    child_ = ::fork();
    if (child_ == 0) live(file, gate_fd, ledger_fd, work, prepare);
    await(0, "the target's start");
  }

  struct Shared {
    std::atomic<std::int64_t> wanted{0}, opened{0}, done{-1};
    std::atomic<std::uint32_t> signal{0};
    std::uint64_t mapping_address = 0;
    WindowUsage window;
  };

  void await(std::int64_t window, const char* what) {
    while (shared_->done.load() < window) alive(what);
  }
  void alive(const char* what) {
    if (::waitpid(child_, nullptr, WNOHANG) == child_) throw std::runtime_error(std::string("died: ") + what);
    ::usleep(200);
  }

  [[noreturn]] void live(const ColdFile& path, int gate_fd, int ledger_fd, const Work& work,
                         const Work& prepare) {
    UniqueFd fd = path.open();
    void* map = ::mmap(nullptr, bytes_, PROT_READ, MAP_SHARED, fd.get(), 0);
    void* gate_page = ::mmap(nullptr, page_size(), PROT_READ | PROT_WRITE, MAP_SHARED, gate_fd, 0);
    if (!fd || map == MAP_FAILED || gate_page == MAP_FAILED) ::_exit(1);
    InTarget here{fd.get(), static_cast<volatile std::byte*>(map), bytes_, &shared_->signal};
    if (ledger_fd >= 0) {
      void* ledger = ::mmap(nullptr, ledger_bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, ledger_fd, 0);
      if (ledger == MAP_FAILED) ::_exit(1);
      here.ledger = static_cast<volatile std::byte*>(ledger);
      here.marking = static_cast<const gate*>(gate_page);
    }
    auto* open = reinterpret_cast<std::atomic<std::uint32_t>*>(&static_cast<gate*>(gate_page)->open);
    open->store(0);

    std::atomic<std::uint32_t> no_gate{0};
    window(here, no_gate, [](const InTarget&) {});  // so that its own pages are mapped
    if (prepare) prepare(here);
    shared_->mapping_address = reinterpret_cast<std::uint64_t>(map);
    for (std::int64_t done = 0;; ++done) {
      shared_->done = done;
      while (shared_->wanted.load() == done) ::usleep(200);
      window(here, shared_->window.gate ? *open : no_gate, work);
    }
  }

  // Between the two readings of rusage nothing but the work may fault.
  __attribute__((noinline)) void window(const InTarget& here, std::atomic<std::uint32_t>& open,
                                        const Work& work) {
    rusage before{}, after{};
    ::getrusage(RUSAGE_SELF, &before);
    open.store(1);
    shared_->opened = shared_->wanted.load();
    work(here);
    open.store(0);
    ::getrusage(RUSAGE_SELF, &after);
    shared_->window.minor_faults = static_cast<std::uint64_t>(after.ru_minflt - before.ru_minflt);
    shared_->window.major_faults = static_cast<std::uint64_t>(after.ru_majflt - before.ru_majflt);
  }

  std::size_t bytes_;
  std::size_t ledger_bytes_ = 0;
  pid_t child_ = -1;
  Shared* shared_ = nullptr;
};

}
