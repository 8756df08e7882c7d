#pragma once
// The file that a run reads, as the controller holds it: the user's own, opened read-only, or a scratch
// file of iotrace's.

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "analysis/result.h"
#include "userspace/unique_fd.h"

namespace iotrace {

struct UserFile {
  UniqueFd fd;
  std::string path;
  std::uint64_t size_bytes = 0;
  uid_t owner_uid = 0;
  gid_t owner_gid = 0;
};

// errors  usage: missing, not a regular file, empty, shorter than the longest read; failed: what open(2) says
Result<UserFile> open_user_file(const std::string& path, std::uint64_t longest_read_bytes);

// errors  usage: the size leaves no room for one aligned read
Status check_room_for_reads(std::uint64_t file_bytes, std::uint64_t longest_read_bytes);

}
