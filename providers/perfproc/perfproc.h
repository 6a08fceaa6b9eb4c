/* SPDX-License-Identifier: MIT */
/* What the files of perfproc.so share. */
#ifndef OPL_PERFPROC_H
#define OPL_PERFPROC_H

#include <openperflib/object.h>

/* Windows' thread states that Linux knows too. */
enum { PERFPROC_RUNNING = 2, PERFPROC_TERMINATED = 4, PERFPROC_WAITING = 5, PERFPROC_UNKNOWN = 7 };

extern const opl_object perfproc_process, perfproc_thread;
extern const opl_object perfproc_address_space, perfproc_image, perfproc_full_image;
/* proc/PID/stat of a process, proc/PID/task/TID/stat of a thread. */
extern const opl_source perfproc_stat;

/* Functions of rows that Process and Thread share. */
bool perfproc_creation(opl_reading *reading, uint64_t *ret);
bool perfproc_priority_base(opl_reading *reading, uint64_t *ret);
/* The kernel's priority (word 18: nice + 20, or -1 - real-time priority) on Windows' scale. */
uint64_t perfproc_priority_level(int64_t priority);
/* Adds the process that runs when nothing does, and its threads, one per processor. */
void perfproc_add_idle(opl_listing *processes, opl_listing *threads);

#endif
