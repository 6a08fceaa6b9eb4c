/* SPDX-License-Identifier: MIT */
/*
 * What the kernel tells of processes and threads when it is asked through the BPF program in
 * bpf/tasks.bpf.c, which `openperflib-bpf pin` loads: binary records, one for each task, in
 * ascending order of `id`. Numbers are those of the reader's pid namespace; who is not in it has no
 * record.
 */
#ifndef OPL_PERFPROC_RECORD_H
#define OPL_PERFPROC_RECORD_H

#include <stdint.h>

/* Changes with the layout. The first four bytes of each record, so that no reader takes one for
 * another: "OPT" and the number. */
#define RECORD_VERSION 0x0254504fu
#define RECORD_PROCESSES "processes" /* the pinned files: processes only */
#define RECORD_THREADS "threads"     /* all tasks; a process is its first thread too */

enum {
    RECORD_PROCESS = 1,    /* a struct record_process and a name follow */
    RECORD_KERNEL = 2,     /* the name is a struct record_kernel_name, not 16 characters */
    RECORD_UNSETTLED = 4,  /* threads ended while they were added up: the sums are rough */
    RECORD_ROUGH_SIZES = 8 /* what single processors still keep is missing in the sizes */
};

/* One task; its times and priorities. Times in nanoseconds. */
struct record_task {
    uint32_t version, bytes; /* of the whole record, a multiple of 8 */
    uint32_t id, process;
    uint32_t flags, state; /* of RECORD_; of the kernel: 0 running, 0x30 has ended, else it waits */
    int32_t priority, static_priority;
    uint32_t realtime, policy;
    uint64_t start, process_start; /* since the start of the system */
    uint64_t switches;     /* how often it was put on a processor, 0 if that is not counted */
    uint64_t user, system; /* as ticks saw it: only their ratio is worth something */
    uint64_t run;          /* exactly */
    uint64_t shown_user, shown_system; /* what proc has shown already */
};

/* All threads of the process, those that ended included. */
struct record_process {
    uint64_t user, system, run, shown_user, shown_system;
    uint64_t faults, read_bytes, written_bytes, reads, writes;
    /* of the threads that live: without those that ended, and without children */
    uint64_t own_read_bytes, own_written_bytes, own_reads, own_writes;
    uint64_t children; /* faults and ticks of children that ended: changes when one is waited for */
    /* pages */
    uint64_t virtual_pages, virtual_peak, file_pages, private_pages, shared_pages, swap_pages;
    uint64_t resident_peak;
    uint32_t parent, threads, handles, spare;
};

enum { RECORD_NAME = 16, RECORD_LONG_NAME = 64, RECORD_WORK = 32 };
/* A kernel thread's; for one that works for others, also at what: "+" now, "-" last, 0: nothing. */
struct record_kernel_name {
    char name[RECORD_LONG_NAME];
    char work[RECORD_WORK];
    uint32_t working, spare;
};

#endif
