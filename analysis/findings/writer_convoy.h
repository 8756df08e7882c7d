#pragma once
// Which waits for mmap_lock are a convoy behind a writer, so that no second finding speaks of them.

#include "analysis/run_record.h"

namespace iotrace {

// The row's readers wait a notable part of their time, and most waits were for a call that takes the lock for
// writing.
bool is_writer_convoy(const Row& row);

}
