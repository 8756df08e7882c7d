#include "userspace/probes/kernel_btf.h"

#include <string>
#include <string_view>

namespace iotrace {

Result<KernelBtf> KernelBtf::load() {
  btf* types = btf__load_vmlinux_btf();
  if (!types) {
    return unsupported(
        "read the kernel's types: no usable BTF in /sys/kernel/btf/vmlinux; the probes need a kernel built "
        "with CONFIG_DEBUG_INFO_BTF (Debian's are), or measure throughput alone with --probes off");
  }
  return KernelBtf(types);
}

// A tracepoint X leaves the type `typedef void (*btf_trace_X)(void *, …)`, of which the first is BPF's own.
std::optional<int> KernelBtf::tracepoint_arguments(const char* name) const {
  std::string type_name = std::string("btf_trace_") + name;
  int id = btf__find_by_name_kind(types_.get(), type_name.c_str(), BTF_KIND_TYPEDEF);
  if (id < 0) return std::nullopt;
  const btf_type* pointer = btf__type_by_id(types_.get(), btf__type_by_id(types_.get(), id)->type);
  if (!pointer || !btf_is_ptr(pointer)) return std::nullopt;
  const btf_type* function = btf__type_by_id(types_.get(), pointer->type);
  if (!function || !btf_is_func_proto(function) || btf_vlen(function) == 0) return std::nullopt;
  return btf_vlen(function) - 1;
}

bool KernelBtf::has_per_vma_locks() const {
  int id = btf__find_by_name_kind(types_.get(), "vm_area_struct", BTF_KIND_STRUCT);
  if (id < 0) return false;
  const btf_type* vma = btf__type_by_id(types_.get(), id);
  // Direct members do not suffice: 6.12 and later may keep it in an anonymous struct or union.
  auto holds = [&](auto&& self, const btf_type* type) -> bool {
    for (int i = 0; i < btf_vlen(type); ++i) {
      const btf_member& member = btf_members(type)[i];
      std::string_view member_name = btf__name_by_offset(types_.get(), member.name_off);
      if (member_name == "vm_lock_seq") return true;
      const btf_type* inner = btf__type_by_id(types_.get(), member.type);
      if (member_name.empty() && btf_is_composite(inner) && self(self, inner)) return true;
    }
    return false;
  };
  return holds(holds, vma);
}

}
