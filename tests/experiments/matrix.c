/* SPDX-License-Identifier: MIT */
/*
 * The matrix of faulty providers: every row of kinds.c at every test level, in-process or isolated.
 * Each case is a process below a warden process, which becomes the parent of all processes that the
 * case or its helper processes leave behind: none may be left a few seconds after the querying
 * program has ended.
 *
 *     matrix in-process | isolated | isolated-levels | table
 *
 * `isolated` is test level 1, `isolated-levels` 2 and 3; `table` prints docs/third-party.md.
 * MATRIX_ONLY=WORD runs the kinds whose names contain it. (docs/windows/articles.md#c123)
 */
#include "case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../temp.h"

enum { MOST_JOBS = 2048, MOST_KINDS = 400, CASE_MS = 60000, BURIAL_MS = 6000 };

struct job {
    const struct kind_table *table;
    const struct kind *kind;
    int level;
    pid_t warden;
};

static struct job jobs[MOST_JOBS];
static size_t job_count;
static int isolation;
static char results[64];

static void result_path(size_t job, char *ret, size_t bytes)
{
    snprintf(ret, bytes, "%s/%zu", results, job);
}

/* ---- the warden ---- */

static pid_t start_case(const struct job *job, FILE *report)
{
    fflush(NULL);
    pid_t child = fork();
    if (child != 0)
        return child;
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    case_run(job->table, job->kind, isolation, job->level, report);
    fprintf(report, "done\n");
    fflush(report);
    _exit(0);
}

static void await_case(pid_t child, FILE *report)
{
    long long until = lab_now_ms() + CASE_MS;
    int status;
    while (waitpid(child, &status, WNOHANG) == 0) {
        if (lab_now_ms() > until) {
            fprintf(report, "the querying program hangs\n");
            kill(child, SIGKILL);
            until += CASE_MS;
        }
        usleep(3000);
    }
    if (WIFSIGNALED(status))
        fprintf(report, "the querying program died of signal %d: %.2000s\n", WTERMSIG(status),
                lab_read("err"));
    else if (WEXITSTATUS(status))
        fprintf(report, "the querying program ended: %.3000s\n", lab_read("err"));
}

static pid_t a_child(void)
{
    char path[64];
    int child = 0;
    snprintf(path, sizeof path, "/proc/self/task/%d/children", getpid());
    FILE *file = fopen(path, "r");
    if (file && fscanf(file, "%d", &child) != 1)
        child = 0;
    if (file)
        fclose(file);
    return child;
}

static void kill_what_is_left(FILE *report)
{
    for (pid_t child; (child = a_child()) != 0; waitpid(child, NULL, __WALL)) {
        fprintf(report, "process %d is left behind\n", child);
        kill(child, SIGKILL);
    }
}

/* Waits until the warden has no child; processes that lost their parents are among its children.
 * Those left after BURIAL_MS are killed and reported. */
static void tombstone(FILE *report)
{
    long long until = lab_now_ms() + BURIAL_MS;
    pid_t gone;
    while ((gone = waitpid(-1, NULL, WNOHANG | __WALL)) >= 0 || errno == EINTR) {
        if (gone == 0 && lab_now_ms() > until) {
            kill_what_is_left(report);
            return;
        }
        if (gone == 0)
            usleep(3000);
    }
}

static void be_warden(size_t number)
{
    char path[128];
    result_path(number, path, sizeof path);
    FILE *report = fopen(path, "a");
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (!report || prctl(PR_SET_CHILD_SUBREAPER, 1))
        _exit(1);
    lab_open();
    await_case(start_case(&jobs[number], report), report);
    tombstone(report);
    lab_close();
    fprintf(report, "tombstone\n");
    fclose(report);
    _exit(0);
}

/* ---- running all cases, several at the same time ---- */

static void wait_for_one(void)
{
    int status;
    pid_t gone = wait(&status);
    for (size_t i = 0; i < job_count; i++)
        if (jobs[i].warden == gone)
            jobs[i].warden = 0;
}

static int run_all(void **state)
{
    long at_once = 3 * sysconf(_SC_NPROCESSORS_ONLN), running = 0;
    temp_make(results);
    fflush(NULL);
    for (size_t i = 0; i < job_count; i++) {
        if (running++ >= at_once)
            wait_for_one();
        if ((jobs[i].warden = fork()) == 0)
            be_warden(i);
    }
    while (wait(NULL) > 0)
        continue;
    return 0;
}

static int forget_all(void **state)
{
    temp_remove(results);
    return 0;
}

static const char *result_of(size_t job)
{
    static char text[16384];
    char path[128];
    result_path(job, path, sizeof path);
    FILE *file = fopen(path, "r");
    size_t count = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file)
        fclose(file);
    text[count] = '\0';
    return text;
}

/* Checks the results of one row at all its levels; run_all has run the cases. */
static void c123_to_c129_every_third_party_at_every_level(void **state)
{
    const struct kind *kind = *state;
    for (size_t i = 0; i < job_count; i++)
        if (jobs[i].kind == kind && strcmp(result_of(i), "done\ntombstone\n") != 0)
            fail_msg("%s, level %d:\n%s", kind->name, jobs[i].level, result_of(i));
}

static void add_jobs(const struct kind_table *table, const struct kind *kind, int from, int to)
{
    for (int level = from; level <= to; level++)
        if (kind->at[level - 1].kept != NOT_RUN && job_count < MOST_JOBS)
            jobs[job_count++] = (struct job){table, kind, level, 0};
}

static bool is_wanted(const struct kind *kind)
{
    const char *only = getenv("MATRIX_ONLY"), *cpp = getenv("HAS_CPP");
    return (!only || strstr(kind->name, only)) &&
           (!(kind->flags & CPP) || (cpp && strcmp(cpp, "1") == 0));
}

/* ---- the table as documentation ---- */

static void print_outcome(const struct outcome *outcome)
{
    static const char *const words[] = {"", "kept", "dropped", "either"};
    printf(" | %s", words[outcome->kept]);
    if (outcome->event == SOME)
        printf(", an event");
    else if (outcome->event > WHATEVER)
        printf(outcome->or_event ? ", %d or %d" : ", %d", outcome->event, outcome->or_event);
}

static void print_tables(void)
{
    printf(
        "<!-- SPDX-License-Identifier: MIT -->\n# Faulty third-party providers\n\n"
        "The effect of each fault of a provider at the four levels of `ExtCounterTestLevel`: "
        "whether\n"
        "its data is kept or dropped, and which event is written. Printed by\n"
        "`tests/experiments/matrix.c` from `kinds.c`, which tests each row: the querying program "
        "is\n"
        "not damaged, and gets the other objects of the same query. \"Either\" means that the "
        "result\n"
        "depends on chance, or that no check covers it. Level 4 is in-process only, and is not "
        "tested\n"
        "where the provider would write into the caller's memory.\n");
    for (size_t t = 0; t < kind_table_count; t++) {
        printf("\n## %s%s\n\n| fault | 1 | 2 | 3 | 4 |\n| --- | --- | --- | --- | --- |\n",
               kind_tables[t].title, kind_tables[t].in_process ? "" : " (isolated)");
        for (size_t i = 0; i < kind_tables[t].count; i++) {
            printf("| %s", kind_tables[t].kinds[i].what);
            for (int level = 0; level < 4; level++)
                print_outcome(&kind_tables[t].kinds[i].at[level]);
            printf(" |\n");
        }
    }
}

/* ---- main ---- */

static size_t choose(const char *way, struct CMUnitTest *tests)
{
    static char names[MOST_KINDS][80];
    size_t count = 0;
    isolation = strcmp(way, "in-process") == 0 ? LAB_IN_PROCESS : LAB_ISOLATED;
    int from = strcmp(way, "isolated-levels") == 0 ? 2 : 1;
    int to = isolation == LAB_IN_PROCESS ? 4 : strcmp(way, "isolated") == 0 ? 1 : 3;
    for (size_t t = 0; t < kind_table_count; t++)
        for (size_t i = 0; i < kind_tables[t].count && count < MOST_KINDS; i++) {
            const struct kind *kind = &kind_tables[t].kinds[i];
            if ((isolation == LAB_IN_PROCESS && !kind_tables[t].in_process) || !is_wanted(kind))
                continue;
            add_jobs(&kind_tables[t], kind, from, to);
            snprintf(names[count], sizeof names[count], "%s, %s", kind->name, way);
            tests[count] =
                (struct CMUnitTest){names[count], c123_to_c129_every_third_party_at_every_level,
                                    NULL, NULL, (void *)kind};
            count++;
        }
    return count;
}

int main(int argc, char **argv)
{
    static struct CMUnitTest tests[MOST_KINDS];
    if (argc == 2 && strcmp(argv[1], "table") == 0) {
        print_tables();
        return 0;
    }
    size_t count = choose(argc > 1 ? argv[1] : "isolated", tests);
    return _cmocka_run_group_tests("third_parties", tests, count, run_all, forget_all);
}
