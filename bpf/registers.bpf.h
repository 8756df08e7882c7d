// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// The system call that a task is in, from the registers it entered the kernel with. They stay on its kernel
// stack for the whole call, its exit included, so the arguments need not be kept from entry to exit.
#pragma once
#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

static __always_inline const struct pt_regs* entry_registers(struct task_struct* task) {
  return (const struct pt_regs*)bpf_task_pt_regs(task);
}

// -1 for a task that is in an exception, such as a page fault from user mode.
static __always_inline __s64 syscall_number(const struct pt_regs* regs) {
#if defined(__TARGET_ARCH_x86)
  return (__s64)regs->orig_ax;
#elif defined(__TARGET_ARCH_arm64)
  return regs->syscallno;
#endif
}

// Argument `n`, a constant from 0 to 3.
static __always_inline __u64 syscall_argument(const struct pt_regs* regs, int n) {
#if defined(__TARGET_ARCH_x86)
  return n == 0 ? regs->di : n == 1 ? regs->si : n == 2 ? regs->dx : regs->r10;
#elif defined(__TARGET_ARCH_arm64)
  return n == 0 ? regs->orig_x0 : n == 1 ? regs->regs[1] : n == 2 ? regs->regs[2] : regs->regs[3];
#endif
}
