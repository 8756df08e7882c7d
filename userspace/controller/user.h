#pragma once
// Who the worker runs as, and how it becomes that user. Accounts are looked up in /etc/passwd and /etc/group
// alone: a static binary has no name service.

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "analysis/result.h"

namespace iotrace {

struct WorkerUser {
  uid_t uid = 0;
  gid_t gid = 0;
  std::vector<gid_t> groups;  // supplementary
  std::string name;           // the number as text if it has no account
};

// "nobody (65534)"
std::string describe(const WorkerUser& user);

struct FileOwner {
  uid_t uid = 0;
  gid_t gid = 0;
};

// The user who started iotrace.
struct Caller {
  uid_t uid = 0;  // effective
  gid_t gid = 0;
  std::vector<gid_t> groups;
  std::optional<std::string> sudo_uid, sudo_gid;  // $SUDO_UID, $SUDO_GID

  static Caller current();
};

struct AccountFiles {
  std::string passwd = "/etc/passwd";
  std::string group = "/etc/group";
};

// A caller who isn't root: the caller. Else the first of these: `option`, the user behind sudo, the file's
// owner, nobody (65534). Root comes out only if `option` names it.
//   option  --user: a number or a name
//   errors  usage: no such name; unsupported: `option` names somebody else and the caller isn't root
Result<WorkerUser> choose_user(const std::optional<std::string>& option, FileOwner owner,
                               const Caller& caller, const AccountFiles& files = {});

// Gives up root for good, in the calling process: groups, gid, uid, then proves that uid 0 can't be had back.
// Nothing to do for a process that is that user already. Call it before the process has threads.
//   errors  failed or unsupported: the call and its errno; the process must then end
Status become(const WorkerUser& user);

}
