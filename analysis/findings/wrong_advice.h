#pragma once
// What tells a scan from reads of several pages: wrong-advice speaks of the one, major-faults-serial of the
// other.

namespace iotrace {

// Accesses in a row, on average, from which on a file is read in order: 1 of 50 may jump.
inline constexpr double kAccessesOfAScan = 50;

}
