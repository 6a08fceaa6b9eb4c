/* SPDX-License-Identifier: MIT */
/* perfmon explain: typeperf explains the counters of a path or object; any other word is searched
 * for, as in perfmon's list of counters, because people know words before they know paths. */
#include "perfmon.h"

#include "../common/beside.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_FOUND = 10, WAIT_MS = 15000, PAUSE_MS = 10 };

static bool is_explained(const char *text)
{
    PDH_STATUS ignored;
    if (strchr(text, '\\') || strstr(text, "::"))
        return true;
    struct catalogue *object = catalogue_find(NULL, NULL, text, &ignored);
    if (object)
        catalogue_free(object);
    return object;
}

struct shown {
    size_t count;
    char first[PDH_MAX_COUNTER_PATH];
};

static void print_path(void *context, const char *path)
{
    struct shown *shown = context;
    if (!shown->count++)
        snprintf(shown->first, sizeof shown->first, "%s", path);
    puts(text_seen(path));
}

/* Says which objects were not searched. */
static void print_unread(struct catalogue *catalogue, const char *word)
{
    size_t ready, count = catalogue_count(catalogue, &ready);
    if (count > ready)
        fprintf(stderr,
                "perfmon: %s: the search is not complete: %zu of %zu objects were not read within "
                "%d s, because %s took too long\n",
                word, count - ready, count, WAIT_MS / 1000,
                text_seen(catalogue_object(catalogue, ready)->name));
    else
        fprintf(
            stderr,
            "perfmon: %s: the search is not complete: the objects were not listed within %d s\n",
            word, WAIT_MS / 1000);
}

/* Prints the paths of the counters that the word finds. */
static void print_found(const char *word)
{
    const struct timespec pause = {.tv_nsec = PAUSE_MS * 1000000L};
    struct shown shown = {0};
    char clean[256], quoted[sizeof shown.first + 64];
    struct catalogue *catalogue = catalogue_new(NULL, NULL, 0);
    size_t found = 0;
    bool complete = false;
    for (int ms = 0; catalogue && ms < WAIT_MS; ms += PAUSE_MS) {
        complete = catalogue_complete(catalogue);
        if (complete)
            break;
        nanosleep(&pause, NULL);
    }
    if (catalogue)
        found = catalogue_paths(catalogue, word, MOST_FOUND, print_path, &shown);
    fflush(stdout);
    text_clean(word, clean, sizeof clean);
    text_quote(text_seen(shown.first), quoted, sizeof quoted);
    if (found)
        fprintf(
            stderr,
            "perfmon: %s: this is not a counter path, but a word that finds %zu %s%s; to explain "
            "one: perfmon explain %s\n",
            clean, found, found == 1 ? "counter" : "counters",
            found > shown.count ? ", such as those above" : "", quoted);
    else
        fprintf(stderr,
                "perfmon: %s: no counter%s has this word in its name or explanation; \"pcview\" "
                "lists the objects\n",
                clean, complete ? "" : " that was read");
    if (catalogue && !complete)
        print_unread(catalogue, clean);
    if (catalogue)
        catalogue_free(catalogue);
}

int explain_run(const struct perfmon *perfmon)
{
    char **args = calloc(perfmon->arg_count + 4, sizeof *args);
    size_t used = 0;
    int code = EXIT_MISSING;
    if (!perfmon->arg_count || !args) {
        free(args);
        fputs("perfmon: explain: name a counter, such as 'Memory::Available Bytes'\n", stderr);
        return EXIT_USAGE;
    }
    args[used++] = (char *)"perfmon"; /* typeperf writes this name before its messages */
    args[used++] = (char *)"--explain";
    args[used++] = (char *)"--";
    for (size_t i = 0; i < perfmon->arg_count; i++)
        if (is_explained(perfmon->args[i]))
            args[used++] = perfmon->args[i];
        else
            print_found(perfmon->args[i]);
    if (used > 3)
        code = beside_run("perfmon", "typeperf", args);
    free(args);
    return code;
}
