// Whether vmlinux/vmlinux.h tells the truth about the running kernel. Goes by the BTF of our own BPF object,
// so that no type and no field that a program uses can be left out: each struct carries a tag that says how
// it is to be read (see KERNEL_TYPE, KERNEL_FLAVOUR and KERNEL_ABI there).

#include <bpf/btf.h>

#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tests/skip.h"
#include "userspace/probes/bpf_handles.h"
#include "userspace/probes/bpf_object.h"

namespace {

using namespace iotrace;

struct Objects {
  std::unique_ptr<bpf_object, decltype(&bpf_object__close)> ours{nullptr, bpf_object__close};
  Btf kernel;
  const btf* our_types() const { return bpf_object__btf(ours.get()); }
};

Objects open_types() {
  Objects objects;
  objects.kernel.reset(btf__load_vmlinux_btf());
  if (!objects.kernel) test::skip("this kernel has no BTF");
  auto file = BpfObject::file();
  objects.ours.reset(bpf_object__open_mem(file.data(), file.size(), nullptr));
  REQUIRE(objects.ours);
  return objects;
}

std::string name_of(const btf* types, __u32 offset) {
  return btf__name_by_offset(types, offset);
}

// "folio" for "folio___since_6_14"
std::string kernel_name(const std::string& name) {
  return name.substr(0, name.find("___"));
}

// Ids of our structs that carry a tag.
std::vector<__u32> tagged(const btf* types, std::string_view tag) {
  std::vector<__u32> ids;
  for (__u32 id = 1; id < btf__type_cnt(types); ++id) {
    const btf_type* type = btf__type_by_id(types, id);
    if (btf_is_decl_tag(type) && name_of(types, type->name_off) == tag) ids.push_back(type->type);
  }
  return ids;
}

struct Field {
  __u32 bit = 0;
  const btf_type* type = nullptr;
};

const btf_type* plain(const btf* types, const btf_type* type) {
  while (btf_is_mod(type) || btf_is_typedef(type)) type = btf__type_by_id(types, type->type);
  return type;
}

// A field of a struct or of the anonymous ones inside it.
std::optional<Field> find_field(const btf* types, const btf_type* record, std::string_view name,
                                __u32 base = 0) {
  for (int i = 0; i < btf_vlen(record); ++i) {
    const btf_member& member = btf_members(record)[i];
    std::string member_name = name_of(types, member.name_off);
    __u32 bit = base + btf_member_bit_offset(record, static_cast<__u32>(i));
    const btf_type* type = btf__type_by_id(types, member.type);
    if (member_name == name) return Field{bit, type};
    const btf_type* anonymous = member_name.empty() ? plain(types, type) : nullptr;
    if (anonymous && btf_is_composite(anonymous))
      if (auto inner = find_field(types, anonymous, name, bit)) return inner;
  }
  return std::nullopt;
}

// Kind and size as CO-RE and our loads need them to agree: numbers of one size, or pointers, or arrays.
std::string difference(const btf* ours, const btf_type* our_type, const btf* kernel,
                       const btf_type* kernel_type) {
  our_type = plain(ours, our_type);
  kernel_type = plain(kernel, kernel_type);
  bool our_number = btf_is_int(our_type) || btf_is_any_enum(our_type);
  bool kernel_number = btf_is_int(kernel_type) || btf_is_any_enum(kernel_type);
  if (our_number != kernel_number || btf_is_ptr(our_type) != btf_is_ptr(kernel_type))
    return "is of another kind";
  if (our_number && our_type->size != kernel_type->size)
    return "has " + std::to_string(kernel_type->size) + " bytes where we read " +
           std::to_string(our_type->size);
  return {};
}

// What is wrong with each field of one of our structs, by the kernel's struct of that name; empty: nothing.
std::vector<std::string> complaints(const Objects& objects, __u32 id, bool offsets_too) {
  const btf* ours = objects.our_types();
  const btf* kernel = objects.kernel.get();
  const btf_type* record = btf__type_by_id(ours, id);
  std::string name = kernel_name(name_of(ours, record->name_off));
  int kernel_id = btf__find_by_name_kind(kernel, name.c_str(), BTF_KIND_STRUCT);
  if (kernel_id < 0) return {"the kernel has no struct " + name};
  const btf_type* kernel_record = btf__type_by_id(kernel, static_cast<__u32>(kernel_id));

  std::vector<std::string> found;
  for (int i = 0; i < btf_vlen(record); ++i) {
    const btf_member& member = btf_members(record)[i];
    std::string field = name_of(ours, member.name_off);
    auto there = find_field(kernel, kernel_record, field);
    if (!there) {
      found.push_back(name + " has no field " + field);
      continue;
    }
    // Registers of a perf event: a struct there, the same number of words here.
    if (!(offsets_too && field == "regs")) {
      std::string differs = difference(ours, btf__type_by_id(ours, member.type), kernel, there->type);
      if (!differs.empty()) found.push_back(name + "." + field + " " + differs);
    }
    if (offsets_too && there->bit != btf_member_bit_offset(record, static_cast<__u32>(i)))
      found.push_back(name + "." + field + " stands elsewhere");
  }
  return found;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

}

TEST_CASE("the kernel has each field of each type that the probes read, in kind and size") {
  Objects objects = open_types();
  std::vector<__u32> types = tagged(objects.our_types(), "kernel_type");
  CHECK(types.size() >= 7);
  for (__u32 id : types) CHECK(joined(complaints(objects, id, false)) == "");
}

TEST_CASE("the kernel has one flavour of each type that comes in several") {
  Objects objects = open_types();
  const btf* ours = objects.our_types();
  std::map<std::string, std::vector<std::string>> refused;
  std::set<std::string> held;
  for (__u32 id : tagged(ours, "kernel_flavour")) {
    std::string name = kernel_name(name_of(ours, btf__type_by_id(ours, id)->name_off));
    auto wrong = complaints(objects, id, false);
    if (wrong.empty()) held.insert(name);
    refused[name].insert(refused[name].end(), wrong.begin(), wrong.end());
  }
  CHECK_FALSE(refused.empty());
  for (const auto& [name, wrong] : refused) {
    INFO(joined(wrong));
    CHECK(held.contains(name));
  }
}

TEST_CASE("what the kernel's ABI fixes lies where the kernel has it") {
  Objects objects = open_types();
  std::vector<__u32> types = tagged(objects.our_types(), "kernel_abi");
  CHECK(types.size() >= 1);
  for (__u32 id : types) CHECK(joined(complaints(objects, id, true)) == "");
}

TEST_CASE("the kernel has each enumerator whose value the probes ask for") {
  Objects objects = open_types();
  const btf* kernel = objects.kernel.get();
  int id = btf__find_by_name_kind(kernel, "pageflags", BTF_KIND_ENUM);
  REQUIRE(id > 0);
  const btf_type* flags = btf__type_by_id(kernel, static_cast<__u32>(id));
  bool found = false;
  for (int i = 0; i < btf_vlen(flags); ++i)
    found |= name_of(kernel, btf_enum(flags)[i].name_off) == "PG_head";
  CHECK(found);
}

TEST_CASE("every struct of the BPF object is either the kernel's, and tagged, or the contract's") {
  Objects objects = open_types();
  const btf* ours = objects.our_types();
  std::set<__u32> known;
  for (const char* tag : {"kernel_type", "kernel_flavour", "kernel_abi"})
    for (__u32 id : tagged(ours, tag)) known.insert(id);
  // bpf/contract.h and the maps' and programs' own
  const std::set<std::string> own = {
      "asker",        "attach_losses",  "bringers",           "chunk_key",        "chunk_run",
      "config",       "counters",       "cpu_counters",       "fault_counters",   "fault_sleep",
      "file_batch",   "file_histogram", "file_lives",         "file_stats",       "folio_lives",
      "gate",         "hint",           "hint_counters",      "histogram",        "holder_key",
      "io_counters",  "ledger_chunk",   "ledger_part",        "life_chunk",       "lock_counters",
      "long_fault",   "long_faults",    "mapping_record",     "page_counters",    "page_range",
      "page_uses",    "read_in_flight", "readahead_counters", "reclaim_counters", "result_count",
      "result_key",   "stack_key",      "stack_wait",         "syscall_counters", "target",
      "thread_place", "thread_state",   "thread_waits",       "wait_counters",    "waited_pages"};
  for (__u32 id = 1; id < btf__type_cnt(ours); ++id) {
    const btf_type* type = btf__type_by_id(ours, id);
    if (!btf_is_struct(type) || known.contains(id)) continue;
    std::string name = name_of(ours, type->name_off);
    if (name.empty()) continue;  // the definition of a map
    INFO(name << " is read without a tag: see KERNEL_TYPE in vmlinux/vmlinux.h");
    CHECK(own.contains(name));
  }
}
