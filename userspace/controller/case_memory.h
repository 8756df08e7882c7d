#pragma once
// The worker's memory limit while one case, or one step of a memory sweep, is measured.

#include <cstdint>
#include <optional>
#include <string>

#include "userspace/controller/plan.h"
#include "userspace/controller/repetition.h"
#include "userspace/memory/cgroup.h"
#include "userspace/memory/ramhog.h"

namespace iotrace {

// The limit that the row asks for; nullopt: none.
//   errors  failed: there is a limit, but this file or this machine is too small or too large for it
Result<std::optional<std::uint64_t>> memory_limit(const PlannedRow& row, const Options& options,
                                                  std::uint64_t file_bytes, std::uint64_t host_bytes);

// Made when the first repetition of such rows comes, gone with the next ones: a cgroup, or memory pinned
// where that was asked for or where a case that is nothing without its limit can't have a cgroup.
class CaseMemory {
public:
  CaseMemory(const PlannedRow& row, const RunContext& run);
  ~CaseMemory();
  CaseMemory(const CaseMemory&) = delete;

  bool is_for(const PlannedRow& row) const;
  // nullopt: none was asked for, or none could be had and the case does without.
  std::optional<std::uint64_t> limit_bytes() const;
  const MemoryCgroup* group() const { return group_ ? &*group_ : nullptr; }
  // Why there is no cgroup although there is a limit; empty otherwise.
  const std::string& reason() const { return reason_; }
  // Why these rows can't be measured at all.
  const std::optional<std::string>& failure() const { return failure_; }

private:
  void limit_by_group();
  void limit_by_pinning();

  const Case* case_;
  std::optional<double> step_;  // of the memory sweep
  const RunContext& run_;
  std::optional<std::uint64_t> limit_bytes_;
  std::optional<MemoryCgroup> group_;
  std::optional<Ramhog> pinned_;
  std::string reason_;
  std::optional<std::string> failure_;
};

}
