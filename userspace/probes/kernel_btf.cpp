#include "userspace/probes/kernel_btf.h"

#include <string>
#include <string_view>

#include <fmt/format.h>

namespace iotrace {

namespace {

const btf_type* plain(const btf* types, __u32 id) {
  const btf_type* type = btf__type_by_id(types, id);
  while (btf_is_mod(type) || btf_is_typedef(type)) type = btf__type_by_id(types, type->type);
  return type;
}

// "folio *", "64 bits"
std::string type_text(const btf* types, __u32 id) {
  const btf_type* type = plain(types, id);
  if (btf_is_int(type) || btf_is_any_enum(type)) return fmt::format("{} bits", 8 * type->size);
  if (!btf_is_ptr(type)) return btf__name_by_offset(types, type->name_off);
  const btf_type* pointed_to = plain(types, type->type);
  std::string_view name = btf__name_by_offset(types, pointed_to->name_off);
  return fmt::format("{} *", btf_is_void(pointed_to) ? "void" : name);
}

std::vector<std::string> argument_types(const btf* types, const btf_type* prototype, int first) {
  std::vector<std::string> texts;
  for (int i = first; i < btf_vlen(prototype); ++i)
    texts.push_back(type_text(types, btf_params(prototype)[i].type));
  return texts;
}

}

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
std::optional<std::vector<std::string>> KernelBtf::arguments_of_tracepoint(const char* name) const {
  std::string type_name = std::string("btf_trace_") + name;
  int id = btf__find_by_name_kind(types_.get(), type_name.c_str(), BTF_KIND_TYPEDEF);
  if (id < 0) return std::nullopt;
  const btf_type* pointer = btf__type_by_id(types_.get(), btf__type_by_id(types_.get(), id)->type);
  if (!pointer || !btf_is_ptr(pointer)) return std::nullopt;
  const btf_type* prototype = btf__type_by_id(types_.get(), pointer->type);
  if (!prototype || !btf_is_func_proto(prototype) || btf_vlen(prototype) == 0) return std::nullopt;
  return argument_types(types_.get(), prototype, 1);
}

std::optional<std::vector<std::string>> KernelBtf::arguments_of_function(const char* name) const {
  std::optional<int> id = function_id(name);
  if (!id) return std::nullopt;
  const btf_type* function = btf__type_by_id(types_.get(), static_cast<__u32>(*id));
  return argument_types(types_.get(), btf__type_by_id(types_.get(), function->type), 0);
}

std::optional<int> KernelBtf::function_id(const char* name) const {
  int id = btf__find_by_name_kind(types_.get(), name, BTF_KIND_FUNC);
  return id < 0 ? std::nullopt : std::optional(id);
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
