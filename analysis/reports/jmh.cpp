// The table that JMH prints, for people who compare with one: mean and the 99.9 % error of the repetitions'
// throughput, a line a row. Rows that have none keep their line, with the reason.

#include <fmt/format.h>

#include "analysis/comparison.h"
#include "analysis/reports/report.h"
#include "analysis/reports/wording.h"
#include "analysis/table.h"

namespace iotrace {

namespace {

// Wide enough for every column: JMH's tables don't continue below.
constexpr std::size_t kWidth = 400;

std::string fixed(double value) {
  return fmt::format("{:.3f}", value);
}

std::string render_jmh(const RunRecord& record, const ReportOptions&) {
  Table table({{"Benchmark", false},
               {"(case)", false},
               {"(pattern)", false},
               {"(readSize)"},
               {"(readsPerOp)"},
               {"(threads)"},
               {"Mode"},
               {"Cnt"},
               {"Score"},
               {"", false},
               {"Error", false},
               {"Units", false}},
              1);
  for (const Row& row : record.rows) {
    std::vector<TableCell> cells{{wording::row_name(row)},
                                 {printable(row.case_name)},
                                 {printable(row.pattern)},
                                 {std::to_string(row.read_size_bytes)},
                                 {std::to_string(row.reads_per_op)},
                                 {std::to_string(row.threads)},
                                 {"thrpt"}};
    const std::vector<double> rates = throughputs(row);
    const bool scored = !row.error && !row.drifted && !rates.empty();
    const MeanError score = scored ? mean_error_999(rates).value_or(MeanError{}) : MeanError{};
    cells.emplace_back(std::to_string(rates.size()));
    cells.emplace_back(scored ? fixed(score.mean) : "NaN");
    cells.emplace_back(scored && score.error ? "±" : "");
    cells.emplace_back(scored && score.error ? fixed(*score.error) : "");
    cells.emplace_back(scored        ? "ops/ms"
                       : row.error   ? "ops/ms (error: " + printable(*row.error) + ")"
                       : row.drifted ? "ops/ms (drifted)"
                                     : "ops/ms");
    table.add_row(std::move(cells));
  }
  return table.render(kWidth, false);
}

}

extern const ReportFormat jmh_report;
const ReportFormat jmh_report{"jmh", "lines as JMH prints them: mean and 99.9 % error", render_jmh, true};

}
