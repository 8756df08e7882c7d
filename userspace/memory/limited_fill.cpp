#include "userspace/memory/limited_fill.h"

#include <algorithm>

#include <fmt/format.h>

#include "analysis/format.h"

namespace iotrace {
namespace {

// What of a limit is not the file's: the reader's own memory and the kernel's for it, and with each page a
// little bookkeeping. Under limits of 64 to 464 MiB, Linux 6.18: 2 MiB with one thread, 12 MiB with 16 of
// io_uring's.
constexpr std::uint64_t kOwnBytes = 16ull << 20;
constexpr double kOwnShare = 0.02;

// How far below its limit usage may be: to charge a folio of 2 MiB, the largest there is, the kernel may have
// freed several. Seen: 1.1 to 3 MiB.
constexpr std::uint64_t kUsageSwingBytes = 8ull << 20;

// A page or two in a thousand may be gone or charged elsewhere: other programs and the kernel (DAMON) touch
// the cache too.
constexpr double kStrayShare = 0.001;

// Pinned memory is no exact limit: other files share what is left, and their share changes meanwhile.
constexpr double kPinnedSlack = 0.25;

std::uint64_t share(double part, std::uint64_t whole) {
  return static_cast<std::uint64_t>(part * static_cast<double>(whole));
}

std::string size(std::uint64_t bytes) {
  return human_bytes(static_cast<double>(bytes));
}

std::string resident_words(const LimitedFill& fill) {
  return fmt::format("{:.2f} % of the file", 100 * fill.residency.ratio());
}

}

PageBounds resident_bounds(const LimitedFill& fill) {
  const std::uint64_t limit = fill.limit_bytes;
  const std::uint64_t slack = fill.usage_bytes ? 0 : share(kPinnedSlack, limit);
  const std::uint64_t own = kOwnBytes + share(kOwnShare, limit) + slack;
  const std::uint64_t all = fill.residency.file_pages, stray = share(kStrayShare, all);
  const std::uint64_t least = (limit > own ? limit - own : 0) / fill.page_bytes;
  const std::uint64_t most = (limit + slack) / fill.page_bytes + stray;
  return {std::min(least, all - stray), std::min(most, all)};
}

Status check_limited_fill(std::string_view name, const LimitedFill& fill) {
  const PageBounds bounds = resident_bounds(fill);
  const std::uint64_t resident = fill.residency.resident_pages;
  if (resident > bounds.most)
    return Error{fmt::format("could not reach '{}': {} is resident, more than the limit of {} can hold: {}",
                             name, resident_words(fill), size(fill.limit_bytes),
                             fill.usage_bytes
                                 ? "pages are charged to another cgroup, which cached them before; "
                                   "another process reads the file"
                                 : "others gave memory back while it was read; try again when the "
                                   "machine is at rest")};
  if (fill.usage_bytes && fill.limit_bytes < fill.file_bytes() &&
      *fill.usage_bytes + kUsageSwingBytes < fill.limit_bytes)
    return Error{fmt::format("could not reach '{}': the reader's cgroup holds {} of its limit of {} after "
                             "the whole file was read; "
                             "something evicts pages, or another cgroup pays for them (iotrace doctor)",
                             name, size(*fill.usage_bytes), size(fill.limit_bytes))};
  if (resident < bounds.least)
    return Error{fmt::format(
        "could not reach '{}': only {} is resident under a limit of {}; other memory of the reader "
        "takes the rest (fewer --threads, a smaller --read-size), or something evicts pages",
        name, resident_words(fill), size(fill.limit_bytes))};
  return {};
}

}
