/* SPDX-License-Identifier: MIT */
/* --top: keeps only the instances with the largest averages of those that a wildcard matches. */
#include "relog.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct candidate {
    size_t column;
    char *counter; /* the path without its instance */
    size_t lead;   /* the first column of this counter */
    double sum;
    unsigned long count;
};
struct ranking {
    struct input_log *source;
    struct candidate *candidates; /* one for each counter of the query */
};

/* Returns the path without its instance, to be freed. The instance may contain brackets. */
static char *without_instance(const char *path)
{
    const char *open = strchr(path, '('), *close = NULL;
    for (const char *at = open; at && (at = strstr(at, ")\\")); at++)
        close = at;
    char *text = strdup(path);
    if (text && close)
        strcpy(text + (open - path), close + 1);
    return text;
}

static void take_sample(void *context, LONGLONG time)
{
    (void)time;
    struct ranking *ranking = context;
    for (size_t i = 0; i < ranking->source->paths.count; i++) {
        double value = value_now(ranking->source->handles[i]);
        ranking->candidates[i].count += isfinite(value) != 0;
        ranking->candidates[i].sum += isfinite(value) ? value : 0;
    }
}

static double average(const struct candidate *candidate)
{
    return candidate->count ? candidate->sum / (double)candidate->count : -INFINITY;
}

static int compare_counters(const void *one, const void *other)
{
    const struct candidate *left = one, *right = other;
    int order = strcasecmp(left->counter, right->counter);
    return order ? order : (left->column > right->column) - (left->column < right->column);
}

/* Sorts by counter, in the capture's order; in each counter the largest average first. */
static int compare_averages(const void *one, const void *other)
{
    const struct candidate *left = one, *right = other;
    double size = average(left), than = average(right);
    if (left->lead != right->lead)
        return left->lead < right->lead ? -1 : 1;
    if (size != than)
        return size > than ? -1 : 1;
    return (left->column > right->column) - (left->column < right->column);
}

/* Fills the candidates' counters. */
static bool name_candidates(struct ranking *ranking)
{
    for (size_t i = 0; i < ranking->source->paths.count; i++) {
        ranking->candidates[i].column = i;
        ranking->candidates[i].counter = without_instance(ranking->source->paths.texts[i]);
        if (!ranking->candidates[i].counter)
            return false;
    }
    return true;
}

static void sort_candidates(struct ranking *ranking)
{
    struct candidate *candidates = ranking->candidates;
    size_t count = ranking->source->paths.count;
    qsort(candidates, count, sizeof *candidates, compare_counters);
    for (size_t i = 0; i < count; i++) {
        bool same = i && strcasecmp(candidates[i].counter, candidates[i - 1].counter) == 0;
        candidates[i].lead = same ? candidates[i - 1].lead : candidates[i].column;
    }
    qsort(candidates, count, sizeof *candidates, compare_averages);
}

/* Copies the paths that are kept: those that the user named, and the first `top` of each counter
 * that a wildcard matched, without _Total, which would always be the largest. False: no memory. */
static bool copy_first(const struct ranking *ranking, size_t top, struct text_list *paths,
                       struct text_list *shown)
{
    const struct input_log *source = ranking->source;
    size_t rank = 0;
    for (size_t i = 0; i < source->paths.count; i++) {
        const struct candidate *candidate = &ranking->candidates[i];
        const char *path = source->paths.texts[candidate->column];
        bool named = candidate->column < source->named;
        if (!i || candidate->lead != candidate[-1].lead)
            rank = 0;
        if (!named && (counter_path_is_total(path) || rank++ >= top))
            continue;
        if (!text_list_add(paths, path) ||
            !text_list_add(shown, source->shown.texts[candidate->column]))
            return false;
    }
    return true;
}

static bool keep_first(const struct ranking *ranking, size_t top)
{
    struct input_log *source = ranking->source;
    struct text_list paths = {0}, shown = {0};
    bool copied = copy_first(ranking, top, &paths, &shown);
    struct text_list *unused[] = {copied ? &source->paths : &paths,
                                  copied ? &source->shown : &shown};
    for (size_t i = 0; i < 2; i++)
        text_list_done(unused[i]);
    if (copied)
        source->paths = paths, source->shown = shown;
    return copied;
}

int top_choose(const struct relog *opts, struct input_log *source)
{
    struct ranking ranking = {.source = source};
    size_t count = source->paths.count;
    ranking.candidates = calloc(count, sizeof *ranking.candidates);
    source->silent = true; /* the samples are read again */
    if (ranking.candidates)
        source_read(source, opts, take_sample, &ranking);
    source->silent = false;
    bool good = ranking.candidates && name_candidates(&ranking);
    if (good) {
        sort_candidates(&ranking);
        good = keep_first(&ranking, opts->top);
    }
    for (size_t i = 0; ranking.candidates && i < count; i++)
        free(ranking.candidates[i].counter);
    free(ranking.candidates);
    if (pace_stopped())
        return EXIT_FAILED;
    return good && source->paths.count
               ? EXIT_GOOD
               : pdh_complain("relog", "selecting counters",
                              (PDH_STATUS)(good ? PDH_NO_COUNTERS : PDH_MEMORY_ALLOCATION_FAILURE));
}
