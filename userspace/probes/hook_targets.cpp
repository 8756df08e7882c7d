#include "userspace/probes/hook_targets.h"

#include <bpf/bpf.h>
#include <linux/bpf.h>

#include <cerrno>
#include <vector>

#include <fmt/format.h>

#include "userspace/unique_fd.h"

namespace iotrace {

namespace {

// Loads a program that returns 0 at once.
std::string try_fentry(int function_id) {
  const bpf_insn instructions[] = {
      {.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
      {.code = BPF_JMP | BPF_EXIT},
  };
  LIBBPF_OPTS(bpf_prog_load_opts, options, .expected_attach_type = BPF_TRACE_FENTRY,
              .attach_btf_id = static_cast<__u32>(function_id));
  UniqueFd program(bpf_prog_load(BPF_PROG_TYPE_TRACING, "try_fentry", "GPL", instructions,
                                 std::size(instructions), &options));
  return program ? std::string()
                 : errno_error("this kernel lets no program onto its functions (load fentry)", errno).message;
}

}

std::string HookTargets::mismatch(const Variant& variant) {
  for (const HookProgram& program : variant.programs)
    if (std::string why = mismatch(program); !why.empty()) return why;
  return {};
}

std::string HookTargets::mismatch(const HookProgram& program) {
  const bool function = program.event == HookProgram::Event::kFunction;
  if (!function && program.event != HookProgram::Event::kTracepoint) return {};
  auto arguments = function ? kernel_.arguments_of_function(program.target)
                            : kernel_.arguments_of_tracepoint(program.target);
  if (!arguments)
    return fmt::format("this kernel has no {} {}", function ? "function" : "tracepoint", program.target);

  const auto count = static_cast<int>(arguments->size());
  if (count < program.least_arguments || count > program.most_arguments)
    return fmt::format("{} has {} arguments where {} are known", program.target, count,
                       program.most_arguments);
  for (std::size_t i = 0; i < program.types.size() && i < arguments->size(); ++i)
    if (!program.types[i].empty() && program.types[i] != (*arguments)[i])
      return fmt::format("argument {} of {} is {} where {} is known", i + 1, program.target, (*arguments)[i],
                         program.types[i]);
  return function ? refusal_of_functions(program.target) : std::string();
}

const std::string& HookTargets::refusal_of_functions(const char* function) {
  if (!refusal_of_functions_) refusal_of_functions_ = try_fentry(kernel_.function_id(function).value_or(0));
  return *refusal_of_functions_;
}

}
