#pragma once
// What the formats for people say of an attach record, in the same words. Text from outside is made printable
// here; a format adds its own escapes.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/run_record.h"

namespace iotrace::wording {

// A table with what belongs to it. A blank cell: there was nothing to count; "-": not available.
struct AttachTable {
  std::string heading;
  std::size_t labels = 1;            // leading columns of text
  std::vector<std::string> columns;  // may have several lines
  std::vector<std::vector<std::string>> lines;
  std::vector<std::string> sentences;  // what was left out, what the columns mean

  bool empty() const { return lines.empty() && sentences.empty(); }
  void add(std::vector<std::string> cells) { lines.push_back(std::move(cells)); }
};

// ---- the head ----

// "java (4711) for 10.0 s, asked for by -p 4711, still there at the end"
std::vector<std::string> watch_facts(const RunRecord& record);

// What the observer cost; empty: not known.
std::string cost_words(const RunRecord& record);

// The sentence that replaces all tables where nobody waited; empty: somebody did.
std::string quiet_words(const RunRecord& record);

// ---- tables, each empty where it has nothing to say ----

// Files on which something happened, the `top` that waited most, a sum per extension, and what was left out.
std::vector<AttachTable> file_tables(const RunRecord& record, std::size_t top);
// Threads of one name but for its digits are one line.
AttachTable thread_table(const RunRecord& record, std::size_t top);
AttachTable long_fault_table(const RunRecord& record);
AttachTable lock_table(const RunRecord& record);
AttachTable call_table(const RunRecord& record);
AttachTable advice_table(const RunRecord& record);

// All of them that have something to say, in reading order.
std::vector<AttachTable> attach_tables(const RunRecord& record, std::size_t top);

// ---- the end ----

// Direct reclaim, swap-ins, threads in faults at once: one sentence each.
std::vector<std::string> memory_words(const RunRecord& record);
// "probe page_cache lost 7 events"
std::vector<std::string> loss_words(const RunRecord& record);
// What is not known of all targets, and of files, by reason.
std::vector<std::string> unavailable_words(const RunRecord& record);

// ---- shared by the parts ----

// Removes columns behind the labels that hold nothing; then sentences and headings stay true.
void drop_empty_columns(AttachTable& table);

// Cells; blank for nothing.
std::string cell_ns(std::optional<std::uint64_t> nanoseconds);
std::string cell_count(Count count);

}
