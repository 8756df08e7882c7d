#pragma once
// A file of iotrace's own to read from, when the user names none: FOLDER/iotrace-scratch-PID, full of bytes
// that no file system or disk can compress or deduplicate.

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>

#include "analysis/result.h"
#include "userspace/unique_fd.h"

namespace iotrace {

// A path with the identity of the file that was made there, so that no other file goes in its stead.
struct FileIdentity {
  std::string path;  // absolute
  dev_t device = 0;
  ino_t inode = 0;  // 0: not made yet
};

struct ScratchRequest {
  std::string folder;
  std::uint64_t size_bytes = 0;
  uid_t uid = 0;  // its owner; the mode is 0600
  gid_t gid = 0;
  // Told twice, just before the file is made (inode 0) and just after, so that a guardian can remove it
  // whatever happens.
  std::function<void(const FileIdentity&)> announce = {};
  // Called after every MiB; false stops.
  std::function<bool(std::uint64_t done_bytes, std::uint64_t size_bytes)> progress = {};
};

class ScratchFile {
public:
  // Makes, fills and syncs the file. On any error nothing is left behind.
  //   cost     the disk's write speed; the bytes come at several GB/s
  //   errors   failed: no room (what is needed, what is free, the remedy), no such folder, no permission, a
  //            file of that name exists; "interrupted" if `progress` returned false
  static Result<ScratchFile> make(const ScratchRequest& request);

  ScratchFile(ScratchFile&&) noexcept;
  ScratchFile& operator=(ScratchFile&&) = delete;
  ~ScratchFile();  // removes the file

  const std::string& path() const { return identity_.path; }
  const FileIdentity& identity() const { return identity_; }
  std::uint64_t size_bytes() const { return size_bytes_; }
  int fd() const { return fd_.get(); }  // open for reading and writing

private:
  ScratchFile(FileIdentity identity, UniqueFd fd, std::uint64_t size_bytes);
  Status fill(const ScratchRequest& request);

  FileIdentity identity_;
  UniqueFd fd_;
  std::uint64_t size_bytes_ = 0;
};

// Removes the file at `path` if it still is the one of that identity. True if it did.
bool unlink_if_same(const char* path, dev_t device, ino_t inode);

}
