#pragma once
// What the checks look at: the current folder, a file in it that vanishes with this process, the host's
// facts.

#include <string>

#include "analysis/run_record.h"
#include "userspace/unique_fd.h"

namespace iotrace {

class Guardian;

struct Surroundings {
  bool root = false;
  Host host;
  FileFacts folder;  // of the file system that holds the current folder
  UniqueFd file;     // a nameless file in the current folder, kFileBytes long; empty if there can't be one
  std::string why_no_file;
  Guardian* guardian = nullptr;  // removes what a check makes, should doctor be killed

  static constexpr std::uint64_t kFileBytes = 256 * 1024;
  static Surroundings look();
};

}
