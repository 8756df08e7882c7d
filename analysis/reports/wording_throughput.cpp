#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "analysis/format.h"
#include "analysis/reports/wording.h"
#include "analysis/row_facts.h"
#include "analysis/statistics.h"
#include "analysis/text.h"

namespace iotrace::wording {

namespace {

constexpr double kGiB = 1024.0 * 1024 * 1024;

std::set<std::uint32_t> sample_sizes(const RunRecord& record, const RowGroup& group) {
  std::set<std::uint32_t> sizes;
  for (std::uint32_t index : group.rows)
    if (const Measurement* m = throughput_measurement(record.rows[index]); m && !record.rows[index].error)
      sizes.insert(m->ops_per_ms.n);
  return sizes;
}

bool any_traced(const RunRecord& record, const RowGroup& group, bool traced) {
  return std::ranges::any_of(group.rows, [&](std::uint32_t index) {
    const Row& row = record.rows[index];
    const Measurement* m = throughput_measurement(row);
    return m && !row.error && (row.traced && m == &*row.traced) == traced;
  });
}

// A drifted row has no rank, but it is there: whoever is fastest is so among the others.
bool some_drifted(const RunRecord& record, const RowGroup& group, std::uint32_t threads) {
  return std::ranges::any_of(group.rows, [&](std::uint32_t index) {
    const Row& row = record.rows[index];
    return row.threads == threads && row.drifted && !row.error && !row.control;
  });
}

std::string ranking_sentence(const RunRecord& record, const RowGroup& group, const Ranking& ranking,
                             const std::string& fastest) {
  if (ranking.leader_against.empty()) return {};
  auto name = [&](std::uint32_t index) { return row_name(record.rows[index]); };
  if (ranking.proven()) {
    const PairVerdict& next = ranking.leader_against.front();
    return fmt::format("{}{} is fastest ({}), {} times {}, the next.",
                       some_drifted(record, group, ranking.threads) ? "of the rows that stayed cold, " : "",
                       name(next.row), fastest, interval(next.ratio), name(next.other));
  }
  bool too_few = false, out_of_reach = false;
  std::vector<std::string> alike{name(ranking.rows.front())};
  for (const PairVerdict& pair : ranking.leader_against) {
    if (pair.verdict == Verdict::kNoneProven) alike.push_back(name(pair.other));
    if (pair.verdict != Verdict::kCannotTell) continue;
    bool few = pair.ratio.n < kFewestSamplesForInterval;
    too_few |= few;
    out_of_reach |= !few;
  }
  if (too_few)
    return fmt::format("cannot tell which is fastest: that takes at least {} repetitions of each row.",
                       kFewestSamplesForInterval);
  if (out_of_reach)
    return fmt::format(
        "cannot tell which is fastest: with the {} of this table, nothing is provable below {} "
        "repetitions.",
        counted(group.comparisons, "comparison"), repetitions_needed(group.comparisons));
  return fmt::format("no fastest: no difference is proven between {} (~).", fmt::join(alike, ", "));
}

// Thread counts of which the same is to be said share a sentence.
void add_ranking(std::vector<std::string>& out, const RunRecord& record, const RowGroup& group,
                 const std::string& fastest) {
  std::vector<std::pair<std::string, std::string>> sentences;  // sentence, thread counts
  for (const Ranking& ranking : group.rankings) {
    std::string sentence = ranking_sentence(record, group, ranking, fastest);
    if (sentence.empty()) continue;
    auto same = std::ranges::find(sentences, sentence, &std::pair<std::string, std::string>::first);
    if (same == sentences.end()) same = sentences.insert(sentences.end(), {sentence, ""});
    same->second += (same->second.empty() ? "" : " ") + threads_name(ranking.threads);
  }
  for (const auto& [sentence, threads] : sentences) out.push_back(fmt::format("{}: {}", threads, sentence));
  if (!marks_of(group).empty())
    out.push_back(fmt::format("({} and ~: by Mann-Whitney at 5 %, Holm's correction over the table's {}.)",
                              fastest, counted(group.comparisons, "comparison")));
}

// The strategy that ran twice, against itself: what a reader may check the rest of the table by.
std::string against_itself_sentence(const RunRecord& record, const RowGroup& group) {
  std::vector<std::string> pairs;
  std::string strategy;
  for (std::uint32_t index : group.rows) {
    const Row& control = record.rows[index];
    if (!control.control || control.error || control.drifted) continue;
    auto original = row_beside(record, control, control.strategy);
    if (!original) continue;
    const auto a = throughputs(record.rows[*original]), b = throughputs(control);
    const Estimate ratio = ratio_interval(a, b);
    const auto p = mann_whitney_p(a, b);
    if (!ratio.low || !p) continue;
    strategy = control.strategy;
    pairs.push_back(fmt::format("{} {} ({}, p {:.2f})", threads_name(control.threads), interval(ratio),
                                *p <= kSignificance ? "differs" : "no difference proven", *p));
  }
  if (pairs.empty()) return {};
  return fmt::format("{} against itself, ratio: {}", strategy, fmt::join(pairs, ", "));
}

// Rows that ask for more than the device can deliver, and got less from it: the cache answered the rest.
std::string from_cache_sentence(const RunRecord& record, const RowGroup& group) {
  const std::optional<double> ceiling = bandwidth_ceiling(record);
  std::vector<std::uint32_t> rows;
  for (std::uint32_t index : group.rows) {
    const Row& row = record.rows[index];
    const Measurement* speed = throughput_measurement(row);
    if (!may_be_judged(row) || !ceiling || !speed || !speed->bw_bytes || !row.device_bytes) continue;
    if (*speed->bw_bytes > *ceiling && *row.device_bytes < row.requested_bytes) rows.push_back(index);
  }
  if (rows.empty()) return {};
  return fmt::format(
      "from the cache, not the device: {}: more per second than the {} MB/s that the device delivers",
      name_rows(record, rows), megabytes_per_s(*ceiling));
}

std::string noise_floor_sentence(const RunRecord& record, const RowGroup& group) {
  std::vector<std::string> floors;
  bool some_unknown = false;
  for (const Ranking& ranking : group.rankings) {
    floors.push_back(fmt::format("{} at {}",
                                 ranking.noise_floor_ratio ? percent(*ranking.noise_floor_ratio) : "unknown",
                                 threads_name(ranking.threads)));
    some_unknown |= !ranking.noise_floor_ratio;
  }
  auto control =
      std::ranges::find_if(group.rows, [&](std::uint32_t index) { return record.rows[index].control; });
  if (control == group.rows.end() && some_unknown) return "A/A noise floor: unknown, no strategy ran twice.";
  std::string pair =
      control == group.rows.end() ? "" : fmt::format(" ({} run twice)", record.rows[*control].strategy);
  return fmt::format("A/A noise floor{}: {}; no smaller difference is called faster.", pair,
                     fmt::join(floors, ", "));
}

std::string drift_sentence(const RunRecord& record, const RowGroup& group) {
  std::vector<std::uint32_t> drifted;
  std::optional<double> size;
  for (std::uint32_t index : group.rows) {
    const Row& row = record.rows[index];
    if (!row.drifted || row.error) continue;
    drifted.push_back(index);
    if (auto needed = size_that_stays_cold(record, row)) size = std::max(size.value_or(0), *needed);
  }
  if (drifted.empty()) return {};
  std::string remedy = "a larger file";
  if (size) {
    double gib = std::ceil(*size / kGiB);
    remedy = record.file.scratch ? fmt::format("--size {:.0f}G or more", gib)
                                 : fmt::format("a file of {:.0f} GiB or more", gib);
  }
  return fmt::format(
      "drifted: {}: the file did not stay cold, so that these mix device and cache: no rank, no "
      "ratio. Use {} (an estimate), or a shorter --duration.",
      name_rows(record, drifted), remedy);
}

// Rows that keep their rank, since most of their repetitions stayed cold.
// Rows whose rate still climbed or fell when their warm-up had to end, in half of their repetitions or more.
std::string unsettled_sentence(const RunRecord& record, const RowGroup& group) {
  std::vector<std::uint32_t> rows;
  for (std::uint32_t index : group.rows) {
    const Measurement* m = throughput_measurement(record.rows[index]);
    if (!m || m->reps.empty() || record.rows[index].error) continue;
    auto unsettled = std::ranges::count(m->reps, false, &Repetition::settled);
    if (2 * static_cast<std::size_t>(unsettled) >= m->reps.size()) rows.push_back(index);
  }
  if (rows.empty()) return {};
  return fmt::format(
      "never settled: {}: the rate still changed after ten times --warmup; it may not be the one "
      "that lasts",
      name_rows(record, rows));
}

std::string partly_drifted_sentence(const RunRecord& record, const RowGroup& group) {
  std::vector<std::string> rows;
  for (std::uint32_t index : in_reading_order(record, group.rows)) {
    const Row& row = record.rows[index];
    const Measurement* m = throughput_measurement(row);
    if (row.drifted || row.error || !m) continue;
    if (auto drifted = std::ranges::count_if(m->reps, &Repetition::drifted))
      rows.push_back(fmt::format("{} ({} of {})", name_rows(record, {index}), drifted, m->reps.size()));
  }
  if (rows.empty()) return {};
  return fmt::format("repetitions that drifted, fewer than half of their row and kept: {}",
                     fmt::join(rows, ", "));
}

void add_errors(std::vector<std::string>& out, const RunRecord& record, const RowGroup& group) {
  std::map<std::string, std::vector<std::uint32_t>> by_reason;
  for (std::uint32_t index : group.rows)
    if (record.rows[index].error) by_reason[*record.rows[index].error].push_back(index);
  for (const auto& [reason, rows] : by_reason)
    out.push_back(fmt::format("error: {}: {}", name_rows(record, rows), printable(reason)));
}

}

std::map<std::uint32_t, char> marks_of(const RowGroup& group) {
  std::map<std::uint32_t, char> marks;
  for (const Ranking& ranking : group.rankings) {
    if (ranking.proven()) marks[ranking.rows.front()] = '*';
    for (const PairVerdict& pair : ranking.leader_against)
      if (pair.verdict == Verdict::kNoneProven) marks[pair.row] = marks[pair.other] = '~';
  }
  return marks;
}

Samples samples_of(const RunRecord& record, const RowGroup& group) {
  auto sizes = sample_sizes(record, group);
  if (sizes.empty()) return {.unit = "ops/ms: no repetition finished"};
  std::string n = sizes.size() == 1 ? counted(*sizes.begin(), "repetition") : "n repetitions";
  bool with = any_traced(record, group, true), without = any_traced(record, group, false);
  std::string probes = with && without ? "without probes (p: with probes)"
                       : with          ? "with probes"
                                       : "without probes";
  bool intervals = std::ranges::any_of(sizes, [](auto size) { return size >= kFewestSamplesForInterval; });
  return {.unit = fmt::format("ops/ms, median{} of {} {}", intervals ? " [95 % interval]" : "", n, probes),
          .several_sizes = sizes.size() > 1,
          .mixed_probes = with && without};
}

std::string throughput_text(const Row& row, const Samples& samples) {
  if (row.error) return "error";
  if (row.drifted) return "drifted";
  const Measurement* m = throughput_measurement(row);
  if (!m) return std::string(kNotAvailable);
  std::string text = interval(m->ops_per_ms);
  if (samples.several_sizes) text += fmt::format(" n{}", m->ops_per_ms.n);
  if (samples.mixed_probes && row.traced && m == &*row.traced) text += " p";
  return text;
}

std::vector<std::string> state_sentences(const RunRecord& record, const RowGroup& group) {
  std::vector<std::string> out;
  for (std::string sentence : {drift_sentence(record, group), partly_drifted_sentence(record, group),
                               unsettled_sentence(record, group)})
    if (!sentence.empty()) out.push_back(std::move(sentence));
  add_errors(out, record, group);
  return out;
}

std::vector<std::string> throughput_sentences(const RunRecord& record, const RowGroup& group,
                                              const std::string& fastest) {
  std::vector<std::string> out;
  add_ranking(out, record, group, fastest);
  out.push_back(noise_floor_sentence(record, group));
  for (std::string sentence : {against_itself_sentence(record, group), from_cache_sentence(record, group)})
    if (!sentence.empty()) out.push_back(std::move(sentence));
  std::ranges::move(state_sentences(record, group), std::back_inserter(out));
  return out;
}

}
