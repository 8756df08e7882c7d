#pragma once
// Several runs of one configuration as one record: sessions in turns, A B A B, tell what drifts from run to
// run from what was changed.

#include <vector>

#include "analysis/compare/compared.h"

namespace iotrace {

// The first record, its rows with the untraced repetitions of all. Counters stay those of the first; a row's
// noise floor rises to how far its own sessions are apart.
//   records  [n >= 1]
//   errors   usage: they differ in host, file or iotrace, or one of attach is among them
//            failed: a row without repetitions that ran without probes
Result<NamedRecord> pool(std::vector<NamedRecord> records);

}
