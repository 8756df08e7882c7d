// readahead-waste: random reads for which the kernel reads ahead, and hardly any of those pages is ever used.
// Met in rocksdb issue 9931 (1134 KB read per query), elasticsearch issues 27748 and 147625, pinot issue
// 12166: the readahead that counts is that of the device under the file, and RAID, cloud disks and udev rules
// set it to megabytes.
//
// Where the ledger does not say what was used, a lower bound does: a read of n pages uses at most n + 1.

#include <algorithm>

#include <fmt/format.h>

#include "analysis/comparison.h"
#include "analysis/findings/attached.h"
#include "analysis/findings/evidence.h"
#include "analysis/findings/finding.h"
#include "analysis/format.h"
#include "analysis/row_facts.h"

namespace iotrace {

namespace {

// Below these, readahead that misses now and then; context readahead of random preads stays at 1.3.
constexpr double kWasted = 0.5;
constexpr double kAmplified = 2;
// The device delivers ten times what was asked for: nothing else in this row matters as much.
constexpr double kSevere = 10;
// The same of what is known to be wasted.
constexpr double kSevereShare = 0.9;
constexpr Count kPagesAhead = 1000;  // attach: less is no load
constexpr double kPartOfAll = 0.02;  // attach: of what is read ahead of all files; less is not what hurts

constexpr const char* kSource = "rocksdb issue 9931; elasticsearch issues 27748, 147625; pinot issue 12166";

// Pages that readahead brought in and nobody used.
struct Waste {
  double pages = 0;
  bool exact = false;  // else at least so many
};

// nullopt: cannot tell.
std::optional<Waste> wasted_readahead(const RunRecord& record, const Row& row) {
  const PageCache& pages = *row.page_cache;
  if (pages.wasted_by.readahead) return Waste{static_cast<double>(*pages.wasted_by.readahead), true};
  auto ahead = static_cast<double>(*pages.by.readahead);
  double touched = most_pages_touched(row, record.host.page_size_bytes);
  return touched > 0 ? std::optional(Waste{std::max(0.0, ahead - touched)}) : std::nullopt;
}

bool wastes(const RunRecord& record, const Row& row) {
  if (!may_be_judged(row) || row.pattern == "sequential") return false;
  if (!row.page_cache || !row.page_cache->by.readahead || *row.page_cache->by.readahead == 0) return false;
  if (row.counters_from != "traced" || row.amplification_ratio.value_or(0) < kAmplified) return false;
  auto wasted = wasted_readahead(record, row);
  return wasted && wasted->pages >= kWasted * static_cast<double>(*row.page_cache->by.readahead);
}

// How many times less the rows of mmap-random ask the device for, per byte that was asked of them.
std::optional<Advantage> asks_less(const RunRecord& record, const RowIndexes& rows) {
  std::optional<Advantage> less;
  for (std::uint32_t index : rows) {
    auto beside = row_beside(record, record.rows[index], "mmap-random");
    if (!beside) return std::nullopt;
    auto amplification = record.rows[*beside].amplification_ratio;
    if (!amplification || *amplification <= 0) return std::nullopt;
    double ratio = *record.rows[index].amplification_ratio / *amplification;
    if (ratio <= 1) return std::nullopt;
    if (!less) less = Advantage{"mmap-random", ratio, ratio};
    less->least = std::min(less->least, ratio);
    less->most = std::max(less->most, ratio);
  }
  return less;
}

bool through_mapping(const Row& row) {
  return row.page_cache->by.fault.value_or(0) > 0 || (row.faults && faults_on_file(*row.faults) > 0);
}

std::string beside_mmap_random(const RunRecord& record, const RowIndexes& rows) {
  auto less = asks_less(record, rows);
  if (!less) return {};
  std::string text = fmt::format("; mmap-random asks the device for {} times less",
                                 range_text(less->least, less->most, three_digits));
  if (auto faster = proven_faster(record, "mmap-random", rows))
    text +=
        fmt::format(" and is {} times as fast there", range_text(faster->least, faster->most, three_digits));
  return text;
}

std::string waste_text(std::string_view where, double ahead, std::string_view share) {
  return fmt::format("readahead is wasted in {}: of {:.0f} pages that it brought in, {} were never used",
                     where, ahead, share);
}

std::string remedy_for(bool mapping, std::string_view device) {
  return fmt::format("Advise {}, or lower read_ahead_kb of {}.",
                     mapping ? "the mapping MADV_RANDOM" : "the descriptor POSIX_FADV_RANDOM",
                     device.empty() ? "the device" : device);
}

Finding finding_for(const RunRecord& record, const std::string& strategy, const RowIndexes& rows) {
  double ahead = 0, wasted = 0, least = 0, most = 0;
  bool exact = true;
  for (std::uint32_t index : rows) {
    const Row& row = record.rows[index];
    ahead += static_cast<double>(*row.page_cache->by.readahead);
    Waste waste = *wasted_readahead(record, row);
    wasted += waste.pages;
    exact = exact && waste.exact;
    least = least == 0 ? *row.amplification_ratio : std::min(least, *row.amplification_ratio);
    most = std::max(most, *row.amplification_ratio);
  }
  const FileFacts& file = record.file;
  std::string text = waste_text(strategy, ahead, (exact ? "" : "at least ") + percent(wasted / ahead)) +
                     fmt::format(", and the device delivered {} times the bytes asked for ({})",
                                 range_text(least, most, three_digits), name_cells(record, rows));
  if (file.read_ahead_bytes)
    text += fmt::format("; the effective readahead of {} is {}", file.device,
                        human_bytes(static_cast<double>(*file.read_ahead_bytes)));
  const bool mapping = through_mapping(record.rows[rows.front()]);
  if (mapping) text += beside_mmap_random(record, rows);
  return {.id = "readahead-waste",
          .severity = most >= kSevere ? "fail" : "warn",
          .rows = rows,
          .text = text + ".",
          .numbers = {{"readahead_pages", ahead},
                      {"wasted_pages", wasted},
                      {"wasted_ratio", wasted / ahead},
                      {"amplification_least", least},
                      {"amplification_most", most}},
          .remedy = remedy_for(mapping, file.device),
          .source = kSource};
}

std::vector<Finding> judge_readahead(const RunRecord& record) {
  std::vector<Finding> findings;
  for (const auto& [strategy, rows] :
       rows_by_strategy(record, [&](const Row& row) { return wastes(record, row); }))
    findings.push_back(finding_for(record, strategy, rows));
  return findings;
}

// ---- attach: what is wasted lies between two numbers ----

// Of a file; shares of the pages that readahead brought in.
struct WasteBetween {
  double ahead = 0, least = 0, most = 0;
};

// nullopt: not counted, or too little to judge.
std::optional<WasteBetween> waste_between(const AttachedFile& file) {
  if (!file.page_cache || !file.wasted_least_pages || !file.wasted_most_pages) return std::nullopt;
  const PageCacheBy& by = file.page_cache->by;
  if (!by.readahead || *by.readahead < kPagesAhead || !by.hint || !by.other) return std::nullopt;
  // A wasted page that readahead need not have brought is held against hints and others.
  const Count others = *by.hint + *by.other;
  const Count least = *file.wasted_least_pages - std::min(*file.wasted_least_pages, others);
  const auto ahead = static_cast<double>(*by.readahead);
  return WasteBetween{ahead, static_cast<double>(std::min(least, *by.readahead)) / ahead,
                      static_cast<double>(std::min(*file.wasted_most_pages, *by.readahead)) / ahead};
}

std::optional<Finding> attached_waste(const RunRecord& record, const FileIndexes& files) {
  const AttachedFile sum = sum_of(record, files);
  const auto waste = waste_between(sum);
  if (!waste) return std::nullopt;
  const std::string share =
      percent(waste->least) == percent(waste->most)
          ? percent(waste->least)
          : fmt::format("between {} and {}", percent(waste->least), percent(waste->most));
  std::string text = waste_text(name_files(record, files), waste->ahead, share);
  if (sum.block_io && sum.block_io->read_bytes)
    text +=
        fmt::format("; the device delivered {}", human_bytes(static_cast<double>(*sum.block_io->read_bytes)));
  return Finding{.id = "readahead-waste",
                 .severity = waste->least >= kSevereShare ? "fail" : "warn",
                 .rows = files,
                 .text = text + ".",
                 .numbers = {{"readahead_pages", waste->ahead},
                             {"wasted_least_ratio", waste->least},
                             {"wasted_most_ratio", waste->most}},
                 .remedy = remedy_for(!sum.advice.empty(), sum.device),
                 .source = kSource};
}

// The kernel maps cached neighbours of a faulting page, and a mapped page is used unseen.
Finding cannot_tell(const RunRecord& record, const FileIndexes& files) {
  const WasteBetween waste = waste_between(record.files[files.front()]).value_or(WasteBetween{});
  return {.id = "readahead-waste",
          .severity = "info",
          .rows = files,
          .text = fmt::format("cannot tell whether readahead is wasted in {}: between {} and {} of {:.0f} "
                              "pages{} were never used, because pages that the kernel mapped beside a "
                              "faulting one are used unseen.",
                              name_files(record, files), percent(waste.least), percent(waste.most),
                              waste.ahead, files.size() > 1 ? " of the first" : ""),
          .numbers = {{"readahead_pages", waste.ahead},
                      {"wasted_least_ratio", waste.least},
                      {"wasted_most_ratio", waste.most}},
          .remedy = "Watch for longer, or compare with a run under MADV_RANDOM.",
          .source = kSource};
}

std::vector<Finding> judge_attached_readahead(const RunRecord& record) {
  double ahead = 0;
  for (const AttachedFile& file : record.files)
    if (const auto waste = waste_between(file)) ahead += waste->ahead;
  const FileIndexes wasted = files_that(record, [&](const AttachedFile& file) {
    const auto waste = waste_between(file);
    return waste && waste->ahead >= kPartOfAll * ahead && waste->least >= kWasted;
  });
  const FileIndexes unclear = files_that(record, [&](const AttachedFile& file) {
    const auto waste = waste_between(file);
    return waste && waste->ahead >= kPartOfAll * ahead && waste->least < kWasted && waste->most >= kWasted;
  });
  std::vector<Finding> findings;
  for (const FileIndexes& group : by_extension(record, wasted))
    if (auto finding = attached_waste(record, group)) findings.push_back(std::move(*finding));
  if (!unclear.empty()) findings.push_back(cannot_tell(record, unclear));
  return findings;
}

}

extern const FindingRule readahead_waste;
const FindingRule readahead_waste{
    "readahead-waste",
    "random reads make the kernel read ahead pages that nobody uses: how many, and what to change",
    judge_readahead, judge_attached_readahead};

}
