/* SPDX-License-Identifier: MIT */
/*
 * usage: soak SECONDS PROCESSES SOAK-CHURN STEPS.so
 *
 * Samples every counter of Process, Thread, Processor, Memory, System, and of the provider
 * STEPS.so, at short and uneven intervals. Every few samples it sets the wall clock, between two
 * samples or during one. scripts/soak starts it, if possible in a new PID namespace.
 */
#include "soak.h"
#include "steps.h"

#include "../temp.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define SERVICE "SYSTEM\\CurrentControlSet\\Services\\SoakSteps\\"
enum { CHURN_DESCRIPTOR = 3, SET_EVERY = 7 };

static char root[64];
static struct churn *churn;
static pid_t churn_pid;
static PDH_HQUERY query;
static unsigned long samples, missing, amid;
static struct watch watches[] = {
    {.object = "Process"},
    { .object = "Thread",    .processors = 1},
    { .object = "Processor",    .processors = 1},
    { .object = "Memory",     .single = true},
    { .object = "System",     .single = true},
    { .object = "22230",      .known = true},
};
static struct watch *const steps = &watches[COUNT(watches) - 1];

static void leave(const char *why)
{
    printf("soak: %s\n", why);
    if (*root)
        temp_remove(root);
    exit(2);
}

/* ---- beginning ---- */

static void set_text(const char *key_name, const char *name, DWORD type, const char *text,
                     DWORD bytes)
{
    HKEY key;
    if (RegCreateKeyExA(HKEY_LOCAL_MACHINE, key_name, 0, NULL, 0, KEY_WRITE, NULL, &key, NULL) ||
        RegSetValueExA(key, name, 0, type, (const BYTE *)text, bytes) || RegCloseKey(key))
        leave("the provider cannot be registered");
}

static void register_steps(const char *library)
{
    const char *const values[][2] = {
        {"Library",     library        },
        {"Open",        "steps_open"   },
        {"Collect",     "steps_collect"},
        {"Close",       "steps_close"  },
        {"Object List", "22230"        }
    };
    temp_make(root);
    setenv("OPENPERFLIB_ROOT", root, 1);
    for (size_t i = 0; i < COUNT(values); i++)
        set_text(SERVICE "Performance", values[i][0], REG_SZ, values[i][1],
                 (DWORD)strlen(values[i][1]) + 1);
}

static void start_churn(const char *program, const char *processes, const char *seconds)
{
    int file = memfd_create("churn", 0);
    if (file < 0 || ftruncate(file, sizeof *churn))
        leave("there is no memory");
    churn = mmap(NULL, sizeof *churn, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (churn == MAP_FAILED)
        leave("there is no memory");
    fflush(stdout);
    churn_pid = fork();
    if (churn_pid == 0) {
        if (file != CHURN_DESCRIPTOR)
            dup2(file, CHURN_DESCRIPTOR);
        execl(program, program, processes, seconds, (char *)NULL);
        _exit(2);
    }
    close(file);
}

static void add_counters(void)
{
    if (PdhOpenQueryA(NULL, 0, &query))
        leave("there is no query");
    for (size_t i = 0; i + 1 < COUNT(watches); i++)
        if (!watch_add(&watches[i], query))
            leave("a counter cannot be added");
    if (!known_add(query, steps))
        leave("a counter of its own provider cannot be added");
}

/* ---- the wall clock ---- */

static double plan_step(void)
{
    static const double steps_of[] = {0.06,  -0.06, 1,      -1,      30,       -30,   3600,
                                      -3600, 86400, -86400, 3456000, -3456000, 0.004, -0.004};
    return samples > 2 && random() % SET_EVERY == 0 ? steps_of[(size_t)random() % COUNT(steps_of)]
                                                    : 0;
}

/* Must PDH notice that the clock was set by `step` seconds? PDH ignores small differences: the two
 * clocks that it compares may differ by 1 % of the interval, and by the time that reading them
 * takes. */
static bool must_be_seen(double step)
{
    return step > 0.05 || step < -0.05;
}

/* ---- samples ---- */

static unsigned before[CHURN_TRACKED];

static void collect(struct interval *interval)
{
    const struct interval last = *interval;
    for (size_t i = 0; i < CHURN_TRACKED; i++)
        before[i] = atomic_load(&churn->process[i]);
    known_look(false);
    interval->sample = samples++;
    interval->begin = clock_real();
    PDH_STATUS status = PdhCollectQueryData(query);
    interval->end = clock_real();
    known_look(true);
    interval->shortest = interval->begin - last.end;
    interval->longest = interval->end - last.begin;
    if (status)
        offend(interval, "nothing was collected", "%08x", (unsigned)status);
    for (size_t i = 0; i < COUNT(watches); i++)
        if (!watch_take(&watches[i], before, churn))
            offend(interval, "counters of one object do not agree on its instances", "%s",
                   watches[i].object);
    missing += steps->now.count == 0;
}

static void judge(const struct interval *interval)
{
    if (interval->sample == 0)
        return;
    tally.intervals_set += interval->set;
    for (size_t i = 0; i < COUNT(watches); i++)
        judge_watch(&watches[i], interval);
    known_judge(steps, interval);
}

/* Does any rate of any instance have a value? */
static bool any_rate(void)
{
    for (size_t i = 0; i < COUNT(watches); i++)
        for (unsigned k = 0; k < watches[i].count; k++)
            for (DWORD j = 0; j < watches[i].columns[k].count; j++)
                if (is_rate(watches[i].columns[k].type) &&
                    watches[i].columns[k].values[j].FmtValue.CStatus <= PDH_CSTATUS_NEW_DATA)
                    return true;
    return false;
}

/* Sets the clock during a collection. PDH must notice this in the interval that ends with the
 * collection, or in the next one. */
static void sample_amid(struct interval *interval)
{
    clock_step_within(interval->step, 1 + (int)(random() % 4));
    collect(interval);
    judge(interval);
    /* the collection read the clock too few times, so the clock was not set */
    if (!clock_stepped()) {
        clock_step_within(0, 0);
        return;
    }
    bool seen = !any_rate();
    amid++;
    usleep(50000);
    collect(interval);
    judge(interval);
    if (must_be_seen(interval->step) && !seen && any_rate())
        offend(interval, "a clock set amid a collecting was never seen", "rates in both intervals");
}

static void sample(struct interval *interval)
{
    interval->step = plan_step();
    bool within = interval->step != 0 && random() % 2 == 0;
    interval->set = !within && must_be_seen(interval->step);
    usleep(15000 + (useconds_t)(random() % 90000));
    if (within) {
        sample_amid(interval);
        return;
    }
    clock_step(interval->step);
    collect(interval);
    judge(interval);
}

/* ---- the end of the run ---- */

static bool churn_done(bool wait)
{
    int status;
    if (churn_pid > 0 && waitpid(churn_pid, &status, wait ? 0 : WNOHANG) == churn_pid) {
        churn_pid = 0;
        if (status)
            leave("the churn failed");
    }
    return churn_pid <= 0;
}

static void print_all(double seconds)
{
    const struct {
        unsigned long number;
        const char *what;
    } lines[] = {
        {tally.values,         "values"                                                 },
        {tally.rates,          "of them rates"                                          },
        {tally.not_negative,   "values are not negative"                                },
        {tally.bounded,        "rates and percentages are not above what is possible"   },
        {tally.same,           "rates are of the same process or thread in both samples"},
        {tally.refused_other,  "rates refused because another process had the name"     },
        {tally.refused_number, "of those, another process that had the number, too"     },
        {tally.twins,
         "rates of two processes with one number and one start tick: not distinguished" },
        {tally.intervals_set,  "intervals in which the wall clock was set"              },
        {tally.refused_set,    "rates refused over these: all"                          },
        {amid,                 "times the wall clock was set amid a sample"             },
        {tally.elapsed,        "elapsed times grew as time did"                         },
        {tally.kernel,         "rates lie within what the kernel counted"               },
        {tally.exact,          "values of known counters are exact"                     },
        {tally.wraps,          "of them over a wrap"                                    },
        {tally.falls,          "known counters that fell have no value"                 },
        {missing,              "samples without the object of its own provider"         },
        {tally.offending,      "offending"                                              },
    };
    printf(
        "soak: %.0f s, %lu samples of %u processes%s, %u with a number that another had before\n",
        seconds, samples, atomic_load(&churn->started),
        atomic_load(&churn->small_range) ? " in a small range of numbers" : "",
        atomic_load(&churn->reused));
    for (size_t i = 0; i < COUNT(lines); i++)
        printf("  %9lu %s\n", lines[i].number, lines[i].what);
}

/* Has the run checked enough? One that has checked nothing must fail. */
static bool enough(unsigned processes)
{
    return atomic_load(&churn->started) >= processes / 2 && tally.same > 100 &&
           tally.refused_set > 100 && tally.refused_number > 0 && tally.elapsed > 100 &&
           tally.kernel > 10 && tally.wraps > 10 && tally.falls > 10 && missing < samples / 4 &&
           tally.no_value < tally.rates;
}

int main(int argc, char **argv)
{
    struct interval interval = {0};
    if (argc != 5)
        leave("usage: soak SECONDS PROCESSES SOAK-CHURN STEPS.so");
    double seconds = atof(argv[1]), start = clock_real();
    srandom(2026);
    processors = (unsigned long)sysconf(_SC_NPROCESSORS_ONLN);
    register_steps(argv[4]);
    start_churn(argv[3], argv[2], argv[1]);
    add_counters();
    while (clock_real() < start + seconds || !churn_done(false))
        sample(&interval);
    churn_done(true);
    print_all(clock_real() - start);
    PdhCloseQuery(query);
    RegCloseKey(HKEY_PERFORMANCE_DATA);
    temp_remove(root);
    if (tally.offending)
        return 1;
    if (enough((unsigned)atoi(argv[2])))
        return 0;
    printf("soak: too few cases occurred to be a proof\n");
    return 1;
}
