// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Which hints does the target give through io_uring (IORING_OP_MADVISE, IORING_OP_FADVISE), and what became
// of them? No system call shows their results: io_uring_enter succeeds, the error stands in the completion.
//
// Attaches to io_uring:io_uring_complete, which fires as a completion is put into the ring: by then the
// operation's arguments are still kept with it. Up to 6.12 the result is an argument of the event, since 6.13
// it is in the completion. They count as the results of madvise and fadvise64 do (call_results.bpf.h).
//
// Cost: about 170 ns per completion of the target's, an empty program included; others' pay the filter.
//
// Can't see: hints that are told to leave no completion unless they fail (IOSQE_CQE_SKIP_SUCCESS), but for
// those that fail; completions that find the ring full. An operation that io_uring refuses before it looks at
// its advice counts with whatever stands there.
#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "bpf/call_results.bpf.h"
#include "bpf/core_fixes.bpf.h"
#include "bpf/target.bpf.h"

static __always_inline int operation_completed(const struct io_kiocb* operation, __s32 result) {
  if (!counted_work(bpf_get_current_task_btf())) return 0;
  __u8 opcode = BPF_CORE_READ(operation, opcode);
  if (opcode != IORING_OP_MADVISE && opcode != IORING_OP_FADVISE) return 0;
  struct counters* c = my_counters();
  if (!c) return 0;

  struct result_key key = {.call = CALL_URING_FADVISE, .error = result < 0 ? -result : 0};
  struct result_count once = {.calls = 1};
  if (opcode == IORING_OP_MADVISE) {
    const struct io_madvise* madvise = (const void*)operation;
    key.call = CALL_URING_MADVISE;
    key.advice = BPF_CORE_READ(madvise, advice);
    __u64 page_mask = (1ull << cfg.page_shift) - 1;
    once.misaligned = (BPF_CORE_READ(madvise, addr) & page_mask) != 0;
    once.requested_bytes = advised_bytes(madvise);
  } else {
    const struct io_fadvise* fadvise = (const void*)operation;
    key.advice = BPF_CORE_READ(fadvise, advice);
  }
  count_result(c, &key, &once);
  return 0;
}

// (ring, operation, completion), since 6.13
SEC("?tp_btf/io_uring_complete")
int on_operation_completed__tp_btf(__u64* ctx) {
  const struct io_uring_cqe* completion = (const struct io_uring_cqe*)ctx[2];
  const struct io_kiocb* operation = (const struct io_kiocb*)ctx[1];
  return operation_completed(operation, BPF_CORE_READ(completion, res));
}

// (ring, operation, user data, result, …), before 6.13
SEC("?tp_btf/io_uring_complete")
int on_operation_completed_result__tp_btf(__u64* ctx) {
  __s32 result = ctx[3];
  return operation_completed((const struct io_kiocb*)ctx[1], result);
}
