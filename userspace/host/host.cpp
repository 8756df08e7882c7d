#include "userspace/host/host.h"

#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <bpf/btf.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <cstring>
#include <memory>
#include <string_view>

#include "userspace/host/text_file.h"
#include "userspace/memory/cgroup.h"

namespace iotrace {
namespace {

std::string cpu_model() {
  std::string text = read_text("/proc/cpuinfo").value_or("");
  auto at = text.find("model name");  // arm64 has no such line
  if (at == std::string::npos) return "unknown";
  at = text.find(": ", at);
  return at == std::string::npos ? "unknown" : text.substr(at + 2, text.find('\n', at) - at - 2);
}

bool has_member(const btf* types, const btf_type* type, std::string_view name) {
  const btf_member* members = btf_members(type);
  for (int i = 0; i < btf_vlen(type); ++i) {
    std::string_view found = btf__name_by_offset(types, members[i].name_off);
    if (found == name) return true;
    const btf_type* inner = btf__type_by_id(types, members[i].type);
    if (found.empty() && btf_is_composite(inner) && has_member(types, inner, name)) return true;
  }
  return false;
}

// vm_lock_seq is in the structure exactly where CONFIG_PER_VMA_LOCK is on: 6.4 (commit 5e31275cc997) to
// 6.18, while the lock beside it changed from an rwsem to a reference count in 6.15.
std::optional<bool> per_vma_locks() {
  std::unique_ptr<btf, decltype(&btf__free)> types(btf__load_vmlinux_btf(), &btf__free);
  if (!types) return std::nullopt;
  int id = btf__find_by_name_kind(types.get(), "vm_area_struct", BTF_KIND_STRUCT);
  if (id < 0) return std::nullopt;
  return has_member(types.get(), btf__type_by_id(types.get(), static_cast<__u32>(id)), "vm_lock_seq");
}

std::optional<std::string> thp() {
  auto choices = read_text("/sys/kernel/mm/transparent_hugepage/enabled");
  return choices ? chosen_word(*choices) : std::nullopt;
}

#if defined(__x86_64__)
// A hypervisor says so in bit 31 of CPUID leaf 1, and who it is in leaf 0x40000000.
std::optional<std::string> virtualisation() {
  struct Name {
    std::string_view signature, name;
  };
  constexpr Name kNames[] = {{"KVMKVMKVM", "kvm"},       {"TCGTCGTCGTCG", "qemu"},
                             {"VMwareVMware", "vmware"}, {"Microsoft Hv", "hyper-v"},
                             {"XenVMMXenVMM", "xen"},    {"bhyve bhyve ", "bhyve"}};
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx)) return std::nullopt;
  if (!(ecx & (1u << 31))) return "none";
  __cpuid(0x40000000, eax, ebx, ecx, edx);
  char signature[13] = {};
  std::memcpy(signature, &ebx, 4);
  std::memcpy(signature + 4, &ecx, 4);
  std::memcpy(signature + 8, &edx, 4);
  for (const Name& known : kNames)
    if (known.signature == signature) return std::string(known.name);
  return signature[0] ? signature : "unknown hypervisor";
}
#else
// No instruction tells; firmware tables do where a hypervisor fills them in.
std::optional<std::string> virtualisation() {
  return read_word("/sys/class/dmi/id/sys_vendor");
}
#endif

std::optional<std::string> cgroup_version() {
  auto hierarchy = memory_cgroup_hierarchy();
  if (!hierarchy) return std::nullopt;
  return hierarchy->version == CgroupVersion::kV1 ? "v1" : "v2";
}

}

Host host_facts() {
  Host host;
  utsname name = {};
  if (::uname(&name) == 0) {
    host.kernel = name.release;
    host.machine = name.machine;
  }
  host.cpu = cpu_model();
  host.cpus = static_cast<std::uint32_t>(std::max(::sysconf(_SC_NPROCESSORS_ONLN), 0l));
  host.page_size_bytes = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  struct sysinfo memory = {};
  if (::sysinfo(&memory) == 0) {
    host.memory_bytes = std::uint64_t{memory.totalram} * memory.mem_unit;
    host.swap_bytes = std::uint64_t{memory.totalswap} * memory.mem_unit;
  }
  host.per_vma_locks = per_vma_locks();
  host.mglru = read_word("/sys/kernel/mm/lru_gen/enabled");
  host.thp = thp();
  host.virtualisation = virtualisation();
  host.cgroup = cgroup_version();
  return host;
}

}
