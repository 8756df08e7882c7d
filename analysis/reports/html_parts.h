#pragma once
// The page's data: what the HTML report says, as JSON. analysis/reports/html/ draws it and works nothing out:
// each number, and each text that hovering shows, is made here by the functions that the other formats use.
//
//   page     {"title", "notes": [text], "findings": [finding], "sections": [section], "facts": [table]}
//   finding  {"severity", "id", "text", "remedy", "source", "links": [{"text", "target"}]}
//   section  {"id", "title", "note", "blocks": [block]}
//   block    {"title", "note", "plot": plot | null, "tables": [table], "sentences": [text]}
//   table    {"heading", "labels", "columns": [text], "lines": [{"id": text | null, "cells": [text]}],
//            "sentences": [text], where they belong to the table alone}
//   plot     {"kind": which file of analysis/reports/html/ draws it, …}: below, where each is made
//
// "style" is the number of a colour and a mark; "target" the id of a table's line. Text is made printable
// here; the page puts it in as text, never as HTML.

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "analysis/histogram.h"
#include "analysis/reports/report.h"
#include "analysis/reports/wording.h"
#include "analysis/reports/wording_attach.h"

namespace iotrace::page {

using Json = nlohmann::ordered_json;

// ---- pieces ----

Json table(std::string heading, std::size_t labels, std::vector<std::string> columns);
void add_line(Json& table, std::vector<std::string> cells, const std::string& id = {});
Json table_of(const wording::ResponseTable& content);
Json table_of(const wording::AttachTable& content);

Json block(std::string title, std::string note, Json plot, std::vector<Json> tables,
           std::vector<std::string> sentences = {});

// "row-3", of attach "file-3": ids of lines, which findings link to.
std::string row_id(std::uint32_t index);
std::string file_id(std::uint32_t index);

// "mmap T04", "mmap T04 (drifted)"
std::string row_label(const Row& row);

// The same for a strategy all over the page: its place in order of appearance.
std::size_t style_of(const RunRecord& record, const Row& row);

// ---- plots ----

// Distributions over each other, whatever the precision that each was kept in: shares of samples, a quarter
// of an octave a step. {"kind": "distribution", "views": [{"name", "series": [{"name", "style", "dashed",
// "steps": [[from, to, share], …], "labels": [text]}]}]}
class Distributions {
public:
  // Samples of one series in one view; an empty histogram adds nothing. Views are made as they are named.
  void add(const std::string& view, const std::string& name, std::size_t style, bool dashed,
           const Histogram& nanoseconds);
  bool empty() const { return views_.empty(); }
  Json plot() &&;

private:
  Json views_ = Json::array();
};

// A bar a line, of parts one after the other. {"kind": "bars", "unit", "log", "names": [text], "parts":
// [{"name", "style", "values": [number | [from, to] | null], "labels": [text]}]}
class Bars {
public:
  // log: a logarithmic axis, for one part only
  Bars(std::string unit, std::vector<std::pair<std::string, std::size_t>> parts, bool log = false);

  void start_line(std::string name) { plot_["names"].push_back(std::move(name)); }
  // The next part of the line: its value, null for none, and what hovering says of it.
  void add(Json value, std::string label);
  bool empty() const { return plot_["names"].empty(); }
  Json plot() && { return std::move(plot_); }

private:
  Json plot_;
  std::size_t next_ = 0;
};

// ---- blocks of a run, by subject; `rows` as in detail_tables.h ----

// {"kind": "intervals", "unit", "log", "x_title", "x": [text], "series": [{"name", "style", "dashed",
// "points": [{"value", "low", "high", "label", "target"} | null, …]}]}: a point for each x.
class Intervals {
public:
  explicit Intervals(std::string x_title, std::vector<std::string> x);
  // series  those of one name are one, with the first's style
  void add(const std::string& series, std::size_t style, bool dashed, std::size_t x, const Estimate& estimate,
           std::string label, std::string target);
  // null: there is no point
  Json plot() &&;

private:
  Json plot_;
  std::size_t places_;
  double least_ = 0, most_ = 0;
};

Json throughput_block(const RunRecord& record, const RowGroup& group);
std::vector<Json> latency_blocks(const RunRecord& record, const RowGroup& group);
std::vector<Json> time_blocks(const RunRecord& record, const RowGroup& group);
std::vector<Json> hint_blocks(const RunRecord& record, const RowGroup& group);
std::vector<Json> page_blocks(const RunRecord& record, const RowGroup& group);

// ---- blocks of an attach ----

std::vector<Json> timeline_blocks(const RunRecord& record);
std::vector<Json> file_blocks(const RunRecord& record, std::size_t top);
std::vector<Json> thread_blocks(const RunRecord& record, std::size_t top);

// ---- the whole ----

Json run_sections(const RunRecord& record, const ReportOptions& options);
Json attach_sections(const RunRecord& record, const ReportOptions& options);
Json page_data(const RunRecord& record, const ReportOptions& options);

// The page's text.
//   source  what all of it follows from: to be had from the page's foot
std::string whole_page(const Json& data, const Json& source);

}
