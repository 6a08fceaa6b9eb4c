/* SPDX-License-Identifier: MIT */
/*
 * Processes and threads from the kernel's records (record.h) instead of thousands of files: the
 * same instances in the same order with the same values, and more precise times. Records are in
 * ascending order of their numbers; an instance never gets values of two processes that had the
 * same number, because each record has its process's start time. Processes that proc lists but the
 * records lack are read from proc.
 */
#include <string.h>
#include <unistd.h>

#include "perfproc.h"
#include "record.h"

static const opl_records process_records = {RECORD_PROCESSES, RECORD_VERSION,
                                            sizeof(struct record_task)};
static const opl_records thread_records = {RECORD_THREADS, RECORD_VERSION,
                                           sizeof(struct record_task)};

/* Slots of opl_reading_memory. There are two slots for the values last shown of tasks, and two for
 * those of processes; the two alternate between collections. SLOT_MEMBERS and SLOT_GROUPS are
 * needed only within one answer. */
enum { SLOT_STATE, SLOT_TASKS, SLOT_PROCESSES = SLOT_TASKS + 2, SLOT_MEMBERS = SLOT_PROCESSES + 2 };
enum { SLOT_GROUPS = SLOT_MEMBERS + 1 };
_Static_assert((int)SLOT_GROUPS < (int)PERFPROC_SLOT_JOBS, "the last slot is job.c's");
enum { NORMAL_PRIORITY = 120, REALTIME_PRIORITIES = 100 };
/* bits of the kernel's state */
enum { STATE_REPORTED = 0x7f, STATE_PARKED = 0x40, STATE_ENDED = 0x10, STATE_BLOCKED = 0x9000 };
enum { STATE_IDLE = 0x402 };
/* rows and words that are read from proc if records are unsettled */
enum { ROW_PROCESSOR = 6, ROW_USER = 142, ROW_SYSTEM = 144, STAT_USER = 14, STAT_SYSTEM = 15 };

static const uint32_t no_member = UINT32_MAX;
enum { PREFETCH = 1024 }; /* bytes that are fetched ahead of the present record */

/* The values last shown of a task or process, so that no time ever decreases. */
struct shown {
    uint32_t id, spare;
    uint64_t start;
    struct perfproc_cputime time;
};
/* The values shown in the previous collection, and in this one, in ascending order of ids. */
struct shown_memory {
    const struct shown *before;
    struct shown *now;
    uint32_t before_count, now_count, at;
};
struct task_count {
    uint32_t count, turn;
};
/* Some kernels omit a process from BPF iterators, so the list is sometimes compared with proc. */
enum { MOST_LEFT_OUT = 64, RECHECK_SECONDS = 30 };
struct list_state {
    struct task_count tasks, processes;
    int64_t looked;
    uint32_t left_out[MOST_LEFT_OUT], left_out_count;
};
/* A thread that is not the first of its process. */
struct member {
    const struct record_task *record;
    struct perfproc_cputime time;
    uint32_t next;
};
/* A process: the times of its first thread, and the list of its other threads. */
struct group {
    const struct record_task *record;
    struct perfproc_cputime own;
    uint32_t first, last;
};
struct record_list {
    opl_listing *processes;
    const struct perfproc_companions *with;
    const unsigned char *records;
    size_t bytes;
    uint64_t boot, tick_100ns, page;
    struct shown_memory shown_tasks, shown_processes;
    struct member *members;
    struct group *groups;
    uint32_t member_count, group_count;
};

/* Returns the record at *at and moves *at to the next record; NULL: the end. Where the next record
 * begins is known only from the length of this record, so the processor cannot prefetch the next
 * one by itself. */
static const struct record_task *next_record(const struct record_list *list, size_t *at)
{
    if (*at >= list->bytes)
        return NULL;
    const struct record_task *record = (const void *)(list->records + *at);
    __builtin_prefetch((const void *)((uintptr_t)record + PREFETCH));
    *at += record->bytes;
    return record;
}

static const struct record_process *process_part(const struct record_task *task)
{
    return (const void *)(task + 1);
}

/* The name after the record has 16 characters, or is a record_kernel_name. */
enum { LEAST_PROCESS = sizeof(struct record_task) + sizeof(struct record_process) + RECORD_NAME };

static bool is_process(const struct record_task *task)
{
    size_t name = task->flags & RECORD_KERNEL ? sizeof(struct record_kernel_name) : RECORD_NAME;
    return task->flags & RECORD_PROCESS && task->bytes >= LEAST_PROCESS - RECORD_NAME + name;
}

/* Returns memory that is kept between collections. Its size doubles whenever it is too small, so
 * steady queries allocate nothing. */
static void *keep(opl_listing *listing, unsigned slot, size_t bytes)
{
    size_t capacity = 4096;
    while (capacity < bytes)
        capacity *= 2;
    return opl_reading_memory(opl_listing_reading(listing), slot, capacity);
}

/* ---- values shown before ---- */

static bool memory_begin(opl_listing *listing, struct task_count *taken, unsigned slot,
                         size_t count, struct shown_memory *memory)
{
    unsigned turn = taken->turn++ & 1;
    memory->before_count = taken->count;
    memory->before = keep(listing, slot + turn, memory->before_count * sizeof *memory->before);
    memory->now = keep(listing, slot + !turn, count * sizeof *memory->now);
    taken->count = 0; /* stays 0 until the list is complete */
    return memory->before && memory->now;
}

static const struct shown *memory_find(struct shown_memory *memory, uint32_t id, uint64_t start)
{
    while (memory->at < memory->before_count && memory->before[memory->at].id < id)
        memory->at++;
    if (memory->at == memory->before_count)
        return NULL;
    const struct shown *found = &memory->before[memory->at];
    return found->id == id && found->start == start ? found : NULL;
}

static uint64_t greater(uint64_t one, uint64_t other)
{
    return one > other ? one : other;
}

/* Returns the times to show. */
static struct shown *memory_time(struct shown_memory *memory, const struct record_task *task,
                                 struct perfproc_cputime ticks, uint64_t run,
                                 struct perfproc_cputime proc)
{
    const struct shown *before = memory_find(memory, task->id, task->start);
    struct shown *now = &memory->now[memory->now_count++];
    *now = (struct shown){.id = task->id, .start = task->start};
    if (before)
        now->time = before->time;
    if (!(task->flags & RECORD_UNSETTLED))
        now->time = perfproc_split(ticks, run, proc, now->time);
    return now;
}

static struct perfproc_cputime task_time(struct record_list *list, const struct record_task *task)
{
    struct perfproc_cputime ticks = {task->user, task->system};
    struct perfproc_cputime proc = {task->shown_user, task->shown_system};
    return memory_time(&list->shown_tasks, task, ticks, task->run, proc)->time;
}

static struct shown *process_time(struct record_list *list, const struct record_task *task)
{
    const struct record_process *process = process_part(task);
    struct perfproc_cputime ticks = {process->user, process->system};
    struct perfproc_cputime proc = {process->shown_user, process->shown_system};
    return memory_time(&list->shown_processes, task, ticks, process->run, proc);
}

/* ---- records to values ---- */

static uint64_t creation(const struct record_list *list, uint64_t start_ns)
{
    return list->boot + start_ns / (100 * list->tick_100ns) * list->tick_100ns;
}

static uint64_t base_of(const struct record_task *task)
{
    return perfproc_base_level(task->policy, task->realtime,
                               (int64_t)task->static_priority - NORMAL_PRIORITY);
}

/* Windows' state for a kernel state: the highest bit decides, as for the letter in proc. */
static uint64_t state_of(uint32_t state)
{
    uint32_t reported = state & STATE_REPORTED;
    if (reported >= STATE_ENDED && reported < STATE_PARKED)
        return PERFPROC_TERMINATED;
    return reported || state & STATE_BLOCKED ? PERFPROC_WAITING : PERFPROC_RUNNING;
}

static struct perfproc_task task_values(const struct record_list *list,
                                        const struct record_task *task,
                                        struct perfproc_cputime time)
{
    return (struct perfproc_task){
        .processor_time = time.user / 100 + time.system / 100,
        .user_time = time.user / 100,
        .system_time = time.system / 100,
        .switches = task->switches,
        .creation = creation(list, task->start),
        .priority = perfproc_priority_level((int64_t)task->priority - REALTIME_PRIORITIES),
        .priority_base = base_of(task),
        .state = state_of(task->state),
        .process = task->process,
        .id = task->id,
    };
}

static void size_values(const struct record_list *list, const struct record_process *process,
                        struct perfproc_process *out)
{
    uint64_t page = list->page;
    uint64_t resident = process->file_pages + process->private_pages + process->shared_pages;
    out->virtual_bytes = process->virtual_pages * page;
    out->virtual_peak = greater(process->virtual_pages, process->virtual_peak) * page;
    out->resident = resident * page;
    out->resident_peak = greater(resident, process->resident_peak) * page;
    out->private_resident = process->private_pages * page;
    out->swapped = process->swap_pages * page;
    out->private_bytes = (process->private_pages + process->swap_pages) * page;
}

/* Computes the counts of input and output. If there is no memory, the collection fails. */
static void io_values(const struct record_list *list, const struct record_task *task,
                      const struct record_process *process, struct perfproc_process *out)
{
    const struct perfproc_io own = {process->own_reads,           process->own_writes,
                                    process->own_read_bytes,      process->own_written_bytes,
                                    process->own_disk_read_bytes, process->own_disk_written_bytes};
    const struct perfproc_io_look look = {
        .process = task->id,
        .creation = out->creation,
        .children = process->children,
        .all = {process->reads, process->writes, process->read_bytes, process->written_bytes,
                process->disk_read_bytes, process->disk_written_bytes},
        .own = &own,
    };
    struct perfproc_io io = {0};
    perfproc_io_of_record(opl_listing_reading(list->processes), &look, &io);
    out->reads = io.reads;
    out->writes = io.writes;
    out->operations = io.reads + io.writes;
    out->read_bytes = io.read_bytes;
    out->written_bytes = io.written_bytes;
    out->moved_bytes = io.read_bytes + io.written_bytes;
    out->disk_read_bytes = io.disk_read_bytes;
    out->disk_written_bytes = io.disk_written_bytes;
    out->all_read_bytes = process->disk_read_bytes;
    out->all_written_bytes = process->disk_written_bytes;
}

static struct perfproc_process process_values(const struct record_list *list,
                                              const struct record_task *task,
                                              const struct record_process *process,
                                              struct perfproc_cputime time)
{
    struct perfproc_process values = {
        .processor_time = time.user / 100 + time.system / 100,
        .user_time = time.user / 100,
        .system_time = time.system / 100,
        .faults = process->faults,
        .creation = creation(list, task->start),
        .priority_base = base_of(task),
        .threads = process->threads,
        .id = task->id,
        .parent = process->parent,
        .handles = process->handles,
    };
    size_values(list, process, &values);
    io_values(list, task, process, &values);
    return values;
}

/* ---- names ---- */

/* Writes the digits of a number, faster than snprintf; returns the position after them. */
static char *put_number(char *out, uint32_t number)
{
    char digits[10];
    unsigned count = 0;
    do
        digits[count++] = (char)('0' + number % 10);
    while ((number /= 10));
    while (count)
        *out++ = digits[--count];
    *out = 0;
    return out;
}

/* Writes a kernel thread's name with its work, truncated as in proc; returns the length. */
static size_t kernel_name(const struct record_kernel_name *kernel, char out[RECORD_LONG_NAME])
{
    size_t length = strnlen(kernel->name, RECORD_LONG_NAME - 1);
    memcpy(out, kernel->name, length);
    if (!kernel->work[0])
        return length;
    if (length < RECORD_LONG_NAME - 1)
        out[length++] = kernel->working ? '+' : '-';
    size_t work = strnlen(kernel->work, RECORD_WORK);
    if (work > RECORD_LONG_NAME - 1 - length)
        work = RECORD_LONG_NAME - 1 - length;
    memcpy(out + length, kernel->work, work);
    return length + work;
}

static size_t process_name(const struct record_task *task, char out[RECORD_LONG_NAME])
{
    const char *name = (const void *)(process_part(task) + 1);
    size_t length;
    if (task->flags & RECORD_KERNEL) {
        length = kernel_name((const void *)name, out);
        name = out;
    } else {
        length = strnlen(name, RECORD_NAME);
    }
    return opl_sanitize_name(out, RECORD_LONG_NAME, name, length, false);
}

/* ---- adding instances ---- */

static void add_thread(struct record_list *list, const struct record_task *task,
                       struct perfproc_cputime time, uint32_t ordinal)
{
    struct perfproc_task values = task_values(list, task, time);
    char folder[40], name[16];
    char *at = put_number(folder, task->process);
    memcpy(at, "/task/", sizeof "/task/");
    put_number(at + strlen("/task/"), task->id);
    size_t length = (size_t)(put_number(name, ordinal) - name);
    if (opl_listing_read_known(list->with->threads, folder, name, length, task->process, &values))
        opl_listing_parent(list->with->threads, &perfproc_process,
                           opl_listing_count(list->processes) - 1);
}

/* Adds the threads in ascending order, as proc lists them; the first usually has the lowest id. */
static void add_threads(struct record_list *list, const struct group *group)
{
    uint32_t next = group->first, ordinal = 0;
    for (; next != no_member && list->members[next].record->id < group->record->id;
         next = list->members[next].next)
        add_thread(list, list->members[next].record, list->members[next].time, ordinal++);
    add_thread(list, group->record, group->own, ordinal++);
    for (; next != no_member; next = list->members[next].next)
        add_thread(list, list->members[next].record, list->members[next].time, ordinal++);
}

/* Adds a process whose threads ended while the BPF program summed them: reads its values from proc,
 * which locks the list of threads. Times in proc are coarser, but the shown values do not decrease.
 * False: the process has ended. */
static bool add_from_proc(struct record_list *list, const char *folder, const char *name,
                          size_t length, struct shown *now)
{
    opl_listing *processes = list->processes;
    uint64_t tick_ns = 100 * list->tick_100ns;
    if (!perfproc_read_process(processes, folder, name, length))
        return false;
    if (list->with->io)
        perfproc_add_io(list->with->io, folder);
    perfproc_add_texts(list->with->texts, now->id, NULL);
    struct perfproc_cputime time = {
        opl_listing_column(processes, &perfproc_stat, STAT_USER) * tick_ns,
        opl_listing_column(processes, &perfproc_stat, STAT_SYSTEM) * tick_ns};
    now->time = perfproc_no_less(time, now->time);
    opl_listing_set(processes, ROW_USER, now->time.user / 100);
    opl_listing_set(processes, ROW_SYSTEM, now->time.system / 100);
    opl_listing_set(processes, ROW_PROCESSOR, now->time.user / 100 + now->time.system / 100);
    return true;
}

/* The letter in proc for a kernel state: the highest bit decides. */
static char letter_of(uint32_t state)
{
    static const char letters[] = "SDTtXZPI";
    uint32_t reported = state & STATE_REPORTED;
    if (state & STATE_BLOCKED)
        return 'D';
    if ((state & STATE_IDLE) == STATE_IDLE)
        return 'I';
    return reported ? letters[31 - __builtin_clz(reported)] : 'R';
}

/* Adds the process to Process Details. */
static void add_texts(struct record_list *list, const struct record_task *task, const char *name,
                      size_t length, uint64_t creation)
{
    struct perfproc_look look = {
        .creation = creation,
        .program = process_part(task)->program,
        .name = name,
        .state = perfproc_state_words(letter_of(task->state)),
        .length = length,
    };
    /* the text of a kernel thread's command line is its name */
    for (size_t i = 0; i < length; i++)
        look.program = (look.program ^ (unsigned char)name[i]) * 1099511628211u;
    perfproc_add_texts(list->with->texts, task->id, &look);
}

static bool add_process(struct record_list *list, const struct record_task *task)
{
    char folder[16], name[RECORD_LONG_NAME];
    size_t length = process_name(task, name);
    struct shown *now = process_time(list, task);
    put_number(folder, task->id);
    if (!process_part(task)->threads) /* the process ended while the kernel wrote its record */
        return false;
    if (task->flags & RECORD_UNSETTLED)
        return add_from_proc(list, folder, name, length, now);
    struct perfproc_process values = process_values(list, task, process_part(task), now->time);
    if (!opl_listing_read_known(list->processes, folder, name, length, 0, &values))
        return false;
    perfproc_number_name(list->processes, folder);
    if (list->with->io)
        opl_listing_read_known(list->with->io, folder, name, length, 0, &values);
    if (list->with->texts)
        add_texts(list, task, name, length, values.creation);
    return true;
}

/* ---- threads find their processes ---- */

static struct group *find_group(const struct record_list *list, uint32_t id)
{
    uint32_t low = 0, high = list->group_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (list->groups[middle].record->id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < list->group_count && list->groups[low].record->id == id ? &list->groups[low]
                                                                         : NULL;
}

/* Adds a thread to its process's list. If no record has the number and start time of this process,
 * the thread is skipped: the kernel listed the number when it still belonged to another process. */
static void join_group(struct record_list *list, uint32_t position, struct group **last)
{
    const struct record_task *task = list->members[position].record;
    if (!*last || (*last)->record->id != task->process)
        *last = find_group(list, task->process);
    struct group *group = *last;
    if (!group || group->record->start != task->process_start)
        return;
    if (group->first == no_member)
        group->first = position;
    else
        list->members[group->last].next = position;
    group->last = position;
}

static void sort_tasks(struct record_list *list)
{
    const struct record_task *task;
    struct group *last = NULL;
    for (size_t at = 0; (task = next_record(list, &at));) {
        struct perfproc_cputime time = task_time(list, task);
        if (is_process(task))
            list->groups[list->group_count++] =
                (struct group){.record = task, .own = time, .first = no_member, .last = no_member};
        else
            list->members[list->member_count++] = (struct member){task, time, no_member};
    }
    for (uint32_t i = 0; i < list->member_count; i++)
        join_group(list, i, &last);
}

/* ---- the whole list ---- */

static bool list_begin(struct record_list *list, struct list_state *state)
{
    size_t tasks = list->bytes / sizeof(struct record_task); /* an upper limit */
    size_t processes = list->bytes / LEAST_PROCESS;
    if (list->with->threads) {
        list->members = keep(list->processes, SLOT_MEMBERS, tasks * sizeof *list->members);
        list->groups = keep(list->processes, SLOT_GROUPS, processes * sizeof *list->groups);
        if (!list->members || !list->groups ||
            !memory_begin(list->processes, &state->tasks, SLOT_TASKS, tasks, &list->shown_tasks))
            return false;
    }
    return memory_begin(list->processes, &state->processes, SLOT_PROCESSES, processes,
                        &list->shown_processes);
}

/* Finds the processes that proc lists but the records lack; proc and the records have the same
 * order. */
static void find_left_out(const struct record_list *list, struct list_state *state)
{
    const uint32_t *numbers;
    size_t count, at = 0;
    const struct record_task *task = next_record(list, &at);
    state->left_out_count = 0;
    if (!opl_listing_numbers(list->processes, "proc", 0, &numbers, &count))
        return;
    for (size_t i = 0; i < count && state->left_out_count < MOST_LEFT_OUT; i++) {
        while (task && task->id < numbers[i])
            task = next_record(list, &at);
        if (!task || task->id != numbers[i])
            state->left_out[state->left_out_count++] = numbers[i];
    }
}

static void look_for_left_out(const struct record_list *list, struct list_state *state)
{
    int64_t now = opl_reading_time(opl_listing_reading(list->processes));
    if (state->looked && now >= state->looked &&
        now - state->looked < RECHECK_SECONDS * (int64_t)10000000)
        return;
    state->looked = now;
    find_left_out(list, state);
}

/* Adds the omitted processes whose ids are below `limit`. */
static void add_left_out(struct record_list *list, const struct list_state *state, uint32_t *at,
                         uint32_t limit)
{
    for (; *at < state->left_out_count && state->left_out[*at] < limit; ++*at)
        perfproc_add_process(list->processes, list->with, state->left_out[*at]);
}

static void list_all(struct record_list *list, const struct list_state *state)
{
    const struct record_task *task;
    uint32_t position = 0, left_out = 0;
    if (list->with->threads)
        sort_tasks(list);
    for (size_t at = 0; (task = next_record(list, &at));) {
        if (!is_process(task))
            continue;
        add_left_out(list, state, &left_out, task->id);
        if (left_out < state->left_out_count && state->left_out[left_out] == task->id)
            left_out++; /* the process has a record now, so it was new, not omitted */
        if (add_process(list, task) && list->with->threads)
            add_threads(list, &list->groups[position]);
        position++;
    }
    add_left_out(list, state, &left_out, no_member);
}

bool perfproc_list_records(opl_listing *processes, const struct perfproc_companions *with)
{
    const void *records;
    struct record_list list = {.processes = processes, .with = with};
    if (!opl_listing_records(processes, with->threads ? &thread_records : &process_records,
                             &records, &list.bytes))
        return false;
    list.records = records;
    list.boot = (uint64_t)opl_boot_time(opl_listing_reading(processes));
    list.tick_100ns = perfproc_tick_100ns();
    list.page = (uint64_t)sysconf(_SC_PAGESIZE);
    struct list_state *state = keep(processes, SLOT_STATE, sizeof *state);
    if (!state || !list_begin(&list, state) ||
        !perfproc_begin_texts(with->texts, list.bytes / LEAST_PROCESS + MOST_LEFT_OUT))
        return true; /* no memory: the collection fails */
    look_for_left_out(&list, state);
    list_all(&list, state);
    perfproc_end_texts(with->texts);
    state->processes.count = list.shown_processes.now_count;
    if (with->threads)
        state->tasks.count = list.shown_tasks.now_count;
    return true;
}
