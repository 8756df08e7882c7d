#pragma once
// What attach shows while it watches.

#include <cstddef>
#include <string>

#include "analysis/run_record.h"

namespace iotrace {

// Rates of one interval as a line without a newline, for a log or a pipe: always the same parts in the same
// order, "-" for what is not counted.
std::string live_line(const Interval& interval);

// A screen to be drawn over the last one: whom it watches, the last interval, the files and the kinds of
// threads that waited most so far.
//   top    files at most, and kinds of threads at most
//   width  [>= 20] no line is wider; columns that do not fit are left out
// returns  whole lines, at most 2 * top + 7 of them
std::string live_table(const RunRecord& so_far, std::size_t top, std::size_t width);

}
