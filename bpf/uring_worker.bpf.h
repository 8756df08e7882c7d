// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// What a worker thread of io_uring is at.
#pragma once
#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

// It carries out a hint: the kernel gives IORING_OP_MADVISE and IORING_OP_FADVISE to a worker whenever they
// may wait. The thread that polls a ring's submissions is marked as a worker too, but has no work of this
// kind.
//   task  with PF_IO_WORKER
static __always_inline bool worker_hints(const struct task_struct* task) {
  const struct io_worker* worker = task->worker_private;
  const void* work = BPF_CORE_READ(worker, cur_work);
  if (!work) return false;
  const struct io_kiocb* operation = work - bpf_core_field_offset(struct io_kiocb, work);
  __u8 opcode = BPF_CORE_READ(operation, opcode);
  return opcode == IORING_OP_MADVISE || opcode == IORING_OP_FADVISE;
}
