/* SPDX-License-Identifier: MIT */
/* The tree of processes: each process is shown below its parent. */
#include "processes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- parents ---- */

static const struct line *numbered; /* for compare_numbers, because qsort passes it no context */
/* Compares lines by process number. The line for processor time that no process explains has no
 * number and comes last. */
static int compare_numbers(const void *left, const void *right)
{
    double l = numbered[*(const size_t *)left].values[PID];
    double r = numbered[*(const size_t *)right].values[PID];
    return isnan(l) ? !isnan(r) : isnan(r) ? -1 : (l > r) - (l < r);
}

/* Returns the position of the child's parent, or `NOWHERE`. `order`: the positions of the lines,
 * sorted by process number. The parent's number may belong to a new process by now, so a line is
 * the parent only if it was started before the child, or in the same tick with a lower number. */
static size_t find_parent(const struct line *lines, const size_t *order, size_t count,
                          const struct line *child)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (lines[order[middle]].values[PID] < child->values[PARENT])
            low = middle + 1;
        else
            high = middle;
    }
    if (low == count || lines[order[low]].values[PID] != child->values[PARENT])
        return NOWHERE;
    const double *parent = lines[order[low]].values;
    bool before = parent[ELAPSED] > child->values[ELAPSED] ||
                  (parent[ELAPSED] == child->values[ELAPSED] && parent[PID] < child->values[PID]);
    return before ? order[low] : NOWHERE;
}

static void find_parents(const struct line *lines, size_t count, struct branch *links,
                         size_t *order)
{
    for (size_t i = 0; i < count; i++)
        order[i] = i;
    numbered = lines;
    qsort(order, count, sizeof *order, compare_numbers);
    for (size_t i = 0; i < count; i++)
        links[i] =
            (struct branch){find_parent(lines, order, count, &lines[i]), NOWHERE, NOWHERE, false};
    for (size_t i = 0; i < count; i++)
        for (size_t at = i; lines[i].match && at != NOWHERE && !links[at].kept;
             at = links[at].parent)
            links[at].kept = true;
}

/* ---- what is shown ---- */

/* True if the line is shown; then its parent is shown, too. A line that is folded away is counted
 * in the folded lines above it. */
static bool is_shown(const struct processes *processes, struct line *lines,
                     const struct branch *links, size_t at)
{
    bool below = false, folded = false, filtered = processes->wanted.count > 0;
    for (size_t i = links[at].parent; i != NOWHERE; i = links[i].parent) {
        below |= lines[i].match;
        folded |= identities_have(&processes->folded, lines[i].identity);
    }
    if (!links[at].kept && !(processes->branches && below))
        return false;
    if (!folded || (filtered && links[at].kept))
        return true;
    for (size_t i = links[at].parent; i != NOWHERE; i = links[i].parent)
        lines[i].hidden += identities_have(&processes->folded, lines[i].identity);
    return false;
}

/* Links the lines that are shown to their parents, in the lines' order; returns the first root. */
static size_t link_lines(const struct processes *processes, struct line *lines,
                         struct branch *links)
{
    size_t first = NOWHERE;
    for (size_t i = processes->list.line_count; i-- > 0;) {
        if (!is_shown(processes, lines, links, i))
            continue;
        size_t *link = links[i].parent == NOWHERE ? &first : &links[links[i].parent].child;
        links[i].next = *link;
        *link = i;
    }
    return first;
}

void tree_lines(struct processes *processes)
{
    size_t count = processes->list.line_count;
    struct line *lines = malloc(count * sizeof *lines);
    struct branch *links = malloc(count * sizeof *links);
    struct place *places = malloc(count * sizeof *places);
    size_t *order = malloc(count * sizeof *order);
    if (lines && links && places && order) {
        memcpy(lines, processes->list.lines, count * sizeof *lines);
        find_parents(lines, count, links, order);
        size_t first = link_lines(processes, lines, links);
        processes->list.line_count = branches_walk(links, first, places);
        for (size_t i = 0; i < processes->list.line_count; i++) {
            processes->list.lines[i] = lines[places[i].at];
            processes->list.lines[i].depth = places[i].depth;
            processes->list.lines[i].bars = places[i].bars;
        }
    }
    free(lines);
    free(links);
    free(places);
    free(order);
}

/* ---- keys ---- */

/* Selects the parent of the selected line, which is above it. */
static void select_parent(struct processes *processes)
{
    size_t at = processes->cursor.at;
    unsigned depth = processes->list.lines[at].depth;
    while (at > 0 && processes->list.lines[at].depth >= depth)
        at--;
    processes->cursor.at = at;
    processes->selected = processes->list.lines[at].identity;
}

static void fold(struct processes *processes, bool open)
{
    size_t at = processes->cursor.at;
    if (at >= processes->list.line_count)
        return;
    const struct line *line = &processes->list.lines[at];
    bool folded = identities_have(&processes->folded, line->identity);
    bool parent = at + 1 < processes->list.line_count && line[1].depth > line->depth;
    if (open == folded && (open || parent))
        identities_toggle(&processes->folded, line->identity);
    else if (!open && line->depth > 0)
        select_parent(processes);
}

bool tree_fold_key(struct processes *processes, int key, struct window *window)
{
    if (!processes->tree || processes->grouping || (!branches_key(key) && key != 'c'))
        return false;
    if (key == 'c') {
        processes->branches = !processes->branches;
        window_report(
            window,
            processes->branches
                ? "a filter shows the processes that match, their parents and their children"
                : "a filter shows the processes that match, and their parents");
    } else if (key == '*') {
        processes->folded.count = 0;
    } else {
        fold(processes, key != '-');
    }
    return true;
}
