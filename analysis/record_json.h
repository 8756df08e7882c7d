#pragma once
// The RunRecord as JSON and back. Keys are in the order of design section 9, two spaces of indent.

#include <string>
#include <string_view>

#include "analysis/run_record.h"

namespace iotrace {

std::string to_json_text(const RunRecord& record);

// Fields that this version does not know are kept in RunRecord::unknown, and written back by to_json_text.
// errors  failed: not JSON (with line and column), not an iotrace record, a schema_version newer than this
//         program's, or a field of the wrong type (named by its JSON pointer)
Result<RunRecord> from_json_text(std::string_view text);

}
