/* SPDX-License-Identifier: MIT */
/*
 * Bytes that children of a process moved to and from disks before they ended. The kernel adds all
 * that a child did in its life to its parent when the parent waits for it; what the list has shown
 * of the child before is subtracted, so that no byte is counted twice.
 */
#include "process-list.h"

#include <math.h>
#include <stdlib.h>

enum { KINDS = 2, MOST_ANCESTORS = 64 };
enum { COLUMN_PID, COLUMN_BYTES };

/* A process of the last sample. */
struct family {
    uint64_t pid, identity, parent;
    double bytes[KINDS]; /* with those of children, since its start */
    /* what children had that have ended, but whose end its bytes do not show yet */
    double owed[KINDS];
    double rates[KINDS];
};
struct children {
    struct family *processes; /* sorted by number */
    size_t count;
    uint64_t tick; /* number of the sample that was taken last */
    double at;     /* when it was taken, like table.at */
};

static int by_pid(const void *left, const void *right)
{
    const struct family *l = left, *r = right;
    return (l->pid > r->pid) - (l->pid < r->pid);
}

static struct family *find(const struct children *children, uint64_t pid)
{
    struct family wanted = {.pid = pid};
    return children->count ? bsearch(&wanted, children->processes, children->count,
                                     sizeof *children->processes, by_pid)
                           : NULL;
}

/* Returns the process that is the same one in another sample; NULL: there is none. */
static struct family *same(const struct children *children, const struct family *process)
{
    struct family *found = find(children, process->pid);
    return found && found->identity == process->identity ? found : NULL;
}

/* Reads the processes of a sample of Process IO; their parents are those of the lines. */
static bool read_family(struct children *ret, const struct table *io, const struct line *lines,
                        size_t count)
{
    ret->processes = calloc(io->row_count + 1, sizeof *ret->processes);
    for (size_t r = 0, at = 0; ret->processes && r < io->row_count; r++) {
        struct family *process = &ret->processes[ret->count++];
        *process = (struct family){.identity = io->rows[r].identity};
        process->pid = (uint64_t)table_cell(io, r, COLUMN_PID)->number;
        for (int k = 0; k < KINDS; k++)
            process->bytes[k] = table_cell(io, r, COLUMN_BYTES + (size_t)k)->number;
        while (at < count && lines[at].values[PID] < (double)process->pid)
            at++;
        if (at < count && lines[at].values[PID] == (double)process->pid)
            process->parent = (uint64_t)lines[at].values[PARENT];
    }
    if (ret->processes)
        qsort(ret->processes, ret->count, sizeof *ret->processes, by_pid);
    return ret->processes;
}

/* The bytes of a process that has ended are its nearest living ancestor's from now on. */
static void owe(const struct children *before, const struct children *now,
                const struct family *ended)
{
    const struct family *ancestor = ended;
    struct family *heir = NULL;
    for (int i = 0; !heir && ancestor && i < MOST_ANCESTORS; i++) {
        ancestor = find(before, ancestor->parent);
        heir = ancestor ? same(now, ancestor) : NULL;
    }
    for (int k = 0; heir && k < KINDS; k++)
        heir->owed[k] += isnan(ended->bytes[k]) ? 0 : ended->bytes[k];
}

static void set_rates(const struct family *before, struct family *now, double seconds)
{
    for (int k = 0; k < KINDS; k++) {
        double more = now->bytes[k] - before->bytes[k], owed = now->owed[k] + before->owed[k];
        double paid = fmin(more, owed);
        now->rates[k] = seconds > 0 ? fmax(more - paid, 0) / seconds : NAN;
        /* the file of the parent may have been read before the child ended: waits one sample */
        now->owed[k] = fmin(owed - paid, now->owed[k]);
    }
}

struct children *children_new(void)
{
    return calloc(1, sizeof(struct children));
}

void children_free(struct children *children)
{
    if (children)
        free(children->processes);
    free(children);
}

void children_take(struct children *children, const struct table *io, const struct line *lines,
                   size_t count)
{
    struct children now = {.tick = io->tick, .at = io->at};
    if (children->at == io->at || !read_family(&now, io, lines, count))
        return;
    /* after a pause, or at another time of a set, there is no rate */
    double seconds = now.tick < children->tick + MODEL_FINE ? now.at - children->at : NAN;
    for (size_t i = 0; i < children->count; i++)
        if (!same(&now, &children->processes[i]))
            owe(children, &now, &children->processes[i]);
    for (size_t i = 0; i < now.count; i++) {
        const struct family *before = same(children, &now.processes[i]);
        if (before)
            set_rates(before, &now.processes[i], seconds);
        else
            now.processes[i].rates[0] = now.processes[i].rates[1] = NAN;
    }
    free(children->processes);
    *children = now;
}

void children_add(const struct children *children, struct line *line)
{
    const struct family *process = find(children, (uint64_t)line->values[PID]);
    for (int k = 0; process && k < KINDS; k++)
        line->values[READ + k] = fmax(line->values[READ + k], process->rates[k]);
}
