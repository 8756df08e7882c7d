// The textfile is whole at any time, readable, and gone at the end; what goes wrong leaves the last text.

#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <catch2/catch.hpp>

#include "tests/skip.h"
#include "userspace/attach/textfile.h"

namespace iotrace {
namespace {

namespace fs = std::filesystem;

class Folder {
public:
  Folder() { REQUIRE(::mkdtemp(path_.data())); }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;

  std::string file() const { return path_ + "/iotrace-java.prom"; }
  const std::string& path() const { return path_; }
  // Names in it, "" for none; two names fail.
  std::string only_name() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(path_)) names.push_back(entry.path().filename());
    REQUIRE(names.size() <= 1);
    return names.empty() ? "" : names[0];
  }

private:
  std::string path_ = "/var/tmp/iotrace-textfile-test-XXXXXX";
};

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string refusal(const std::string& path) {
  auto made = Textfile::make(path);
  if (made) return "accepted";
  CHECK(made.error().kind == ErrorKind::kUsage);
  return made.error().message;
}

}

TEST_CASE("the textfile is replaced whole, mode 0644 under any umask, nothing beside it") {
  Folder folder;
  auto textfile = Textfile::make(folder.file());
  REQUIRE(textfile);
  CHECK(folder.only_name() == "");
  const mode_t before = ::umask(077);
  REQUIRE(textfile->write("first\n"));
  std::ifstream reader(folder.file());  // a scrape that has begun keeps the text it began with
  REQUIRE(textfile->write("second\n"));
  ::umask(before);
  CHECK(std::string(std::istreambuf_iterator<char>(reader), {}) == "first\n");
  CHECK(text_of(folder.file()) == "second\n");
  CHECK(folder.only_name() == "iotrace-java.prom");
  struct stat about = {};
  REQUIRE(::stat(folder.file().c_str(), &about) == 0);
  CHECK((about.st_mode & 07777) == 0644);
}

TEST_CASE("the textfile goes with the watch, also after a move, and one that took its place stays") {
  Folder folder;
  {
    auto textfile = Textfile::make(folder.file());
    REQUIRE(textfile->write("x\n"));
    Textfile moved = std::move(*textfile);
    CHECK(fs::exists(folder.file()));
  }
  CHECK(folder.only_name() == "");
  {
    auto textfile = Textfile::make(folder.file());
    REQUIRE(textfile->write("x\n"));
    std::ofstream(folder.path() + "/new") << "another watch's\n";
    fs::rename(folder.path() + "/new", folder.file());
  }
  CHECK(text_of(folder.file()) == "another watch's\n");
}

TEST_CASE("a link at the textfile's name is replaced, not followed") {
  Folder folder;
  const std::string aim = folder.path() + "/aim";
  std::ofstream(aim) << "untouched";
  fs::create_symlink(aim, folder.file());
  auto textfile = Textfile::make(folder.file());
  REQUIRE(textfile);
  REQUIRE(textfile->write("x\n"));
  CHECK(text_of(aim) == "untouched");
  CHECK_FALSE(fs::is_symlink(folder.file()));
  CHECK(text_of(folder.file()) == "x\n");
}

TEST_CASE("a textfile that cannot be is refused before the watch begins") {
  Folder folder;
  CHECK(refusal(folder.path() + "/a.txt").find("end in .prom") != std::string::npos);
  CHECK(refusal(folder.path() + "/missing/a.prom").find("ENOENT") != std::string::npos);
  fs::create_directory(folder.file());
  CHECK(refusal(folder.file()).find("is no regular file") != std::string::npos);
}

TEST_CASE("a folder that goes while iotrace watches is an error that names it, and may come back") {
  Folder folder;
  const std::string inner = folder.path() + "/inner";
  fs::create_directory(inner);
  auto textfile = Textfile::make(inner + "/a.prom");
  REQUIRE(textfile);
  fs::remove(inner);
  Status written = textfile->write("x\n");
  REQUIRE_FALSE(written);
  CHECK(written.error().message.find(inner) != std::string::npos);
  CHECK(written.error().message.find("ENOENT") != std::string::npos);
  fs::create_directory(inner);
  CHECK(textfile->write("x\n"));
}

TEST_CASE("a folder that the user may not write to is refused") {
  if (::geteuid() != 0) test::skip("taking another user's place needs root");
  Folder folder;  // mode 0700, root's
  fs::permissions(folder.path(), fs::perms(0755));
  const pid_t child = ::fork();
  if (child == 0) {
    if (::setgid(65534) != 0 || ::setuid(65534) != 0) ::_exit(2);
    auto made = Textfile::make(folder.file());
    ::_exit(!made && made.error().message.find("EACCES") != std::string::npos ? 0 : 1);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}

TEST_CASE("a full disk leaves the last text whole and nothing beside it") {
  if (::geteuid() != 0) test::skip("mounting a small tmpfs needs root");
  Folder folder;
  if (::mount("iotrace-test", folder.path().c_str(), "tmpfs", 0, "size=64k") != 0)
    test::skip("a tmpfs can't be mounted here");
  struct Unmount {
    const std::string& path;
    ~Unmount() { ::umount2(path.c_str(), MNT_DETACH); }
  } unmount{folder.path()};
  auto textfile = Textfile::make(folder.file());
  REQUIRE(textfile);
  REQUIRE(textfile->write("the last text\n"));
  Status written = textfile->write(std::string(1 << 20, 'x'));
  REQUIRE_FALSE(written);
  CHECK(written.error().message.find("ENOSPC") != std::string::npos);
  CHECK(written.error().message.find("make room") != std::string::npos);
  CHECK(text_of(folder.file()) == "the last text\n");
  CHECK(folder.only_name() == "iotrace-java.prom");
  CHECK(textfile->write("room again\n"));
  CHECK(text_of(folder.file()) == "room again\n");
}

}
