#include "userspace/worker/worker_main.h"

#include <csignal>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <barrier>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "bpf/contract.h"
#include "userspace/mapped_region.h"
#include "userspace/memory/residency.h"
#include "userspace/worker/bus_error.h"
#include "userspace/worker/churn.h"
#include "userspace/worker/reader_loop.h"
#include "userspace/worker/settling.h"
#include "userspace/worker/sleep.h"
#include "userspace/worker/word_wait.h"

namespace iotrace {

namespace {

constexpr std::chrono::seconds kLookAgain{1};

void wait_for_command(SharedBlock& block, Command wanted) {
  for (;;) {
    Command seen = block.command.load(std::memory_order_acquire);
    if (seen >= wanted) return;
    wait_word(block.command, seen, kLookAgain);
  }
}

Result<MappedRegion> map_shared_block() {
  struct stat info {};
  if (fstat(kSharedBlockFd, &info) != 0) return errno_error("stat the shared block", errno);
  return MappedRegion::map(static_cast<std::size_t>(info.st_size), PROT_READ | PROT_WRITE, MAP_SHARED,
                           kSharedBlockFd, "map the shared block");
}

// One repetition, as a table of contents: open, build, warm up, measure. Reader threads pass through the
// same stages; the barrier between two stages is where the controller looks.
class Worker {
public:
  explicit Worker(SharedBlock& block)
      : block_(block), order_(block.order), stage_(order_.threads + (churns() ? 2 : 1)) {}

  int run() {
    if (Status opened = open_file(); !opened) return fail(opened.error().message);
    if (Status mapped = map_gate(); !mapped) return fail(mapped.error().message);
    if (Status mapped = map_ledger(); !mapped) return fail(mapped.error().message);
    Window window(block_, *gate_, churns());

    std::vector<std::thread> threads;
    for (std::uint32_t t = 0; t < order_.threads; ++t)
      threads.emplace_back([this, t, &window] { read_as(t, window); });
    if (churns()) threads.emplace_back([this, &window] { churn(window); });

    stage_.arrive_and_wait();  // built
    if (!reached(WorkerState::kMapped)) return 1;
    wait_for_command(block_, Command::kWarmUp);
    stage_.arrive_and_wait();  // begin to warm up
    end_warm_up_when_settled();
    stage_.arrive_and_wait();  // warm
    if (!reached(WorkerState::kWarm)) return 1;
    wait_for_command(block_, Command::kGo);
    take_mark();
    stage_.arrive_and_wait();  // begin to line up
    window.open();
    stage_.arrive_and_wait();  // measured
    if (!reached(WorkerState::kDone)) return 1;
    wait_for_command(block_, Command::kExit);
    for (std::thread& thread : threads) thread.join();
    return 0;
  }

private:
  bool churns() const { return order_.mmap_churn > 0; }

  Status open_file() {
    strategy_ = find_strategy(order_.strategy.data());
    pattern_ = find_pattern(order_.pattern.data());
    if (!strategy_ || !pattern_) return Error{"the worker was given an unknown strategy or pattern"};
    file_ = {.fd = kFileFd,
             .size_bytes = order_.file_size_bytes,
             .page_size_bytes = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE))};
    if (strategy_->maps_file) {
      const int protection = order_.write_pct > 0 ? PROT_READ | PROT_WRITE : PROT_READ;
      auto mapping = MappedRegion::map(file_.size_bytes, protection, MAP_SHARED, kFileFd, "mmap the file");
      if (!mapping) return mapping.error();
      mapping_ = std::move(*mapping);
      file_.mapping = mapping_.data();
      block_.mapping_address = reinterpret_cast<std::uint64_t>(mapping_.data());
      report_bus_errors(block_, mapping_.data(), mapping_.size());
    }
    auto prepared = strategy_->prepare(file_, {order_.read_size_bytes, order_.reads_per_op});
    if (!prepared) return prepared.error();
    make_reader_ = std::move(*prepared);
    return {};
  }

  Status map_gate() {
    std::byte* page = block_.closed_gate.data();
    if (order_.traced) {
      auto mapped = MappedRegion::map(file_.page_size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, kGateFd,
                                      "map the probes' gate");
      if (!mapped) return mapped.error();
      gate_page_ = std::move(*mapped);
      page = gate_page_.data();
    }
    static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(gate::open));
    gate_ = reinterpret_cast<std::atomic<std::uint32_t>*>(page + offsetof(gate, open));
    return {};
  }

  Status map_ledger() {
    if (order_.ledger_bytes == 0) return {};
    auto mapped = MappedRegion::map(order_.ledger_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, kLedgerFd,
                                    "map the page ledger");
    if (!mapped) return mapped.error();
    ledger_ = std::move(*mapped);
    return {};
  }

  // The mark of this window, which the controller chose when it attached the probes. What is read past the
  // cache uses no page of it.
  void take_mark() {
    if (!ledger_ || strategy_->bypasses_cache) return;
    const auto& now = *reinterpret_cast<const gate*>(gate_page_.data());
    marks_ =
        PageMarks({ledger_.data(), ledger_.size()}, static_cast<std::byte>(now.mark), file_.page_size_bytes);
  }

  // One reader thread from its birth to its end. A failure is kept in the shared block; the thread goes on
  // to arrive at every stage, so that nobody waits for it in vain.
  void read_as(std::uint32_t thread, Window& window) {
    auto loop = make_loop(thread);
    if (!loop) block_.fail(loop.error().message);
    stage_.arrive_and_wait();  // built

    stage_.arrive_and_wait();  // begin to warm up
    if (order_.fill && thread == 0) keep(fill(kFileFd));
    if (order_.fill_front_bytes && thread == 0) keep(fill_front(kFileFd, order_.fill_front_bytes));
    if (order_.touch && file_.mapping) touch_part(thread);
    if (order_.warmup_ns) keep((*loop)->warm_up(warm_));
    stage_.arrive_and_wait();  // warm

    stage_.arrive_and_wait();  // begin to line up
    keep((*loop)->measure(window, marks_));
    stage_.arrive_and_wait();                  // measured
    wait_for_command(block_, Command::kExit);  // so that it can still be named as a holder of mmap_lock
  }

  Result<std::unique_ptr<ReaderLoop>> make_loop(std::uint32_t thread) {
    auto reader = make_reader_();
    if (!reader) return reader.error();
    std::unique_ptr<WriteMix> writes;
    if (order_.write_pct > 0) {
      auto made = WriteMix::make(file_, {.write_pct = order_.write_pct,
                                         .read_size_bytes = order_.read_size_bytes,
                                         .reads_per_op = order_.reads_per_op,
                                         .seed = order_.seed,
                                         .round = order_.round,
                                         .thread = thread});
      if (!made) return made.error();
      writes = std::move(*made);
    }
    return std::make_unique<ReaderLoop>(block_, thread, std::move(*reader), std::move(writes), *pattern_);
  }

  // The thread beside the readers: through the same stages, at work in the window alone.
  void churn(Window& window) {
    MmapChurn churn(block_);
    keep(churn.prepare());
    stage_.arrive_and_wait();  // built
    stage_.arrive_and_wait();  // begin to warm up
    stage_.arrive_and_wait();  // warm
    stage_.arrive_and_wait();  // begin to line up
    keep(churn.run(window));
    stage_.arrive_and_wait();  // measured
    wait_for_command(block_, Command::kExit);
  }

  // While the readers warm up: watches their rate, from the first operation on.
  void end_warm_up_when_settled() {
    if (order_.warmup_ns == 0) return;
    const std::uint64_t slice_ns = order_.warmup_ns / kSettlingSlices;
    std::vector<double> rates;
    std::uint64_t before = 0;
    for (std::uint64_t next = monotonic_ns() + slice_ns; !block_.error_taken.load(); next += slice_ns) {
      sleep_until(next);
      std::uint64_t ops = 0;
      for (std::uint32_t t = 0; t < order_.threads; ++t)
        ops += std::atomic_ref(block_.threads()[t].warmup_ops).load(std::memory_order_relaxed);
      if (ops == 0) continue;  // mapping pages
      rates.push_back(static_cast<double>(ops - std::exchange(before, ops)));
      block_.settled = settled(rates);
      if (block_.settled || rates.size() >= kLongestWarmUp * kSettlingSlices) break;
    }
    warm_.store(true);
  }

  // Maps this thread's share of the file's pages by touching each.
  void touch_part(std::uint32_t thread) {
    const std::uint64_t pages = (file_.size_bytes + file_.page_size_bytes - 1) / file_.page_size_bytes;
    const std::uint64_t first = pages * thread / order_.threads;
    const std::uint64_t last = pages * (thread + 1) / order_.threads;
    for (std::uint64_t page = first; page < last; ++page)
      static_cast<void>(
          *static_cast<const volatile std::byte*>(file_.mapping + page * file_.page_size_bytes));
  }

  void keep(const Status& outcome) {
    if (!outcome) block_.fail(outcome.error().message);
  }

  bool reached(WorkerState state) {
    bool failed = block_.error_taken.load();
    set_word(block_.state, failed ? WorkerState::kFailed : state);
    return !failed;
  }

  int fail(const std::string& text) {
    block_.fail(text);
    set_word(block_.state, WorkerState::kFailed);
    return 1;
  }

  SharedBlock& block_;
  const Order& order_;
  std::barrier<> stage_;
  const Strategy* strategy_ = nullptr;
  const Pattern* pattern_ = nullptr;
  SourceFile file_;
  MakeReader make_reader_;
  MappedRegion mapping_;
  MappedRegion gate_page_;
  MappedRegion ledger_;
  PageMarks marks_;
  std::atomic<std::uint32_t>* gate_ = nullptr;
  std::atomic<bool> warm_{false};
};

}

int worker_main() {
  // The controller answers for Ctrl-C: it ends the worker in its own time and keeps what was measured.
  std::signal(SIGINT, SIG_IGN);
  std::signal(SIGHUP, SIG_IGN);
  prctl(PR_SET_NAME, "iotrace-worker");  // execveat(2) leaves the descriptor's number as the name

  auto memory = map_shared_block();
  if (!memory) return 1;
  auto* block = reinterpret_cast<SharedBlock*>(memory->data());
  // After a failure the reader threads still wait at a stage: leave without joining them.
  _exit(Worker(*block).run());
}

}
