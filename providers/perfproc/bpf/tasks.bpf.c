/* SPDX-License-Identifier: MIT */
/*
 * The kernel's side of perfproc: an iterator over all tasks of the reader's pid namespace that
 * writes a record (../record.h) for each. A program that opens its pinned file reads the current
 * records. Loads through typed pointers cannot fault: an invalid pointer reads as zeros.
 */
#include "../record.h"
#include "kernel.h"

typedef __SIZE_TYPE__ size_t;
enum { MAX_PROCESSORS = 512, TRIES = 4, WORD_BITS = 64, TICK_NS = 10000000 };

char LICENSE[] SEC("license") = "Dual MIT/GPL";

/* The only constants of the program: openperflib-bpf sets them before it loads the program. */
const volatile struct {
    uint32_t version;
    uint32_t processors; /* possible processors; 0: per-CPU parts of sizes cannot be read */
    uint32_t direct;     /* addresses may be cast to typed pointers, as in kernels from 6.2 on */
} settings = {RECORD_VERSION, 0, 0};

/* ---- reading at an address ---- */

extern void *bpf_rdonly_cast(const void *address, uint32_t type) __ksym __weak;

/* Reads a member of a structure at a computed address: by a load, or by a call that copies. */
#define GET(pointer, member)                                                                       \
    (settings.direct ? (pointer)->member : BPF_CORE_READ((pointer), member))

static __always_inline struct task_struct *task_at(uint64_t address)
{
    uint32_t type = bpf_core_type_id_kernel(struct task_struct);
    return settings.direct ? bpf_rdonly_cast((void *)address, type) : (void *)address;
}

/* Reads two words at an address. struct timespec64 stands for any two words. */
static __always_inline bool read_words(uint64_t words[2], uint64_t address)
{
    uint32_t type = bpf_core_type_id_kernel(struct timespec64);
    if (!settings.direct)
        return bpf_probe_read_kernel(words, 2 * sizeof *words, (void *)address) == 0;
    struct timespec64 *two = bpf_rdonly_cast((void *)address, type);
    words[0] = (uint64_t)two->tv_sec;
    words[1] = (uint64_t)two->tv_nsec;
    return true;
}

/* ---- per-CPU addresses ---- */

/* A per-CPU pointer becomes an address by adding the processor's offset. For the value of this map
 * both the pointer and each processor's address are known; their difference is the offset. */
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, uint32_t);
    __type(value, uint64_t);
} known SEC(".maps");

volatile uint64_t offsets[MAX_PROCESSORS], scratch;

SEC("syscall")
int find_processors(void *context)
{
    uint32_t key = 0;
    uint64_t place = 0;
    (void)context;
    scratch = (uint64_t)&known; /* the verifier does not track a number as it tracks a pointer */
    bpf_core_read(&place, sizeof place, &((struct bpf_array *)scratch)->pptrs[0]);
    for (uint32_t i = 0; i < MAX_PROCESSORS && i < settings.processors; i++) {
        void *there = bpf_map_lookup_percpu_elem(&known, &key, i);
        if (!there || !place)
            return 1;
        offsets[i] = (uint64_t)there;
        offsets[i] -= place;
    }
    return 0;
}

/* ---- numbers of a pid namespace ---- */

/* The number of `pid` in the reader's pid namespace (that of `own`); 0: it has none there. */
static __always_inline uint32_t number_of(struct pid *pid, struct pid *own)
{
    struct upid at, here;
    uint32_t level = own->level;
    if (!pid || pid->level < level)
        return 0;
    bpf_probe_read_kernel(&here, sizeof here, (char *)&own->numbers[0] + level * sizeof here);
    bpf_probe_read_kernel(&at, sizeof at, (char *)&pid->numbers[0] + level * sizeof at);
    return at.ns == here.ns ? (uint32_t)at.nr : 0;
}

static __always_inline uint32_t process_of(struct task_struct *task, struct pid *own)
{
    return own->level ? number_of(task->signal->pids[PIDTYPE_TGID], own) : (uint32_t)task->tgid;
}

/* ---- one task ---- */

static __always_inline uint32_t state_of(struct task_struct *task)
{
    uint32_t state;
    if (bpf_core_field_exists(task->__state))
        state = task->__state;
    else
        state = (uint32_t)((struct task_struct___volatile_state *)task)->state;
    return state | (uint32_t)task->exit_state;
}

static __always_inline uint64_t switches_of(struct task_struct *task)
{
    uint64_t count = 0;
    if (bpf_core_field_exists(task->sched_info.pcount))
        count = task->sched_info.pcount;
    return count ? count : task->nvcsw + task->nivcsw;
}

static __always_inline void fill_task(struct record_task *out, struct task_struct *task)
{
    out->version = settings.version;
    out->state = state_of(task);
    out->priority = task->prio;
    out->static_priority = task->static_prio;
    out->realtime = task->rt_priority;
    out->policy = task->policy;
    out->start = task->start_boottime;
    out->process_start = task->group_leader->start_boottime;
    out->switches = switches_of(task);
    out->user = task->utime;
    out->system = task->stime;
    out->run = task->se.sum_exec_runtime;
    out->shown_user = task->prev_cputime.utime;
    out->shown_system = task->prev_cputime.stime;
}

/* ---- all threads of a process ---- */

struct walk {
    struct record_process *sum;
    uint64_t at, end; /* addresses of list entries */
};

static __always_inline void add_io(struct record_process *sum, struct task_struct *task)
{
    if (!bpf_core_field_exists(task->ioac.read_bytes))
        return;
    sum->own_read_bytes += GET(task, ioac.rchar);
    sum->own_written_bytes += GET(task, ioac.wchar);
    sum->own_reads += GET(task, ioac.syscr);
    sum->own_writes += GET(task, ioac.syscw);
    sum->own_disk_read_bytes += GET(task, ioac.read_bytes);
    sum->own_disk_written_bytes += GET(task, ioac.write_bytes);
}

static long add_thread(uint32_t position, struct walk *walk)
{
    struct record_process *sum = walk->sum;
    struct task_struct *task;
    (void)position;
    if (!walk->at || walk->at == walk->end)
        return 1;
    task = task_at(walk->at - bpf_core_field_offset(struct task_struct, thread_node));
    sum->user += GET(task, utime);
    sum->system += GET(task, stime);
    sum->run += GET(task, se.sum_exec_runtime);
    sum->faults += GET(task, min_flt) + GET(task, maj_flt);
    add_io(sum, task);
    walk->at = (uint64_t)GET(task, thread_node.next);
    return 0;
}

static __always_inline void start_sums(struct record_process *sum, struct signal_struct *signal)
{
    sum->user = signal->utime;
    sum->system = signal->stime;
    sum->run = signal->sum_sched_runtime;
    sum->faults = signal->min_flt + signal->maj_flt;
    sum->children =
        signal->cmin_flt + signal->cmaj_flt + signal->cutime / TICK_NS + signal->cstime / TICK_NS;
    sum->own_read_bytes = sum->own_written_bytes = sum->own_reads = sum->own_writes = 0;
    sum->own_disk_read_bytes = sum->own_disk_written_bytes = 0;
    if (!bpf_core_field_exists(signal->ioac.read_bytes))
        return;
    sum->read_bytes = signal->ioac.rchar;
    sum->written_bytes = signal->ioac.wchar;
    sum->reads = signal->ioac.syscr;
    sum->writes = signal->ioac.syscw;
    sum->disk_read_bytes = signal->ioac.read_bytes;
    sum->disk_written_bytes = signal->ioac.write_bytes;
}

static __always_inline void add_only_thread(struct record_process *sum, struct task_struct *task)
{
    sum->user += task->utime;
    sum->system += task->stime;
    sum->run += task->se.sum_exec_runtime;
    sum->faults += task->min_flt + task->maj_flt;
    if (!bpf_core_field_exists(task->ioac.read_bytes))
        return;
    sum->own_read_bytes = task->ioac.rchar;
    sum->own_written_bytes = task->ioac.wchar;
    sum->own_reads = task->ioac.syscr;
    sum->own_writes = task->ioac.syscw;
    sum->own_disk_read_bytes = task->ioac.read_bytes;
    sum->own_disk_written_bytes = task->ioac.write_bytes;
}

/* Reads the sequence number, which is the first member of the lock stats_lock. The lock's other
 * members have changed several times. */
static __always_inline uint32_t sequence_of(struct signal_struct *signal)
{
    size_t offset = bpf_core_field_offset(struct signal_struct, stats_lock);
    barrier_var(offset); /* otherwise libbpf would treat this as a load of the whole lock */
    barrier();
    uint32_t sequence = *(volatile uint32_t *)((char *)signal + offset);
    barrier();
    return sequence;
}

/* Sums up all threads of a process. A thread that ends adds its values to the process and
 * increments the sequence by two. If a thread ends while the sums are made, they are made again;
 * after TRIES attempts they are flagged RECORD_UNSETTLED. */
static __always_inline uint32_t fill_sums(struct record_process *sum, struct task_struct *task)
{
    struct signal_struct *signal = task->signal;
    for (int i = 0; i < TRIES; i++) {
        struct walk walk = {.sum = sum, .end = (uint64_t)&signal->thread_head};
        uint32_t before = sequence_of(signal);
        sum->threads = (uint32_t)signal->nr_threads;
        start_sums(sum, signal);
        if (sum->threads == 1) {
            add_only_thread(sum, task);
        } else {
            walk.at = (uint64_t)signal->thread_head.next;
            bpf_loop(1 << 22, add_thread, &walk, 0);
        }
        if (!(before & 1) && sequence_of(signal) == before) {
            sum->read_bytes += sum->own_read_bytes;
            sum->written_bytes += sum->own_written_bytes;
            sum->reads += sum->own_reads;
            sum->writes += sum->own_writes;
            sum->disk_read_bytes += sum->own_disk_read_bytes;
            sum->disk_written_bytes += sum->own_disk_written_bytes;
            return 0;
        }
    }
    return RECORD_UNSETTLED;
}

/* ---- memory ---- */

static __always_inline uint64_t at_least_zero(int64_t count)
{
    return count > 0 ? (uint64_t)count : 0;
}

static __always_inline uint32_t add_processors(int64_t *counts, struct mm_struct *mm)
{
    uint64_t first = (uint64_t)mm->rss_stat[0].counters;
    bool together =
        (uint64_t)mm->rss_stat[3].counters == first + (NR_MM_COUNTERS - 1) * sizeof(int32_t);
    if (!together || !settings.processors)
        return RECORD_ROUGH_SIZES;
    for (uint32_t i = 0; i < MAX_PROCESSORS && i < settings.processors; i++) {
        union {
            uint64_t words[2];
            int32_t counts[NR_MM_COUNTERS];
        } parts;
        if (!read_words(parts.words, first + offsets[i]))
            return RECORD_ROUGH_SIZES;
        for (int j = 0; j < NR_MM_COUNTERS; j++)
            counts[j] += parts.counts[j];
    }
    return 0;
}

/* Reads the resident sizes. All indices are constants, because libbpf can adapt only these to the
 * running kernel. Before 6.2 each count is an atomic_long_t, an unnamed structure; the verifier
 * does not allow loads from such a structure, so it is copied. */
static __always_inline uint32_t fill_resident(struct record_process *out, struct mm_struct *mm)
{
    struct mm_struct___atomic *old = (void *)mm;
    int64_t counts[NR_MM_COUNTERS];
    uint32_t flags = 0;
    if (bpf_core_field_exists(old->rss_stat.count)) {
        counts[0] = BPF_CORE_READ(old, rss_stat.count[0].counter);
        counts[1] = BPF_CORE_READ(old, rss_stat.count[1].counter);
        counts[2] = BPF_CORE_READ(old, rss_stat.count[2].counter);
        counts[3] = BPF_CORE_READ(old, rss_stat.count[3].counter);
    } else {
        counts[0] = mm->rss_stat[0].count;
        counts[1] = mm->rss_stat[1].count;
        counts[2] = mm->rss_stat[2].count;
        counts[3] = mm->rss_stat[3].count;
        flags = add_processors(counts, mm);
    }
    out->file_pages = at_least_zero(counts[MM_FILEPAGES]);
    out->private_pages = at_least_zero(counts[MM_ANONPAGES]);
    out->swap_pages = at_least_zero(counts[MM_SWAPENTS]);
    out->shared_pages = at_least_zero(counts[MM_SHMEMPAGES]);
    return flags;
}

/* Reads the sizes of the task's memory. A kernel thread has no memory of its own: it borrows
 * another task's, which is not counted. */
static __always_inline uint32_t fill_memory(struct record_process *out, struct task_struct *task)
{
    struct mm_struct *mm = task->mm;
    if (!mm || task->flags & PF_KTHREAD)
        return 0;
    out->virtual_pages = mm->total_vm;
    out->virtual_peak = mm->hiwater_vm;
    out->resident_peak = mm->hiwater_rss;
    return fill_resident(out, mm);
}

/* ---- open descriptors ---- */

struct bitmap {
    uint64_t words; /* address of the bitmap's words */
    uint32_t left, count;
};

static __always_inline uint32_t bits_of(uint64_t word)
{
    word -= word >> 1 & 0x5555555555555555;
    word = (word & 0x3333333333333333) + (word >> 2 & 0x3333333333333333);
    word = (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0f;
    return (uint32_t)(word * 0x0101010101010101 >> 56);
}

static long count_words(uint32_t position, struct bitmap *bitmap)
{
    uint64_t words[2];
    (void)position;
    if (!bitmap->left || !read_words(words, bitmap->words))
        return 1;
    bitmap->count += bits_of(words[0]);
    if (--bitmap->left) {
        bitmap->count += bits_of(words[1]);
        bitmap->left--;
    }
    bitmap->words += sizeof words;
    return 0;
}

static __always_inline uint32_t handles_of(struct task_struct *task)
{
    struct files_struct *files = task->files;
    struct bitmap bitmap = {0};
    if (!files)
        return 0;
    bitmap.words = (uint64_t)files->fdt->open_fds;
    bitmap.left = files->fdt->max_fds / WORD_BITS;
    if (bitmap.left == 1)
        count_words(0, &bitmap);
    else
        bpf_loop(1 << 20, count_words, &bitmap, 0);
    return bitmap.count;
}

/* ---- names ---- */

/* Kernel threads have their long names, and their current work, in separate structures. */
static __always_inline void fill_kernel_name(struct record_kernel_name *out,
                                             struct task_struct *task)
{
    struct kthread *thread;
    struct worker *worker;
    char *name = NULL;
    if (bpf_core_field_exists(task->worker_private) && bpf_core_type_exists(struct kthread)) {
        thread = task->worker_private;
        name = BPF_CORE_READ(thread, full_name);
        worker = task->flags & PF_WQ_WORKER ? BPF_CORE_READ(thread, data) : NULL;
        if (worker && BPF_CORE_READ(worker, pool)) {
            bpf_core_read_str(out->work, sizeof out->work, &worker->desc);
            out->working = BPF_CORE_READ(worker, current_work) != NULL;
        }
    }
    if (!name || bpf_probe_read_kernel_str(out->name, sizeof out->name, name) <= 0)
        bpf_core_read_str(out->name, sizeof out->name, &task->comm);
}

/* ---- prefetching ---- */

/*
 * The data of a process is in about forty uncached places in memory; waiting for them takes most of
 * the time of an iteration. A load whose value is not used makes the processor fetch the place
 * while it continues. So the places of the next two tasks are fetched while this one is written.
 * The next task is a guess (the order of creation) and may have ended: no record depends on these
 * loads.
 */
#define FETCH(pointer, member) ((void)*(volatile __typeof__((pointer)->member) *)&(pointer)->member)

static __always_inline struct task_struct *guess_next(struct task_struct *task, bool all)
{
    uint64_t next = (uint64_t)task->thread_node.next;
    if (all && next != (uint64_t)&task->signal->thread_head)
        return task_at(next - bpf_core_field_offset(struct task_struct, thread_node));
    next = (uint64_t)task->group_leader->tasks.next;
    return task_at(next - bpf_core_field_offset(struct task_struct, tasks));
}

static __always_inline void fetch_task(struct task_struct *task)
{
    FETCH(task, flags);
    FETCH(task, prio);
    FETCH(task, se.sum_exec_runtime);
    FETCH(task, policy);
    if (bpf_core_field_exists(task->sched_info.pcount))
        FETCH(task, sched_info.pcount);
    FETCH(task, exit_state);
    FETCH(task, group_leader);
    FETCH(task, thread_pid);
    FETCH(task, thread_node.next);
    FETCH(task, utime);
    FETCH(task, start_boottime);
    FETCH(task, signal);
    if (task->pid != task->tgid)
        return;
    FETCH(task, tasks.next);
    FETCH(task, mm);
    FETCH(task, real_parent);
    FETCH(task, comm[0]);
    FETCH(task, files);
    if (!bpf_core_field_exists(task->ioac.read_bytes))
        return;
    FETCH(task, ioac.rchar);
    FETCH(task, ioac.write_bytes);
}

static __always_inline void fetch_signal(struct signal_struct *signal)
{
    FETCH(signal, nr_threads);
    FETCH(signal, utime);
    FETCH(signal, prev_cputime.utime);
    FETCH(signal, min_flt);
    if (bpf_core_field_exists(signal->ioac.read_bytes))
        FETCH(signal, ioac.rchar);
    FETCH(signal, sum_sched_runtime);
}

/* Fetches the structures that a task points to; the task itself is fetched already. */
static __always_inline void fetch_rest(struct task_struct *task)
{
    FETCH(task->thread_pid, level);
    FETCH(task->thread_pid, tasks[0].first);
    FETCH(task->thread_pid, numbers[0].ns);
    if (task->pid != task->tgid)
        return;
    fetch_signal(task->signal);
    FETCH(task->files->fdt, open_fds);
    FETCH(task->files, open_fds_init[0]);
    FETCH(task->mm, total_vm);
    if (bpf_core_field_exists(task->mm->rss_stat[0].count)) {
        FETCH(task->mm, rss_stat[0].count);
        FETCH(task->mm, rss_stat[2].count);
        FETCH(task->mm, rss_stat[3].counters);
    }
}

static __always_inline void fetch_next(struct task_struct *task, bool all)
{
    struct task_struct *next = guess_next(task, all);
    fetch_rest(next);
    fetch_task(guess_next(next, all));
}

/* ---- the records ---- */

static __always_inline void fill_head(struct record_task *out, struct task_struct *task,
                                      struct pid *own, uint32_t flags)
{
    fill_task(out, task);
    out->flags = flags | (task->flags & PF_KTHREAD ? RECORD_KERNEL : 0);
    out->process = process_of(task, own);
    out->id = flags & RECORD_PROCESS ? out->process
              : own->level           ? number_of(task->thread_pid, own)
                                     : (uint32_t)task->pid;
}

static __always_inline void write_thread(struct seq_file *seq, struct task_struct *task,
                                         struct pid *own)
{
    struct record_task out = {0};
    fill_head(&out, task, own, 0);
    if (!out.id || !out.process) /* the task was released meanwhile */
        return;
    out.bytes = sizeof out;
    bpf_seq_write(seq, &out, sizeof out);
}

struct entry {
    struct record_task task;
    struct record_process process;
    char name[RECORD_NAME];
};

static __always_inline void write_entry(struct seq_file *seq, struct task_struct *task,
                                        struct entry *entry)
{
    uint32_t before_name = sizeof *entry - sizeof entry->name;
    if (task->flags & PF_KTHREAD) {
        struct record_kernel_name *name = (void *)entry; /* the stack has no space for both */
        entry->task.bytes = before_name + sizeof *name;
        bpf_seq_write(seq, entry, before_name);
        *name = (struct record_kernel_name){0};
        fill_kernel_name(name, task);
        bpf_seq_write(seq, name, sizeof *name);
    } else {
        entry->task.bytes = sizeof *entry;
        bpf_core_read(entry->name, sizeof entry->name, &task->comm);
        bpf_seq_write(seq, entry, sizeof *entry);
    }
}

static __always_inline void write_process(struct seq_file *seq, struct task_struct *task,
                                          struct pid *own)
{
    struct entry entry = {0};
    struct record_process *out = &entry.process;
    out->handles = handles_of(task); /* first, because it takes longest */
    uint32_t flags = RECORD_PROCESS | fill_memory(out, task);
    flags |= fill_sums(out, task);
    out->shown_user = task->signal->prev_cputime.utime;
    out->shown_system = task->signal->prev_cputime.stime;
    out->parent = process_of(task->real_parent, own);
    out->program = (uint32_t)task->self_exec_id;
    if (!out->threads || !task->thread_pid) /* the process ended meanwhile */
        return;
    fill_head(&entry.task, task, own, flags);
    if (!entry.task.id)
        return;
    write_entry(seq, task, &entry);
}

static __always_inline int dump(struct bpf_iter__task *context, bool all)
{
    struct task_struct *task = context->task;
    struct pid *own;
    if (!task)
        return 0;
    bool leader = task->pid == task->tgid;
    if ((!leader && !all) || !task->thread_pid) /* a task without a number has ended */
        return 0;
    own = bpf_get_current_task_btf()->thread_pid;
    if (!own)
        return 0;
    if (settings.direct)
        fetch_next(task, all);
    if (leader)
        write_process(context->meta->seq, task, own);
    else
        write_thread(context->meta->seq, task, own);
    return 0;
}

SEC("iter/task")
int processes(struct bpf_iter__task *context)
{
    return dump(context, false);
}

SEC("iter/task")
int threads(struct bpf_iter__task *context)
{
    return dump(context, true);
}
