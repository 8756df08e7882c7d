#pragma once
// The record on disk: written whole or not at all, owned by who asked for it.

#include <string>

#include "analysis/result.h"

namespace iotrace {

// Can a record be written there? Asked before anything is measured.
//   errors  usage: the folder is missing or not writable, or the path is a folder
Status check_record_path(const std::string& path);

// Writes beside the target, syncs, renames; gives it to SUDO_UID's user where sudo called us.
//   errors  failed: what the system call says; the old file, if any, is untouched
Status write_record_file(const std::string& path, const std::string& text);

}
