#pragma once
// Records as the command line names them.

#include <string>
#include <string_view>

#include "analysis/run_record.h"

namespace iotrace {

// Reads the file, or standard input for "-".
//   command  who asks: "report"
//   errors   usage: the file cannot be opened; failed: it cannot be read, or holds no record; both name it
Result<RunRecord> read_record(const std::string& path, std::string_view command);

}
