#include "userspace/controller/prepare.h"

#include <fmt/format.h>

namespace iotrace {

namespace {

constexpr int kTopUps = 3;

}

Status CachePreparer::fill_in_the_fixed_way() {
  if (Status evicted = evict(file_fd_); !evicted) return evicted;
  const bool census = probes_ && probes_->start_folio_census();
  Status done = fill(file_fd_);
  if (census) folio_orders_ = probes_->stop_folio_census();
  filled_ = done.has_value();
  return done;
}

Result<Residency> CachePreparer::prepare(const Case& cache_case) {
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
