#pragma once
// The page ledger of bpf/page_ledger.bpf.h as user space handles it: sized before loading, judged at the end
// of a window, cleared before the next. Only the chunks that a window used are ever read or written.

#include <array>
#include <string>

#include "analysis/result.h"
#include "analysis/run_record.h"
#include "bpf/contract.h"
#include "userspace/probes/bpf_object.h"

namespace iotrace {

// How much of a file its ledger covers: all of it up to 16 Mi pages, 64 GiB of pages of 4 KiB, for which the
// ledger takes 80 MiB of kernel memory.
struct LedgerSize {
  __u32 chunks = 1;
  // What the user should know of it; "" where the file is covered.
  std::string note;
};
LedgerSize ledger_size(std::uint64_t file_bytes, std::uint64_t page_bytes);
// The same for an open file.
LedgerSize ledger_size(int file_fd);

// Lives that began in the window, by who brought the page.
struct JudgedPages {
  std::array<Count, PAGE_SOURCES> used{}, wasted{};
};
// Adds to the lives that ended in the window those still under way, by their marks, and the marks that came
// late. Reads 20 KiB per used chunk.
Result<JudgedPages> judge_ledger(const BpfObject& object, const page_counters& ended);

// Forgets all lives.
Status clear_ledger(const BpfObject& object);
// Forgets all marks: needed only when a mark's value comes again.
Status clear_marks(const BpfObject& object);

}
