#pragma once
// What standard output can show.

namespace iotrace {

// True on a terminal, unless NO_COLOR is set or TERM is dumb (https://no-color.org).
bool wants_colour();

}
