#pragma once
// Which rows belong together.

#include "analysis/compare/compared.h"

namespace iotrace {

// Fills tables and unmatched: rows in the order in which reports tell them, without a verdict yet.
void match_cells(Comparison& all);

}
