#pragma once
// Brings the page cache into the state that a case asks for, and proves it.

#include <map>
#include <optional>

#include "analysis/result.h"
#include "analysis/run_record.h"
#include "userspace/cases/case.h"
#include "userspace/memory/cgroup.h"
#include "userspace/memory/limited_fill.h"
#include "userspace/memory/residency.h"
#include "userspace/probes/probe_set.h"

namespace iotrace {

class CachePreparer {
public:
  //   file_fd  the controller's own descriptor of the file
  //   probes   for the census of folio orders; null: none is taken
  CachePreparer(int file_fd, ProbeSet* probes) : file_fd_(file_fd), probes_(probes) {}

  // Evicts or fills as the case asks. A file that this run has filled already and that is still resident is
  // left as it is, so that every strategy meets the same folios.
  //   errors   failed: the state that could not be reached, with the residency found and its likely reason
  Result<Residency> prepare(const Case& cache_case);

  // The limit under which workers read the file in themselves, from now on.
  //   group  null: there is none, the limit is made by pinning memory
  void limited_by(std::optional<std::uint64_t> limit_bytes, const MemoryCgroup* group);
  // Once a worker has read the whole file in under that limit: proves what the limit leaves of it.
  Result<Residency> prove_filled(const Case& cache_case) const;

  // Residency as it is now, or nullopt where this user may not know (not owner, not root).
  std::optional<double> residency_ratio() const;

  // Orders of the folios that the last fill left; nullopt without a fill or without probes.
  const std::optional<std::map<std::uint32_t, Count>>& folio_orders() const { return folio_orders_; }

private:
  Status fill_in_the_fixed_way();
  Result<Residency> prepare_for_worker(const Case& cache_case);

  int file_fd_;
  ProbeSet* probes_;
  bool filled_ = false;
  std::optional<std::uint64_t> limit_bytes_;
  const MemoryCgroup* group_ = nullptr;
  std::optional<std::map<std::uint32_t, Count>> folio_orders_;
};

}
