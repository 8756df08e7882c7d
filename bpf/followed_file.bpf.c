// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Which address_space do the pages of the followed file belong to? Device and inode number won't do: on btrfs
// subvolumes and overlayfs they differ from those that stat(2) gives. And how long is it, and on what device:
// what the kernel makes of a hint depends on both (hints.bpf.h).
//
// An iterator over the loader's own descriptors, run once after loading.
#include "vmlinux.h"

#include <bpf/bpf_helpers.h>

#include "bpf/target.bpf.h"

SEC("?iter/task_file")
int on_open_file__iter(struct bpf_iter__task_file* ctx) {
  struct file* file = ctx->file;
  struct task_struct* task = ctx->task;
  if (!file || !task) return 0;
  if (task->tgid != cfg.iter_tgid || ctx->fd != cfg.iter_fd) return 0;
  struct address_space* mapping = file->f_mapping;
  followed_mapping = (__u64)mapping;
  followed_inode = (__u64)mapping->host;
  followed_device = (__u64)mapping->host->i_sb->s_bdi;
  return 0;
}
