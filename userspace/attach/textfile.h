#pragma once
// The file that node_exporter's textfile collector reads: replaced whole, so that a scrape sees the one text
// or the next and never a half.
//
// The file lives as long as the watch. node_exporter exports what it finds for ever, so a file that stayed
// would show the last numbers of a process that nobody watches; without it the series end at the next scrape.
// After a kill -9 it stays: node_textfile_mtime_seconds tells (fleet/iotrace.rules.yml), and the systemd unit
// removes it.

#include <sys/types.h>

#include <string>
#include <string_view>

#include "analysis/result.h"

namespace iotrace {

class Textfile {
public:
  // Looks at the path, writes nothing.
  //   path    ends in .prom: node_exporter looks at no other
  //   errors  usage_error: another ending, a folder, a folder that is missing or may not be written to
  static Result<Textfile> make(std::string path);

  Textfile(Textfile&& other) noexcept;
  Textfile& operator=(Textfile&&) = delete;
  // Removes the file, unless somebody else's has taken its place.
  ~Textfile();

  // Replaces the file, readable by everybody whatever the umask. A failure leaves the last text in place and
  // nothing beside it; the next write may succeed.
  //   errors  failed: ENOSPC, EACCES, ENOENT (the folder went), …
  Status write(std::string_view text);

  const std::string& path() const { return path_; }

private:
  explicit Textfile(std::string path);

  std::string path_, folder_, beside_;
  // Of the file written last; inode 0: none.
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

}
