// wrong-advice: the advice in force on a mapping says the opposite of how the file is read. MADV_RANDOM on a
// scan turns readahead off where each page is wanted (qdrant PR 7124); MADV_NORMAL under
// random reads brings in what nobody wants (rocksdb issue 9931, elasticsearch issue 27748).
//
// The order is that of faults and read calls: an access to a page that is mapped already is seen by nobody.
// So a file of which few accesses were seen, or most pages are resident, gets "cannot tell".

#include "analysis/findings/wrong_advice.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "analysis/findings/attached.h"
#include "analysis/findings/finding.h"
#include "analysis/format.h"

namespace iotrace {

namespace {

constexpr Count kEnough = 1000;        // accesses seen on the file
constexpr Count kSuspicion = 100;      // from here on it is worth a word that they are too few
constexpr double kResident = 0.5;      // of the file: above it most accesses may be invisible
constexpr double kElsewhere = 0.8;     // of random accesses, those that do not follow the last
constexpr double kAheadPerFault = 16;  // pages, 64 KiB of 4 KiB pages: a large window
constexpr double kWasted = 0.5;        // of the pages that came in

enum class Mismatch { kNone, kRandomInOrder, kNormalAtRandom };

Count accesses(const AccessOrder& order) {
  return order.in_order + order.out_of_order;
}

double accesses_in_a_row(const AccessOrder& order) {
  return static_cast<double>(accesses(order)) / static_cast<double>(std::max<Count>(order.out_of_order, 1));
}

double elsewhere(const AccessOrder& order) {
  return static_cast<double>(order.out_of_order) / static_cast<double>(accesses(order));
}

// Pages read ahead per page that a fault brought in; nullopt: not counted, or no fault did.
std::optional<double> ahead_per_fault(const AttachedFile& file) {
  if (!file.page_cache) return std::nullopt;
  const PageCacheBy& by = file.page_cache->by;
  if (!by.readahead || by.fault.value_or(0) == 0) return std::nullopt;
  return static_cast<double>(*by.readahead) / static_cast<double>(*by.fault);
}

// The share of the pages that came in of which nobody made use for certain.
double least_wasted(const AttachedFile& file) {
  if (!file.page_cache || file.page_cache->added_pages.value_or(0) == 0 || !file.wasted_least_pages) return 0;
  return static_cast<double>(*file.wasted_least_pages) / static_cast<double>(*file.page_cache->added_pages);
}

// What the accesses that were seen look like.
Mismatch mismatch(const AttachedFile& file) {
  if (!file.order || accesses(*file.order) < kSuspicion) return Mismatch::kNone;
  const std::string_view advice = prevailing_advice(file);
  if (advice == "RANDOM" && accesses_in_a_row(*file.order) >= kAccessesOfAScan)
    return Mismatch::kRandomInOrder;
  if (advice == "NORMAL" && elsewhere(*file.order) >= kElsewhere &&
      ahead_per_fault(file).value_or(0) >= kAheadPerFault && least_wasted(file) >= kWasted)
    return Mismatch::kNormalAtRandom;
  return Mismatch::kNone;
}

bool can_tell(const AttachedFile& file) {
  const auto resident = resident_ratio(file);
  return accesses(*file.order) >= kEnough && resident && *resident <= kResident;
}

Finding random_in_order(const RunRecord& record, const FileIndexes& files) {
  const AttachedFile sum = sum_of(record, files);
  return {.id = "wrong-advice",
          .severity = "warn",
          .rows = files,
          .text = fmt::format("{} is read in order under MADV_RANDOM, which turns readahead off: of {} "
                              "accesses seen, {} followed the thread's last one.",
                              name_files(record, files), accesses(*sum.order),
                              percent(1 - elsewhere(*sum.order))),
          .numbers = {{"accesses", static_cast<double>(accesses(*sum.order))},
                      {"in_order_ratio", 1 - elsewhere(*sum.order)}},
          .remedy = "Advise the mapping MADV_SEQUENTIAL or MADV_NORMAL while it is scanned.",
          .source = "madvise(2); qdrant PR 7124"};
}

Finding normal_at_random(const RunRecord& record, const FileIndexes& files) {
  const AttachedFile sum = sum_of(record, files);
  return {
      .id = "wrong-advice",
      .severity = "warn",
      .rows = files,
      .text =
          fmt::format("{} is read at random under MADV_NORMAL: of {} accesses seen, {} went elsewhere than "
                      "the thread's last one, each page read by a fault took {} more along, and at least "
                      "{} of all were never used.",
                      name_files(record, files), accesses(*sum.order), percent(elsewhere(*sum.order)),
                      three_digits(*ahead_per_fault(sum)), percent(least_wasted(sum))),
      .numbers = {{"accesses", static_cast<double>(accesses(*sum.order))},
                  {"out_of_order_ratio", elsewhere(*sum.order)},
                  {"ahead_per_fault", *ahead_per_fault(sum)},
                  {"wasted_least_ratio", least_wasted(sum)}},
      .remedy = "Advise the mapping MADV_RANDOM, and hint the ranges that are wanted next (MADV_WILLNEED).",
      .source = "rocksdb issue 9931; elasticsearch issue 27748"};
}

std::string why_not(const AttachedFile& file) {
  if (accesses(*file.order) < kEnough) return fmt::format("{} accesses were seen", accesses(*file.order));
  const auto resident = resident_ratio(file);
  return resident ? percent(*resident) + " of it is resident" : "how much of it is resident is not known";
}

Finding cannot_tell(const RunRecord& record, const FileIndexes& files) {
  const AttachedFile& first = record.files[files.front()];
  return {.id = "wrong-advice",
          .severity = "info",
          .rows = files,
          .text = fmt::format(
              "cannot tell whether MADV_{} is wrong for {}: accesses to mapped pages are invisible, "
              "and {}{}.",
              prevailing_advice(first), name_files(record, files), why_not(first),
              files.size() > 1 ? " (the first)" : ""),
          .numbers = {{"accesses", static_cast<double>(accesses(*first.order))}},
          .remedy = "Watch for longer, or while less of it is in the cache.",
          .source = "mm/filemap.c: a mapped page is accessed without the kernel"};
}

std::vector<Finding> judge_advice(const RunRecord& record) {
  auto that = [&](Mismatch kind, bool clear) {
    return files_that(
        record, [=](const AttachedFile& file) { return mismatch(file) == kind && can_tell(file) == clear; });
  };
  std::vector<Finding> findings;
  for (const FileIndexes& group : by_extension(record, that(Mismatch::kRandomInOrder, true)))
    findings.push_back(random_in_order(record, group));
  for (const FileIndexes& group : by_extension(record, that(Mismatch::kNormalAtRandom, true)))
    findings.push_back(normal_at_random(record, group));
  for (Mismatch kind : {Mismatch::kRandomInOrder, Mismatch::kNormalAtRandom})
    if (const FileIndexes unclear = that(kind, false); !unclear.empty())
      findings.push_back(cannot_tell(record, unclear));
  return findings;
}

// A row's strategy says itself how it reads and what it advises.
std::vector<Finding> no_rows(const RunRecord&) {
  return {};
}

}

extern const FindingRule wrong_advice;
const FindingRule wrong_advice{"wrong-advice",
                               "attach: the advice on a mapping says the opposite of how the file is read",
                               no_rows, judge_advice};

}
