#pragma once
// The same reads again by fio (--fio), where fio has the strategy: a second opinion on every row.

#include <optional>
#include <string>
#include <vector>

#include "analysis/run_record.h"
#include "userspace/controller/plan.h"
#include "userspace/controller/repetition.h"

namespace iotrace {

// fio's path, looked for along $PATH; nullopt: not installed.
std::optional<std::string> find_fio();

// Its arguments for a row's reads; nullopt: fio has no such strategy, pattern or pace. fio's offsets are
// multiples of 512 bytes at least, where ours may be any byte, and its runtime is whole seconds; a cold job
// also ends once it has asked for half of the file.
//   file_path  as the job's user may open it
std::optional<std::vector<std::string>> fio_arguments(const PlannedRow& row, const Options& options,
                                                      std::uint64_t file_size_bytes,
                                                      const std::string& file_path);

// One job in the state that the row's case asks for, as the worker's user, within the worker's limit.
//   returns  without the ratio, which is the summary's
//   errors   failed: what fio printed; the state could not be reached
Result<FioPeer> run_fio(const std::string& fio, const RunContext& run, const PlannedRow& row,
                        const MemoryCgroup* cgroup);

}
