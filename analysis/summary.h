#pragma once
// From repetitions to the numbers of a row: medians with intervals, observer's cost, noise floor.

#include "analysis/run_record.h"

namespace iotrace {

// Throughput of each repetition in operations per millisecond; repetitions without time are left out.
std::vector<double> ops_per_ms(const Measurement& measurement);

// Fills every derived field of the record's rows: ops_per_ms, bw_bytes, observer_cost_ratio,
// amplification_ratio, noise_floor_ratio, Row::drifted. Repetitions and counters must be in place.
void summarise(RunRecord& record);

}
