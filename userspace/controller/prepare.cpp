#include "userspace/controller/prepare.h"

#include <unistd.h>

#include <fmt/format.h>

namespace iotrace {

namespace {

constexpr int kTopUps = 3;

// What may stay cached before a worker reads the file in: it is charged to somebody else. With a page or two,
// no limit is escaped from.
constexpr double kStrayShare = 0.001;

}

Status CachePreparer::fill_in_the_fixed_way() {
  if (Status evicted = evict(file_fd_); !evicted) return evicted;
  const bool census = probes_ && probes_->start_folio_census();
  Status done = fill(file_fd_);
  if (census) folio_orders_ = probes_->stop_folio_census();
  filled_ = done.has_value();
  return done;
}

void CachePreparer::limited_by(std::optional<std::uint64_t> limit_bytes, const MemoryCgroup* group) {
  limit_bytes_ = limit_bytes;
  group_ = group;
}

// In every repetition anew: strategies are given the same offsets, and each would find the very pages cached
// that the one before it had to read. A page that is cached already stays charged to whoever cached it, and
// escapes the limit: so nothing of the file may be cached when the worker begins.
Result<Residency> CachePreparer::prepare_for_worker(const Case& cache_case) {
  filled_ = false;
  if (Status evicted = evict(file_fd_); !evicted) return evicted.error();
  auto now = residency(file_fd_);
  if (!now) return now.error();
  if (now->ratio() > kStrayShare)
    return Error{
        fmt::format("could not reach '{}': {:.2f} % of the file stays resident after eviction, charged to "
                    "another cgroup and out of the limit's reach; another process maps, locks or reads it",
                    cache_case.name, 100 * now->ratio())};
  return now;
}

Result<Residency> CachePreparer::prove_filled(const Case& cache_case) const {
  LimitedFill fill{.limit_bytes = limit_bytes_.value_or(0),
                   .page_bytes = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE))};
  if (group_) {
    auto usage = group_->usage_bytes();
    if (!usage) return usage.error();
    fill.usage_bytes = *usage;
  }
  auto now = residency(file_fd_);
  if (!now) return now.error();
  fill.residency = *now;
  if (Status proven = check_limited_fill(cache_case.name, fill); !proven) return proven.error();
  return *now;
}

Result<Residency> CachePreparer::prepare(const Case& cache_case) {
  if (cache_case.start == Case::Start::kFilledInside) return prepare_for_worker(cache_case);
  if (cache_case.start == Case::Start::kEvicted) {
    filled_ = false;
    if (Status evicted = evict(file_fd_); !evicted) return evicted.error();
  }
  auto now = residency(file_fd_);
  if (cache_case.start == Case::Start::kAsIs) return now;
  if (!now) return now.error();

  if (cache_case.start == Case::Start::kFilled &&
      (!filled_ || now->ratio() < cache_case.residency_at_least)) {
    if (Status done = fill_in_the_fixed_way(); !done) return done.error();
    now = residency(file_fd_);
    // What was taken away meanwhile (by DAMON, say) is read again, in the same way.
    for (int again = 0; again < kTopUps && now && now->ratio() < cache_case.residency_at_least; ++again) {
      if (Status done = fill(file_fd_); !done) return done.error();
      now = residency(file_fd_);
    }
    if (!now) return now.error();
  }
  if (now->ratio() > cache_case.residency_at_most)
    return Error{fmt::format(
        "could not reach '{}': {:.2f} % of the file stays resident after eviction; another process "
        "maps, locks or reads it",
        cache_case.name, 100 * now->ratio())};
  if (now->ratio() < cache_case.residency_at_least)
    return Error{fmt::format(
        "could not reach '{}': only {:.2f} % of the file is resident after reading it in; memory is too "
        "small (choose a smaller --size), or something evicts pages (iotrace doctor names it)",
        cache_case.name, 100 * now->ratio())};
  return now;
}

std::optional<double> CachePreparer::residency_ratio() const {
  auto now = residency(file_fd_);
  if (!now) return std::nullopt;
  return now->ratio();
}

}
