#pragma once
// From what the probes counted to what the record says of files and threads.

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/attach_record.h"
#include "userspace/attach/file_catalog.h"
#include "userspace/probes/watch_set.h"

namespace iotrace {

//   listed  what the iterators say of it; null: they have not met it
AttachedFile attached_file(const WatchedFile& watched, const CataloguedFile* listed,
                           std::uint64_t page_bytes);
// A file that is mapped or open, and of which nothing was seen.
AttachedFile quiet_file(const CataloguedFile& listed, std::uint64_t page_bytes);

//   now_ns  CLOCK_MONOTONIC
AttachedThread attached_thread(const WatchedThread& watched, std::uint64_t now_ns);

// Thread-seconds that were waited for the file.
double waited_s(const AttachedFile& file);
double waited_s(const AttachedThread& thread);

// What a probe that is off or was switched off would have counted is not known.
void leave_out_uncounted(AttachedFile& file, const Totals& totals);
void leave_out_uncounted(AttachedThread& thread, const Totals& totals);

// Most waiting first.
void sort_by_waiting(std::vector<AttachedFile>& files);
void sort_by_waiting(std::vector<AttachedThread>& threads);

}
