#pragma once
// The BPF side's per-CPU counters, summed over CPUs and turned into the terms of the record.

#include <map>
#include <utility>
#include <vector>

#include "analysis/histogram.h"
#include "analysis/result.h"
#include "bpf/contract.h"
#include "userspace/probes/bpf_object.h"
#include "userspace/probes/page_ledger.h"

namespace iotrace {

struct CallResult {
  result_key key;
  result_count count;
};

// Who held mmap_lock when others wanted it.
struct HolderCount {
  holder_key who;
  __u64 times;
};

struct Sums {
  counters totals{};
  std::vector<long_fault> long_faults;  // of all CPUs, longest first
  __u64 most_blocked = 0;               // the largest of the CPUs'
  JudgedPages pages;
  std::vector<HolderCount> holders;
  std::vector<Histogram> histograms;  // [HISTOGRAMS], indexed as in bpf/contract.h
  std::vector<CallResult> results;    // by call, advice, errno
};

Result<Sums> read_sums(const BpfObject& object);
Result<counters> read_counters(const BpfObject& object);
// [FOLIO_ORDERS]
Result<std::vector<__u64>> read_folio_orders(const BpfObject& object);

// Sets all counters to zero.
Status clear_sums(const BpfObject& object);
Status clear_folio_orders(const BpfObject& object);

}
