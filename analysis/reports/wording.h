#pragma once
// What every format for people says in the same words: about the host, the file, the plan, the cells, the
// rows, and who is proven fastest. Text from outside is made printable here; a format adds its own escapes.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/comparison.h"
#include "analysis/reference.h"
#include "analysis/run_record.h"

namespace iotrace::wording {

// ---- facts: each one phrase, to be joined by commas ----

std::vector<std::string> host_facts(const Host& host);
// What an emulated processor does to the numbers; empty where none is known to be emulated.
std::string emulation_note(const Host& host);
std::vector<std::string> file_facts(const FileFacts& file);
std::vector<std::string> plan_facts(const Options& options);

// What the device delivers past the cache, at best, by request size; empty where that was not measured.
std::vector<std::string> ceiling_facts(const RunRecord& record);

// One phrase a probe: "faults (tp_btf)", "mmap_lock not attached: EPERM".
std::vector<std::string> probe_facts(const RunRecord& record);

// What the repetitions with the dear probes cost; empty without any.
std::string dear_pass_words(const RunRecord& record);

// ---- a group of rows: what they have in common ----

// "cold, random, 16 KiB x 16 reads per op, memory limit 512 MiB"
std::string group_title(const RunRecord& record, const RowGroup& group);

// "part of the file in the cache, over all repetitions: before 0 %, after 0 % to 12.5 %"
std::string residency_words(const RunRecord& record, const RowGroup& group);

// ---- rows ----

// "mmap", "pread (A/A)"
std::string row_name(const Row& row);

// Rows of a group as a reader looks for them: strategies in order of appearance, each followed by its
// control, thread counts ascending.
std::vector<std::uint32_t> in_reading_order(const RunRecord& record, const std::vector<std::uint32_t>& rows);

// "mmap T01 T04, pread T01"
std::string name_rows(const RunRecord& record, const std::vector<std::uint32_t>& rows);

// ---- throughput ----

// By row: '*' proven fastest of its thread count, '~' not told apart from the fastest.
std::map<std::uint32_t, char> marks_of(const RowGroup& group);

// How often and with what the throughput of these rows was measured.
struct Samples {
  std::string unit;            // "ops/ms, median [95 % interval] of 10 repetitions without probes"
  bool several_sizes = false;  // n differs between rows, and stands beside each number
  bool mixed_probes = false;   // some rows ran with probes only, and are marked
};
Samples samples_of(const RunRecord& record, const RowGroup& group);

// "12.3 [11.9-12.8]", with n and p where the rows differ in them; "error", "drifted", "-".
std::string throughput_text(const Row& row, const Samples& samples);

// The sentences of a table that are not about who is fastest: drifted rows, errors.
std::vector<std::string> state_sentences(const RunRecord& record, const RowGroup& group);

// The sentences that go with a table: who is fastest, noise floor, drifted rows, errors. `fastest` is how the
// format marks what is proven ("*", "bold").
std::vector<std::string> throughput_sentences(const RunRecord& record, const RowGroup& group,
                                              const std::string& fastest);

// ---- open loop ----

// A table of service and response times, heading included, for rows whose ops come at a rate of their own.
struct ResponseTable {
  std::string heading;               // what the columns are, and over how many repetitions
  std::vector<std::string> columns;  // the first two are labels: strategy, threads
  std::vector<std::vector<std::string>> lines;
  std::vector<std::string> sentences;  // overloaded rows, drift, errors
};
ResponseTable response_table(const RunRecord& record, const RowGroup& group);

// ---- a memory sweep ----

// Throughput and refaults by step; nullopt: the record holds no sweep.
std::optional<ResponseTable> sweep_table(const RunRecord& record);

// ---- beside published results ----

// Own ratios beside those of a publication, or the sentence that nothing can be compared.
ResponseTable published_table(const RunRecord& record, const Publication& publication);

// "2 repetitions with probes per row": what the counters are sums over.
std::string counted_over(const RunRecord& record, const std::vector<std::uint32_t>& rows);

// ", traced/untraced n = 1": the smaller side of that ratio; empty where no row has it.
std::string observer_samples(const RunRecord& record, const std::vector<std::uint32_t>& rows);

}
