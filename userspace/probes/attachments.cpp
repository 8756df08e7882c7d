#include "userspace/probes/attachments.h"

#include <bpf/bpf.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include <fmt/format.h>

#include "userspace/probes/libbpf_messages.h"
#include "userspace/unique_fd.h"

namespace iotrace {

namespace {

__u64 software_event(HookProgram::Event event) {
  switch (event) {
  case HookProgram::Event::kPerfMinorFaults: return PERF_COUNT_SW_PAGE_FAULTS_MIN;
  case HookProgram::Event::kPerfMajorFaults: return PERF_COUNT_SW_PAGE_FAULTS_MAJ;
  default: return PERF_COUNT_SW_PAGE_FAULTS;
  }
}

// Each occurrence on one CPU, of any process, in user and in kernel mode. The kernel does not throttle
// software events with a period of 1.
UniqueFd open_perf_event(__u64 which, int cpu) {
  perf_event_attr attr{};
  attr.type = PERF_TYPE_SOFTWARE;
  attr.size = sizeof(attr);
  attr.config = which;
  attr.sample_period = 1;
  return UniqueFd(static_cast<int>(syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC)));
}

Error attach_error(const HookProgram& program, int error) {
  return errno_error(fmt::format("attach {}", program.name), error);
}

}

Status Attachments::attach(const BpfObject& object, const HookProgram& program) {
  LibbpfMessages silence;
  bpf_program* loaded = object.program(program.name);
  if (program.event == HookProgram::Event::kTracepoint || program.event == HookProgram::Event::kFunction) {
    bpf_link* link = bpf_program__attach(loaded);
    if (!link) return attach_error(program, errno);
    links_.emplace_back(link);
    return {};
  }
  int cpus = libbpf_num_possible_cpus();
  if (cpus < 0) return errno_error("count the CPUs", -cpus);
  for (int cpu = 0; cpu < cpus; ++cpu) {
    UniqueFd event = open_perf_event(software_event(program.event), cpu);
    if (!event && errno == ENODEV) continue;  // this CPU is offline
    if (!event) return attach_error(program, errno);
    bpf_link* link = bpf_program__attach_perf_event(loaded, event.get());
    if (!link) return attach_error(program, errno);
    links_.emplace_back(link);
    (void)event.release();  // the link closes it
  }
  return {};
}

Status Attachments::attach(const BpfObject& object, const Variant& variant) {
  std::size_t before = links_.size();
  for (const HookProgram& program : variant.programs) {
    if (Status attached = attach(object, program); !attached) {
      links_.resize(before);
      return attached;
    }
  }
  return {};
}

Count recursion_misses(const BpfObject& object, const Variant& variant) {
  Count misses = 0;
  for (const HookProgram& program : variant.programs) {
    bpf_prog_info info{};
    __u32 size = sizeof(info);
    if (bpf_obj_get_info_by_fd(bpf_program__fd(object.program(program.name)), &info, &size) == 0)
      misses += info.recursion_misses;
  }
  return misses;
}

}
