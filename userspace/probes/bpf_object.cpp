#include "userspace/probes/bpf_object.h"

#include <atomic>
#include <cerrno>
#include <string>

#include <fmt/format.h>

#include "bpf/attach_contract.h"
#include "iotrace.skel.h"
#include "userspace/probes/libbpf_messages.h"

namespace iotrace {

void BpfObject::Close::operator()(iotrace_bpf* skeleton) const {
  iotrace_bpf::destroy(skeleton);
}

Result<BpfObject> BpfObject::open(const config& configuration, __u32 ledger_chunks) {
  iotrace_bpf* skeleton = iotrace_bpf::open();
  if (!skeleton) return errno_error("open the BPF object", errno);
  BpfObject object(skeleton);
  skeleton->rodata->cfg = configuration;
  for (bpf_map* map : {skeleton->maps.touches, skeleton->maps.page_lives})
    bpf_map__set_max_entries(map, ledger_chunks);
  return object;
}

void BpfObject::enable(std::string_view name) {
  bpf_program__set_autoload(program(name), true);
}

Status BpfObject::load() {
  LibbpfMessages messages;
  int error = iotrace_bpf::load(skeleton_.get());
  if (error == 0) return {};
  std::string reason = messages.refusal();
  return errno_error("load" + (reason.empty() ? "" : " (" + reason + ")"), -error);
}

bpf_program* BpfObject::program(std::string_view name) const {
  return bpf_object__find_program_by_name(skeleton_->obj, std::string(name).c_str());
}

bpf_map* BpfObject::map(std::string_view name) const {
  return bpf_object__find_map_by_name(skeleton_->obj, std::string(name).c_str());
}

gate& BpfObject::gate_page() const {
  return skeleton_->data_gate->gate;
}

int BpfObject::gate_fd() const {
  return bpf_map__fd(skeleton_->maps.data_gate);
}

int BpfObject::ledger_fd() const {
  return bpf_map__fd(skeleton_->maps.touches);
}

std::uint64_t BpfObject::ledger_bytes() const {
  return std::uint64_t{bpf_map__max_entries(skeleton_->maps.touches)} * sizeof(ledger_chunk);
}

void BpfObject::set_target(const target& whose) {
  skeleton_->bss->target = whose;
  skeleton_->bss->lock_holder = {};
  skeleton_->bss->file_faults = {};
  skeleton_->bss->first_tick = 0;
}

std::span<__u8> BpfObject::used_chunks() const {
  return skeleton_->bss->used_chunks;
}

void BpfObject::set_target_bit(__u32 tgid) const {
  std::atomic_ref(skeleton_->bss->target_bits[tgid % TARGET_BITS / 64]).fetch_or(1ull << tgid % 64);
}

void BpfObject::set_census(bool on) {
  skeleton_->bss->folio_census = on;
}

__u64 BpfObject::followed_mapping() const {
  return skeleton_->bss->followed_mapping;
}

stack_wait& BpfObject::stacks_dropped() const {
  return skeleton_->bss->stacks_dropped;
}

__u64& BpfObject::window_begins() const {
  return skeleton_->bss->window_begins;
}

__u64& BpfObject::events_dropped() const {
  return skeleton_->bss->events_dropped;
}

std::span<const std::byte> BpfObject::file() {
  std::size_t size = 0;
  const void* bytes = iotrace_bpf::elf_bytes(&size);
  return {static_cast<const std::byte*>(bytes), size};
}

}
