// Names of addresses: in this process, of which they are known.

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <filesystem>
#include <fstream>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "userspace/symbols/foreign_file.h"
#include "userspace/symbols/kernel_symbols.h"
#include "userspace/symbols/process_symbols.h"
#include "userspace/symbols/stack_names.h"

using namespace iotrace;

namespace {

__attribute__((noinline)) int named_function(int x) {
  return x * 3 + 1;
}

std::uint64_t address_of(auto* what) {
  return reinterpret_cast<std::uint64_t>(what);
}

}

TEST_CASE("mappings are read with their offsets, inodes and names") {
  const auto parts =
      parse_maps("55d0a000-55d0b000 r-xp 00002000 fe:01 1234                       /usr/bin/a b\n"
                 "7f00c000-7f00d000 rw-p 00000000 00:00 0 \n"
                 "7ffd1000-7ffd2000 r-xp 00000000 00:00 0                          [vdso]\n"
                 "nonsense\n");
  REQUIRE(parts.size() == 3);
  CHECK(parts[0].start == 0x55d0a000);
  CHECK(parts[0].end == 0x55d0b000);
  CHECK(parts[0].file_offset == 0x2000);
  CHECK(parts[0].inode == 1234);
  CHECK(parts[0].path == "/usr/bin/a b");
  CHECK(parts[1].inode == 0);
  CHECK(parts[1].path == "");
  CHECK(parts[2].path == "[vdso]");
}

TEST_CASE("a JIT's map: the later function at one place holds") {
  const auto functions =
      parse_perf_map("7f01 10 Lorg/Search;::old\n7f20 8 b c\n7f01 20 Lorg/Search;::next\nxyz\n");
  REQUIRE(functions.size() == 2);
  CHECK(functions.at(0x7f01).name == "Lorg/Search;::next");
  CHECK(functions.at(0x7f01).bytes == 0x20);
  CHECK(functions.at(0x7f20).name == "b c");
}

TEST_CASE("perf map: as a JVM writes it, with 0x before its numbers") {
  const auto functions = parse_perf_map("0x00007fc9f0ec71a0 0x0000000000000200 void Search.next(int, int)\n");
  REQUIRE(functions.size() == 1);
  REQUIRE(functions.contains(0x7fc9f0ec71a0));
  CHECK(functions.at(0x7fc9f0ec71a0).bytes == 0x200);
  CHECK(functions.at(0x7fc9f0ec71a0).name == "void Search.next(int, int)");
}

TEST_CASE("functions of this process have their names, in the program and in a library") {
  ProcessSymbols symbols(::getpid());
  symbols.look();
  CHECK(symbols.name(address_of(&named_function)).find("named_function(int)") != std::string::npos);
  CHECK(symbols.name(address_of(&named_function) + 3).find("named_function(int)") != std::string::npos);
  void* library = ::dlsym(RTLD_DEFAULT, "qsort");
  REQUIRE(library);
  CHECK(symbols.name(address_of(library)).find("qsort") != std::string::npos);
  CHECK(symbols.name(8) == "[unknown]");
  CHECK(named_function(2) == 7);
}

TEST_CASE("code of a process without symbols is told by file and offset, its own code by its perf map") {
  const std::string library = fmt::format("/tmp/iotrace-symbols-{}", ::getpid());
  std::ofstream(library) << std::string(8192, 'x');
  const int fd = ::open(library.c_str(), O_RDONLY | O_CLOEXEC);
  void* file = ::mmap(nullptr, 8192, PROT_READ, MAP_PRIVATE, fd, 0);
  void* made = ::mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(file != MAP_FAILED);
  REQUIRE(made != MAP_FAILED);
  const std::string map = fmt::format("/tmp/perf-{}.map", ::getpid());
  std::ofstream(map) << fmt::format("{:x} 10 Lorg/Search;::next\n", address_of(made) + 16);

  ProcessSymbols symbols(::getpid());
  symbols.look();
  CHECK(symbols.name(address_of(file) + 4096 + 5) ==
        fmt::format("[{}+0x1005]", std::filesystem::path(library).filename().string()));
  CHECK(symbols.name(address_of(made) + 16 + 15) == "Lorg/Search;::next");
  CHECK(symbols.name(address_of(made) + 16 + 16) == "[unknown]");
  std::filesystem::remove(map);
  std::filesystem::remove(library);
  ::close(fd);
}

TEST_CASE("a pipe in the place of a perf map is left alone, and so is a link to nowhere") {
  const std::string map = fmt::format("/tmp/perf-{}.map", ::getpid());
  REQUIRE(::mkfifo(map.c_str(), 0600) == 0);
  CHECK(read_perf_map(::getpid(), 100) == "");
  std::filesystem::remove(map);
  std::filesystem::create_symlink("/no/such/file", map);
  CHECK(read_perf_map(::getpid(), 100) == "");
  std::filesystem::remove(map);
  std::ofstream(map) << std::string(1000, 'x');
  CHECK(read_perf_map(::getpid(), 100).size() >= 100);
  std::filesystem::remove(map);
}

TEST_CASE("a file that took the name of another is not mistaken for it") {
  const auto parts = parse_maps(*[] {
    static std::string text;
    std::ifstream maps("/proc/self/maps");
    text.assign(std::istreambuf_iterator<char>(maps), {});
    return &text;
  }());
  for (MappedPart part : parts)
    if (part.path.find("contract_tests") != std::string::npos) {
      CHECK(open_mapped_file(::getpid(), part));
      part.start = 0;  // no such mapping: by its name
      CHECK(open_mapped_file(::getpid(), part));
      part.inode++;
      CHECK_FALSE(open_mapped_file(::getpid(), part));
      return;
    }
  FAIL("this program does not map itself");
}

TEST_CASE("the kernel's functions are found by the last one that begins before") {
  const auto kernel = KernelSymbols::parse("ffffffff81000000 T _stext\nffffffff81000100 t filemap_fault\n"
                                           "ffffffff81000200 D data\nffffffffc0000000 t ext4_map\t[ext4]\n");
  CHECK(kernel.name(0xffffffff81000000) == "_stext");
  CHECK(kernel.name(0xffffffff810001ff) == "filemap_fault");
  CHECK(kernel.name(0xffffffffc0000010) == "ext4_map");
  CHECK(kernel.name(0x1000) == "[unknown]");
  CHECK(KernelSymbols::parse("0000000000000000 T hidden\n").name(0x10) == "[unknown]");
}

TEST_CASE("stacks that differ in addresses alone are one, most waiting first") {
  const std::uint64_t at = address_of(&named_function);
  StackNames names;
  const auto stacks = names.name({{::getpid(), "a", {at + 1, at + 2}, {}, 2, 10},
                                  {::getpid(), "a", {at + 3, at + 2}, {}, 3, 20},
                                  {::getpid(), "b", {at + 1}, {}, 5, 100}});
  REQUIRE(stacks.size() == 2);
  CHECK(stacks[0].thread == "b");
  CHECK(stacks[1].faults == 5);
  CHECK(stacks[1].wait_ns == 30);
  CHECK(stacks[1].user.size() == 2);
}
