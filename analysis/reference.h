#pragma once
// Published results that come with iotrace (analysis/reference/*.json, each with its source), to set one's
// own rows beside them. Only ratios within a table carry over: absolute numbers of two machines mean nothing.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/result.h"
#include "analysis/run_record.h"

namespace iotrace {

struct PublishedRow {
  std::string case_name, pattern, strategy;
  std::string published_as;  // the name it has in the source
  std::uint32_t threads = 1;
  std::uint64_t read_size_bytes = 0;
  std::uint32_t reads_per_op = 1;
  std::optional<double> cold_pct;
  double write_pct = 0;
  double speed = 0;  // in the source's own unit, more is faster
};

// One platform of one publication.
struct Publication {
  std::string name, source, date, harness, note;
  std::string platform;
  std::string platform_facts;  // "16 CPUs, 32 GiB, local NVMe SSD"
  std::vector<PublishedRow> rows;
};

// "lucene-16279:c6id": a publication, and a part of the name of one of its platforms; the first of them
// without.
//   errors  usage: no such publication or platform, or several platforms of that name
Result<Publication> publication(std::string_view word);

// "lucene-16279", …
std::vector<std::string> publication_names();

// Own rows that the publication has too, each beside what was published.
struct BesidePublished {
  std::uint32_t row = 0;  // index into RunRecord::rows
  std::string baseline;   // the strategy that both are divided by
  Estimate ours;          // throughput / that of the baseline in the same cell of this record
  double published = 0;   // the same of the publication
  std::string published_as;
};

// Every comparable row but the baselines themselves: baseline is pread, else mmap, whichever both tables have
// in that cell. Rows with an error and drifted rows are left out, as are cells without a baseline.
std::vector<BesidePublished> beside(const RunRecord& record, const Publication& publication);

}
