#pragma once
// How rules judge an attach record: by file, or by the totals as if they were a row.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "analysis/attach_facts.h"
#include "analysis/run_record.h"

namespace iotrace {

using FileIndexes = std::vector<std::uint32_t>;

// A rule of rows, over all targets together; what it finds is of no file alone.
template<std::vector<Finding> (*judge_rows)(const RunRecord&)>
std::vector<Finding> over_totals(const RunRecord& record) {
  std::vector<Finding> findings = judge_rows(totals_as_row(record));
  for (Finding& finding : findings) finding.rows.clear();
  return findings;
}

// Indexes ascending.
FileIndexes files_that(const RunRecord& record, const std::function<bool(const AttachedFile&)>& hold);

// Those files in groups of one extension, in order of appearance; files without an extension share none.
std::vector<FileIndexes> by_extension(const RunRecord& record, const FileIndexes& files);

// "/data/index/_0.fdt", "…/_0.fdt, …/_1.fdt and 5 more"
//   files  [n >= 1]
std::string name_files(const RunRecord& record, const FileIndexes& files);

// What was judged of all targets, with the files that it is about: "…; on /data/index/_0.fdt."
std::vector<Finding> on_files(std::vector<Finding> findings, const RunRecord& record,
                              const FileIndexes& files);

// Their sum.
AttachedFile sum_of(const RunRecord& record, const FileIndexes& files);

}
