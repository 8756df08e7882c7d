// One line a row (of attach: a file), for data frames and spreadsheets: the record's leaves under their JSON
// paths, so that names and units are those of the record. The columns are the same in every file of one
// version: what a row has not, or could not be had, is empty, never 0. Lists (repetitions, bins, system
// calls, probes) and reasons have no column; they are in the record.
//
//   source  RFC 4180, but for line ends of one character

#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "analysis/attach_facts.h"
#include "analysis/record_fields.h"
#include "analysis/reports/exposition.h"
#include "analysis/reports/report.h"

namespace iotrace {

namespace {

constexpr double kPercentiles[] = {50, 90, 99, 99.9};  // as in the record

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (char c : text) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + '"';
}

// Walks the fields of a struct (record_fields.h), and those of a default one where there is none: that way
// every line has every column.
class Columns {
public:
  void operator()(const char* key, const auto& member) { add(key, &member); }
  void may_lack(const char* key, const auto& member) { add(key, &member); }

  std::string names, cells;

private:
  template<typename T> void add(const std::string& key, const std::optional<T>* member) {
    add(key, member && *member ? &**member : nullptr);
  }
  template<typename T> void add(const std::string&, const std::vector<T>*) {}
  template<typename Key, typename T> void add(const std::string&, const std::map<Key, T>*) {}
  void add(const std::string& key, const std::string* text) { cell(key, text ? label_text(*text) : ""); }
  void add(const std::string& key, const Histogram* histogram) {
    const Histogram values = histogram ? *histogram : Histogram();
    auto of = [&](const char* leaf, const auto& value) { add(key + leaf, &value); };
    of(".min", values.min());
    of(".max", values.max());
    of(".mean", values.mean());
    of(".stddev", values.stddev());
    const std::uint64_t count = values.count();
    add(key + ".N", histogram ? &count : nullptr);
    for (double percent : kPercentiles)
      of(fmt::format(".percentile.{:.6f}", percent).c_str(), values.percentile(percent / 100));
  }
  template<typename T> void add(const std::string& key, const T* member) {
    if constexpr (std::is_arithmetic_v<T>) {
      cell(key, member ? fmt::format("{}", *member) : "");
    } else {
      const T none{};
      const std::string outer = std::exchange(prefix_, prefix_ + key + '.');
      const bool absent = std::exchange(absent_, absent_ || !member);
      fields(*this, member ? *member : none);
      prefix_ = outer;
      absent_ = absent;
    }
  }
  void cell(const std::string& key, const std::string& text) {
    const char* comma = names.empty() ? "" : ",";
    names += comma + quoted(prefix_ + key);
    cells += comma + (absent_ ? "" : quoted(text));
  }

  std::string prefix_;
  bool absent_ = false;  // the values of a struct that is not there
};

struct Table {
  std::string head, lines;

  void add(const RunRecord& record, std::size_t index, const auto& of_line) {
    Columns columns;
    columns("iotrace", record.iotrace);
    columns("started", record.started);
    columns("command", record.command);
    columns("seed", record.seed);
    columns("host", record.host);
    if constexpr (std::is_same_v<std::decay_t<decltype(of_line)>, Row>) columns("file", record.file);
    columns("index", index);
    fields(columns, of_line);
    head = columns.names;
    lines += columns.cells + '\n';
  }
};

std::string render_csv(const RunRecord& record, const ReportOptions&) {
  Table table;
  auto add_all = [&](const auto& things) {
    for (std::size_t i = 0; i < things.size(); ++i) table.add(record, i, things[i]);
    // A file without lines has its head all the same.
    if (things.empty()) {
      table.add(record, 0, typename std::decay_t<decltype(things)>::value_type{});
      table.lines.clear();
    }
  };
  if (of_attach(record))
    add_all(record.files);
  else
    add_all(record.rows);
  return table.head + '\n' + table.lines;
}

}

extern const ReportFormat csv_report;
const ReportFormat csv_report{"csv", "a line a row (attach: a file), for data frames and spreadsheets",
                              render_csv, false, ".csv"};

}
