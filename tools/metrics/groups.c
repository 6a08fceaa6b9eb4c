/* SPDX-License-Identifier: MIT */
/*
 * The sums of groups of processes. A group's counter gets what each member used since the answer
 * before, and a process that is seen for the first time all that it ever used. So the counter never
 * falls: not when a member ends, nor when it moves to another group. The samples of Process V2 and
 * Process Details of one answer are collected first, because each family has one value of a
 * process.
 */
#include "groups.h"
#include "../common/clock.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { EMPTY_SECONDS = 3600, MISSED_MOST = 3, TEXT_SIZE = 4096 };

/* The metrics of groups, in the order of enum group_value; the names without what comes before. */
static const struct {
    const char *name, *help;
} rows[GROUP_VALUES] = {
    {"user_time_seconds",       "Processor time of the group's processes in user mode."          },
    {"privileged_time_seconds", "Processor time of the group's processes in the kernel."         },
    {"io_disk_read_bytes",      "Bytes that the group's processes caused to be read from disks." },
    {"io_disk_write_bytes",     "Bytes that the group's processes caused to be written to disks."},
    {"page_faults",             "Page faults of the group's processes."                          },
    {"threads",                 "Threads of the group's processes."                              },
    {"working_set_bytes",
     "Memory of the group's processes; pages that several share count for each."                 },
};
static const char source_processes[] = "perf_process_v2_", source_texts[] = "perf_process_details_";
static const char *const text_names[TEXTS] = {
    [USER] = "user", [UNIT] = "unit", [GROUP] = "control_group"};

/* A process of the answer that is being read. Texts are offsets, 0: none. */
struct reading {
    struct group_process process;
    size_t name, texts[TEXTS];
};

struct groups {
    struct metric_sink sink; /* the first member */
    struct group_rules *rules;
    char *path; /* of the file; NULL: none */
    struct group_table table;
    struct metric_family families[GROUP_VALUES]; /* as they are exposed, after the first answer */
    unsigned digits[GROUP_VALUES];
    bool reported_full, reported_write;
    /* the answer that is being read */
    struct reading *readings;
    size_t reading_count, reading_capacity, at;
    char *texts;
    size_t text_size, text_capacity;
    int value, text; /* what the family's samples are; below 0: something else */
    bool starts;     /* they are the times at which processes began */
    bool first;      /* no family before had a sample of a process */
    bool failed;     /* no memory */
};

/* ---- the samples of an answer ---- */

static void *grow(struct groups *groups, void *array, size_t *capacity, size_t count, size_t size)
{
    void *grown = count <= *capacity ? array : reallocarray(array, count * 2, size);
    groups->failed |= !grown;
    if (grown && count > *capacity)
        *capacity = count * 2;
    return grown ? grown : array;
}

/* Keeps a text until the end of the answer; 0: no memory. */
static size_t keep(struct groups *groups, const char *text, size_t size)
{
    size_t at = groups->text_size;
    groups->texts =
        grow(groups, groups->texts, &groups->text_capacity, groups->text_size + size + 1, 1);
    if (groups->failed)
        return 0;
    memcpy(groups->texts + at, text, size);
    groups->texts[at + size] = '\0';
    groups->text_size += size + 1;
    return at;
}

/* Returns the reading of the process with this number. All families have the processes in the same
 * order, so the search begins after the one found last; the first family has no earlier ones. NULL:
 * there is no memory. */
static struct reading *reading_of(struct groups *groups, uint64_t id, const char *name, size_t size)
{
    for (size_t i = 0; !groups->first && i < groups->reading_count; i++) {
        size_t at = (groups->at + i) % groups->reading_count;
        if (groups->readings[at].process.id == id) {
            groups->at = at + 1;
            return &groups->readings[at];
        }
    }
    groups->readings = grow(groups, groups->readings, &groups->reading_capacity,
                            groups->reading_count + 1, sizeof *groups->readings);
    if (groups->failed)
        return NULL;
    groups->at = groups->reading_count + 1;
    struct reading *reading = &groups->readings[groups->reading_count++];
    *reading = (struct reading){.process.id = id, .name = keep(groups, name, size)};
    return reading;
}

static bool begins(const char *text, const char *begin)
{
    return !strncmp(text, begin, strlen(begin));
}

static void take_family(struct metric_sink *sink, const struct metric_family *family)
{
    struct groups *groups = (struct groups *)sink;
    groups->value = groups->text = -1;
    groups->starts = !strcmp(family->name, "perf_process_v2_elapsed_start_time_seconds");
    groups->at = 0;
    groups->first = groups->reading_count == 0;
    for (int i = 0; begins(family->name, source_processes) && i < GROUP_VALUES; i++)
        if (!strcmp(family->name + strlen(source_processes), rows[i].name)) {
            groups->value = i;
            groups->families[i] = *family;
            groups->families[i].help = rows[i].help;
            snprintf(groups->families[i].name, METRIC_NAME_SIZE, "perf_process_group_%s",
                     rows[i].name);
        }
    for (int i = 0; begins(family->name, source_texts) && i < TEXTS; i++)
        if (group_rules_texts(groups->rules) & 1u << i &&
            !strcmp(family->name + strlen(source_texts), text_names[i]))
            groups->text = i;
}

static bool wants(struct metric_sink *sink, const struct metric_family *family)
{
    const struct groups *groups = (struct groups *)sink;
    take_family(sink, family);
    return groups->value >= 0 || groups->text >= 0 || groups->starts;
}

static void take_sample(struct metric_sink *sink, const struct metric_family *family,
                        const struct metric_sample *sample, const struct metric_labels *labels,
                        const char *text, const struct metric_value *value)
{
    struct groups *groups = (struct groups *)sink;
    (void)family;
    (void)sample;
    const char *colon = strrchr(labels->name, ':');
    if (!colon || groups->failed)
        return;
    struct reading *reading = reading_of(groups, strtoull(colon + 1, NULL, 10), labels->name,
                                         (size_t)(colon - labels->name));
    if (!reading || value->is_real || value->negative)
        return;
    if (groups->text >= 0 && text)
        reading->texts[groups->text] = keep(groups, text, strnlen(text, TEXT_SIZE));
    if (groups->starts)
        reading->process.start = value->whole;
    if (groups->value < 0)
        return;
    reading->process.values[groups->value] = value->whole;
    reading->process.known |= 1u << groups->value;
    groups->digits[groups->value] = value->digits;
}

struct metric_sink *groups_sink(struct groups *groups)
{
    return &groups->sink;
}

/* ---- the groups ---- */

/* Returns the group with this name, which was last at `hint`; a new one, if there is none. */
static uint32_t find_group(struct groups *groups, const char *name, uint32_t hint)
{
    struct group_table *table = &groups->table;
    size_t free_at = table->group_count;
    if (hint < table->group_count && !strcmp(table->groups[hint].name, name))
        return hint;
    for (size_t i = 0; i < table->group_count; i++) {
        if (!strcmp(table->groups[i].name, name))
            return (uint32_t)i;
        if (!*table->groups[i].name && free_at == table->group_count)
            free_at = i;
    }
    if (free_at >= GROUPS_MOST - 1 && strcmp(name, "(more)") != 0) {
        if (!groups->reported_full)
            fprintf(stderr,
                    "openperflib-serve: more than %d groups of processes: the others are "
                    "together in the group (more); use rules that make fewer groups\n",
                    GROUPS_MOST - 1);
        groups->reported_full = true;
        return find_group(groups, "(more)", GROUPS_MOST - 1);
    }
    table->group_count += free_at == table->group_count;
    table->groups[free_at] = (struct group_sums){0};
    strcpy(table->groups[free_at].name, name);
    return (uint32_t)free_at;
}

/* Adds to the group what the process used since `before` (NULL: ever), and keeps in the process
 * what is counted now. */
static void add_process(struct group_sums *group, struct group_process *process,
                        const struct group_process *before)
{
    unsigned now = process->known, earlier = before ? before->known : 0;
    for (unsigned v = 0; v < GROUP_COUNTERS; v++) {
        unsigned bit = 1u << v;
        uint64_t last = earlier & bit ? before->values[v] : 0, value = process->values[v];
        bool fell = value < last && last - value <= UINT32_MAX / 2;
        if (!(now & bit) || fell) {
            process->values[v] = last; /* counted before, and not again */
            process->known |= earlier & bit;
        } else if (group) {
            group->values[v] += value < last ? 0 : value - last;
        }
    }
    for (unsigned v = GROUP_COUNTERS; group && v < GROUP_VALUES; v++)
        group->values[v] += now & 1u << v ? process->values[v] : 0;
    if (!group)
        return;
    group->known |= now;
    group->unknown |= ~now;
    group->members++;
}

static int compare_processes(const void *left, const void *right)
{
    const struct group_process *l = left, *r = right;
    return l->id != r->id ? (l->id > r->id) - (l->id < r->id)
                          : (l->start > r->start) - (l->start < r->start);
}

static int compare_readings(const void *left, const void *right)
{
    return compare_processes(&((const struct reading *)left)->process,
                             &((const struct reading *)right)->process);
}

/* Adds one process of the answer to its group. */
static void count_process(struct groups *groups, struct reading *reading,
                          const struct group_process *before)
{
    const char *texts[TEXTS] = {NULL};
    char name[GROUP_NAME_SIZE];
    struct group_sums *group = NULL;
    struct line line = {.name = groups->texts + reading->name, .texts = texts};
    line.name_length = strlen(line.name);
    bool known = false;
    for (int t = 0; t < TEXTS; t++)
        if (reading->texts[t]) {
            texts[t] = groups->texts + reading->texts[t];
            known = true;
        }
    line.texts = known ? texts : NULL;
    reading->process.group = before ? before->group : UINT32_MAX;
    if (group_rules_name(groups->rules, &line, name)) {
        reading->process.group = find_group(groups, name, reading->process.group);
        group = &groups->table.groups[reading->process.group];
    }
    add_process(group, &reading->process, before);
}

/* Sets the gauges to nothing, before the members are added. */
static void begin_groups(struct group_table *table)
{
    for (size_t i = 0; i < table->group_count; i++) {
        struct group_sums *group = &table->groups[i];
        group->members = group->unknown = 0;
        memset(&group->values[GROUP_COUNTERS], 0,
               sizeof group->values - GROUP_COUNTERS * sizeof *group->values);
    }
}

/* Forgets groups that had no members for a while. */
static void end_groups(struct group_table *table)
{
    int64_t now = (int64_t)clock_seconds(CLOCK_BOOTTIME);
    for (size_t i = 0; i < table->group_count; i++) {
        struct group_sums *group = &table->groups[i];
        if (group->members)
            group->seen = now;
        else if (now - group->seen > EMPTY_SECONDS)
            *group = (struct group_sums){0};
    }
}

/* Adds the processes of the answer to their groups. Those that are missing are kept for a few
 * answers, in case only an answer lacks them. */
static void count_processes(struct groups *groups, struct group_process *now, size_t *count)
{
    const struct group_table *table = &groups->table;
    size_t at = 0;
    for (size_t i = 0; i <= groups->reading_count; i++) {
        struct reading *reading = i < groups->reading_count ? &groups->readings[i] : NULL;
        int order = 1;
        while (at < table->process_count &&
               (order = reading ? compare_processes(&table->processes[at], &reading->process)
                                : -1) < 0) {
            struct group_process missing = table->processes[at++];
            if (++missing.missed <= MISSED_MOST)
                now[(*count)++] = missing;
        }
        if (!reading)
            return;
        if (i && !compare_readings(reading - 1, reading))
            continue;
        count_process(groups, reading,
                      at < table->process_count && !order ? &table->processes[at] : NULL);
        at += at < table->process_count && !order;
        now[(*count)++] = reading->process;
    }
}

/* Leaves only processes whose start is known, and makes the starts those since the boot. */
static void prepare_readings(struct groups *groups)
{
    uint64_t boot = 0;
    size_t kept = 0;
    for (size_t i = 0; i < groups->reading_count; i++)
        if (!groups->readings[i].process.id)
            boot = groups->readings[i].process.start; /* Idle, which is no process */
    for (size_t i = 0; i < groups->reading_count; i++)
        if (groups->readings[i].process.id && groups->readings[i].process.start) {
            groups->readings[kept] = groups->readings[i];
            groups->readings[kept++].process.start -= boot;
        }
    groups->reading_count = kept;
    if (kept)
        qsort(groups->readings, kept, sizeof *groups->readings, compare_readings);
}

static void write_state(struct groups *groups)
{
    bool written = !groups->path || group_state_write(groups->path, &groups->table);
    if (!written && !groups->reported_write)
        fprintf(stderr,
                "openperflib-serve: %s cannot be written, so counters of process groups will "
                "begin anew after a restart: %s\n",
                groups->path, strerror(errno));
    groups->reported_write = !written;
}

bool groups_end(struct groups *groups, bool whole, size_t *ret_series)
{
    struct group_table *table = &groups->table;
    struct group_process *now =
        calloc(groups->reading_count + table->process_count + 1, sizeof *now);
    size_t count = 0;
    prepare_readings(groups);
    bool good = now && whole && !groups->failed && groups->reading_count;
    if (good) {
        begin_groups(table);
        count_processes(groups, now, &count);
        end_groups(table);
        free(table->processes);
        struct group_process *fitting = realloc(now, (count + 1) * sizeof *now);
        table->processes = fitting ? fitting : now;
        table->process_count = count;
        write_state(groups);
    } else {
        free(now);
    }
    groups->reading_count = 0;
    groups->text_size = 1;
    groups->failed = false;
    *ret_series = table->group_count * (GROUP_VALUES + 1);
    return good;
}

/* ---- exposition ---- */

static void emit_one(const struct group_sums *group, const struct metric_family *family,
                     const struct metric_value *value, struct metric_sink *sink)
{
    char label[2 * GROUP_NAME_SIZE + 16] = "group=\"";
    size_t size = 7 + metric_escape(group->name, label + 7);
    strcpy(label + size, "\"");
    struct metric_labels labels = {
        .name = group->name, .parent = "", .text = label, .size = size + 1};
    sink->sample(sink, family, &family->samples[0], &labels, NULL, value);
}

void groups_emit(const struct groups *groups, struct metric_sink *sink)
{
    const struct metric_family processes = {
        .kind = METRIC_GAUGE,
        .name = "perf_process_group_processes",
        .unit = "",
        .help = "The number of the group's processes.",
        .sample_count = 1,
        .samples = {{.suffix = ""}},
    };
    const struct group_table *table = &groups->table;
    if (table->group_count)
        sink->family(sink, &processes);
    for (size_t i = 0; i < table->group_count; i++)
        if (*table->groups[i].name)
            emit_one(&table->groups[i], &processes,
                     &(struct metric_value){.whole = table->groups[i].members}, sink);
    for (unsigned v = 0; v < GROUP_VALUES; v++) {
        bool first = true;
        for (size_t i = 0; i < table->group_count; i++) {
            const struct group_sums *group = &table->groups[i];
            struct metric_value value = {.whole = group->values[v], .digits = groups->digits[v]};
            if (!*group->name || !(group->known & ~group->unknown & 1u << v) ||
                !*groups->families[v].name)
                continue;
            if (first)
                sink->family(sink, &groups->families[v]);
            first = false;
            emit_one(group, &groups->families[v], &value, sink);
        }
    }
}

/* ---- lifetime ---- */

struct groups *groups_new(struct group_rules *rules, const char *path)
{
    struct groups *groups = calloc(1, sizeof *groups);
    if (!groups)
        return NULL;
    groups->table.groups = calloc(GROUPS_MOST, sizeof *groups->table.groups);
    groups->path = path ? strdup(path) : NULL;
    groups->text_size = 1;
    groups->sink = (struct metric_sink){take_family, take_sample, wants};
    if (!groups->table.groups || (path && !groups->path)) {
        groups_free(groups);
        return NULL;
    }
    groups->rules = rules;
    if (path)
        group_state_read(path, &groups->table);
    return groups;
}

void groups_free(struct groups *groups)
{
    if (!groups)
        return;
    group_rules_free(groups->rules);
    free(groups->path);
    free(groups->table.groups);
    free(groups->table.processes);
    free(groups->readings);
    free(groups->texts);
    free(groups);
}

bool groups_need_texts(const struct groups *groups)
{
    return group_rules_texts(groups->rules) != 0;
}
