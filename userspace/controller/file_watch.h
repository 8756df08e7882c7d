#pragma once
// Notices that the user's file is no longer the one that the run began with: rows that mix two files, or read
// past an end that has moved, are no rows.

#include <sys/types.h>

#include <cstdint>
#include <ctime>
#include <string>

#include "analysis/result.h"

namespace iotrace {

class FileWatch {
public:
  //   fd    the file as it is held open
  //   path  the name by which each worker opens it again
  static Result<FileWatch> begin(int fd, std::string path);

  // errors  failed: the file was deleted, replaced, cut short, has grown or was written to since begin()
  // cost    one stat(2)
  Status unchanged() const;

private:
  std::string path_;
  dev_t device_ = 0;
  ino_t inode_ = 0;
  std::uint64_t size_bytes_ = 0;
  timespec written_{};
};

}
