#include <fmt/format.h>

#include "analysis/format.h"
#include "analysis/reports/wording.h"
#include "analysis/text.h"

namespace iotrace::wording {

ResponseTable published_table(const RunRecord& record, const Publication& publication) {
  ResponseTable table;
  table.heading =
      fmt::format("beside {}, {} ({}): throughput as a ratio to the row of the same table that the "
                  "last column names",
                  publication.name, publication.platform, publication.platform_facts);
  table.columns = {"strategy", "threads", "cell", "here", "published", "published as", "/"};
  for (const BesidePublished& pair : beside(record, publication)) {
    const Row& row = record.rows[pair.row];
    std::string cell = fmt::format("{} {} {}", printable(row.case_name), printable(row.pattern),
                                   human_bytes(static_cast<double>(row.read_size_bytes)));
    if (row.cell.cold_pct) cell += fmt::format(" {:g} % cold", *row.cell.cold_pct);
    table.lines.push_back({row_name(row), threads_name(row.threads), std::move(cell), interval(pair.ours),
                           three_digits(pair.published), pair.published_as, pair.baseline});
  }
  if (table.lines.empty())
    table.sentences.push_back(
        "nothing to compare: no row of this record, with pread or mmap beside it, is in that "
        "publication with the same case, pattern, sizes and threads.");
  table.sentences.push_back(
      fmt::format("source: {} ({}; {}). {}. Absolute numbers of two machines mean nothing.",
                  publication.source, publication.date, publication.harness, publication.note));
  return table;
}

}
