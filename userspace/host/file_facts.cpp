// What lies below a file. Three names lead there, and none is enough alone: the mount's id gives the file
// system's type; st_dev gives the block device (ext4, xfs) but an anonymous number on btrfs, overlay, nfs
// and tmpfs; the mount's source gives the device of a btrfs.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "userspace/host/host.h"
#include "userspace/host/mounts.h"
#include "userspace/host/text_file.h"

namespace iotrace {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kKiB = 1024;

std::optional<std::uint64_t> kibibytes(const fs::path& path) {
  auto number = read_number(path);
  return number ? std::optional(*number * kKiB) : std::nullopt;
}

std::optional<fs::path> existing(const fs::path& path) {
  std::error_code error;
  fs::path real = fs::canonical(path, error);
  return error ? std::nullopt : std::optional(real);
}

// The device's folder in /sys/devices.
std::optional<fs::path> block_device(const std::string& root, const std::string& device_number,
                                     const Mount& mount) {
  if (auto found = existing(root + "/sys/dev/block/" + device_number)) return found;
  if (!mount.source.starts_with("/dev/")) return std::nullopt;
  auto node = existing(root + mount.source);  // /dev/mapper/NAME is a link to /dev/dm-N
  return node ? existing(fs::path(root + "/sys/class/block") / node->filename()) : std::nullopt;
}

// A partition has no queue of its own.
fs::path disk_of(const fs::path& device) {
  return fs::exists(device / "partition") ? device.parent_path() : device;
}

// The file system's type where its mount can't be seen, as in a chroot; numbers of <linux/magic.h>.
std::string type_by_magic(int fd) {
  struct statfs about = {};
  if (::fstatfs(fd, &about) != 0) return "";
  switch (static_cast<std::uint32_t>(about.f_type)) {
  case 0xef53: return "ext4";  // ext2 and ext3 too
  case 0x58465342: return "xfs";
  case 0x9123683e: return "btrfs";
  case 0xf2f52010: return "f2fs";
  case 0x794c7630: return "overlay";
  case 0x01021994: return "tmpfs";
  case 0x6969: return "nfs";
  default: return "";
  }
}

// The backing device info of a btrfs is its own and has a name that no number leads to.
std::optional<std::uint64_t> btrfs_read_ahead(const std::string& root, const fs::path& device) {
  std::error_code error;
  for (const auto& file_system : fs::directory_iterator(root + "/sys/fs/btrfs", error))
    if (fs::exists(file_system.path() / "devices" / device.filename()))
      return kibibytes(file_system.path() / "bdi/read_ahead_kb");
  return std::nullopt;
}

}

FileFacts file_facts(int fd, std::string path, const std::string& root) {
  FileFacts facts;
  facts.path = std::move(path);
  struct statx about = {};
  if (::statx(fd, "", AT_EMPTY_PATH, STATX_SIZE | STATX_MNT_ID, &about) != 0) return facts;
  facts.size_bytes = about.stx_size;

  Mount mount;
  auto all = mounts(root);
  auto found = std::find_if(all.begin(), all.end(), [&](const Mount& m) { return m.id == about.stx_mnt_id; });
  if (found != all.end() && (about.stx_mask & STATX_MNT_ID)) mount = *found;
  // A recorded tree (`root`) speaks for itself alone.
  if (mount.fs.empty() && root.empty()) mount.fs = type_by_magic(fd);
  facts.fs = mount.fs;

  std::string device_number = fmt::format("{}:{}", about.stx_dev_major, about.stx_dev_minor);
  auto device = block_device(root, device_number, mount);
  facts.device = device ? device->filename().string() : mount.source;

  // The read-ahead that counts is the super block's (ext4 and xfs use their disk's).
  facts.read_ahead_bytes = kibibytes(root + "/sys/class/bdi/" + device_number + "/read_ahead_kb");
  if (!device) return facts;
  if (mount.fs == "btrfs") facts.read_ahead_bytes = btrfs_read_ahead(root, *device);
  fs::path queue = disk_of(*device) / "queue";
  if (!facts.read_ahead_bytes) facts.read_ahead_bytes = kibibytes(queue / "read_ahead_kb");
  facts.max_sectors_bytes = kibibytes(queue / "max_sectors_kb");
  if (auto schedulers = read_text(queue / "scheduler")) facts.scheduler = chosen_word(*schedulers);
  return facts;
}

}
