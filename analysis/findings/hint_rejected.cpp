// hint-rejected: the kernel refused madvise(MADV_WILLNEED), and the program that dropped the return value
// runs without its prefetch. Met in Lucene PR 16279: the start of the range was not page-aligned, 5117 of
// 5181 calls gave EINVAL, and the published "prefetch" rows were plain mmap.
//
// Why a call fails is read from mm/madvise.c, Linux 5.15 to 6.18: the start is checked first, so EINVAL with
// a misaligned start is about the start.

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "analysis/findings/attached.h"
#include "analysis/findings/finding.h"

namespace iotrace {

namespace {

struct Rejections {
  Count calls = 0;
  Count misaligned = 0;
};

struct StrategyHints {
  std::vector<std::uint32_t> rows;  // those in which some were rejected
  Count issued = 0;                 // over all rows of the strategy
  std::map<std::string, Rejections> by_error;

  Count rejected() const {
    Count sum = 0;
    for (const auto& [error, r] : by_error) sum += r.calls;
    return sum;
  }
};

struct Advice {
  std::string cause;
  std::string_view remedy;
};

// ENOMEM is the one failure that hints something: mm/madvise.c goes on with the mapped parts of the range.
bool has_no_effect(std::string_view error) {
  return error != "ENOMEM";
}

Advice advice_on(std::string_view error, const Rejections& r, std::uint64_t page_size) {
  std::string page = page_size > 0 ? fmt::format("{}", page_size) : "the page size";
  if (error == "EINVAL" && r.misaligned == r.calls)
    return {"address not a multiple of " + page, "Round the start down to the page."};
  if (error == "EINVAL" && r.misaligned > 0)
    return {fmt::format("{} of them at an address that is not a multiple of {}", r.misaligned, page),
            "Round the start down to the page, and check the length: a negative one is EINVAL too."};
  if (error == "EINVAL")
    return {
        "each address a multiple of " + page,
        "Check the length: rounded up to pages it is 0 (a negative number?) or it runs past the end of the "
        "address space."};
  if (error == "ENOMEM")
    return {"part of the range is not mapped; the rest was hinted", "Clamp the range to the mapping."};
  if (error == "EBADF") return {"the range maps no file", "Hint only ranges of the mapped file."};
  if (error == "EAGAIN") return {"the kernel was short of memory", "Hint less at once, or give it memory."};
  if (error == "EPERM" || error == "ENOSYS")
    return {"the system call itself is refused", "Allow madvise in the seccomp filter or the sandbox."};
  return {"see madvise(2)", "Look at the return value of madvise where the program drops it."};
}

std::map<std::string, StrategyHints> by_strategy(const RunRecord& record) {
  std::map<std::string, StrategyHints> strategies;
  for (std::uint32_t index = 0; index < record.rows.size(); ++index) {
    const Row& row = record.rows[index];
    if (row.error || !row.madvise) continue;
    StrategyHints& hints = strategies[row.strategy];
    bool some_rejected = false;
    for (const MadviseCount& count : *row.madvise) {
      if (count.advice != "WILLNEED") continue;
      hints.issued += count.calls;
      if (!count.error || count.calls == 0) continue;
      hints.by_error[*count.error].calls += count.calls;
      hints.by_error[*count.error].misaligned += count.misaligned;
      some_rejected = true;
    }
    if (some_rejected) hints.rows.push_back(index);
  }
  return strategies;
}

std::string_view extent_of(const StrategyHints& hints) {
  Count without_effect = 0;
  for (const auto& [error, r] : hints.by_error)
    if (has_no_effect(error)) without_effect += r.calls;
  if (without_effect == hints.issued) return "prefetch does nothing in";
  // An address at any byte is a multiple of the page now and then: 1 of 4096 raw offsets is accepted.
  if (100 * (hints.issued - without_effect) <= hints.issued) return "prefetch does next to nothing in";
  if (2 * without_effect >= hints.issued) return "at least half of the prefetch does nothing in";
  return without_effect > 0 ? "part of the prefetch does nothing in" : "hints fail in";
}

// "prefetch does nothing in X: 3200/3200 madvise(WILLNEED) = EINVAL, address not a multiple of 4096."
Finding finding_for(const std::string& strategy, const StrategyHints& hints, std::uint64_t page_size) {
  auto more_calls = [](const auto& a, const auto& b) { return a.second.calls < b.second.calls; };
  const auto& [error, most] = *std::ranges::max_element(hints.by_error, more_calls);
  Count rejected = hints.rejected();
  Advice advice = advice_on(error, most, page_size);

  std::string text = fmt::format("{} {}: {}/{} madvise(WILLNEED) = {}, {}", extent_of(hints), strategy,
                                 most.calls, hints.issued, error, advice.cause);
  Count misaligned = 0;
  for (const auto& [other, r] : hints.by_error) {
    misaligned += r.misaligned;
    if (other != error) text += fmt::format("; {} = {}", r.calls, other);
  }
  return {.id = "hint-rejected",
          .severity = 2 * rejected >= hints.issued ? "fail" : "warn",
          .rows = hints.rows,
          .text = text + ".",
          .numbers = {{"issued", static_cast<double>(hints.issued)},
                      {"rejected", static_cast<double>(rejected)},
                      {"misaligned", static_cast<double>(misaligned)},
                      {"rejected_ratio", static_cast<double>(rejected) / static_cast<double>(hints.issued)}},
          .remedy = std::string(advice.remedy),
          .source = "madvise(2), ERRORS; mm/madvise.c; Lucene PR 16279"};
}

std::vector<Finding> judge_hints(const RunRecord& record) {
  std::vector<Finding> findings;
  for (const auto& [strategy, hints] : by_strategy(record))
    if (hints.rejected() > 0) findings.push_back(finding_for(strategy, hints, record.host.page_size_bytes));
  return findings;
}

// Alignment is known of all calls together, how many were refused by file as well.
std::vector<Finding> judge_attached_hints(const RunRecord& record) {
  auto rejected = [&](std::uint32_t index) {
    const auto& hints = record.files[index].hints;
    return hints ? hints->rejected.value_or(0) : 0;
  };
  FileIndexes files = files_that(
      record, [](const AttachedFile& file) { return file.hints && file.hints->rejected.value_or(0) > 0; });
  std::ranges::stable_sort(files, std::greater(), rejected);
  return on_files(over_totals<judge_hints>(record), record, files);
}

}

extern const FindingRule hint_rejected;
const FindingRule hint_rejected{
    "hint-rejected", "the kernel refused madvise(WILLNEED) calls: how many, why, and what to change",
    judge_hints, judge_attached_hints};

}
