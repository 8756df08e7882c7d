// Who the worker runs as, and that root is gone for good.

#include <fcntl.h>
#include <grp.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <functional>

#include <catch2/catch.hpp>

#include "tests/skip.h"
#include "userspace/controller/user.h"
#include "userspace/unique_fd.h"

namespace iotrace {
namespace {

constexpr FileOwner kRoots = {0, 0};
constexpr FileOwner kCarols = {1003, 1003};

// Account files with three users, of whom bob is in two groups besides his own.
class Accounts {
public:
  Accounts() {
    REQUIRE(::mkdtemp(folder_.data()));
    files = {folder_ + "/passwd", folder_ + "/group"};
    std::ofstream(files.passwd) << "root:x:0:0:root:/root:/bin/sh\n"
                                   "nobody:x:65534:65534:nobody:/:/bin/false\n"
                                   "alice:x:1001:1001::/:/bin/sh\n"
                                   "bob:x:1002:1002:Bob:/:/bin/sh\n";
    std::ofstream(files.group)
        << "data:x:2000:alice,bob\nwheel:x:2001:alice\nbobs:x:1002:\nlast:x:2002:bob\n";
  }
  ~Accounts() {
    ::unlink(files.passwd.c_str());
    ::unlink(files.group.c_str());
    ::rmdir(folder_.c_str());
  }
  Accounts(const Accounts&) = delete;

  AccountFiles files;

private:
  std::string folder_ = "/tmp/iotrace-accounts-XXXXXX";
};

Caller root() {
  return {.uid = 0, .gid = 0};
}
Caller root_by_sudo(std::string uid, std::string gid) {
  return {.uid = 0, .gid = 0, .sudo_uid = std::move(uid), .sudo_gid = std::move(gid)};
}

// The exit status of `body` in a process of its own.
int in_child(const std::function<bool()>& body) {
  pid_t child = ::fork();
  if (child == 0) ::_exit(body() ? 0 : 1);
  int status = -1;
  ::waitpid(child, &status, 0);
  return status;
}

TEST_CASE("a caller who isn't root stays who he is, groups and all") {
  Accounts accounts;
  auto user = choose_user({}, kRoots, {.uid = 1002, .gid = 7, .groups = {8, 9}}, accounts.files);
  REQUIRE(user);
  REQUIRE(user->uid == 1002);
  REQUIRE(user->gid == 7);
  REQUIRE(user->groups == std::vector<gid_t>{8, 9});
  REQUIRE(describe(*user) == "bob (1002)");
}

TEST_CASE("the user behind sudo comes before the file's owner") {
  Accounts accounts;
  auto user = choose_user({}, kCarols, root_by_sudo("1002", "77"), accounts.files);
  REQUIRE(user->uid == 1002);
  REQUIRE(user->gid == 77);
  REQUIRE(user->groups == std::vector<gid_t>{2000, 2002});
}

TEST_CASE("root behind sudo, or nonsense there, counts as no one") {
  Accounts accounts;
  for (const char* sudo_uid : {"0", "", "-1", "4294967295", "4294967296", "12x"}) {
    CAPTURE(sudo_uid);
    REQUIRE(choose_user({}, kCarols, root_by_sudo(sudo_uid, "0"), accounts.files)->uid == 1003);
  }
}

TEST_CASE("without sudo it is the file's owner, by number alone if he has no account") {
  Accounts accounts;
  auto carol = choose_user({}, kCarols, root(), accounts.files);
  REQUIRE(carol->uid == 1003);
  REQUIRE(carol->gid == 1003);
  REQUIRE(describe(*carol) == "uid 1003");
}

TEST_CASE("a file of root's is read by nobody") {
  Accounts accounts;
  auto user = choose_user({}, kRoots, root(), accounts.files);
  REQUIRE(describe(*user) == "nobody (65534)");
  REQUIRE(user->gid == 65534);
}

TEST_CASE("the option --user wins, by name or number, and is the only way to root") {
  Accounts accounts;
  auto by_name = choose_user("alice", kCarols, root_by_sudo("1002", "1002"), accounts.files);
  REQUIRE(by_name->uid == 1001);
  REQUIRE(by_name->groups == std::vector<gid_t>{2000, 2001});
  REQUIRE(choose_user("1002", kCarols, root(), accounts.files)->name == "bob");
  REQUIRE(choose_user("0", kCarols, root(), accounts.files)->uid == 0);
  REQUIRE(choose_user("root", kCarols, root(), accounts.files)->uid == 0);
  auto without_account = choose_user("4711", kCarols, root(), accounts.files);
  REQUIRE(without_account->uid == 4711);
  REQUIRE(without_account->gid == 65534);
}

TEST_CASE("an unknown name is a usage error that asks for the number") {
  Accounts accounts;
  auto user = choose_user("dave", kRoots, root(), accounts.files);
  REQUIRE_FALSE(user);
  REQUIRE(user.error().kind == ErrorKind::kUsage);
  REQUIRE(user.error().message ==
          "--user dave: no such name in " + accounts.files.passwd + "; give the numeric uid (id -u dave)");
}

TEST_CASE("only root may name another user") {
  Accounts accounts;
  Caller bob{.uid = 1002, .gid = 1002};
  REQUIRE(choose_user("bob", kRoots, bob, accounts.files)->uid == 1002);
  auto other = choose_user("alice", kRoots, bob, accounts.files);
  REQUIRE_FALSE(other);
  REQUIRE(other.error().kind == ErrorKind::kUnsupported);
}

TEST_CASE("become leaves no way back to root") {
  if (::geteuid() != 0) test::skip("needs root");
  REQUIRE(in_child([] {
            bool became = bool(become(WorkerUser{1002, 1003, {2000, 2002}, "bob"}));
            gid_t groups[8];
            bool exact = ::getgroups(8, groups) == 2 && groups[0] == 2000 && groups[1] == 2002;
            bool ids = ::getuid() == 1002 && ::geteuid() == 1002 && ::getgid() == 1003 && ::getegid() == 1003;
            return became && exact && ids && ::setuid(0) != 0 && ::setgid(0) != 0 &&
                   ::setgroups(0, nullptr) != 0;
          }) == 0);
}

TEST_CASE("become gives the groups that a group-readable file needs, and no others") {
  if (::geteuid() != 0) test::skip("needs root");
  std::string path = "/tmp/iotrace-group-XXXXXX";
  UniqueFd file(::mkstemp(path.data()));
  REQUIRE(::fchown(file.get(), 0, 2000) == 0);
  REQUIRE(::fchmod(file.get(), 0640) == 0);
  auto opens = [&](std::vector<gid_t> groups) {
    return in_child([&] {
      if (!become(WorkerUser{1002, 1002, groups, "bob"})) return false;
      return ::open(path.c_str(), O_RDONLY | O_CLOEXEC) >= 0;
    });
  };
  REQUIRE(opens({2000}) == 0);
  REQUIRE(opens({2001}) != 0);
  ::unlink(path.c_str());
}

TEST_CASE("become does nothing for who is that user already, and fails for who isn't root") {
  if (::geteuid() != 0) test::skip("needs root");
  REQUIRE(become(WorkerUser{0, 0, {}, "root"}));
  REQUIRE(in_child([] {
            if (!become(WorkerUser{1002, 1002, {}, "bob"})) return false;
            Status again = become(WorkerUser{1002, 1002, {4}, "bob"});
            Status other = become(WorkerUser{1001, 1001, {}, "alice"});
            return again && !other && other.error().kind == ErrorKind::kUnsupported;
          }) == 0);
}

}
}
