#pragma once
// The BPF object that is linked into this program: opened, told which of its programs to load, loaded.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include <bpf/libbpf.h>

#include "analysis/result.h"
#include "bpf/contract.h"
#include "bpf/log_contract.h"

struct iotrace_bpf;

namespace iotrace {

class BpfObject {
public:
  // Opens the object with all programs switched off and the configuration in place.
  //   ledger_chunks  size of the page ledger (page_ledger.h)
  static Result<BpfObject> open(const config& configuration, __u32 ledger_chunks);

  // Which programs load() gives to the kernel. The name must be one of bpf/*.bpf.c.
  void enable(std::string_view program);

  // errors   the kernel's refusal of any one of the enabled programs, with its reason
  Status load();

  bpf_program* program(std::string_view name) const;
  bpf_map* map(std::string_view name) const;

  // Shared with the loaded programs.
  gate& gate_page() const;
  int gate_fd() const;
  int ledger_fd() const;
  std::uint64_t ledger_bytes() const;
  std::span<__u8> used_chunks() const;  // [LEDGER_CHUNKS], of the page ledger
  void set_target(const target& whose);
  void set_census(bool on);
  void set_target_bit(__u32 tgid) const;  // bpf/attach_targets.bpf.h
  __u64 followed_mapping() const;
  stack_wait& stacks_dropped() const;  // bpf/fault_stacks.bpf.h
  __u64& window_begins() const;        // bpf/events.bpf.h, and
  __u64& events_dropped() const;

  // The object file, as the compiler made it.
  static std::span<const std::byte> file();

private:
  struct Close {
    void operator()(iotrace_bpf* skeleton) const;
  };
  explicit BpfObject(iotrace_bpf* skeleton) : skeleton_(skeleton) {}

  std::unique_ptr<iotrace_bpf, Close> skeleton_;
};

}
