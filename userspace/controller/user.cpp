#include "userspace/controller/user.h"

#include <grp.h>
#include <pwd.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include <fmt/format.h>

namespace iotrace {
namespace {

constexpr uid_t kNobody = 65534;
constexpr gid_t kNoGroup = 65534;

struct Account {
  std::string name;
  uid_t uid = 0;
  gid_t gid = 0;
};

using File = std::unique_ptr<std::FILE, decltype(&std::fclose)>;

File open_text(const std::string& path) {
  return {std::fopen(path.c_str(), "re"), &std::fclose};
}

template<typename Match> std::optional<Account> find_account(const AccountFiles& files, Match matches) {
  File passwd = open_text(files.passwd);
  while (passwd) {
    const ::passwd* entry = ::fgetpwent(passwd.get());
    if (!entry) break;
    Account account{entry->pw_name, entry->pw_uid, entry->pw_gid};
    if (matches(account)) return account;
  }
  return std::nullopt;
}

std::vector<gid_t> groups_of(const AccountFiles& files, const std::string& name) {
  std::vector<gid_t> gids;
  File groups = open_text(files.group);
  while (groups) {
    const ::group* entry = ::fgetgrent(groups.get());
    if (!entry) break;
    for (char** member = entry->gr_mem; *member; ++member)
      if (name == *member) gids.push_back(entry->gr_gid);
  }
  return gids;
}

std::optional<std::uint32_t> id_number(const std::string& text) {
  std::uint32_t number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  // The largest number means "leave as it is" to setresuid.
  if (text.empty() || error != std::errc() || end != text.data() + text.size() || number == UINT32_MAX)
    return std::nullopt;
  return number;
}

WorkerUser with_account(const AccountFiles& files, const Account& account) {
  return {account.uid, account.gid, groups_of(files, account.name), account.name};
}

//   gid_without_account  for a number that no account has
WorkerUser by_uid(const AccountFiles& files, uid_t uid, gid_t gid_without_account) {
  auto account = find_account(files, [&](const Account& entry) { return entry.uid == uid; });
  return account ? with_account(files, *account)
                 : WorkerUser{uid, gid_without_account, {}, fmt::format("{}", uid)};
}

Result<WorkerUser> by_option(const AccountFiles& files, const std::string& option, FileOwner owner) {
  if (auto uid = id_number(option)) return by_uid(files, *uid, *uid == owner.uid ? owner.gid : kNoGroup);
  auto account = find_account(files, [&](const Account& entry) { return entry.name == option; });
  if (!account)
    return usage_error(fmt::format("--user {}: no such name in {}; give the numeric uid (id -u {})", option,
                                   files.passwd, option));
  return with_account(files, *account);
}

std::vector<gid_t> current_groups() {
  std::vector<gid_t> groups(static_cast<std::size_t>(std::max(::getgroups(0, nullptr), 0)));
  int count = ::getgroups(static_cast<int>(groups.size()), groups.data());
  groups.resize(static_cast<std::size_t>(std::max(count, 0)));
  return groups;
}

std::optional<std::string> environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? std::optional<std::string>(value) : std::nullopt;
}

}

std::string describe(const WorkerUser& user) {
  std::string number = fmt::format("{}", user.uid);
  return user.name == number ? "uid " + number : fmt::format("{} ({})", user.name, number);
}

Caller Caller::current() {
  return {::geteuid(), ::getegid(), current_groups(), environment("SUDO_UID"), environment("SUDO_GID")};
}

Result<WorkerUser> choose_user(const std::optional<std::string>& option, FileOwner owner,
                               const Caller& caller, const AccountFiles& files) {
  std::optional<WorkerUser> wanted;
  if (option) {
    auto found = by_option(files, *option, owner);
    if (!found) return found.error();
    wanted = std::move(*found);
  }
  if (caller.uid != 0) {
    if (wanted && wanted->uid != caller.uid)
      return unsupported(
          fmt::format("--user {}: only root can run the worker as another user; run with sudo", *option));
    WorkerUser self = by_uid(files, caller.uid, caller.gid);
    return WorkerUser{caller.uid, caller.gid, caller.groups, self.name};
  }
  if (wanted) return std::move(*wanted);

  auto sudo_uid = id_number(caller.sudo_uid.value_or(""));
  auto sudo_gid = id_number(caller.sudo_gid.value_or(""));
  if (sudo_uid.value_or(0) != 0) {
    WorkerUser user = by_uid(files, *sudo_uid, kNoGroup);
    user.gid = sudo_gid.value_or(user.gid);
    return user;
  }
  if (owner.uid != 0) return by_uid(files, owner.uid, owner.gid);
  return by_uid(files, kNobody, kNoGroup);
}

Status become(const WorkerUser& user) {
  uid_t real = 0, effective = 0, saved = 0;
  if (::getresuid(&real, &effective, &saved) != 0) return errno_error("getresuid", errno);
  if (real == user.uid && effective == user.uid && saved == user.uid) return {};
  std::string attempt = fmt::format("become user {}", describe(user));
  if (::setgroups(user.groups.size(), user.groups.data()) != 0)
    return errno_error(attempt + " (setgroups)", errno, "run with sudo");
  if (::setresgid(user.gid, user.gid, user.gid) != 0) return errno_error(attempt + " (setresgid)", errno);
  if (::setresuid(user.uid, user.uid, user.uid) != 0) return errno_error(attempt + " (setresuid)", errno);
  if (user.uid != 0 && ::setresuid(0, 0, 0) == 0)
    return Error{attempt + ": root could be had back (CAP_SETUID was kept)"};
  return {};
}

}
