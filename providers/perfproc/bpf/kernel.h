/* SPDX-License-Identifier: MIT */
/*
 * The parts of the kernel's types that tasks.bpf.c uses: names and nesting, without order and
 * sizes. libbpf finds each member's offset in the running kernel's type information when the
 * program is loaded. A suffix after three underscores marks another kernel version's layout of the
 * same type.
 */
#ifndef OPL_PERFPROC_KERNEL_H
#define OPL_PERFPROC_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

/* clang-format off */
typedef uint8_t __u8;
typedef uint16_t __u16, __be16;
typedef uint32_t __u32, __be32, __wsum;
typedef uint64_t __u64;
typedef int32_t __s32;
typedef int64_t __s64;
/* clang-format on */

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

enum { PF_WQ_WORKER = 0x20, PF_KTHREAD = 0x200000 };
enum { PIDTYPE_TGID = 1 };
enum { MM_FILEPAGES, MM_ANONPAGES, MM_SWAPENTS, MM_SHMEMPAGES, NR_MM_COUNTERS };
enum { BPF_MAP_TYPE_PERCPU_ARRAY = 6 };

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct list_head {
    struct list_head *next;
};
struct hlist_head {
    void *first;
};
struct timespec64 {
    int64_t tv_sec;
    long tv_nsec;
};
struct pid_namespace;
struct upid {
    int nr;
    struct pid_namespace *ns;
};
struct pid {
    unsigned level;
    struct hlist_head tasks[1];
    struct upid numbers[1];
};
struct prev_cputime {
    uint64_t utime, stime;
};
struct task_io_accounting {
    uint64_t rchar, wchar, syscr, syscw, read_bytes, write_bytes;
};
struct sched_entity {
    uint64_t sum_exec_runtime;
};
struct sched_info {
    unsigned long pcount;
};
struct percpu_counter {
    int64_t count;
    int32_t *counters;
};
typedef struct {
    int64_t counter;
} atomic_long_t;
struct mm_struct {
    unsigned long total_vm, hiwater_vm, hiwater_rss;
    struct percpu_counter rss_stat[NR_MM_COUNTERS];
};
struct fdtable {
    unsigned max_fds;
    unsigned long *open_fds;
};
struct files_struct {
    struct fdtable *fdt;
    unsigned long open_fds_init[1];
};
typedef struct {
    unsigned spare;
} seqlock_t;
struct signal_struct {
    int nr_threads;
    struct list_head thread_head;
    struct pid *pids[2];
    seqlock_t stats_lock;
    struct prev_cputime prev_cputime;
    uint64_t utime, stime, cutime, cstime;
    unsigned long min_flt, maj_flt, cmin_flt, cmaj_flt;
    struct task_io_accounting ioac;
    unsigned long long sum_sched_runtime;
};
struct task_struct {
    unsigned __state;
    int exit_state;
    unsigned flags;
    int prio, static_prio;
    unsigned rt_priority, policy;
    struct sched_entity se;
    struct sched_info sched_info;
    struct mm_struct *mm;
    int pid, tgid;
    struct task_struct *real_parent, *group_leader;
    struct pid *thread_pid;
    struct list_head tasks, thread_node;
    uint64_t utime, stime;
    struct prev_cputime prev_cputime;
    unsigned long nvcsw, nivcsw;
    uint64_t start_boottime;
    unsigned long min_flt, maj_flt;
    uint64_t self_exec_id;
    char comm[16];
    struct files_struct *files;
    struct signal_struct *signal;
    struct task_io_accounting ioac;
    void *worker_private;
};
struct kthread {
    void *data;
    char *full_name;
};
struct worker {
    void *current_work, *pool;
    char desc[32];
};
struct bpf_map;
struct bpf_array {
    void *pptrs[1];
};
struct seq_file;
struct bpf_iter_meta {
    struct seq_file *seq;
};
struct bpf_iter__task {
    struct bpf_iter_meta *meta;
    struct task_struct *task;
};

/* the layout before Linux 5.14 */
struct task_struct___volatile_state {
    volatile long state;
};
/* the layout before Linux 6.2 */
struct mm_rss_stat___atomic {
    atomic_long_t count[NR_MM_COUNTERS];
};
struct mm_struct___atomic {
    struct mm_rss_stat___atomic rss_stat;
};

#pragma clang attribute pop

#endif
