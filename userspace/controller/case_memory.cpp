#include "userspace/controller/case_memory.h"

#include <algorithm>

#include <fmt/format.h>

#include "analysis/format.h"
#include "userspace/controller/interrupt.h"
#include "userspace/memory/host_share.h"

namespace iotrace {

namespace {

std::string size(std::uint64_t bytes) {
  return human_bytes(static_cast<double>(bytes));
}

// A case that is nothing without its limit.
bool lives_by_limit(const Case& cache_case) {
  return cache_case.start == Case::Start::kFilledInside;
}

}

Result<std::optional<std::uint64_t>> memory_limit(const PlannedRow& row, const Options& options,
                                                  std::uint64_t file_bytes, std::uint64_t host_bytes) {
  if (options.memory_bytes) return options.memory_bytes;
  const std::optional<double> part =
      row.cell.memory_of_file_ratio ? row.cell.memory_of_file_ratio : row.cache_case->memory_of_file;
  if (!part) return std::optional<std::uint64_t>();
  const auto limit = static_cast<std::uint64_t>(*part * static_cast<double>(file_bytes));
  if (!lives_by_limit(*row.cache_case))
    return std::optional(std::max<std::uint64_t>(limit, kLeastMemoryBytes));

  if (limit < kLeastMemoryBytes)
    return Error{fmt::format(
        "{} of the file are {}, less than the {} that a reader is given; use a file of at least {}",
        percent(*part), size(limit), size(kLeastMemoryBytes),
        size(static_cast<std::uint64_t>(static_cast<double>(kLeastMemoryBytes) / *part + 1)))};
  const std::string what = fmt::format("a limit of {}, {} of the file,", size(limit), percent(*part));
  if (Status enough = leaves_host_enough(what, limit, host_bytes); !enough)
    return Error{enough.error().message};
  return std::optional(limit);
}

CaseMemory::CaseMemory(const PlannedRow& row, const RunContext& run)
    : case_(row.cache_case), step_(row.cell.memory_of_file_ratio), run_(run) {
  auto host = host_memory();
  auto limit = memory_limit(row, run.options, run.file_size_bytes, host ? host->total_bytes : UINT64_MAX);
  if (!limit) {
    failure_ = limit.error().message;
    return;
  }
  limit_bytes_ = *limit;
  if (!limit_bytes_) return;
  if (run.options.ramhog)
    limit_by_pinning();
  else
    limit_by_group();
}

CaseMemory::~CaseMemory() {
  group_.reset();
  pinned_.reset();
  if (!run_.guardian) return;
  run_.guardian->clear_cgroup();
  run_.guardian->clear_ramhog();
}

bool CaseMemory::is_for(const PlannedRow& row) const {
  return case_ == row.cache_case && step_ == row.cell.memory_of_file_ratio;
}

std::optional<std::uint64_t> CaseMemory::limit_bytes() const {
  return group_ || pinned_ ? limit_bytes_ : std::nullopt;
}

void CaseMemory::limit_by_group() {
  auto group =
      MemoryCgroup::make(*limit_bytes_, [this](const std::string& path, const std::string& enabled_in) {
        if (run_.guardian) run_.guardian->guard_cgroup(path, enabled_in);
      });
  if (group) {
    group_.emplace(std::move(*group));
    return;
  }
  reason_ = group.error().message;
  if (lives_by_limit(*case_)) limit_by_pinning();
}

void CaseMemory::limit_by_pinning() {
  auto pin = [this]() -> Result<Ramhog> {
    auto host = host_memory();
    if (!host) return host.error();
    auto bytes = bytes_to_pin(*host, *limit_bytes_);
    if (!bytes) return bytes.error();
    return Ramhog::pin(
        *bytes, *limit_bytes_,
        [this](pid_t pid) {
          if (run_.guardian) run_.guardian->guard_ramhog(pid);
        },
        [] { return interrupted(); });
  };
  auto pinned = pin();
  if (!pinned) {
    failure_ = reason_.empty()
                   ? pinned.error().message
                   : fmt::format("{}; nor can memory be pinned instead: {}", reason_, pinned.error().message);
    return;
  }
  reason_ =
      fmt::format("{}{} of memory pinned, so that about {} were left to the page cache and everybody else",
                  reason_.empty() ? "no cgroup: " : reason_ + "; instead ", size(pinned->pinned_bytes()),
                  size(*limit_bytes_));
  pinned_.emplace(std::move(*pinned));
}

}
