/* SPDX-License-Identifier: MIT */
/*
 * behemoth-compare: repeatedly reads one herd from the server and from the counters, and compares
 * every value. The two reads are never at the same time, but the herd's seconds are numbered, and
 * the state of one second is a snapshot: the server's snapshots are kept, and the counters are
 * compared with the one of the same second.
 */
#include "../client/shown.h"
#include "../common/exchange.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { KEPT = 64, ANSWER_MS = 10000, CACHE_MS = 100, EXIT_USAGE = 2, PATIENCE = 6 };

/* A snapshot from the server. */
struct look {
    int64_t heard;  /* when it was complete */
    uint64_t ticks; /* the herd's second */
    struct behemoth_herd herd;
    struct behemoth *all;
    size_t capacity;
};

struct ancestry {
    uint64_t id, mother;
};

static struct compare {
    char place[108];
    struct behemoth_line line;
    struct shown shown;
    struct look looks[KEPT];
    size_t look_count;
    struct ancestry *born; /* all behemoths seen so far, by number, and their mothers */
    size_t born_count, born_capacity;
    int64_t longest;     /* read, in milliseconds */
    int64_t behind_most; /* of the counters behind the server, in seconds of the herd */
    double age_most;     /* of a snapshot, when it was shown */
    uint64_t last_compared, first_births, first_deaths;
    uint64_t reads, silent, unmatched, moments, values, differences, orphans;
} compare = {.line = {.socket = -1}};

/* ---- the server's end ---- */

static bool note_newcomers(const struct behemoth_herd *herd, const struct behemoth *all)
{
    size_t known = compare.born_count;
    uint64_t last = known > 0 ? compare.born[known - 1].id : 0;
    for (uint32_t i = 0; i < herd->count; i++) {
        if (all[i].id <= last)
            continue;
        if (compare.born_count == compare.born_capacity) {
            size_t capacity = compare.born_capacity > 0 ? compare.born_capacity * 2 : 1024;
            struct ancestry *born = realloc(compare.born, capacity * sizeof *born);
            if (!born)
                return false;
            compare.born = born;
            compare.born_capacity = capacity;
        }
        compare.born[compare.born_count++] = (struct ancestry){all[i].id, all[i].mother};
    }
    return true;
}

static bool keep(const struct behemoth_herd *herd)
{
    struct look *look = &compare.looks[compare.look_count % KEPT];
    if (herd->count > look->capacity || !look->all) {
        size_t capacity = herd->count + 64;
        struct behemoth *all = realloc(look->all, capacity * sizeof *all);
        if (!all)
            return false;
        look->all = all;
        look->capacity = capacity;
    }
    memcpy(look->all, behemoth_all(herd), herd->count * sizeof *look->all);
    look->herd = *herd;
    look->ticks = herd->ticks;
    look->heard = behemoth_now();
    compare.look_count++;
    return note_newcomers(herd, look->all);
}

static bool look_at_server(void)
{
    const struct behemoth_herd *herd = NULL;
    if (behemoth_ask(&compare.line, compare.place, BEHEMOTH_HERD, NULL, 0,
                     behemoth_now() + ANSWER_MS))
        herd = behemoth_herd_of(&compare.line);
    if (herd && keep(herd))
        return true;
    fprintf(stderr, "behemoth-compare: %s: %s\n", compare.place,
            herd ? "no memory" : strerror(errno));
    return false;
}

static const struct look *look_of(uint64_t ticks)
{
    size_t kept = compare.look_count < KEPT ? compare.look_count : KEPT;
    for (size_t i = 1; i <= kept; i++) {
        const struct look *look = &compare.looks[(compare.look_count - i) % KEPT];
        if (look->ticks == ticks)
            return look;
    }
    return NULL;
}

/* ---- values ---- */

static void differ(const char *holder, const char *what, int64_t counter, int64_t server)
{
    if (compare.differences++ < 10)
        fprintf(stderr,
                "behemoth-compare: second %" PRIu64 ", %s, %s: the counter says %" PRId64
                ", the server %" PRId64 "\n",
                compare.last_compared, holder, what, counter, server);
}

static void same(const char *holder, const char *what, uint64_t counter, uint64_t server)
{
    compare.values++;
    if (counter != server)
        differ(holder, what, (int64_t)counter, (int64_t)server);
}

/* An age grows while the snapshot is kept, which is not long. */
static void same_age(const struct shown_behemoth *seen, int64_t age)
{
    int64_t shown = compare.shown.time - (int64_t)seen->values[BEHEMOTH_AGE / 2];
    int64_t slack = (CACHE_MS + compare.longest) * (BEHEMOTH_SECOND / 1000);
    compare.values++;
    if (shown < age || shown > age + slack)
        differ(seen->name, "Age", shown, age);
}

static uint64_t mother_of(const struct behemoth *is)
{
    return is->mother_position == BEHEMOTH_NONE ? (uint64_t)SHOWN_NONE : is->mother_position;
}

static void compare_one(const struct look *look, uint32_t i)
{
    const struct behemoth *is = &look->all[i];
    const struct shown_behemoth *seen = &compare.shown.all[i];
    const struct {
        const char *what;
        uint64_t counter, server;
    } rows[] = {
        {"Name", (uint64_t)(strcmp(seen->name, is->name) == 0),  1},
        {"Sex",      seen->values[BEHEMOTH_SEX / 2],                              is->sex          },
        {"X",      seen->values[BEHEMOTH_X / 2],                                is->x    },
        {"Y",      seen->values[BEHEMOTH_Y / 2],                                is->y          },
        {"Weight",      seen->values[BEHEMOTH_WEIGHT / 2],                           is->weight},
        {"Volume",      seen->values[BEHEMOTH_VOLUME / 2],                           is->volume          },
        {"Birthday",      seen->values[BEHEMOTH_BIRTHDAY / 2],                         (uint64_t)is->birthday},
        {"parent",      (uint64_t)seen->mother,                           mother_of(is)                         },
    };
    for (size_t j = 0; j < sizeof rows / sizeof *rows; j++)
        same(is->name, rows[j].what, rows[j].counter, rows[j].server);
    same_age(seen, look->herd.time - is->birthday);
}

static uint64_t summary(unsigned symbol)
{
    return compare.shown.summary[symbol / 2];
}

static void compare_summary(const struct look *look)
{
    uint64_t weight = 0;
    const struct behemoth_herd *herd = &look->herd;
    for (size_t i = 0; i < compare.shown.count; i++)
        weight += compare.shown.all[i].values[BEHEMOTH_WEIGHT / 2];
    same("all", "Behemoths", summary(BEHEMOTHS_SUMMARY_BEHEMOTHS), herd->count);
    same("all", "Total Weight", summary(BEHEMOTHS_SUMMARY_TOTAL_WEIGHT), herd->weight);
    same("all", "the sum of the weights", weight, herd->weight);
    same("all", "Births", summary(BEHEMOTHS_SUMMARY_BIRTHS_SEC), herd->births);
    same("all", "Deaths", summary(BEHEMOTHS_SUMMARY_DEATHS_SEC), herd->deaths);
    same("all", "Mean Age", summary(BEHEMOTHS_SUMMARY_MEAN_AGE), herd->ages);
    same("all", "Left Steps", summary(BEHEMOTHS_SUMMARY_LEFT_STEPS_SEC), herd->left_steps);
    same("all", "Right Steps", summary(BEHEMOTHS_SUMMARY_RIGHT_STEPS_SEC), herd->left_steps);
    same("all", "Founders", summary(BEHEMOTHS_SUMMARY_FOUNDERS), herd->founded);
}

/* ---- children of dead mothers ---- */

static int by_id(const void *key, const void *element)
{
    uint64_t id = *(const uint64_t *)key, other = *(const uint64_t *)element; /* its first member */
    return id < other ? -1 : id > other;
}

/* A dead mother is not the parent of an instance. */
static void check_orphans(const struct look *look)
{
    for (uint32_t i = 0; i < look->herd.count; i++) {
        const struct ancestry *born = bsearch(&look->all[i].id, compare.born, compare.born_count,
                                              sizeof *compare.born, by_id);
        if (!born || born->mother == 0 ||
            bsearch(&born->mother, look->all, look->herd.count, sizeof *look->all, by_id))
            continue;
        compare.orphans++;
        same(look->all[i].name, "the parent of an orphan", (uint64_t)compare.shown.all[i].mother,
             (uint64_t)SHOWN_NONE);
    }
}

/* ---- a read ---- */

static void compare_moment(const struct look *look)
{
    if (look->ticks != compare.last_compared)
        compare.moments++;
    compare.last_compared = look->ticks;
    same("all", "instances", compare.shown.count, look->herd.count);
    if (compare.shown.count != look->herd.count)
        return;
    for (uint32_t i = 0; i < look->herd.count; i++)
        compare_one(look, i);
    compare_summary(look);
    check_orphans(look);
}

/* The snapshot must be at least as new as what the server returned before it. */
static void check_age(int64_t begun, uint64_t ticks)
{
    size_t kept = compare.look_count < KEPT ? compare.look_count : KEPT;
    int64_t taken = begun - CACHE_MS - compare.longest;
    for (size_t i = 1; i <= kept; i++) {
        const struct look *look = &compare.looks[(compare.look_count - i) % KEPT];
        int64_t behind = (int64_t)look->ticks - (int64_t)ticks;
        if (look->heard < begun && behind > compare.behind_most)
            compare.behind_most = behind;
        if (look->heard < taken && behind > 0)
            differ("all", "a snapshot that is too old: its second", (int64_t)ticks,
                   (int64_t)look->ticks);
    }
}

static bool read_counters(void)
{
    int64_t begun = behemoth_now();
    LSTATUS status = shown_read(&compare.shown);
    if (status) {
        fprintf(stderr, "behemoth-compare: the counters cannot be read: error %ld\n", (long)status);
        return false;
    }
    compare.reads++;
    if (summary(BEHEMOTHS_SUMMARY_STATUS) == 1)
        check_age(begun, summary(BEHEMOTHS_SUMMARY_HERD_TIME));
    int64_t took = behemoth_now() - begun;
    compare.longest = took > compare.longest ? took : compare.longest;
    return true;
}

static bool look_at_both(void)
{
    if (!look_at_server() || !read_counters() || !look_at_server())
        return false;
    if (summary(BEHEMOTHS_SUMMARY_STATUS) != 1) {
        compare.silent++;
        return true;
    }
    const struct look *look = look_of(summary(BEHEMOTHS_SUMMARY_HERD_TIME));
    if (look)
        compare_moment(look);
    else
        compare.unmatched++;
    return true;
}

/* ---- the whole ---- */

static void print_figures(double seconds)
{
    const struct look *last = &compare.looks[(compare.look_count - 1) % KEPT];
    printf("%-34s %12.1f\n", "seconds", seconds);
    printf("%-34s %12" PRIu64 "\n", "reads of the counters", compare.reads);
    printf("%-34s %12" PRIu64 "\n", "moments compared", compare.moments);
    printf("%-34s %12" PRIu64 "\n", "values compared", compare.values);
    printf("%-34s %12" PRIu64 "\n", "values that differ", compare.differences);
    printf("%-34s %12" PRId64 "\n", "seconds of the herd behind, at most", compare.behind_most);
    printf("%-34s %12" PRIu64 "\n", "moments that one end only saw", compare.unmatched);
    printf("%-34s %12" PRIu64 "\n", "reads without the server", compare.silent);
    printf("%-34s %12" PRId64 "\n", "longest read, ms", compare.longest);
    printf("%-34s %12" PRIu64 "\n", "births", last->herd.births - compare.first_births);
    printf("%-34s %12" PRIu64 "\n", "deaths", last->herd.deaths - compare.first_deaths);
    printf("%-34s %12" PRIu64 "\n", "looks at orphans", compare.orphans);
}

/* On a busy machine the check runs longer, because few common seconds would prove nothing. */
static int run(int64_t seconds)
{
    const uint64_t enough = (uint64_t)seconds;
    int64_t begun = behemoth_now(), limit = seconds * 1000;
    if (!look_at_server())
        return 1;
    compare.first_births = compare.looks[0].herd.births;
    compare.first_deaths = compare.looks[0].herd.deaths;
    for (;;) {
        struct timespec pause = {0, 10000000};
        int64_t passed = behemoth_now() - begun;
        if (passed >= limit && (compare.moments >= enough || passed >= PATIENCE * limit))
            break;
        if (!look_at_both())
            return 1;
        nanosleep(&pause, NULL);
    }
    print_figures((double)(behemoth_now() - begun) / 1000);
    if (compare.moments < enough) {
        fprintf(stderr, "behemoth-compare: too few moments were seen from both ends\n");
        return 1;
    }
    puts(compare.differences == 0 ? "The two ends agree." : "The two ends DIFFER.");
    return compare.differences == 0 ? 0 : 1;
}

static void help(void)
{
    puts(
        "usage: behemoth-compare [--seconds=N] [--socket=PATH]\n"
        "Compares every value that the counters of the behemoths show with what their server says\n"
        "of the same moment, for N seconds (10), and prints how many there were.\n\n"
        "Exit status: 0 they agree, 1 they differ or could not be read, 2 a wrong option.");
}

int main(int argc, char **argv)
{
    static const struct option options[] = {
        {"seconds",          required_argument, NULL, 's'},
        {"socket",              required_argument, NULL, 'p'},
        {"help",                  no_argument, NULL, 'h'},
        {"version",no_argument, NULL, 'v'},
        {0              },
    };
    long seconds = 10;
    const char *socket = NULL;
    for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (option == 'h' || option == 'v') {
            option == 'h' ? help() : (void)puts("behemoth-compare (openperflib) " BEHEMOTH_VERSION);
            return 0;
        }
        if (option == '?')
            return EXIT_USAGE;
        if (option == 's')
            seconds = strtol(optarg, NULL, 10);
        else
            socket = optarg;
    }
    if (optind < argc || seconds < 1 || seconds > 100000 ||
        !behemoth_place(socket, compare.place, sizeof compare.place)) {
        fputs("behemoth-compare: --seconds is from 1 to 100000; see --help\n", stderr);
        return EXIT_USAGE;
    }
    LSTATUS status = shown_open(&compare.shown, NULL);
    if (status)
        fprintf(stderr, "behemoth-compare: the provider is not registered (error %ld)\n",
                (long)status);
    int code = status ? 1 : run(seconds);
    shown_close(&compare.shown);
    behemoth_line_end(&compare.line);
    for (size_t i = 0; i < KEPT; i++)
        free(compare.looks[i].all);
    free(compare.born);
    return code;
}
