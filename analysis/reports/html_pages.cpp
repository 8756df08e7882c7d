// Hints and pages: what became of the hints, what was read ahead for nothing, what the device delivered for
// what was asked.

#include <array>

#include <fmt/format.h>

#include "analysis/format.h"
#include "analysis/reports/detail_tables.h"
#include "analysis/reports/html_parts.h"
#include "analysis/row_facts.h"

namespace iotrace::page {

namespace {

// A bar of counts per op; none where no part is known or all are 0.
void add_per_op(Bars& bars, const Row& row, std::initializer_list<std::optional<Count>> counts,
                std::string_view of) {
  const double ops = ops_of(row.traced);
  Count sum = 0;
  for (const auto& count : counts) sum += count.value_or(0);
  if (ops <= 0 || sum == 0) return;
  bars.start_line(row_label(row));
  for (const auto& count : counts)
    if (count)
      bars.add(static_cast<double>(*count) / ops,
               fmt::format("{} per op ({} {})", three_digits(static_cast<double>(*count) / ops), *count, of));
    else
      bars.add(nullptr, std::string(kNotAvailable));
}

std::string count_cell(const std::optional<Count>& count) {
  return count ? std::to_string(*count) : std::string(kNotAvailable);
}

std::string bytes_cell(const std::optional<Count>& bytes) {
  return bytes ? human_bytes(static_cast<double>(*bytes)) : std::string(kNotAvailable);
}

}

std::vector<Json> hint_blocks(const RunRecord& record, const RowGroup& group) {
  auto card = wording::hint_card(record, group);
  if (!card) return {};
  Bars fates("pages per op",
             {{"in time", 2}, {"late", 5}, {"needless", 6}, {"useless", 1}, {"cut short", 3}});
  Bars calls("calls per op", {{"accepted", 2}, {"rejected", 1}, {"held back", 7}});
  for (std::uint32_t index : wording::rows_in_detail(record, group)) {
    const Row& row = record.rows[index];
    if (!row.hints) continue;
    const Hints& hints = *row.hints;
    add_per_op(fates, row,
               {hints.in_time_pages, hints.late_pages, hints.needless_pages, hints.useless_pages,
                hints.truncated_pages},
               "pages");
    std::optional<Count> accepted;
    if (hints.issued && hints.rejected && *hints.issued >= *hints.rejected)
      accepted = *hints.issued - *hints.rejected;
    add_per_op(calls, row, {accepted, hints.rejected, hints.suppressed}, "calls");
  }
  std::vector<Json> blocks;
  Json fate_plot = fates.empty() ? Json(nullptr) : std::move(fates).plot();
  blocks.push_back(
      block("Report card of the hints",
            "pages that were hinted: in time, still in flight when touched (late), already there "
            "(needless), never touched (useless), or left out by the kernel (cut short)",
            std::move(fate_plot), {table_of(*card)}, card->sentences));
  if (!calls.empty())
    blocks.push_back(
        block("Hint calls", "held back: by the strategy's own rule", std::move(calls).plot(), {}));
  return blocks;
}

std::vector<Json> page_blocks(const RunRecord& record, const RowGroup& group) {
  Bars pages("pages per op", {{"used", 2}, {"never used", 1}});
  Bars amplification("device bytes / bytes asked for", {{"amplification", 0}}, true);
  Json numbers = table(
      fmt::format("Counters of {}", wording::counted_over(record, wording::rows_in_detail(record, group))), 2,
      {"strategy", "threads", "asked for", "from the device", "amplification", "pages added", "by fault",
       "by readahead", "by hint", "by read", "by other", "used", "never used", "evicted", "refaults"});
  for (std::uint32_t index : wording::rows_in_detail(record, group)) {
    const Row& row = record.rows[index];
    const PageCache cache = row.page_cache.value_or(PageCache{});
    if (row.page_cache) add_per_op(pages, row, {cache.used_pages, cache.wasted_pages}, "pages");
    // A logarithmic axis has no 0: nothing came from the device.
    if (row.amplification_ratio && *row.amplification_ratio > 0) {
      amplification.start_line(row_label(row));
      amplification.add(*row.amplification_ratio,
                        fmt::format("{}: {} for {}", three_digits(*row.amplification_ratio),
                                    bytes_cell(row.device_bytes),
                                    human_bytes(static_cast<double>(row.requested_bytes))));
    }
    add_line(numbers,
             {wording::row_name(row), threads_name(row.threads) + (row.drifted ? " (drifted)" : ""),
              human_bytes(static_cast<double>(row.requested_bytes)), bytes_cell(row.device_bytes),
              row.amplification_ratio ? three_digits(*row.amplification_ratio) : std::string(kNotAvailable),
              count_cell(cache.added_pages), count_cell(cache.by.fault), count_cell(cache.by.readahead),
              count_cell(cache.by.hint), count_cell(cache.by.read), count_cell(cache.by.other),
              count_cell(cache.used_pages), count_cell(cache.wasted_pages), count_cell(cache.evicted_pages),
              count_cell(cache.refault_pages)});
  }
  std::vector<Json> blocks;
  if (!amplification.empty())
    blocks.push_back(block("Amplification", "what the device delivered for each byte that was asked for",
                           std::move(amplification).plot(), {}));
  if (!pages.empty())
    blocks.push_back(block("Pages brought into the cache", "used before they left it, or never",
                           std::move(pages).plot(), {}));
  if (!numbers["lines"].empty()) {
    if (blocks.empty()) blocks.push_back(block("Pages and bytes", "", nullptr, {}));
    blocks.back()["tables"].push_back(std::move(numbers));
  }
  return blocks;
}

}
