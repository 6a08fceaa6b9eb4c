/* SPDX-License-Identifier: MIT */
/*
 * The records of processes and threads from the BPF program in bpf/tasks.bpf.c, which
 * `openperflib-bpf pin` loads: binary, one for each task, in ascending order of `id`. Numbers are
 * those of the reader's pid namespace; tasks outside it have no record.
 */
#ifndef OPL_PERFPROC_RECORD_H
#define OPL_PERFPROC_RECORD_H

#include <stdint.h>

/* The first four bytes of each record: "OPT" and the number of the layout, which is incremented
 * with each change, so that a reader notices a different layout. */
#define RECORD_VERSION 0x0454504fu
#define RECORD_PROCESSES "processes" /* name of the pinned file with processes only */
#define RECORD_THREADS "threads"     /* with all tasks; a process is also its first thread */

enum {
    RECORD_PROCESS = 1,    /* a struct record_process and a name follow */
    RECORD_KERNEL = 2,     /* the name is a struct record_kernel_name, not 16 characters */
    RECORD_UNSETTLED = 4,  /* threads ended while they were summed: the sums are approximate */
    RECORD_ROUGH_SIZES = 8 /* memory sizes lack their per-CPU parts */
};

/* One task, its times in nanoseconds, and its priorities. */
struct record_task {
    uint32_t version, bytes; /* `bytes`: size of the whole record, a multiple of 8 */
    uint32_t id, process;
    uint32_t flags, state; /* RECORD_*; the kernel's state: 0 runs, 0x30 ended, else waits */
    int32_t priority, static_priority;
    uint32_t realtime, policy;
    uint64_t start, process_start;     /* since the start of the system */
    uint64_t switches;                 /* how often the task was scheduled; 0: not counted */
    uint64_t user, system;             /* sampled at ticks: only their ratio is used */
    uint64_t run;                      /* exact run time */
    uint64_t shown_user, shown_system; /* the values that proc has shown already */
};

/* The process: sums over all its threads, those that ended included. */
struct record_process {
    uint64_t user, system, run, shown_user, shown_system;
    uint64_t faults, read_bytes, written_bytes, reads, writes;
    uint64_t disk_read_bytes, disk_written_bytes;
    /* sums over the live threads, without ended threads and children */
    uint64_t own_read_bytes, own_written_bytes, own_reads, own_writes;
    uint64_t own_disk_read_bytes, own_disk_written_bytes;
    /* faults and ticks of children that ended: changes when a child is waited for */
    uint64_t children;
    /* pages */
    uint64_t virtual_pages, virtual_peak, file_pages, private_pages, shared_pages, swap_pages;
    uint64_t resident_peak;
    uint32_t parent, threads, handles, program; /* `program` counts the programs executed */
};

enum { RECORD_NAME = 16, RECORD_LONG_NAME = 64, RECORD_WORK = 32 };
/* A kernel thread's name; for a worker also its current ("+") or last ("-") work, 0: none. */
struct record_kernel_name {
    char name[RECORD_LONG_NAME];
    char work[RECORD_WORK];
    uint32_t working, spare;
};

#endif
