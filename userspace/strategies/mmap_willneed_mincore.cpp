// Hint only what is absent: mincore(2) first, madvise(MADV_WILLNEED) if a page is missing, then the copies.
// With the back-off most hints on a cached file are suppressed before they cost even that.

#include <memory>

#include "userspace/strategies/prefetch_backoff.h"
#include "userspace/strategies/residency_question.h"

namespace iotrace {

namespace {

class AskingReader final : public Reader {
public:
  //   backoff  null: every hint is worth a look
  AskingReader(const SourceFile& file, const ReadShape& shape, std::shared_ptr<PrefetchBackoff> backoff,
               MappedCopy copy)
      : file_(file), read_size_(shape.read_size_bytes), backoff_(std::move(backoff)), residency_(file, shape),
        copy_(std::move(copy)), suppressed_(shape.reads_per_op) {}

  Status announce(std::span<const std::uint64_t> offsets) override {
    suppressed_now_ = 0;
    for (std::uint64_t offset : offsets) {
      if (backoff_ && !backoff_->worth_a_look()) {
        suppressed_[suppressed_now_++] = offset;
        continue;
      }
      auto resident = residency_.all_resident(offset, read_size_);
      if (!resident) return resident.error();
      if (*resident) continue;
      if (backoff_) backoff_->missed();
      if (Status hinted = advise_pages(file_, offset, read_size_, MADV_WILLNEED, "MADV_WILLNEED"); !hinted)
        return hinted;
    }
    suppressed_ever_ += suppressed_now_;
    return {};
  }

  Status read_batch(std::span<const std::uint64_t> offsets, Sink& sink) override {
    copy_.copy(offsets, sink);
    return {};
  }

  std::uint64_t suppressed_hints() const override { return suppressed_ever_; }
  std::span<const std::uint64_t> suppressed_offsets() const override {
    return {suppressed_.data(), suppressed_now_};
  }

private:
  const SourceFile file_;
  const std::uint64_t read_size_;
  const std::shared_ptr<PrefetchBackoff> backoff_;
  ResidencyQuestion residency_;
  MappedCopy copy_;
  std::vector<std::uint64_t> suppressed_;  // [reads_per_op], its front in use
  std::size_t suppressed_now_ = 0;
  std::uint64_t suppressed_ever_ = 0;
};

template<int advice, bool backs_off>
Result<MakeReader> prepare(const SourceFile& file, const ReadShape& shape) {
  if (Status may = may_ask_residency(file.fd); !may) return may.error();
  // A fresh mapping is NORMAL already.
  if (advice != MADV_NORMAL)
    if (Status advised = advise_mapping(file, advice); !advised) return advised.error();

  auto backoff = backs_off ? std::make_shared<PrefetchBackoff>() : nullptr;
  return MakeReader([file, shape, backoff]() -> Result<std::unique_ptr<Reader>> {
    auto copy = MappedCopy::make(file, shape);
    if (!copy) return copy.error();
    return std::unique_ptr<Reader>(new AskingReader(file, shape, backoff, std::move(*copy)));
  });
}

}

Strategy mmap_willneed_backoff_strategy() {
  return {.name = "mmap-willneed-backoff",
          .summary = "mmap-willneed behind Lucene's back-off: a shared counter, then mincore, then the hint",
          .maps_file = true,
          .hints = true,
          .withholds = true,
          .differs_from = "mmap",
          .prepare = prepare<MADV_NORMAL, true>};
}

Strategy mmap_random_willneed_backoff_strategy() {
  return {.name = "mmap-random-willneed-backoff",
          .summary = "the same under MADV_RANDOM",
          .maps_file = true,
          .hints = true,
          .withholds = true,
          .differs_from = "mmap-random",
          .prepare = prepare<MADV_RANDOM, true>};
}

Strategy mmap_random_willneed_mincore_strategy() {
  return {.name = "mmap-random-willneed-mincore",
          .summary = "mincore on each range, MADV_WILLNEED where a page is absent, then copy; MADV_RANDOM",
          .maps_file = true,
          .hints = true,
          .differs_from = "mmap-random",
          .prepare = prepare<MADV_RANDOM, false>};
}

}
