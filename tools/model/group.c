/* SPDX-License-Identifier: MIT */
/* Sums and limits of groups of processes, and the processor time that no process explains. */
#include "group.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The kernel counts processor time in ticks of 10 ms. Time that it counts too late for a sample is
 * in the next sample. */
enum { TICKS_PER_SECOND = 100, TICKS_OF_NOISE = 5, GROUPS_MOST = 4096 };
static const bool sums[PROCESS_VALUES] = {[CPU] = true,  [TIME] = true,    [MEMORY] = true,
                                          [READ] = true, [WRITTEN] = true, [THREADS] = true};
const char group_host[] = "(host)";
/* seconds that may pass between the readings of two objects in one sample */
static const double slack = 0.1;

/* ---- groups ---- */

int group_compare_names(const struct line *left, const struct line *right)
{
    size_t least = left->name_length < right->name_length ? left->name_length : right->name_length;
    int order = strncmp(left->name, right->name, least);
    return order ? order
                 : (left->name_length > right->name_length) -
                       (left->name_length < right->name_length);
}

static int compare(const void *left, const void *right)
{
    return group_compare_names(left, right);
}

static uint64_t hash(uint64_t sum, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        sum = (sum ^ (unsigned char)text[i]) * 0x100000001b3;
    return sum;
}

/* Names the line as its container. The path of a control group may be cut off before the container,
 * but the unit may name it, too. */
static void name_container(struct line *line)
{
    const char *group = line->texts[GROUP], *unit = line->texts[UNIT], *name = NULL;
    if (group)
        name = container_of(group, &line->name_length);
    if (!name && unit)
        name = container_of(unit, &line->name_length);
    if (!name)
        line->name_length = strlen(name = group && *group ? group_host : "(not known)");
    line->name = name;
}

void group_name(struct line *line, enum grouping grouping)
{
    static const enum line_text ids[GROUPINGS] = {
        [BY_USER] = USER, [BY_UNIT] = UNIT, [BY_GROUP] = GROUP};
    if (grouping == BY_CONTAINER && line->texts) {
        name_container(line);
    } else if (grouping > BY_PROGRAM) {
        const char *text = line->texts ? line->texts[ids[grouping]] : NULL;
        line->name = text && *text ? text : line->texts ? "(none)" : "(not known)";
        line->name_length = strlen(line->name);
    }
    line->identity = hash(0xcbf29ce484222325 + grouping, line->name, line->name_length);
}

size_t group_lines(struct line *lines, size_t count, enum grouping grouping)
{
    size_t used = 0;
    for (size_t i = 0; i < count; i++)
        group_name(&lines[i], grouping);
    if (count)
        qsort(lines, count, sizeof *lines, compare);
    for (size_t i = 0; i < count; i++) {
        struct line *line = &lines[i], *group = used ? &lines[used - 1] : NULL;
        if (!group || group_compare_names(group, line)) {
            lines[used++] = *line;
            continue;
        }
        group->members++;
        for (size_t v = 0; v < PROCESS_VALUES; v++)
            if (sums[v] && !isnan(line->values[v]))
                group->values[v] =
                    (isnan(group->values[v]) ? 0 : group->values[v]) + line->values[v];
    }
    return used;
}

/* ---- limits ---- */

unsigned group_add_limits(struct model *model, size_t source)
{
    static const char *const paths[] = {
        [MEMORY_LIMIT - MEMORY_LIMIT] = "\\Job Object(*)\\Memory Limit Bytes",
        [PROCESSOR_LIMIT - MEMORY_LIMIT] = "\\Job Object(*)\\% Processor Limit",
        [THROTTLED - MEMORY_LIMIT] = "\\Job Object(*)\\% Throttled",
        [PROCESSOR_PRESSURE - MEMORY_LIMIT] = "\\Job Object(*)\\% Processor Pressure",
        [MEMORY_PRESSURE - MEMORY_LIMIT] = "\\Job Object(*)\\% Memory Pressure",
        [DISK_PRESSURE - MEMORY_LIMIT] = "\\Job Object(*)\\% Disk Pressure",
    };
    return model_add_table(model, source, paths, sizeof paths / sizeof *paths, false);
}

/* True if the name of the instance `job` begins with `name`. Some characters differ, because an
 * instance's name cannot have them. */
static bool begins_with(const char *job, const char *name, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (job[i] != name[i] && (!job[i] || !strchr("/\\#*()", name[i])))
            return false;
    return length > 0;
}

/* True if the container is the innermost of `job`. */
static bool is_container(const char *job, const char *name, size_t length)
{
    size_t found = 0;
    const char *container = container_of(job, &found), *last = strrchr(job, '|');
    return container && found == length && (!last || container > last) &&
           begins_with(container, name, length);
}

/* True if `job`, which has | in place of slashes, is the line's unit, container or control group. A
 * long name of a line ends in an ellipsis. */
static bool is_group(const char *job, const struct line *line, enum grouping grouping)
{
    static const char ellipsis[] = "\xe2\x80\xa6";
    const char *last = strrchr(job, '|'), *name = line->name;
    size_t length = line->name_length, cut = sizeof ellipsis - 1;
    if (grouping == BY_CONTAINER)
        return is_container(job, name, length);
    if (grouping == BY_UNIT && last)
        job = last + 1;
    if (grouping == BY_GROUP && length && *name == '/') {
        name++;
        length--;
    }
    bool whole = length < cut || memcmp(name + length - cut, ellipsis, cut) != 0;
    length -= whole ? 0 : cut;
    return begins_with(job, name, length) && (!whole || !job[length]);
}

/* Lowers the limits of a group to those of its control group and of the groups above, because a
 * limit also applies to all groups below. A limit of 0 means that there is none. */
static void lower_limits(double *ret, const struct table *limits, const char *job)
{
    for (size_t r = 0; r < limits->row_count; r++) {
        const char *above = limits->rows[r].name;
        size_t length = strlen(above);
        if (strncmp(job, above, length) != 0 || (job[length] && job[length] != '|'))
            continue;
        for (size_t v = 0; v <= PROCESSOR_LIMIT - MEMORY_LIMIT; v++) {
            double limit = table_cell(limits, r, v)->number;
            if (limit > 0)
                ret[v] = fmin(ret[v], limit); /* fmin ignores a NaN, which means no limit yet */
        }
    }
}

void group_limits(struct line *lines, size_t count, enum grouping grouping,
                  const struct table *limits, double (*memory)[LIMIT_VALUES])
{
    for (size_t i = 0; i < count; i++) {
        lines[i].limits = memory[i];
        for (size_t v = 0; v < LIMIT_VALUES; v++)
            memory[i][v] = NAN;
        for (size_t r = 0; limits && grouping >= BY_UNIT && r < limits->row_count; r++) {
            if (!is_group(limits->rows[r].name, &lines[i], grouping))
                continue;
            for (size_t v = THROTTLED - MEMORY_LIMIT; v < LIMIT_VALUES; v++)
                memory[i][v] = table_cell(limits, r, v)->number;
            lower_limits(memory[i], limits, limits->rows[r].name);
            break;
        }
    }
}

/* ---- what no process explains ---- */

/* A process of the last sample, whose key is its number; or a group with members that have ended,
 * whose key is the group's identity. */
struct known {
    uint64_t key;
    double time, elapsed;
    /* processor time since the sample before, in percent of one processor */
    double rate;
    uint64_t groups[GROUPINGS]; /* identities of the groups that a process belongs to */
};

struct ended {
    struct known *processes; /* the processes of the last sample, sorted by number */
    size_t process_count;
    struct known *groups; /* the time that ended members of groups used, sorted by identity */
    size_t group_count;
    /* processor time that no process explains, in percent of one processor; NaN: unknown */
    double rate;
    double unexplained; /* that processor time in seconds, since the first sample */
    double members;     /* processor seconds of listed processes that have ended */
    /* seconds that processes had in the last sample beyond the busy time of all processors */
    double debt;
    bool all; /* the kernel's threads are listed, so no process is hidden */
};

struct ended *ended_new(void)
{
    struct ended *ended = calloc(1, sizeof *ended);
    if (ended)
        ended->rate = NAN;
    return ended;
}

void ended_free(struct ended *ended)
{
    if (!ended)
        return;
    free(ended->processes);
    free(ended->groups);
    free(ended);
}

static int by_key(const void *left, const void *right)
{
    const struct known *l = left, *r = right;
    return (l->key > r->key) - (l->key < r->key);
}

static struct known *find(struct known *known, size_t count, uint64_t key)
{
    struct known wanted = {.key = key};
    return count ? bsearch(&wanted, known, count, sizeof *known, by_key) : NULL;
}

static struct known *find_process(const struct ended *ended, const struct line *line)
{
    return find(ended->processes, ended->process_count, (uint64_t)line->values[PID]);
}

/* Adds processor time of ended members to a group. When there are GROUPS_MOST groups, a new group
 * gets none: its time stays in the row of the time that no listed process explains. */
static void add_group(struct ended *ended, uint64_t identity, double time)
{
    struct known *group = find(ended->groups, ended->group_count, identity);
    if (!group && ended->group_count < GROUPS_MOST) {
        struct known *groups =
            realloc(ended->groups, (ended->group_count + 1) * sizeof *ended->groups);
        if (!groups)
            return;
        ended->groups = groups;
        groups[ended->group_count++] = (struct known){.key = identity};
        qsort(groups, ended->group_count, sizeof *groups, by_key);
        group = find(groups, ended->group_count, identity);
    }
    if (group)
        group->time += time;
}

/* True if the process is the same one, not a new process with the same number: neither its time nor
 * its age has decreased, and the age has grown by at least half of the interval. */
static bool same_process(const struct known *before, double time, double elapsed, double seconds)
{
    return !(time < before->time) && !(elapsed < before->elapsed + (seconds > 0 ? seconds / 2 : 0));
}

/* Returns the process's rate in percent of one processor. PDH has no rate for a process that began
 * since the sample before, or whose name has changed. A new process has used all its time in this
 * interval; of a renamed process, `ended` has the time before. */
static double rate_of(const struct ended *ended, const struct line *line, double seconds)
{
    const double *values = line->values;
    const struct known *before = find_process(ended, line);
    if (!isnan(values[CPU]) || isnan(values[TIME]) || !(seconds > 0))
        return values[CPU];
    if (before && same_process(before, values[TIME], values[ELAPSED], seconds))
        return (values[TIME] - before->time) / seconds * 100;
    return values[ELAPSED] <= seconds + slack ? values[TIME] / seconds * 100 : NAN;
}

static struct known know(const struct ended *ended, const struct line *line, double seconds)
{
    const double *values = line->values;
    struct known known = {.key = (uint64_t)values[PID],
                          .time = isnan(values[TIME]) ? 0 : values[TIME],
                          .elapsed = values[ELAPSED],
                          .rate = rate_of(ended, line, seconds)};
    struct line group = *line; /* only the first grouping is by the name of the process */
    for (int g = BY_PROGRAM; g < GROUPINGS; g++) {
        group_name(&group, (enum grouping)g);
        known.groups[g] = group.identity;
    }
    return known;
}

/* Adds the time of processes that have ended, or whose number another process has now. */
static void add_ended(struct ended *ended, struct known *now, size_t count, double seconds)
{
    for (size_t i = 0; i < ended->process_count; i++) {
        const struct known *before = &ended->processes[i], *same = find(now, count, before->key);
        if (before->time <= 0 || (same && same_process(before, same->time, same->elapsed, seconds)))
            continue;
        ended->members += before->time;
        for (int g = BY_PROGRAM; g < GROUPINGS; g++)
            add_group(ended, before->groups[g], before->time);
    }
}

void ended_take(struct ended *ended, const struct line *processes, size_t count, double seconds,
                double busy, unsigned processors)
{
    double explained = 0, most = (double)TICKS_OF_NOISE / TICKS_PER_SECOND * processors;
    struct known *now = calloc(count + 1, sizeof *now);
    ended->rate = NAN;
    ended->all = false;
    if (!now)
        return;
    for (size_t i = 0; i < count; i++) {
        now[i] = know(ended, &processes[i], seconds);
        explained += isnan(now[i].rate) ? 0 : now[i].rate;
        ended->all |= processes[i].values[PID] == 2 && !strncmp(processes[i].name, "kthreadd", 8);
    }
    qsort(now, count, sizeof *now, by_key);
    add_ended(ended, now, count, seconds);
    free(ended->processes);
    ended->processes = now;
    ended->process_count = count;
    double gap = (busy - explained) / 100 * seconds - ended->debt;
    if (isnan(gap) || !(seconds > 0))
        return;
    ended->debt = gap < 0 ? fmin(-gap, most) : 0;
    gap = fmax(gap, 0);
    ended->unexplained += gap;
    ended->rate = gap / seconds * 100;
}

void ended_rate(const struct ended *ended, struct line *process)
{
    const struct known *known = find_process(ended, process);
    if (known && isnan(process->values[CPU]))
        process->values[CPU] = known->rate;
}

bool ended_line(const struct ended *ended, struct line *lines, size_t count, enum grouping grouping,
                struct line *ret)
{
    double time = ended->unexplained + ended->members;
    for (size_t i = 0; grouping && i < count; i++) {
        const struct known *group = find(ended->groups, ended->group_count, lines[i].identity);
        if (group && !isnan(lines[i].values[TIME])) {
            lines[i].values[TIME] += group->time;
            time -= group->time;
        }
    }
    /* if the kernel's threads are not listed, other processes may also be missing, and use this
     * time */
    *ret = (struct line){.name = ended->all ? "(ended)" : "(not listed)"};
    ret->name_length = strlen(ret->name);
    ret->identity = hash(0, ret->name, ret->name_length);
    for (size_t v = 0; v < PROCESS_VALUES; v++)
        ret->values[v] = NAN;
    ret->values[CPU] = ended->rate;
    ret->values[TIME] = fmax(time, 0); /* a difference of rounded sums */
    return !isnan(ended->rate);
}
