/* SPDX-License-Identifier: MIT */
/* Shared by the files of perfproc.so. */
#ifndef OPL_PERFPROC_H
#define OPL_PERFPROC_H

#include <stddef.h>

#include <openperflib/unstable.h>
#include <winerror.h>
#include <winperf.h>

/* Windows' thread states that Linux has, too. */
enum { PERFPROC_RUNNING = 2, PERFPROC_TERMINATED = 4, PERFPROC_WAITING = 5, PERFPROC_UNKNOWN = 7 };

/* The objects, in the order of the provider's table; `_` stands before each name. */
#define PERFPROC_OBJECTS(_)                                                                        \
    _ perfproc_process, _ perfproc_process_v2, _ perfproc_thread, _ perfproc_thread_details,       \
        _ perfproc_address_space, _ perfproc_image, _ perfproc_full_image, _ perfproc_job,         \
        _ perfproc_job_details, _ perfproc_process_io, _ perfproc_process_details
extern const opl_object PERFPROC_OBJECTS();
/* proc/PID/stat of a process, proc/PID/task/TID/stat of a thread. */
extern const opl_source perfproc_stat;
extern const opl_source perfproc_status, perfproc_io; /* files of a process */

/* Adds a thread to Thread Details; `position`: that of its process among Process's instances. */
void perfproc_add_details(opl_listing *details, uint32_t process, uint32_t thread,
                          uint32_t position, unsigned ordinal);

/* Functions of rows that Process and Thread share. */
bool perfproc_creation(opl_reading *reading, uint64_t *ret);
bool perfproc_priority_base(opl_reading *reading, uint64_t *ret);
bool perfproc_resident(opl_reading *reading, uint64_t *ret);      /* for Process and Job */
bool perfproc_private_bytes(opl_reading *reading, uint64_t *ret); /* for Process and Job */
bool perfproc_handle_count(opl_reading *reading, uint64_t *ret);  /* only for Process */
/* The kernel's priority (word 18: nice + 20, or -1 - real-time priority) on Windows' scale. */
uint64_t perfproc_priority_level(int64_t priority);
uint64_t perfproc_base_level(uint64_t policy, uint64_t realtime, int64_t nice);
uint64_t perfproc_tick_100ns(void);
/* Process V2: appends ":number" to the name of the process that was added last. */
void perfproc_number_name(opl_listing *processes, const char *number);
/* Adds the process Idle and its threads, one per processor. */
void perfproc_add_idle(opl_listing *processes, opl_listing *threads);
/* Adds the process of the folder `folder` of proc, from its files, with this name ("": the name in
 * its files). False: it has ended. */
bool perfproc_read_process(opl_listing *processes, const char *folder, const char *name,
                           size_t length);
/* Objects that are listed together with the processes, because they need the same files or records;
 * NULL: not requested. */
struct perfproc_companions {
    opl_listing *threads, *details, *io; /* Thread, Thread Details, Process IO */
    struct perfproc_texts *texts;        /* Process Details */
};
/* Adds process `number` from /proc, also to the companions. */
void perfproc_add_process(opl_listing *processes, const struct perfproc_companions *with,
                          uint32_t number);

/* ---- Process Details (process_details.c) ---- */
struct details_store;
struct perfproc_texts {
    opl_listing *listing;
    struct details_store *before, *now; /* texts of the previous collection and of this one */
    size_t at, left; /* place in `before`; how many processes there is space for */
};
/* What a record has of a process. */
struct perfproc_look {
    uint64_t creation, program; /* `program` changes when it executes another one */
    const char *name, *state;
    size_t length; /* of the name */
};
/* Prepares for at most `count` processes. False: no memory. Does nothing if `texts` is NULL. */
bool perfproc_begin_texts(struct perfproc_texts *texts, size_t count);
/* Adds process `number`; the numbers must ascend. `look`: its record; NULL: its files are read.
 * Does nothing if `texts` is NULL. */
void perfproc_add_texts(struct perfproc_texts *texts, uint32_t number,
                        const struct perfproc_look *look);
/* Gives the memory of the previous collection's texts back to the system. */
void perfproc_end_texts(struct perfproc_texts *texts);
/* The words for the state with this letter in proc/PID/stat. */
const char *perfproc_state_words(char letter);

/* Slots of opl_reading_memory; records.c uses the slots 0 to 6. */
enum { PERFPROC_SLOT_JOBS = 7, PERFPROC_SLOT_IO, PERFPROC_SLOT_DETAILS /* two pieces */ };

/* ---- what processes themselves read and write (io.c) ---- */
struct perfproc_io {
    uint64_t reads, writes, read_bytes, written_bytes;
    uint64_t disk_read_bytes, disk_written_bytes;
};
struct perfproc_io_look {
    uint32_t process;
    uint64_t creation, children; /* `children` changes when a child that has ended is waited for */
    struct perfproc_io all;      /* including children that were waited for */
    const struct perfproc_io *own; /* counts of the live threads only; NULL: unknown */
};
/* The counts of the process itself, without children. False: no memory, the collection fails. */
bool perfproc_io_of_record(opl_reading *reading, const struct perfproc_io_look *look,
                           struct perfproc_io *ret);
/* Adds the process to Process IO, if this user may read its counts. */
void perfproc_add_io(opl_listing *listing, const char *folder);
bool perfproc_reads(opl_reading *reading, uint64_t *ret);
bool perfproc_writes(opl_reading *reading, uint64_t *ret);
bool perfproc_operations(opl_reading *reading, uint64_t *ret);
bool perfproc_read_bytes(opl_reading *reading, uint64_t *ret);
bool perfproc_written_bytes(opl_reading *reading, uint64_t *ret);
bool perfproc_moved_bytes(opl_reading *reading, uint64_t *ret);
bool perfproc_disk_read_bytes(opl_reading *reading, uint64_t *ret);
bool perfproc_disk_written_bytes(opl_reading *reading, uint64_t *ret);

/* ---- the kernel's records (records.c) ---- */
/* The values of the rows in the rows' units: times in 100 ns, sizes in bytes. */
struct perfproc_task {
    uint64_t processor_time, user_time, system_time, switches, creation, priority, priority_base;
    uint64_t state, process, id;
};
struct perfproc_process {
    uint64_t processor_time, user_time, system_time, faults, creation, priority_base;
    uint64_t virtual_peak, virtual_bytes, resident_peak, resident, private_resident, swapped;
    uint64_t private_bytes, threads, id, parent, handles;
    uint64_t reads, writes, operations, read_bytes, written_bytes, moved_bytes;
    uint64_t disk_read_bytes, disk_written_bytes;
    uint64_t all_read_bytes, all_written_bytes; /* with those of children that have ended */
};
/* Adds all processes, also to the companions but Thread Details. False: there are no records, and
 * nothing was added. */
bool perfproc_list_records(opl_listing *processes, const struct perfproc_companions *with);

/* ---- times as proc shows them (cputime.c) ---- */
struct perfproc_cputime {
    uint64_t user, system; /* nanoseconds */
};
/* Moves time from one part of split to the other, so that neither part is less than in shown. The
 * sum stays the same; if shown has a greater sum, shown is returned. */
struct perfproc_cputime perfproc_no_less(struct perfproc_cputime split,
                                         struct perfproc_cputime shown);
/* Splits the exact run time as the kernel does: by the ratio of the ticks, neither part less than
 * what proc has shown to any program, nor than what this provider has shown. The sum is the run
 * time, unless more has already been shown. */
struct perfproc_cputime perfproc_split(struct perfproc_cputime ticks, uint64_t run,
                                       struct perfproc_cputime proc, struct perfproc_cputime shown);

#endif
