// A memory cgroup on the running kernel: its limit binds its member alone, and it goes with whoever is in it.

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "tests/skip.h"
#include "userspace/host/text_file.h"
#include "userspace/memory/cgroup.h"
#include "userspace/memory/residency.h"
#include "userspace/unique_fd.h"

namespace iotrace {
namespace {

namespace fs = std::filesystem;
constexpr std::uint64_t kMiB = 1 << 20;

void need_memory_cgroup() {
  if (::geteuid() != 0) test::skip("needs root");
  if (auto hierarchy = memory_cgroup_hierarchy(); !hierarchy) test::skip(hierarchy.error().message);
}

pid_t sleeper() {
  pid_t pid = ::fork();
  if (pid == 0)
    for (;;) ::pause();
  return pid;
}

std::string limit_file(const MemoryCgroup& group) {
  return group.path() + (group.version() == CgroupVersion::kV2 ? "/memory.max" : "/memory.limit_in_bytes");
}

bool has_member(const MemoryCgroup& group, pid_t pid) {
  return has_word(read_text(group.path() + "/cgroup.procs").value_or(""), fmt::format("{}", pid));
}

TEST_CASE("a group has its name and its limit, and goes with the object") {
  need_memory_cgroup();
  std::string path;
  {
    auto group = MemoryCgroup::make(64 * kMiB);
    REQUIRE(group);
    path = group->path();
    REQUIRE(path == memory_cgroup_hierarchy()->parent + fmt::format("/iotrace-{}", ::getpid()));
    REQUIRE(read_number(limit_file(*group)) == 64 * kMiB);
    REQUIRE(group->usage_bytes());
    MemoryCgroup moved = std::move(*group);
    REQUIRE(fs::exists(moved.path()));
  }
  REQUIRE_FALSE(fs::exists(path));
}

TEST_CASE("the announcement comes before the group") {
  need_memory_cgroup();
  std::string announced;
  auto group = MemoryCgroup::make(64 * kMiB, [&](const std::string& path, const std::string&) {
    announced = path;
    REQUIRE_FALSE(fs::exists(path));
  });
  REQUIRE(group);
  REQUIRE(group->path() == announced);
}

TEST_CASE("the controller's switch is left as it was found") {
  need_memory_cgroup();
  auto hierarchy = memory_cgroup_hierarchy();
  if (hierarchy->version != CgroupVersion::kV2) test::skip("cgroup v1 has no such switch");
  std::string control = hierarchy->parent + "/cgroup.subtree_control";
  auto before = read_text(control);
  {
    auto group = MemoryCgroup::make(64 * kMiB);
    REQUIRE(group);
    REQUIRE(has_word(*read_text(control), "memory"));
    REQUIRE(group->enabled_in() == (has_word(*before, "memory") ? "" : control));
  }
  REQUIRE(read_text(control) == before);
}

TEST_CASE("members are killed when the group goes") {
  need_memory_cgroup();
  auto group = MemoryCgroup::make(64 * kMiB);
  REQUIRE(group);
  std::vector<pid_t> members;
  for (int i = 0; i < 7; ++i) {
    members.push_back(sleeper());
    REQUIRE(group->add(members.back()));
    REQUIRE(has_member(*group, members.back()));
  }
  std::string path = group->path();
  { MemoryCgroup ends = std::move(*group); }
  REQUIRE_FALSE(fs::exists(path));
  for (pid_t member : members) {
    int status = 0;
    REQUIRE(::waitpid(member, &status, 0) == member);
    REQUIRE(WIFSIGNALED(status));
    REQUIRE(WTERMSIG(status) == SIGKILL);
  }
}

TEST_CASE("a stale group of the same name is removed, with whoever is in it") {
  need_memory_cgroup();
  auto stale = MemoryCgroup::make(32 * kMiB);
  REQUIRE(stale);
  pid_t left = sleeper();
  REQUIRE(stale->add(left));
  auto group = MemoryCgroup::make(64 * kMiB);
  REQUIRE(group);
  REQUIRE(read_number(limit_file(*group)) == 64 * kMiB);
  REQUIRE_FALSE(has_member(*group, left));
  REQUIRE(::waitpid(left, nullptr, 0) == left);
}

TEST_CASE("removing a group that is gone does nothing") {
  need_memory_cgroup();
  std::string path = memory_cgroup_hierarchy()->parent + "/iotrace-gone";
  remove_cgroup(path.c_str(), "");
  REQUIRE_FALSE(fs::exists(path));
}

TEST_CASE("a process that isn't there can't be added") {
  need_memory_cgroup();
  auto group = MemoryCgroup::make(64 * kMiB);
  REQUIRE(group);
  pid_t ended = ::fork();
  if (ended == 0) ::_exit(0);
  ::waitpid(ended, nullptr, 0);
  Status added = group->add(ended);
  REQUIRE_FALSE(added);
  REQUIRE(added.error().message.find("ESRCH") != std::string::npos);
}

TEST_CASE("who isn't root is told to use sudo, and nothing is made") {
  need_memory_cgroup();
  pid_t child = ::fork();
  if (child == 0) {
    if (::setresuid(65534, 65534, 65534) != 0) ::_exit(2);
    auto group = MemoryCgroup::make(64 * kMiB);
    bool refused = !group && group.error().kind == ErrorKind::kUnsupported &&
                   group.error().message.find("sudo") != std::string::npos;
    ::_exit(refused ? 0 : 1);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(status == 0);
}

TEST_CASE("a member's page cache stays within the limit") {
  need_memory_cgroup();
  std::string path = "/var/tmp/iotrace-cgroup-XXXXXX";
  UniqueFd file(::mkstemp(path.data()));
  REQUIRE(file);
  ::unlink(path.c_str());
  std::vector<char> block(kMiB, 'x');
  for (int i = 0; i < 64; ++i)
    REQUIRE(::write(file.get(), block.data(), block.size()) == static_cast<ssize_t>(block.size()));
  REQUIRE(evict(file.get()));
  if (residency(file.get())->resident_pages != 0) test::skip("pages of a file in /var/tmp can't be evicted");

  auto group = MemoryCgroup::make(16 * kMiB);
  REQUIRE(group);
  int go[2];
  REQUIRE(::pipe(go) == 0);
  pid_t reader = ::fork();
  if (reader == 0) {
    char byte;
    if (::read(go[0], &byte, 1) != 1) ::_exit(1);
    ::_exit(fill(file.get()) ? 0 : 1);
  }
  REQUIRE(group->add(reader));
  REQUIRE(::write(go[1], "g", 1) == 1);
  int status = -1;
  REQUIRE(::waitpid(reader, &status, 0) == reader);
  REQUIRE(status == 0);
  ::close(go[0]);
  ::close(go[1]);
  REQUIRE(*group->usage_bytes() <= 16 * kMiB);
  double left = residency(file.get())->ratio();
  REQUIRE(left > 0.0);
  REQUIRE(left <= 0.25);
}

}
}
