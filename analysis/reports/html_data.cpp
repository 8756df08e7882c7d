// The page as a whole: findings first, then a section for each group of rows, the host and the settings last.

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "analysis/attach_facts.h"
#include "analysis/format.h"
#include "analysis/reports/detail_tables.h"
#include "analysis/reports/html_parts.h"
#include "analysis/text.h"

namespace iotrace::page {

namespace {

Json link_to(const RunRecord& record, std::uint32_t index) {
  if (of_attach(record))
    return {{"text", shortened_path(printable(record.files[index].path), 40)}, {"target", file_id(index)}};
  const Row& row = record.rows[index];
  return {{"text", fmt::format("{} {}", printable(row.case_name), row_label(row))},
          {"target", row_id(index)}};
}

Json findings_of(const RunRecord& record) {
  Json findings = Json::array();
  const std::size_t things = of_attach(record) ? record.files.size() : record.rows.size();
  for (const Finding& finding : record.findings) {
    Json links = Json::array();
    for (std::uint32_t index : finding.rows)
      if (index < things) links.push_back(link_to(record, index));
    findings.push_back({{"severity", printable(finding.severity)},
                        {"id", printable(finding.id)},
                        {"text", printable(finding.text)},
                        {"remedy", printable(finding.remedy)},
                        {"source", printable(finding.source)},
                        {"links", std::move(links)}});
  }
  return findings;
}

std::string joined(const std::vector<std::string>& facts) {
  return fmt::format("{}", fmt::join(facts, ", "));
}

std::vector<std::string> missing_in_rows(const RunRecord& record) {
  std::map<std::string, std::set<std::string>> keys_by_reason;
  for (const Row& row : record.rows)
    if (!row.control)
      for (const auto& [key, reason] : row.unavailable) keys_by_reason[reason].insert(key);
  std::vector<std::string> out;
  for (const auto& [reason, keys] : keys_by_reason)
    out.push_back(printable(fmt::format("{}: {}", fmt::join(keys, ", "), reason)));
  return out;
}

Json facts_of(const RunRecord& record) {
  Json facts = table("", 1, {"", ""});
  auto add = [&](std::string name, std::string text) {
    if (!text.empty()) add_line(facts, {std::move(name), std::move(text)});
  };
  const bool attach = of_attach(record);
  add("iotrace", printable(fmt::format("{} {}, {}", record.iotrace, record.command, record.started)) +
                     (attach ? "" : fmt::format(", seed {}", record.seed)));
  add("host", joined(wording::host_facts(record.host)));
  if (attach) {
    add("watched", joined(wording::watch_facts(record)));
    add("cost", wording::cost_words(record));
    if (record.target)
      for (const std::string& note : record.target->notes) add("note", printable(note));
    add("probes", joined(wording::probe_facts(totals_as_row(record))));
    for (const std::string& words : wording::loss_words(record)) add("lost", words);
    for (const std::string& words : wording::unavailable_words(record)) add("not available", words);
    return facts;
  }
  add("file", joined(wording::file_facts(record.file)));
  add("plan", joined(wording::plan_facts(record.options)));
  add("device past the cache", joined(wording::ceiling_facts(record)));
  for (const RowGroup& group : row_groups(record))
    add(wording::group_title(record, group), wording::residency_words(record, group));
  add("probes", joined(wording::probe_facts(record)));
  add("dear probes", wording::dear_pass_words(record));
  for (std::string& words : missing_in_rows(record)) add("not available", std::move(words));
  return facts;
}

// Each table folded, with what belongs to it.
std::vector<Json> detail_blocks(const RunRecord& record, const RowGroup& group) {
  std::vector<Json> tables;
  for (const wording::ResponseTable& content : wording::detail_tables(record, group)) {
    tables.push_back(table_of(content));
    tables.back()["sentences"] = content.sentences;
  }
  if (tables.empty()) return {};
  return {block("Details", "", nullptr, std::move(tables))};
}

void add_section(Json& sections, std::string title, const wording::ResponseTable& content) {
  sections.push_back(
      {{"id", fmt::format("section-{}", sections.size())},
       {"title", std::move(title)},
       {"note", ""},
       {"blocks", {block(content.heading, "", nullptr, {table_of(content)}, content.sentences)}}});
}

}

Json run_sections(const RunRecord& record, const ReportOptions& options) {
  Json sections = Json::array();
  for (const RowGroup& group : row_groups(record)) {
    std::vector<Json> blocks{throughput_block(record, group)};
    for (auto of_subject : {latency_blocks, time_blocks, hint_blocks, page_blocks, detail_blocks})
      for (Json& one : of_subject(record, group)) blocks.push_back(std::move(one));
    sections.push_back({{"id", fmt::format("section-{}", sections.size())},
                        {"title", wording::group_title(record, group)},
                        {"note", wording::residency_words(record, group)},
                        {"blocks", std::move(blocks)}});
  }
  if (auto sweep = wording::sweep_table(record)) add_section(sections, "Memory sweep", *sweep);
  if (options.reference)
    add_section(sections, "Beside published results", wording::published_table(record, *options.reference));
  return sections;
}

Json page_data(const RunRecord& record, const ReportOptions& options) {
  const bool attach = of_attach(record);
  Json notes = Json::array();
  if (record.partial) notes.push_back("Partial: ended before its time; this is what there was by then.");
  if (!attach && record.rows.empty()) notes.push_back("Nothing was measured.");
  const std::string what =
      attach ? joined(wording::watch_facts(record)) : joined(wording::file_facts(record.file));
  return {{"title", fmt::format("iotrace {}", attach ? "attach" : "run")},
          {"subtitle", what},
          {"host", joined(wording::host_facts(record.host))},
          {"notes", std::move(notes)},
          {"findings", findings_of(record)},
          {"sections", attach ? attach_sections(record, options) : run_sections(record, options)},
          {"facts", facts_of(record)}};
}

}
