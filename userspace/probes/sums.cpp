#include "userspace/probes/sums.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <functional>
#include <tuple>

#include <bpf/bpf.h>
#include <fmt/format.h>

namespace iotrace {

namespace {

// One entry of a per-CPU map: a value for each possible CPU. All our values are multiples of 8 bytes, as the
// kernel lays them out.
template<typename T> class PerCpu {
public:
  PerCpu() : values_(static_cast<std::size_t>(std::max(1, libbpf_num_possible_cpus()))) {
    static_assert(sizeof(T) % 8 == 0);
  }

  template<typename Key> Status read(bpf_map* map, const Key& key) {
    int error = bpf_map_lookup_elem(bpf_map__fd(map), &key, values_.data());
    return error == 0 ? Status() : map_error("read", map, -error);
  }

  template<typename Key> Status clear(bpf_map* map, const Key& key) {
    std::memset(static_cast<void*>(values_.data()), 0, values_.size() * sizeof(T));
    int error = bpf_map_update_elem(bpf_map__fd(map), &key, values_.data(), BPF_ANY);
    return error == 0 ? Status() : map_error("clear", map, -error);
  }

  auto begin() const { return values_.begin(); }
  auto end() const { return values_.end(); }

private:
  static Error map_error(std::string_view attempt, bpf_map* map, int error) {
    return errno_error(fmt::format("{} BPF map {}", attempt, bpf_map__name(map)), error);
  }

  std::vector<T> values_;
};

// A struct of nothing but 64-bit counters.
template<typename T> void add_counters(T& sum, const T& more) {
  static_assert(sizeof(T) % sizeof(__u64) == 0 && alignof(T) == alignof(__u64));
  auto* to = reinterpret_cast<__u64*>(&sum);
  auto* from = reinterpret_cast<const __u64*>(&more);
  for (std::size_t i = 0; i < sizeof(T) / sizeof(__u64); ++i) to[i] += from[i];
}

void add_histogram(Histogram& sum, const histogram& more) {
  std::array<std::uint64_t, histogram_bins(kKernelSubBits)> bins;
  std::copy_n(more.bins, bins.size(), bins.begin());
  sum.add_bins(bins, more.sum, ~more.inverted_min, more.max);
}
static_assert(HISTOGRAM_SUB_BITS == kKernelSubBits && histogram_bins(kKernelSubBits) <= HISTOGRAM_BINS);

void add_long_faults(Sums& sums, const long_faults& kept) {
  for (const long_fault& fault : kept.entries)
    if (fault.ns != 0) sums.long_faults.push_back(fault);
  std::ranges::sort(sums.long_faults, std::greater(), &long_fault::ns);
  sums.most_blocked = std::max(sums.most_blocked, kept.most_blocked);
}

auto order_of(const CallResult& result) {
  return std::tuple(result.key.call, result.key.advice, result.key.error);
}

template<typename Key> std::vector<Key> keys_of(bpf_map* map) {
  std::vector<Key> keys;
  Key key{};
  const void* previous = nullptr;
  while (bpf_map_get_next_key(bpf_map__fd(map), previous, &key) == 0) {
    keys.push_back(key);
    previous = &keys.back();
  }
  return keys;
}

// Requests that were in flight when the last window's programs were detached.
Status clear_requests(const BpfObject& object) {
  bpf_map* requests = object.map("requests");
  for (__u64 address : keys_of<__u64>(requests)) bpf_map_delete_elem(bpf_map__fd(requests), &address);
  __u32 index = 0;
  __u64 none = 0;
  int error = bpf_map_update_elem(bpf_map__fd(object.map("request_depth")), &index, &none, BPF_ANY);
  return error == 0 ? Status() : errno_error("clear BPF map request_depth", -error);
}

}

Result<counters> read_counters(const BpfObject& object) {
  PerCpu<cpu_counters> cpus;
  if (Status read = cpus.read(object.map("counters"), __u32{0}); !read) return read.error();
  counters sum{};
  for (const cpu_counters& cpu : cpus) add_counters(sum, cpu.sums);
  sum.readahead.mmap_miss_max = 0;
  for (const cpu_counters& cpu : cpus)
    sum.readahead.mmap_miss_max = std::max(sum.readahead.mmap_miss_max, cpu.sums.readahead.mmap_miss_max);
  return sum;
}

Result<Sums> read_sums(const BpfObject& object) {
  Sums sums;
  PerCpu<cpu_counters> totals;
  if (Status read = totals.read(object.map("counters"), __u32{0}); !read) return read.error();
  for (const cpu_counters& cpu : totals) {
    add_counters(sums.totals, cpu.sums);
    add_long_faults(sums, cpu.longest);
  }

  PerCpu<histogram> cpus;
  for (__u32 index = 0; index < HISTOGRAMS; ++index) {
    if (Status read = cpus.read(object.map("histograms"), index); !read) return read.error();
    Histogram& sum = sums.histograms.emplace_back(kKernelSubBits);
    for (const histogram& cpu : cpus) add_histogram(sum, cpu);
  }

  PerCpu<result_count> counts;
  bpf_map* results = object.map("call_results");
  for (const result_key& key : keys_of<result_key>(results)) {
    if (Status read = counts.read(results, key); !read) return read.error();
    CallResult& sum = sums.results.emplace_back(CallResult{key, {}});
    for (const result_count& cpu : counts) add_counters(sum.count, cpu);
  }
  std::ranges::sort(sums.results, {}, order_of);

  bpf_map* holders = object.map("lock_holders");
  for (const holder_key& key : keys_of<holder_key>(holders)) {
    __u64 times = 0;
    if (bpf_map_lookup_elem(bpf_map__fd(holders), &key, &times) == 0) sums.holders.push_back({key, times});
  }
  Result<JudgedPages> judged = judge_ledger(object, sums.totals.pages);
  if (!judged) return judged.error();
  sums.pages = *judged;
  return sums;
}

Result<std::vector<__u64>> read_folio_orders(const BpfObject& object) {
  PerCpu<__u64> cpus;
  std::vector<__u64> folios(FOLIO_ORDERS, 0);
  for (__u32 order = 0; order < FOLIO_ORDERS; ++order) {
    if (Status read = cpus.read(object.map("folio_orders"), order); !read) return read.error();
    for (__u64 cpu : cpus) folios[order] += cpu;
  }
  return folios;
}

Status clear_sums(const BpfObject& object) {
  PerCpu<cpu_counters> totals;
  if (Status cleared = totals.clear(object.map("counters"), __u32{0}); !cleared) return cleared;
  PerCpu<histogram> histograms;
  for (__u32 index = 0; index < HISTOGRAMS; ++index)
    if (Status cleared = histograms.clear(object.map("histograms"), index); !cleared) return cleared;
  bpf_map* results = object.map("call_results");
  for (const result_key& key : keys_of<result_key>(results)) bpf_map_delete_elem(bpf_map__fd(results), &key);
  bpf_map* holders = object.map("lock_holders");
  for (const holder_key& key : keys_of<holder_key>(holders)) bpf_map_delete_elem(bpf_map__fd(holders), &key);
  if (Status cleared = clear_requests(object); !cleared) return cleared;
  return clear_ledger(object);
}

Status clear_folio_orders(const BpfObject& object) {
  PerCpu<__u64> orders;
  for (__u32 order = 0; order < FOLIO_ORDERS; ++order)
    if (Status cleared = orders.clear(object.map("folio_orders"), order); !cleared) return cleared;
  return {};
}

}
