// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// The kernel types that the probes read, and nothing else of them than the fields that are read.
//
// The order and the distance of fields here mean nothing: each access is relocated at load against the types
// of the running kernel (CO-RE). What must be right is the name of a type, the name of a field and the
// field's size; tests/in-place/kernel_types_test.cpp checks all three against the running kernel's BTF.
//
// Each type notes the kernels for which it was read; the range is first and last of 6.1, 6.6, 6.12 and 6.18.
#pragma once
#define __VMLINUX_H__  // bpf_tracing.h and others ask for it

typedef unsigned char __u8;
typedef unsigned short __u16;
typedef unsigned int __u32;
typedef unsigned long long __u64;
typedef signed char __s8;
typedef short __s16;
typedef int __s32;
typedef long long __s64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;
typedef _Bool bool;
enum { false, true };

// A kernel type. The tags are what the test goes by.
#define KERNEL_TYPE __attribute__((preserve_access_index, btf_decl_tag("kernel_type")))
// One of several shapes of a type, of which a kernel has one: the name up to ___ is the kernel's, and code
// asks bpf_core_field_exists() before it reads.
#define KERNEL_FLAVOUR __attribute__((preserve_access_index, btf_decl_tag("kernel_flavour")))
// Part of the kernel's ABI: read at the offsets written here, which the test checks too.
#define KERNEL_ABI __attribute__((btf_decl_tag("kernel_abi")))

// ---- BPF's own constants (ABI, linux/bpf.h) -----------------------------------------------------------

enum bpf_map_type {
  BPF_MAP_TYPE_HASH = 1,
  BPF_MAP_TYPE_ARRAY = 2,
  BPF_MAP_TYPE_PERCPU_HASH = 5,
  BPF_MAP_TYPE_PERCPU_ARRAY = 6,
  BPF_MAP_TYPE_STACK_TRACE = 7,
  BPF_MAP_TYPE_RINGBUF = 27,
};
enum { BPF_ANY = 0, BPF_NOEXIST = 1 };

// ---- memory -----------------------------------------------------------------------------------------

struct address_space;

// 6.1 to 6.18; only where it lies is asked
struct rw_semaphore {
} KERNEL_TYPE;

// 6.1 to 6.18
struct mm_struct {
  struct rw_semaphore mmap_lock;
} KERNEL_TYPE;

// 6.1 to 6.18
struct vm_fault {
  struct vm_area_struct* vma;
  unsigned long pgoff;
} KERNEL_TYPE;

// 6.1 to 6.18
struct address_space {
  struct inode* host;
  unsigned long nrpages;
} KERNEL_TYPE;

// 6.1 to 6.18
struct vm_area_struct {
  unsigned long vm_start, vm_end;
  unsigned long vm_flags;
  unsigned long vm_pgoff;
  struct file* vm_file;
} KERNEL_TYPE;

// 6.1 to 6.18
struct backing_dev_info {
  unsigned long ra_pages;  // read_ahead_kb
  unsigned long io_pages;  // max_sectors_kb
} KERNEL_TYPE;

// 6.1 to 6.18
struct super_block {
  unsigned int s_dev;
  struct backing_dev_info* s_bdi;
} KERNEL_TYPE;

// 6.1 to 6.18
struct inode {
  unsigned short i_mode;
  struct address_space* i_mapping;
  struct super_block* i_sb;
  unsigned long i_ino;
  long long i_size;
  void* i_private;
} KERNEL_TYPE;

// 6.1 to 6.18. `flags` is not written out: it is a plain number up to 6.17 and a struct from 6.18 on, at
// offset 0 in all (see bpf/core_fixes.bpf.h).
struct folio {
  struct address_space* mapping;
  unsigned long index;
} KERNEL_TYPE;

// 6.1 to 6.12
struct folio___before_6_14 {
  unsigned int _folio_nr_pages;
} KERNEL_FLAVOUR;

// 6.18
struct folio___since_6_14 {
  unsigned int _nr_pages;
} KERNEL_FLAVOUR;

// 6.1 to 6.18; the value moves between kernels (bpf_core_enum_value)
enum pageflags {
  PG_head,
  PG_swapbacked,
};

// 6.1 to 6.18
struct page {
  unsigned long compound_head;  // bit 0: of a tail page, and the rest is its head
} KERNEL_TYPE;

// ---- tasks and files ----------------------------------------------------------------------------------

// 6.1 to 6.18
struct fdtable {
  unsigned int max_fds;
  struct file** fd;
} KERNEL_TYPE;

// 6.1 to 6.18
struct files_struct {
  struct fdtable* fdt;
} KERNEL_TYPE;

// 6.1 to 6.18
typedef struct {
  int counter;
} atomic_t;

// 6.1 to 6.18
struct signal_struct {
  atomic_t live;  // threads that have not begun to exit
} KERNEL_TYPE;

// 6.1 to 6.18
struct task_struct {
  unsigned int flags;
  int pid;
  int tgid;
  struct mm_struct* mm;
  struct signal_struct* signal;
  struct files_struct* files;
  struct task_struct* group_leader;
  struct pid* thread_pid;
  unsigned long nvcsw;
  char comm[16];
  void* worker_private;  // struct io_worker of a PF_IO_WORKER
} KERNEL_TYPE;

// include/linux/sched.h, the same from 6.1 to 6.18
enum {
  PF_IO_WORKER = 0x00000010,
  PF_KTHREAD = 0x00200000,
};

// 6.1 to 6.18
struct file_ra_state {
  unsigned int ra_pages;
  unsigned int size;        // of the window, pages
  unsigned int async_size;  // at how many pages before its end the next one is started
} KERNEL_TYPE;

// 6.1 to 6.18
struct hlist_bl_node {
  struct hlist_bl_node** pprev;
} KERNEL_TYPE;

// 6.1 to 6.18
struct dentry {
  struct hlist_bl_node d_hash;
} KERNEL_TYPE;

// 6.1 to 6.18
struct path {
  struct dentry* dentry;
} KERNEL_TYPE;

// 6.1 to 6.18
struct file {
  struct address_space* f_mapping;
  struct inode* f_inode;
  struct path f_path;
  struct file_ra_state f_ra;
  void* private_data;
  long long f_pos;
} KERNEL_TYPE;

// 6.1 to 6.18
struct bpf_iter_meta {
  struct seq_file* seq;
} KERNEL_TYPE;

// 6.1 to 6.18
struct bpf_iter__task_vma {
  struct bpf_iter_meta* meta;
  struct task_struct* task;
  struct vm_area_struct* vma;
} KERNEL_TYPE;

// 6.1 to 6.18
struct bpf_iter__task_file {
  struct bpf_iter_meta* meta;
  struct task_struct* task;
  __u32 fd;
  struct file* file;
} KERNEL_TYPE;

// ---- readahead ----------------------------------------------------------------------------------------

// 6.1 to 6.12
struct file_ra_state___before_6_17 {
  unsigned int mmap_miss;
} KERNEL_FLAVOUR;

// 6.18
struct file_ra_state___since_6_17 {
  unsigned short order;
  unsigned short mmap_miss;
} KERNEL_FLAVOUR;

// 6.1 to 6.18
struct readahead_control {
  struct address_space* mapping;
} KERNEL_TYPE;

// ---- block layer --------------------------------------------------------------------------------------

// 6.1 to 6.18
struct bio_vec {
  struct page* bv_page;
  unsigned int bv_offset;
} KERNEL_TYPE;

// 6.1 to 6.18
struct bvec_iter {
  unsigned int bi_size;
  unsigned int bi_idx;
} KERNEL_TYPE;

// 6.1 to 6.18
struct bio {
  __u32 bi_opf;
  struct bvec_iter bi_iter;
  void* bi_private;
  struct bio_vec* bi_io_vec;
} KERNEL_TYPE;

// 6.1 to 6.18
struct request {
  __u32 cmd_flags;
  unsigned int __data_len;  // still to be done, bytes
  struct bio* bio;
  __u64 start_time_ns;  // 0: the device keeps no statistics
} KERNEL_TYPE;

// include/linux/blk_types.h, the same from 6.1 to 6.18
enum { REQ_OP_MASK = 0xff, REQ_OP_READ = 0, REQ_META = 1 << 12 };

// 6.1 to 6.18
struct kiocb {
  struct file* ki_filp;
} KERNEL_TYPE;

// 6.1 to 6.18: what bi_private of a bio of direct I/O is, on file systems that use iomap for it
struct iomap_dio {
  struct kiocb* iocb;
} KERNEL_TYPE;

// ---- io_uring -----------------------------------------------------------------------------------------

// 6.1 to 6.18
struct io_wq_work {
} KERNEL_TYPE;

// 6.1 to 6.18
struct io_worker {
  struct io_wq_work* cur_work;
} KERNEL_TYPE;

// 6.1 to 6.18. What an operation keeps of its own stands at the start: struct io_madvise, struct io_fadvise.
struct io_kiocb {
  __u8 opcode;
  struct io_wq_work work;
} KERNEL_TYPE;

// 6.1 to 6.18
struct io_madvise {
  __u64 addr;
  __u32 advice;
} KERNEL_TYPE;

// 6.1
struct io_madvise___before_6_11 {
  __u32 len;
} KERNEL_FLAVOUR;

// 6.12 to 6.18
struct io_madvise___since_6_11 {
  __u64 len;
} KERNEL_FLAVOUR;

// 6.1 to 6.18
struct io_fadvise {
  __u32 advice;
} KERNEL_TYPE;

// 6.1 to 6.18
struct io_uring_cqe {
  __s32 res;
} KERNEL_TYPE;

// include/uapi/linux/io_uring.h
enum { IORING_OP_FADVISE = 24, IORING_OP_MADVISE = 25 };

// ---- memory that runs out -----------------------------------------------------------------------------

// 6.1 to 6.18
enum tlb_flush_reason {
  TLB_REMOTE_SEND_IPI = 4,
};

// ---- registers at the entry into the kernel -----------------------------------------------------------

#if defined(__TARGET_ARCH_x86)
// 6.1 to 6.18
struct pt_regs {
  unsigned long r10, r9, r8, dx, si, di;
  unsigned long orig_ax;  // system call number; -1 in an exception
} KERNEL_TYPE;
enum { USER_REGISTERS = 21 };
enum { USER_IP = 16 };
#elif defined(__TARGET_ARCH_arm64)
// 6.1 to 6.18
struct pt_regs {
  __u64 regs[31];
  __u64 orig_x0;    // regs[0] before the result took its place
  __s32 syscallno;  // -1 in an exception
} KERNEL_TYPE;
enum { USER_REGISTERS = 34 };
enum { USER_IP = 32 };
#else
#error "the registers of this machine are not written down yet"
#endif

// What a perf_event program gets. `regs` stands for bpf_user_pt_regs_t, whose registers are 64 bits each.
struct bpf_perf_event_data {
  __u64 regs[USER_REGISTERS];
  __u64 sample_period;
  __u64 addr;  // of the fault
} KERNEL_ABI;

// An element of the vectors of preadv(2), as POSIX has it.
struct iovec {
  void* iov_base;
  unsigned long iov_len;
};
