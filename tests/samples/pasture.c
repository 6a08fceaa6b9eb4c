/* SPDX-License-Identifier: MIT */
/* Shared by the tests of the sample behemoth: starts its server, reads its counters, and compares
 * the two. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "pasture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

char place[108], herd_file[128]; /* a socket's path has at most 108 bytes */
pid_t server;
bool inside;

/* ---- the server ---- */

pid_t spawn(char **argv)
{
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        execv(argv[0], argv);
        _exit(126);
    }
    assert_true(pid > 0);
    return pid;
}

int end_of(pid_t pid)
{
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

bool send_request(uint32_t what, const void *body, uint32_t bytes, struct behemoth_line *line)
{
    return behemoth_exchange(line, place, what, body, bytes, behemoth_now() + 60 * SECOND_MS);
}

void wait_for_server(void)
{
    struct behemoth_line line = {0};
    for (int i = 0; i < 6000 && !send_request(BEHEMOTH_HERD, NULL, 0, &line); i++)
        usleep(10000);
    assert_int_equal(line.head.what, BEHEMOTH_OK);
    behemoth_line_end(&line);
}

void program(char *path, size_t bytes)
{
    snprintf(path, bytes, "%s/samples/behemoth/behemoth-server", getenv("BUILD_ROOT"));
}

void start(const char *first, const char *second, const char *third)
{
    char path[4096], socket_option[160], state_option[160];
    program(path, sizeof path);
    snprintf(socket_option, sizeof socket_option, "--socket=%s", place);
    snprintf(state_option, sizeof state_option, "--state=%s", herd_file);
    char *argv[] = {path,           socket_option, state_option, (char *)first,
                    (char *)second, (char *)third, NULL};
    server = spawn(argv);
    wait_for_server();
}

void stop(void)
{
    kill(server, SIGTERM);
    assert_int_equal(end_of(server), 0);
    server = 0;
    remove(herd_file);
}

void set(const char *name, int64_t value)
{
    struct behemoth_line line = {0};
    struct behemoth_parameter wanted = {.value = value};
    snprintf(wanted.name, sizeof wanted.name, "%s", name);
    assert_true(send_request(BEHEMOTH_SET, &wanted, sizeof wanted, &line));
    assert_int_equal(line.head.what, BEHEMOTH_OK);
    behemoth_line_end(&line);
}

uint64_t ticks_now(void)
{
    struct behemoth_line line = {0};
    assert_true(send_request(BEHEMOTH_HERD, NULL, 0, &line));
    assert_non_null(behemoth_herd_of(&line));
    uint64_t ticks = behemoth_herd_of(&line)->ticks;
    behemoth_line_end(&line);
    return ticks;
}

void forward(uint64_t seconds)
{
    struct behemoth_line line = {0};
    assert_true(behemoth_exchange(&line, place, BEHEMOTH_FORWARD, &seconds, sizeof seconds,
                                  behemoth_now() + 600 * SECOND_MS));
    assert_int_equal(line.head.what, BEHEMOTH_OK);
    behemoth_line_end(&line);
}

/* ---- the counters ---- */

uint64_t summary(const struct reader *reader, unsigned symbol)
{
    return (uint64_t)reader_raw(reader, symbol);
}

struct reader opened(void)
{
    struct reader reader;
    assert_int_equal(reader_open(&reader, NULL, "009"), ERROR_SUCCESS);
    return reader;
}

void look(struct reader *reader)
{
    assert_int_equal(reader_read(reader), ERROR_SUCCESS);
}

void assert_same_snapshot(const struct behemoth_herd *herd, const struct reader *reader)
{
    const struct behemoth *all = behemoth_all(herd);
    assert_int_equal(reader->count, herd->count);
    assert_int_equal(summary(reader, BEHEMOTHS_SUMMARY_BEHEMOTHS), herd->count);
    assert_int_equal(summary(reader, BEHEMOTHS_SUMMARY_TOTAL_WEIGHT), herd->weight);
    assert_int_equal(summary(reader, BEHEMOTHS_SUMMARY_BIRTHS_SEC), herd->births);
    assert_int_equal(summary(reader, BEHEMOTHS_SUMMARY_DEATHS_SEC), herd->deaths);
    assert_int_equal(summary(reader, BEHEMOTHS_SUMMARY_MEAN_AGE), herd->ages);
    assert_int_equal(summary(reader, BEHEMOTHS_SUMMARY_HERD_TIME), herd->ticks);
    for (uint32_t i = 0; i < herd->count; i++) {
        const struct behemoth *is = &all[i];
        const struct reader_behemoth *seen = &reader->all[i];
        int64_t mother =
            is->mother_position == BEHEMOTH_NONE ? NO_MOTHER : (int64_t)is->mother_position;
        assert_string_equal(seen->name, is->name);
        assert_int_equal(seen->mother, mother);
        assert_int_equal(seen->values[BEHEMOTH_SEX / 2], is->sex);
        assert_int_equal(seen->values[BEHEMOTH_X / 2], is->x);
        assert_int_equal(seen->values[BEHEMOTH_Y / 2], is->y);
        assert_int_equal(seen->values[BEHEMOTH_WEIGHT / 2], is->weight);
        assert_int_equal(seen->values[BEHEMOTH_VOLUME / 2], is->volume);
        assert_int_equal(seen->values[BEHEMOTH_BIRTHDAY / 2], is->birthday);
        int64_t age = (reader->time - (int64_t)seen->values[BEHEMOTH_AGE / 2]) / BEHEMOTH_SECOND;
        assert_in_range(age - (herd->time - is->birthday) / BEHEMOTH_SECOND, 0, 10);
    }
}

/* ---- beginning and end ---- */

static void run(const char *tool, const char *option, const char *file)
{
    char path[4096], argument[4096], library[4096];
    const char *build = getenv("BUILD_ROOT");
    snprintf(path, sizeof path, "%s/tools/%s", build, tool);
    snprintf(library, sizeof library, "%s%s/samples/behemoth/behemoth.so", option, build);
    snprintf(argument, sizeof argument, "%s/samples/behemoth/%s", build, file);
    pid_t pid = fork();
    if (pid == 0) {
        (void)!freopen("/dev/null", "w", stdout);
        execl(path, path, library, argument, (char *)NULL);
        _exit(126);
    }
    assert_int_equal(end_of(pid), 0);
}

int begin(void **state)
{
    (void)state;
    lab_open();
    chmod(lab_root, 0755);
    snprintf(place, sizeof place, "%s/herd.sock", lab_root);
    snprintf(herd_file, sizeof herd_file, "%s/herd", lab_root);
    run("lodctr", "--library=", "behemoth.ini");
    lab_set_text(PARAMETERS, "Socket", place);
    /* a long deadline, so that queries do not fail on a busy machine */
    lab_set_dword(lab_performance("Behemoth"), "Collect Timeout", 120000);
    if (inside)
        lab_set_dword(lab_performance("Behemoth"), "Isolation", 0);
    return 0;
}

/* Removes what a failed test has left, so that the next test can run. */
int after_each(void **state)
{
    (void)state;
    if (server > 0 && kill(server, SIGKILL) == 0)
        waitpid(server, NULL, 0);
    server = 0;
    remove(herd_file);
    lab_unset(PARAMETERS, "Cache Milliseconds");
    lab_unset(PARAMETERS, "Deadline Milliseconds");
    return 0;
}

int end(void **state)
{
    (void)state;
    lab_close();
    return 0;
}
