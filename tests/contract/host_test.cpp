// Facts about the machine agree with what other ways of asking say; facts about a file are read from recorded
// trees of /proc and /sys, one for each way in which a file system hides its device.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "tests/skip.h"
#include "userspace/host/host.h"
#include "userspace/host/mounts.h"
#include "userspace/host/text_file.h"
#include "userspace/memory/cgroup.h"
#include "userspace/unique_fd.h"

namespace iotrace {
namespace {

namespace fs = std::filesystem;

// A recorded tree, and a real file whose mount and device numbers stand in it.
class Tree {
public:
  Tree() {
    REQUIRE(::mkdtemp(root.data()));
    fd.reset(::open((root + "/file").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    REQUIRE(::ftruncate(fd.get(), 12345) == 0);
    struct statx about = {};
    REQUIRE(::statx(fd.get(), "", AT_EMPTY_PATH, STATX_MNT_ID, &about) == 0);
    mount_id = about.stx_mnt_id;
    device = fmt::format("{}:{}", about.stx_dev_major, about.stx_dev_minor);
  }
  ~Tree() { fs::remove_all(root); }
  Tree(const Tree&) = delete;

  void write(const std::string& path, const std::string& text) const {
    fs::create_directories(fs::path(root + path).parent_path());
    std::ofstream(root + path) << text;
  }
  void link(const std::string& path, const std::string& target) const {
    fs::create_directories(fs::path(root + path).parent_path());
    fs::create_symlink(root + target, root + path);
  }
  void mounted(const std::string& type, const std::string& source) const {
    write("/proc/self/mountinfo",
          fmt::format("1 0 8:1 / /elsewhere rw - xfs /dev/sdz rw\n"
                      "{} 1 0:99 /sub\\040vol /mnt rw,noatime shared:1 master:2 - {} {} rw,ssd\n",
                      mount_id, type, source));
  }
  void disk(const std::string& path, std::uint64_t read_ahead_kib) const {
    write(path + "/queue/read_ahead_kb", fmt::format("{}\n", read_ahead_kib));
    write(path + "/queue/max_sectors_kb", "1280\n");
    write(path + "/queue/scheduler", "none [mq-deadline] kyber\n");
  }
  FileFacts facts() const { return file_facts(fd.get(), "the file", root); }

  std::string root = "/tmp/iotrace-tree-XXXXXX";
  UniqueFd fd;
  std::uint64_t mount_id = 0;
  std::string device;
};

TEST_CASE("a partition's queue is its disk's") {
  Tree tree;
  tree.mounted("ext4", "/dev/root");
  tree.disk("/sys/devices/pci/sda", 128);
  tree.write("/sys/devices/pci/sda/sda1/partition", "1\n");
  tree.link("/sys/dev/block/" + tree.device, "/sys/devices/pci/sda/sda1");
  FileFacts facts = tree.facts();
  REQUIRE(facts.path == "the file");
  REQUIRE(facts.size_bytes == 12345);
  REQUIRE(facts.fs == "ext4");
  REQUIRE(facts.device == "sda1");
  REQUIRE(facts.read_ahead_bytes == 128 * 1024);
  REQUIRE(facts.max_sectors_bytes == 1280 * 1024);
  REQUIRE(facts.scheduler == "mq-deadline");
}

TEST_CASE("the read-ahead of the file's own device wins over the disk's") {
  Tree tree;
  tree.mounted("xfs", "/dev/vda");
  tree.disk("/sys/devices/vda", 128);
  tree.link("/sys/dev/block/" + tree.device, "/sys/devices/vda");
  tree.write("/sys/class/bdi/" + tree.device + "/read_ahead_kb", "8192\n");
  REQUIRE(tree.facts().read_ahead_bytes == 8192 * 1024);
}

TEST_CASE("a btrfs is found by its source, through the device mapper, with a read-ahead of its own") {
  Tree tree;
  tree.mounted("btrfs", "/dev/mapper/data");
  tree.write("/dev/dm-3", "");
  tree.link("/dev/mapper/data", "/dev/dm-3");
  tree.disk("/sys/devices/virtual/dm-3", 128);
  tree.link("/sys/class/block/dm-3", "/sys/devices/virtual/dm-3");
  tree.write("/sys/fs/btrfs/features/devices", "");
  tree.write("/sys/fs/btrfs/some-uuid/devices/sdb", "");
  tree.write("/sys/fs/btrfs/some-uuid/bdi/read_ahead_kb", "1\n");
  tree.write("/sys/fs/btrfs/this-uuid/devices/dm-3", "");
  tree.write("/sys/fs/btrfs/this-uuid/bdi/read_ahead_kb", "4096\n");
  FileFacts facts = tree.facts();
  REQUIRE(facts.fs == "btrfs");
  REQUIRE(facts.device == "dm-3");
  REQUIRE(facts.read_ahead_bytes == 4096 * 1024);
  REQUIRE(facts.scheduler == "mq-deadline");
}

TEST_CASE("what has no block device has no numbers of one") {
  Tree tree;
  tree.mounted("overlay", "overlay");
  FileFacts facts = tree.facts();
  REQUIRE(facts.fs == "overlay");
  REQUIRE(facts.device == "overlay");
  REQUIRE_FALSE(facts.read_ahead_bytes);
  REQUIRE_FALSE(facts.max_sectors_bytes);
  REQUIRE_FALSE(facts.scheduler);
}

TEST_CASE("a network file system has a read-ahead and no queue") {
  Tree tree;
  tree.mounted("nfs4", "server:/export");
  tree.write("/sys/class/bdi/" + tree.device + "/read_ahead_kb", "128\n");
  REQUIRE(tree.facts().device == "server:/export");
  REQUIRE(tree.facts().read_ahead_bytes == 128 * 1024);
  REQUIRE_FALSE(tree.facts().scheduler);
}

TEST_CASE("an empty tree gives path and size, and nothing invented") {
  Tree tree;
  FileFacts facts = tree.facts();
  REQUIRE(facts.size_bytes == 12345);
  REQUIRE(facts.fs.empty());
  REQUIRE(facts.device.empty());
  REQUIRE_FALSE(facts.read_ahead_bytes);
}

TEST_CASE("names in mountinfo are unescaped") {
  Tree tree;
  tree.mounted("btrfs", "none");
  auto all = mounts(tree.root);
  REQUIRE(all.size() == 2);
  REQUIRE(all[1].root == "/sub vol");
  REQUIRE(all[1].options == "rw,ssd");
}

TEST_CASE("the memory controller is found on v2, on v1, or not at all") {
  Tree tree;
  REQUIRE_FALSE(memory_cgroup_hierarchy(tree.root));
  tree.write("/proc/self/mountinfo", "31 1 0:1 / /cg/unified rw - cgroup2 cgroup2 rw\n"
                                     "32 1 0:2 / /cg/cpu rw - cgroup cgroup rw,cpu\n"
                                     "33 1 0:3 / /cg/memory rw - cgroup cgroup rw,memory\n");
  tree.write("/cg/unified/cgroup.controllers", "hugetlb\n");
  auto v1 = memory_cgroup_hierarchy(tree.root);
  REQUIRE(v1->version == CgroupVersion::kV1);
  REQUIRE(v1->parent == "/cg/memory");
  tree.write("/cg/unified/cgroup.controllers", "cpu io memory pids\n");
  auto v2 = memory_cgroup_hierarchy(tree.root);
  REQUIRE(v2->version == CgroupVersion::kV2);
  REQUIRE(v2->parent == "/cg/unified");
}

TEST_CASE("host facts agree with uname, sysconf and meminfo") {
  Host host = host_facts();
  REQUIRE(host.kernel == read_word("/proc/sys/kernel/osrelease"));
  REQUIRE_FALSE(host.machine.empty());
  REQUIRE_FALSE(host.cpu.empty());
  REQUIRE(host.cpus == static_cast<std::uint32_t>(::sysconf(_SC_NPROCESSORS_ONLN)));
  REQUIRE(host.page_size_bytes == static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)));
  std::string meminfo = read_text("/proc/meminfo").value();
  auto value = [&](const std::string& key) {
    return std::strtoull(meminfo.c_str() + meminfo.find(key) + key.size(), nullptr, 10) * 1024;
  };
  REQUIRE(host.memory_bytes == value("MemTotal:"));
  REQUIRE(host.swap_bytes == value("SwapTotal:"));
  REQUIRE(host.mglru.has_value() == fs::exists("/sys/kernel/mm/lru_gen/enabled"));
  REQUIRE(host.virtualisation.has_value());
}

TEST_CASE("per-VMA locks are what the kernel's own symbols say") {
  Host host = host_facts();
  if (!fs::exists("/sys/kernel/btf/vmlinux")) {
    REQUIRE_FALSE(host.per_vma_locks);
    test::skip("this kernel has no BTF");
  }
  auto symbols = read_text("/proc/kallsyms");
  if (!symbols) test::skip("no /proc/kallsyms");
  REQUIRE(host.per_vma_locks == (symbols->find(" lock_vma_under_rcu\n") != std::string::npos));
}

}
}
