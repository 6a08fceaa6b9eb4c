/* SPDX-License-Identifier: MIT */
/*
 * Several processes write to the registry at the same time, and are killed at any moment: each
 * value whose call of the write function has returned must be found afterwards. `writers N` kills N
 * times (60 in the quick test, 1,000 in the slow one).
 */
#include "test.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

enum { WRITERS = 3, VALUES = 30, SLOTS = 8, LONGEST_LIFE_US = 30000 };
static unsigned kills = 60;

static void child_write_all(int writer)
{
    char name[32];
    for (uint32_t i = 0; i < VALUES; i++) {
        snprintf(name, sizeof name, "w%d-%u", writer, (unsigned)i);
        if (registry_set(LAYER_MACHINE, KEY, name, REG_DWORD, &i, sizeof i) != ERROR_SUCCESS)
            _exit(1);
    }
    _exit(0);
}

static void three_processes_at_once_lose_nothing(void **state)
{
    pid_t children[WRITERS];
    char name[32];
    int status;
    for (int writer = 0; writer < WRITERS; writer++) {
        children[writer] = fork();
        if (!children[writer])
            child_write_all(writer);
    }
    for (int writer = 0; writer < WRITERS; writer++) {
        assert_int_equal(waitpid(children[writer], &status, 0), children[writer]);
        assert_int_equal(status, 0);
    }
    for (int writer = 0; writer < WRITERS; writer++)
        for (uint32_t i = 0; i < VALUES; i++) {
            uint32_t value = 0;
            snprintf(name, sizeof name, "w%d-%u", writer, (unsigned)i);
            assert_int_equal(registry_get_dword(KEY, name, &value), ERROR_SUCCESS);
            assert_int_equal(value, i);
        }
}

/* Each writer has its own values (slots), to which it writes growing numbers in turn. When a write
 * has returned, it sends the number through the pipe. */
static void child_write_until_killed(int writer, uint32_t number, int reported)
{
    char name[32];
    for (;; number++) {
        snprintf(name, sizeof name, "w%d-%u", writer, (unsigned)(number % SLOTS));
        if (registry_set(LAYER_MACHINE, KEY, name, REG_DWORD, &number, sizeof number) ||
            write(reported, &number, sizeof number) != sizeof number)
            _exit(1);
    }
}

struct writer {
    pid_t child;
    int reported;
    uint32_t last; /* the last number that it reported as written */
};

static void start(struct writer *writer, int index)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    writer->child = fork();
    if (!writer->child)
        child_write_until_killed(index, writer->last + 1, ends[1]);
    close(ends[1]);
    writer->reported = ends[0];
}

static void kill_and_listen(struct writer *writer)
{
    int status;
    uint32_t number;
    kill(writer->child, SIGKILL);
    waitpid(writer->child, &status, 0);
    assert_true(WIFSIGNALED(status));
    while (read(writer->reported, &number, sizeof number) == sizeof number)
        writer->last = number;
    close(writer->reported);
}

/* Checks a writer's slots: the newest number is the one that it reported last, or the next one,
 * whose write was not finished; every other slot has the number that was written to it last. */
static void check(const struct writer *writer, int index)
{
    char name[32];
    uint32_t newest = 0, values[SLOTS] = {0};
    for (uint32_t slot = 0; slot < SLOTS; slot++) {
        snprintf(name, sizeof name, "w%d-%u", index, (unsigned)slot);
        registry_get_dword(KEY, name, &values[slot]);
        newest = values[slot] > newest ? values[slot] : newest;
    }
    if (newest < writer->last || newest > writer->last + 1)
        fail_msg("writer %d: %u was committed, %u is there", index, (unsigned)writer->last,
                 (unsigned)newest);
    for (uint32_t back = 0; back < SLOTS && back < newest; back++)
        assert_int_equal(values[(newest - back) % SLOTS], newest - back);
}

static void killed_writers_lose_nothing_committed(void **state)
{
    struct writer writers[WRITERS] = {{0}};
    unsigned seed = (unsigned)getpid();
    uint32_t total = 0;
    for (unsigned killed = 0; killed < kills; killed += WRITERS) {
        for (int i = 0; i < WRITERS; i++)
            start(&writers[i], i);
        for (int i = 0; i < WRITERS; i++) {
            usleep((useconds_t)rand_r(&seed) % LONGEST_LIFE_US);
            kill_and_listen(&writers[i]);
        }
        for (int i = 0; i < WRITERS; i++)
            check(&writers[i], i);
    }
    for (int i = 0; i < WRITERS; i++)
        total += writers[i].last;
    assert_true(total > kills / 20);
    /* no event was written, so no process found damage */
    assert_int_equal(access(path_of("events"), F_OK), -1);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        kills = (unsigned)atoi(argv[1]);
    signal(SIGPIPE, SIG_IGN);
    const struct CMUnitTest tests[] = {
        ROOT_TEST(three_processes_at_once_lose_nothing),
        ROOT_TEST(killed_writers_lose_nothing_committed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
