// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Which regular files do the targets map, under which advice, and which have they open? What is cached of
// them? For attach: the kernel's iterators over mappings and descriptors, run when the user wants to know,
// one struct mapping_record for each.
//
// The iterator over mappings holds mmap_lock as reader from one mapping to the next, and lets go when
// somebody else wants it; it walks no page table, as smaps does.
#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "bpf/attach_files.bpf.h"

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct mapping_record);
} mapping_scratch SEC(".maps");

static __always_inline struct mapping_record* describe(struct file* file, __u32 tgid) {
  struct inode* inode = BPF_CORE_READ(file, f_inode);
  if ((BPF_CORE_READ(inode, i_mode) & FILE_TYPE_MASK) != REGULAR_FILE) return 0;
  __u32 zero = 0;
  struct mapping_record* record = bpf_map_lookup_elem(&mapping_scratch, &zero);
  if (!record) return 0;
  struct address_space* mapping = BPF_CORE_READ(file, f_mapping);
  record->mapping = (__u64)mapping;
  record->inode = BPF_CORE_READ(inode, i_ino);
  record->size_bytes = BPF_CORE_READ(inode, i_size);
  record->resident_pages = BPF_CORE_READ(mapping, nrpages);
  record->device = BPF_CORE_READ(inode, i_sb, s_dev);
  record->unlinked = !BPF_CORE_READ(file, f_path.dentry, d_hash.pprev);  // as the kernel's d_unlinked()
  record->tgid = tgid;
  record->start = record->end = record->flags = 0;
  return record;
}

static __always_inline void write_record(struct seq_file* seq, struct mapping_record* record, long path) {
  record->path_bytes = path > 0 && path <= PATH_ROOM ? path : 0;
  bpf_seq_write(seq, record, sizeof(*record));
}

SEC("?iter/task_vma")
int on_mapping__iter(struct bpf_iter__task_vma* ctx) {
  struct task_struct* task = ctx->task;
  struct vm_area_struct* vma = ctx->vma;
  if (!task || !vma || !is_target(task->tgid)) return 0;
  struct file* file = vma->vm_file;
  if (!file) return 0;
  struct mapping_record* record = describe(file, task->tgid);
  if (!record) return 0;
  record->start = vma->vm_start;
  record->end = vma->vm_end;
  record->flags = vma->vm_flags | 1ull << 63;  // a mapping, even without flags
  // Kernels that trust no pointer out of a mapping refuse the call, and the program with it: then user space
  // knows the path from elsewhere. The branch is dead code to the verifier.
  long path = cfg.mapping_paths ? bpf_d_path(&file->f_path, record->path, PATH_ROOM) : 0;
  write_record(ctx->meta->seq, record, path);
  return 0;
}

SEC("?iter/task_file")
int on_descriptor__iter(struct bpf_iter__task_file* ctx) {
  struct task_struct* task = ctx->task;
  struct file* file = ctx->file;
  if (!task || !file || task->pid != task->tgid || !is_target(task->tgid)) return 0;
  struct mapping_record* record = describe(file, task->tgid);
  if (!record) return 0;
  write_record(ctx->meta->seq, record, bpf_d_path(&file->f_path, record->path, PATH_ROOM));
  return 0;
}
