// For a pull request: the tables that decide it, the findings, and behind a fold everything that is needed to
// measure it again. GitHub-flavoured.

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "analysis/attach_facts.h"
#include "analysis/format.h"
#include "analysis/reports/attach_report.h"
#include "analysis/reports/detail_tables.h"
#include "analysis/reports/markdown_text.h"
#include "analysis/reports/report.h"
#include "analysis/reports/wording.h"
#include "analysis/row_facts.h"

namespace iotrace {

namespace {

using namespace wording;

std::string paragraph(std::string_view text) {
  return std::string(text) + "\n\n";
}

std::string list_item(std::string_view text) {
  return fmt::format("- {}\n", text);
}

// ---- who is fastest ----

std::string throughput_cell(const Row& row, const Samples& samples, char mark) {
  std::string text = markdown_text(throughput_text(row, samples));
  if (mark == '*') return "**" + text + "**";
  return mark == '~' ? text + " ~" : text;
}

std::string throughput_section(const RunRecord& record, const RowGroup& group) {
  Samples samples = samples_of(record, group);
  std::vector<std::string> headings{"strategy"};
  for (const Ranking& ranking : group.rankings) headings.push_back(threads_name(ranking.threads));
  MarkdownTable table(headings, 1);

  auto marks = marks_of(group);
  std::vector<std::vector<std::string>> lines;
  for (std::uint32_t index : in_reading_order(record, group.rows)) {
    const Row& row = record.rows[index];
    std::string name = markdown_text(row_name(row));
    if (lines.empty() || lines.back().front() != name) {
      lines.emplace_back(headings.size());
      lines.back().front() = name;
    }
    auto column = std::ranges::find(group.rankings, row.threads, &Ranking::threads) - group.rankings.begin();
    auto mark = marks.find(index);
    lines.back()[static_cast<std::size_t>(column) + 1] =
        throughput_cell(row, samples, mark == marks.end() ? ' ' : mark->second);
  }
  for (auto& line : lines) table.add_row(std::move(line));

  std::uint32_t threads = group.rankings.back().threads;
  std::string out = paragraph(fmt::format("{}; more is better; {}: {}", markdown_text(samples.unit),
                                          threads_name(threads), counted(threads, "thread"))) +
                    table.render() + '\n';
  for (const std::string& sentence : throughput_sentences(record, group, "bold"))
    out += list_item(markdown_text(sentence));
  return out + '\n';
}

std::string section(ResponseTable times) {
  auto flat = [](std::string text) {
    std::ranges::replace(text, '\n', ' ');
    return markdown_text(text);
  };
  std::vector<std::string> headings;
  for (const std::string& column : times.columns) headings.push_back(flat(column));
  MarkdownTable table(headings, 1);
  for (auto& line : times.lines) {
    for (std::string& cell : line) cell = markdown_text(cell);
    table.add_row(std::move(line));
  }
  std::string out = paragraph(markdown_text(times.heading));
  if (!table.empty()) out += table.render() + '\n';
  for (const std::string& sentence : times.sentences) out += list_item(markdown_text(sentence));
  return out + '\n';
}

std::string response_section(const RunRecord& record, const RowGroup& group) {
  return section(response_table(record, group));
}

// ---- why ----

// Empty: none. kNotAvailable: not counted.
using Cell = std::string;

Cell known(const auto& number, auto text) {
  return number ? Cell(text(*number)) : Cell(kNotAvailable);
}

Cell share(double part, double whole) {
  return whole > 0 && part > 0 ? percent(part / whole) : "";
}

Cell rate(Count count, double ops) {
  return count > 0 && ops > 0 ? three_digits(static_cast<double>(count) / ops) : "";
}

Cell p99(const Histogram& latencies) {
  auto ns = latencies.percentile(0.99);
  return ns ? human_ns(static_cast<double>(*ns)) : "";
}

std::vector<Cell> why_cells(const Row& row) {
  const double ops = ops_of(row.traced), seconds = time_total(row);
  const PageCache pages = row.page_cache.value_or(PageCache{});
  const Faults faults = row.faults.value_or(Faults{});
  const TimeSplit time = row.time.value_or(TimeSplit{});
  const Measurement* speed = throughput_measurement(row);

  std::vector<Cell> cells{speed ? known(speed->bw_bytes, megabytes_per_s) : Cell(kNotAvailable),
                          known(row.amplification_ratio, three_digits)};
  auto add = [&](Cell cell) { cells.push_back(std::move(cell)); };
  add(known(willneed_calls(row), [](const HintCalls& hints) {
    auto issued = static_cast<double>(hints.issued);
    return hints.issued == 0 ? "" : percent(static_cast<double>(hints.accepted) / issued);
  }));
  add(known(pages.added_pages, [&](Count added) { return rate(added, ops); }));
  add(known(pages.wasted_pages, [&](Count wasted) {
    return share(static_cast<double>(wasted), static_cast<double>(pages.added_pages.value_or(0)));
  }));
  add(known(pages.refault_pages, [&](Count refaults) { return rate(refaults, ops); }));
  for (const auto* kind : {&faults.mapped, &faults.waited, &faults.read})
    add(known(*kind, [&](const FaultClass& of_kind) { return rate(of_kind.count, ops); }));
  for (const auto* kind : {&faults.waited, &faults.read})
    add(known(*kind, [](const FaultClass& of_kind) { return p99(of_kind.lat_ns); }));
  for (auto part : {time.running_s, time.fault_wait_s, time.read_wait_s, time.lock_wait_s, time.idle_s})
    add(known(part, [&](double part_s) { return share(part_s, seconds); }));
  add(known(speed ? speed->lat_ns.mean() : std::nullopt, human_ns));
  for (double q : {0.5, 0.99})
    add(known(speed ? speed->lat_ns.percentile(q) : std::nullopt,
              [](std::uint64_t ns) { return human_ns(static_cast<double>(ns)); }));
  add(known(row.ceiling_ratio, percent));
  add(known(row.fio, [](const FioPeer& fio) { return three_digits(fio.ratio); }));
  const auto& cost = row.observer_cost_ratio;
  add(cost && cost->median ? interval(*cost) : Cell(kNotAvailable));

  for (Cell& cell : cells) cell = markdown_text(cell);
  cells.insert(cells.begin(),
               {markdown_text(row_name(row)), threads_name(row.threads) + (row.drifted ? " (drifted)" : "")});
  return cells;
}

std::string why_section(const RunRecord& record, const RowGroup& group) {
  std::vector<std::uint32_t> shown;
  for (std::uint32_t index : in_reading_order(record, group.rows))
    if (!record.rows[index].error && !record.rows[index].control) shown.push_back(index);
  if (shown.empty()) return {};
  MarkdownTable table({"strategy",         "threads",        "MB/s",       "device bytes / asked",
                       "WILLNEED ok",      "pages added/op", "wasted",     "refaults/op",
                       "faults mapped/op", "waited/op",      "read/op",    "p99 waited",
                       "p99 read",         "time running",   "fault wait", "read wait",
                       "lock wait",        "idle",           "op mean",    "op p50",
                       "op p99",           "device/ceiling", "ours/fio",   "traced/untraced"},
                      1);
  for (std::uint32_t index : shown) table.add_row(why_cells(record.rows[index]));
  return paragraph(markdown_text(
             "Counters of " + counted_over(record, shown) + observer_samples(record, shown) +
             ". Empty: none; -: not available, for the reason under the fold. Columns without a "
             "number are left out.")) +
         table.render() + '\n';
}

std::string hint_section(const RunRecord& record, const RowGroup& group) {
  auto card = hint_card(record, group);
  return card ? section(std::move(*card)) : "";
}

std::string detail_section(const RunRecord& record, const RowGroup& group) {
  std::string out;
  for (ResponseTable& table : detail_tables(record, group)) out += section(std::move(table));
  return out.empty() ? "" : paragraph("<details><summary>Details</summary>") + out + paragraph("</details>");
}

// ---- settings ----

std::string joined(const std::vector<std::string>& facts) {
  return markdown_text(fmt::format("{}", fmt::join(facts, ", ")));
}

std::string settings(const RunRecord& record) {
  std::string out = "<details><summary>Host, file, settings, probes</summary>\n\n";
  out += list_item(markdown_text(fmt::format("iotrace {} {}, {}, seed {}", record.iotrace, record.command,
                                             record.started, record.seed)));
  out += list_item("host: " + joined(host_facts(record.host)));
  if (std::string emulated = emulation_note(record.host); !emulated.empty())
    out += list_item(markdown_text(emulated));
  out += list_item("file: " + joined(file_facts(record.file)));
  out += list_item("plan: " + joined(plan_facts(record.options)));
  if (auto ceiling = ceiling_facts(record); !ceiling.empty())
    out += list_item("the device past the cache (O_DIRECT, io_uring): " + joined(ceiling));
  for (const RowGroup& group : row_groups(record))
    out += list_item(markdown_text(group_title(record, group) + ": " + residency_words(record, group)));
  if (auto probes = probe_facts(record); !probes.empty()) out += list_item("probes: " + joined(probes));

  if (auto cost = dear_pass_words(record); !cost.empty()) out += list_item(markdown_text(cost));

  std::map<std::string, std::set<std::string>> unavailable;
  for (const Row& row : record.rows)
    if (!row.control)
      for (const auto& [key, reason] : row.unavailable) unavailable[reason].insert(key);
  for (const auto& [reason, keys] : unavailable)
    out += list_item(markdown_text(fmt::format("not available: {}: {}", fmt::join(keys, ", "), reason)));
  return out + "\n</details>\n";
}

std::string render_markdown(const RunRecord& record, const ReportOptions& options) {
  if (of_attach(record)) return render_markdown_attach(record, options);
  std::string out;
  if (record.partial)
    out += paragraph("**Partial: the run was interrupted; this is what it had measured by then.**");
  for (const RowGroup& group : row_groups(record))
    out +=
        paragraph("### " + markdown_text(group_title(record, group))) +
        (open_loop(record.rows[group.rows.front()]) ? response_section : throughput_section)(record, group) +
        why_section(record, group) + hint_section(record, group) +
        (options.details ? detail_section(record, group) : "");
  if (record.rows.empty()) out += paragraph("Nothing was measured.");
  if (auto sweep = sweep_table(record)) out += section(*sweep);
  if (options.reference) out += section(published_table(record, *options.reference));
  return out + markdown_findings(record) + settings(record);
}

}

extern const ReportFormat markdown_report;
const ReportFormat markdown_report{"markdown", "tables, findings and settings for a pull request",
                                   render_markdown, false, ".md"};

}
