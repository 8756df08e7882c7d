#pragma once
// Adds the repetitions of one planned row up to a Row of the record.

#include <optional>
#include <string>

#include "analysis/run_record.h"
#include "userspace/controller/plan.h"
#include "userspace/controller/repetition.h"

namespace iotrace {

class RowBuilder {
public:
  explicit RowBuilder(const PlannedRow& planned);

  //   reason  why there is no cgroup although the case wants one; empty otherwise
  void set_memory(std::optional<std::uint64_t> limit_bytes, const std::string& reason);
  void add(const RepetitionResult& result, bool traced);
  // A traced repetition done again with the dear probes, whose numbers take the place of those that don't
  // hold without them.
  void add_dear_pass(const RepetitionResult& result);
  void set_fio(const Result<FioPeer>& peer);
  void fail(std::string why) { row_.error = std::move(why); }
  // The ops per second that a rate in percent comes to.
  void set_rate(double ops_per_s) { row_.cell.rate = ops_per_s; }
  bool failed() const { return row_.error.has_value(); }

  Row finish() &&;

private:
  // What is summed over the repetitions of one kind.
  struct Sums {
    Measurement measurement;
    double thread_seconds = 0, idle_seconds = 0;
    Histogram response_ns{kOpSubBits};
    Count requested_bytes = 0;
    Count suppressed_hints = 0;
    std::optional<Count> device_bytes = 0;
    Rusage rusage;
  };
  static void add(Sums& sums, const RepetitionResult& result);
  void add_readings(std::optional<ProbeReadings>& sum, const ProbeReadings& more);
  void take_readings(ProbeReadings&& readings);
  void take_time(const ProbeReadings& readings, const Sums& windows);
  void take_blocked_threads(const Measurement& windows);
  void take_dear_readings(ProbeReadings&& readings);
  void take_responses(Sums& sums);

  Row row_;
  Sums untraced_, traced_, dear_;
  std::optional<ProbeReadings> readings_, dear_readings_;
};

}
