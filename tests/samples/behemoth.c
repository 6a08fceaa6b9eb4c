/* SPDX-License-Identifier: MIT */
/*
 * The behemoths' server and provider together: what the counters show against what the server says,
 * a server that is killed again and again, and peers on both ends who mean no good.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1 /* pipe2, execvpe */
#endif
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../samples/behemoth/client/shown.h"
#include "../../samples/behemoth/common/exchange.h"
#include "../experiments/lab.h"

#define PARAMETERS LAB_SERVICES "Behemoth\\Parameters"

enum { SECOND_MS = 1000, EXIT_SECOND = 3 };

static char place[108], herd_file[128]; /* a socket's path has 108 bytes */
static pid_t server;
static bool inside; /* the provider in this process, not in a helper */

/* ---- the server ---- */

static pid_t spawn(char **argv)
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

static int end_of(pid_t pid)
{
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static bool ask(uint32_t what, const void *body, uint32_t bytes, struct behemoth_line *line)
{
    return behemoth_ask(line, place, what, body, bytes, behemoth_now() + 10 * SECOND_MS);
}

static void wait_for_server(void)
{
    struct behemoth_line line = {.socket = -1};
    for (int i = 0; i < 1000 && !ask(BEHEMOTH_HERD, NULL, 0, &line); i++)
        usleep(10000);
    assert_int_equal(line.head.what, BEHEMOTH_OK);
    behemoth_line_end(&line);
}

static void program(char *path, size_t bytes)
{
    snprintf(path, bytes, "%s/samples/behemoth/behemoth-server", getenv("BUILD_ROOT"));
}

static void start(const char *first, const char *second, const char *third)
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

static void stop(void)
{
    kill(server, SIGTERM);
    assert_int_equal(end_of(server), 0);
    server = 0;
    remove(herd_file);
}

static void set(const char *name, int64_t value)
{
    struct behemoth_line line = {.socket = -1};
    struct behemoth_parameter wish = {.value = value};
    snprintf(wish.name, sizeof wish.name, "%s", name);
    assert_true(ask(BEHEMOTH_SET, &wish, sizeof wish, &line));
    assert_int_equal(line.head.what, BEHEMOTH_OK);
    behemoth_line_end(&line);
}

/* ---- the counters ---- */

static uint64_t summary(const struct shown *shown, unsigned symbol)
{
    return shown->summary[symbol / 2];
}

static struct shown opened(void)
{
    struct shown shown;
    assert_int_equal(shown_open(&shown, NULL), ERROR_SUCCESS);
    return shown;
}

static void look(struct shown *shown)
{
    assert_int_equal(shown_read(shown), ERROR_SUCCESS);
}

static void assert_same_picture(const struct behemoth_herd *herd, const struct shown *shown)
{
    const struct behemoth *all = behemoth_all(herd);
    assert_int_equal(shown->count, herd->count);
    assert_int_equal(summary(shown, BEHEMOTHS_SUMMARY_BEHEMOTHS), herd->count);
    assert_int_equal(summary(shown, BEHEMOTHS_SUMMARY_TOTAL_WEIGHT), herd->weight);
    assert_int_equal(summary(shown, BEHEMOTHS_SUMMARY_BIRTHS_SEC), herd->births);
    assert_int_equal(summary(shown, BEHEMOTHS_SUMMARY_DEATHS_SEC), herd->deaths);
    assert_int_equal(summary(shown, BEHEMOTHS_SUMMARY_MEAN_AGE), herd->ages);
    assert_int_equal(summary(shown, BEHEMOTHS_SUMMARY_HERD_TIME), herd->ticks);
    for (uint32_t i = 0; i < herd->count; i++) {
        const struct behemoth *is = &all[i];
        const struct shown_behemoth *seen = &shown->all[i];
        int64_t mother =
            is->mother_position == BEHEMOTH_NONE ? SHOWN_NONE : (int64_t)is->mother_position;
        assert_string_equal(seen->name, is->name);
        assert_int_equal(seen->mother, mother);
        assert_int_equal(seen->values[BEHEMOTH_SEX / 2], is->sex);
        assert_int_equal(seen->values[BEHEMOTH_X / 2], is->x);
        assert_int_equal(seen->values[BEHEMOTH_Y / 2], is->y);
        assert_int_equal(seen->values[BEHEMOTH_WEIGHT / 2], is->weight);
        assert_int_equal(seen->values[BEHEMOTH_VOLUME / 2], is->volume);
        assert_int_equal(seen->values[BEHEMOTH_BIRTHDAY / 2], is->birthday);
        int64_t age = (shown->time - (int64_t)seen->values[BEHEMOTH_AGE / 2]) / BEHEMOTH_SECOND;
        assert_in_range(age - (herd->time - is->birthday) / BEHEMOTH_SECOND, 0, 10);
    }
}

/* ---- tests ---- */

static void c84_counters_are_what_the_server_says(void **state)
{
    (void)state;
    struct behemoth_line line = {.socket = -1};
    start("--count=500", "--capacity=1000", "--forward=700");
    set("speed", 0);
    assert_true(ask(BEHEMOTH_HERD, NULL, 0, &line));
    const struct behemoth_herd *herd = behemoth_herd_of(&line);
    assert_non_null(herd);
    assert_in_range(herd->count, 300, 1000);
    struct shown shown = opened();
    look(&shown);
    assert_same_picture(herd, &shown);
    assert_int_equal(summary(&shown, BEHEMOTHS_SUMMARY_STATUS), 1);
    shown_close(&shown);
    behemoth_line_end(&line);
    stop();
}

/* From one request on, for a tenth of a second, while the herd lives as fast as it can. */
static void c79_two_queries_within_a_tenth_are_equal(void **state)
{
    (void)state;
    int compared = 0;
    start("--count=50", "--speed=1000000", NULL);
    struct shown shown = opened();
    for (int i = 0; i < 20 && compared < 5; i++) {
        usleep(150000); /* what was kept is old now: the next query asks the server */
        int64_t begun = behemoth_now();
        look(&shown);
        uint64_t ticks = summary(&shown, BEHEMOTHS_SUMMARY_HERD_TIME);
        struct shown_behemoth first = shown.all[0];
        look(&shown);
        if (behemoth_now() - begun >= 90)
            continue; /* the machine was too slow to say anything */
        compared++;
        assert_int_equal(summary(&shown, BEHEMOTHS_SUMMARY_HERD_TIME), ticks);
        assert_memory_equal(&shown.all[0], &first, sizeof first);
    }
    assert_true(compared > 0);
    shown_close(&shown);
    stop();
}

static void c77_what_is_always_equal_is_never_seen_different(void **state)
{
    (void)state;
    lab_set_dword(PARAMETERS, "Cache Milliseconds", 0);
    start("--count=20", "--speed=100000000", "--capacity=40");
    struct shown shown = opened();
    uint64_t last = 0, changes = 0;
    for (int i = 0; i < 100000 && changes < 1000; i++) {
        uint64_t weight = 0;
        look(&shown);
        for (size_t j = 0; j < shown.count; j++)
            weight += shown.all[j].values[BEHEMOTH_WEIGHT / 2];
        assert_int_equal(summary(&shown, BEHEMOTHS_SUMMARY_LEFT_STEPS_SEC),
                         summary(&shown, BEHEMOTHS_SUMMARY_RIGHT_STEPS_SEC));
        assert_int_equal(summary(&shown, BEHEMOTHS_SUMMARY_TOTAL_WEIGHT), weight);
        assert_int_equal(summary(&shown, BEHEMOTHS_SUMMARY_FOUNDERS) +
                             summary(&shown, BEHEMOTHS_SUMMARY_BIRTHS_SEC) -
                             summary(&shown, BEHEMOTHS_SUMMARY_DEATHS_SEC),
                         shown.count);
        changes += summary(&shown, BEHEMOTHS_SUMMARY_HERD_TIME) != last;
        last = summary(&shown, BEHEMOTHS_SUMMARY_HERD_TIME);
    }
    assert_int_equal(changes, 1000); /* else it would have been easy */
    shown_close(&shown);
    lab_unset(PARAMETERS, "Cache Milliseconds");
    stop();
}

static void c120_a_dead_server_leaves_its_last_words(void **state)
{
    (void)state;
    start("--count=30", "--speed=0", NULL);
    struct shown shown = opened();
    look(&shown);
    assert_int_equal(summary(&shown, BEHEMOTHS_SUMMARY_STATUS), 1);
    struct shown_behemoth first = shown.all[0];
    kill(server, SIGKILL);
    end_of(server);
    usleep(150000);
    look(&shown);
    assert_int_equal(summary(&shown, BEHEMOTHS_SUMMARY_STATUS), 0);
    assert_int_equal(shown.count, 30);
    assert_memory_equal(&shown.all[0], &first, sizeof first);
    start(NULL, NULL, NULL);
    usleep(150000);
    look(&shown);
    assert_int_equal(summary(&shown, BEHEMOTHS_SUMMARY_STATUS), 1);
    /* The herd's time stood still meanwhile and ours did not: only the age has another beginning.
     */
    shown.all[0].values[BEHEMOTH_AGE / 2] = first.values[BEHEMOTH_AGE / 2];
    assert_memory_equal(&shown.all[0], &first, sizeof first);
    shown_close(&shown);
    stop();
}

/* A program may ask before there ever was a server. */
static void c120_no_server_at_all(void **state)
{
    (void)state;
    struct shown shown = opened();
    look(&shown);
    assert_int_equal(shown.count, 0);
    assert_int_equal(summary(&shown, BEHEMOTHS_SUMMARY_STATUS), 0);
    start("--count=30", NULL, NULL);
    usleep(150000);
    look(&shown);
    assert_int_equal(summary(&shown, BEHEMOTHS_SUMMARY_STATUS), 1);
    assert_int_equal(shown.count, summary(&shown, BEHEMOTHS_SUMMARY_BEHEMOTHS));
    shown_close(&shown);
    stop();
}

static int descriptors(void)
{
    int count = 0;
    DIR *dir = opendir("/proc/self/fd");
    assert_non_null(dir);
    while (readdir(dir))
        count++;
    closedir(dir);
    return count;
}

static void killed_and_restarted_100_times(void **state)
{
    (void)state;
    struct behemoth_line line = {.socket = -1};
    int there = 0, before = 0;
    start("--count=100", "--capacity=200", "--speed=100000");
    struct shown shown = opened();
    for (int i = 0; i < 100; i++) {
        uint64_t saved_ticks, saved_born;
        assert_true(ask(BEHEMOTH_HERD, NULL, 0, &line));
        saved_ticks = behemoth_herd_of(&line)->ticks;
        saved_born = behemoth_herd_of(&line)->births;
        assert_true(ask(BEHEMOTH_SAVE, NULL, 0, &line));
        behemoth_hang_up(&line);
        for (int j = 0; j < 3; j++) {
            look(&shown);
            if (j == i % 3) {
                kill(server, SIGKILL);
                end_of(server);
            }
        }
        assert_true(shown.count > 0);
        start(NULL, NULL, NULL);
        assert_true(ask(BEHEMOTH_HERD, NULL, 0, &line));
        assert_true(behemoth_herd_of(&line)->ticks >= saved_ticks);
        assert_true(behemoth_herd_of(&line)->births >= saved_born);
        behemoth_hang_up(&line);
        usleep(i % 10 == 0 ? 110000 : 0);
        look(&shown);
        there += summary(&shown, BEHEMOTHS_SUMMARY_STATUS) == 1;
        if (i == 9)
            before = descriptors();
    }
    assert_true(there >= 10);
    assert_int_equal(descriptors(), before);
    assert_string_equal(lab_events("Behemoth", false), "");
    shown_close(&shown);
    behemoth_line_end(&line);
    stop();
}

/* ---- peers who mean no good ---- */

static int dial(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    snprintf(address.sun_path, sizeof address.sun_path, "%s", place);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    return fd;
}

static bool hung_up_within(int fd, int milliseconds)
{
    char room[4096];
    struct pollfd one = {.fd = fd, .events = POLLIN};
    while (poll(&one, 1, milliseconds) > 0) {
        if (recv(fd, room, sizeof room, MSG_DONTWAIT) <= 0)
            return true;
    }
    return false;
}

static void hostile_peers_harm_no_server(void **state)
{
    (void)state;
    static char megabyte[1 << 20];
    struct behemoth_head head = {BEHEMOTH_MAGIC, BEHEMOTH_HERD, 0, 1};
    struct behemoth_head huge = {BEHEMOTH_MAGIC, BEHEMOTH_CREATE, 1 << 30, 1};
    int silent[100];
    start("--count=200", "--capacity=300", NULL);
    for (int i = 0; i < 100; i++)
        silent[i] = dial(); /* more than there are places */
    wait_for_server();
    int garbage = dial(), half = dial(), gigabyte = dial(), deaf = dial();
    memset(megabyte, 0x5A, sizeof megabyte);
    assert_true(send(garbage, megabyte, 4096, MSG_NOSIGNAL) > 0);
    assert_true(send(half, &head, sizeof head / 2, MSG_NOSIGNAL) > 0);
    assert_true(send(gigabyte, &huge, sizeof huge, MSG_NOSIGNAL) > 0);
    for (int i = 0; i < 1024 && send(gigabyte, megabyte, sizeof megabyte, MSG_NOSIGNAL) > 0;)
        i++;
    for (int i = 0; i < 2000; i++) /* asks and asks, and takes no answer */
        (void)!send(deaf, &head, sizeof head, MSG_DONTWAIT | MSG_NOSIGNAL);
    wait_for_server();
    assert_true(hung_up_within(garbage, 1000));
    assert_true(hung_up_within(gigabyte, 1000));
    assert_true(hung_up_within(half, 4000));
    wait_for_server();
    for (int i = 0; i < 100; i++)
        close(silent[i]);
    close(garbage), close(half), close(gigabyte), close(deaf);
    wait_for_server();
    stop();
}

enum {
    MEAN_GARBAGE,
    MEAN_HALF,
    MEAN_SILENT,
    MEAN_GIGABYTE,
    MEAN_SLOW,
    MEAN_LIES,
    MEAN_GONE,
    MEANS
};

static void send_lies(int fd, uint32_t number, uint32_t count, uint32_t mother)
{
    struct {
        struct behemoth_head head;
        struct behemoth_herd herd;
        struct behemoth one;
    } all = {
        {BEHEMOTH_MAGIC, BEHEMOTH_OK,               sizeof all.herd + sizeof all.one, number},
        {.each = sizeof all.one,              .count = count                 },
        {.id = 1,        .mother_position = mother, .name = "Liar"                      }
    };
    send(fd, &all, sizeof all, MSG_NOSIGNAL);
}

static void be_mean(int fd, int way)
{
    static char megabyte[1 << 20];
    struct behemoth_head head = {0};
    (void)!read(fd, &head, sizeof head);
    struct behemoth_head answer = {BEHEMOTH_MAGIC, BEHEMOTH_OK, 1 << 30, head.number};
    if (way == MEAN_GARBAGE)
        send(fd, megabyte, sizeof megabyte, MSG_NOSIGNAL);
    if (way == MEAN_HALF)
        send(fd, &answer, sizeof answer / 2, MSG_NOSIGNAL);
    if (way == MEAN_LIES)
        send_lies(fd, head.number, head.number % 2 ? 1 : 100000, 0);
    if (way == MEAN_GIGABYTE && send(fd, &answer, sizeof answer, MSG_NOSIGNAL) > 0)
        for (int i = 0; i < 1024 && send(fd, megabyte, sizeof megabyte, MSG_NOSIGNAL) > 0; i++)
            ;
    answer.bytes = 100000;
    if (way == MEAN_SLOW && send(fd, &answer, sizeof answer, MSG_NOSIGNAL) > 0)
        for (int i = 0; i < 1000 && send(fd, megabyte, 1, MSG_NOSIGNAL) > 0; i++)
            usleep(10000);
    if (way == MEAN_GONE)
        close(fd);
}

/* Each connection is met in one way; those who wait stay open. */
static pid_t mean_server(int way)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    snprintf(address.sun_path, sizeof address.sun_path, "%s", place);
    unlink(place);
    assert_int_equal(bind(listening, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(listening, 8), 0);
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;)
            be_mean(accept(listening, NULL, NULL), way);
    }
    close(listening);
    return pid;
}

static void hostile_servers_harm_no_reader(void **state)
{
    (void)state;
    start("--count=30", "--speed=0", NULL);
    struct shown shown = opened();
    look(&shown);
    assert_int_equal(shown.count, 30);
    struct shown_behemoth first = shown.all[0];
    stop();
    for (int way = 0; way < MEANS; way++) {
        pid_t mean = mean_server(way);
        for (int i = 0; i < 4; i++) {
            usleep(110000);
            int64_t begun = behemoth_now();
            look(&shown);
            assert_in_range(behemoth_now() - begun, 0, 900);
            assert_int_equal(summary(&shown, BEHEMOTHS_SUMMARY_STATUS), 0);
            assert_int_equal(shown.count, 30);
            assert_memory_equal(&shown.all[0], &first, sizeof first);
        }
        kill(mean, SIGKILL);
        end_of(mean);
        usleep(1100000); /* who was slow is not asked for a second */
    }
    assert_string_equal(lab_events("Behemoth", false), "");
    shown_close(&shown);
    unlink(place);
}

/* ---- one server, its rights, its socket ---- */

static void there_is_only_one(void **state)
{
    (void)state;
    char path[4096], socket_option[160], other_socket[160], state_option[160], other_state[160];
    start("--count=5", NULL, NULL);
    program(path, sizeof path);
    snprintf(socket_option, sizeof socket_option, "--socket=%s", place);
    snprintf(other_socket, sizeof other_socket, "--socket=%s.other", place);
    snprintf(state_option, sizeof state_option, "--state=%s", herd_file);
    snprintf(other_state, sizeof other_state, "--state=%s.other", herd_file);
    assert_int_equal(end_of(spawn((char *[]){path, other_socket, state_option, NULL})),
                     EXIT_SECOND);
    assert_int_equal(end_of(spawn((char *[]){path, socket_option, other_state, NULL})),
                     EXIT_SECOND);
    wait_for_server();
    stop();
    assert_int_equal(access(place, F_OK), -1);
}

static void a_strangers_wish_is_refused(void **state)
{
    (void)state;
    if (geteuid() != 0) {
        print_message("# skipped: only root can be another user\n");
        skip();
    }
    start("--count=5", NULL, NULL);
    chmod(lab_root, 0755);
    pid_t stranger = fork();
    if (stranger == 0) {
        struct behemoth_line line = {.socket = -1};
        uint64_t id = 1;
        bool good = setgid(65534) == 0 && setuid(65534) == 0 && ask(BEHEMOTH_KILL, &id, 8, &line);
        good = good && line.head.what == BEHEMOTH_REFUSED;
        good = good && ask(BEHEMOTH_HERD, NULL, 0, &line) && behemoth_herd_of(&line);
        _exit(good ? 0 : 1);
    }
    assert_int_equal(end_of(stranger), 0);
    stop();
}

static void a_strangers_server_is_not_believed(void **state)
{
    (void)state;
    struct behemoth_line line = {.socket = -1};
    if (geteuid() != 0) {
        print_message("# skipped: only root can be another user\n");
        skip();
    }
    assert_int_equal(seteuid(65534), 0); /* whoever calls listen is the peer */
    char kept[sizeof place];
    memcpy(kept, place, sizeof kept);
    snprintf(place, sizeof place, "/tmp/opl-stranger-%ld", (long)getpid());
    pid_t mean = mean_server(MEAN_SILENT);
    assert_int_equal(seteuid(0), 0);
    int64_t begun = behemoth_now();
    assert_false(ask(BEHEMOTH_HERD, NULL, 0, &line));
    assert_int_equal(errno, EACCES);
    assert_in_range(behemoth_now() - begun, 0, 1000);
    kill(mean, SIGKILL);
    end_of(mean);
    unlink(place);
    memcpy(place, kept, sizeof kept);
    behemoth_line_end(&line);
}

/* As systemd does it: descriptor 3 listens already, and LISTEN_PID says for whom. */
static void it_takes_a_socket_from_systemd(void **state)
{
    (void)state;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char path[4096], state_option[160], me[32];
    program(path, sizeof path);
    snprintf(state_option, sizeof state_option, "--state=%s", herd_file);
    snprintf(address.sun_path, sizeof address.sun_path, "%s", place);
    int listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(listening, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(listening, 8), 0);
    server = fork();
    if (server == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        snprintf(me, sizeof me, "%ld", (long)getpid());
        setenv("LISTEN_PID", me, 1);
        setenv("LISTEN_FDS", "1", 1);
        if (listening == 3 ? fcntl(3, F_SETFD, 0) == 0 : dup2(listening, 3) == 3)
            execl(path, path, state_option, (char *)NULL);
        _exit(126);
    }
    close(listening);
    wait_for_server();
    stop();
    assert_int_equal(access(place, F_OK), 0); /* it is systemd's */
    unlink(place);
}

/* ---- */

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

static int begin(void **state)
{
    (void)state;
    lab_open();
    chmod(lab_root, 0755);
    snprintf(place, sizeof place, "%s/herd.sock", lab_root);
    snprintf(herd_file, sizeof herd_file, "%s/herd", lab_root);
    run("lodctr", "--library=", "behemoth.ini");
    lab_set_text(PARAMETERS, "Socket", place);
    if (inside)
        lab_set_dword(lab_performance("Behemoth"), "Isolation", 0);
    return 0;
}

/* What a failed test left does not stand in the way of the next one. */
static int after_each(void **state)
{
    (void)state;
    if (server > 0 && kill(server, SIGKILL) == 0)
        waitpid(server, NULL, 0);
    server = 0;
    remove(herd_file);
    return 0;
}

static int end(void **state)
{
    (void)state;
    lab_close();
    return 0;
}

int main(int argc, char **argv)
{
    inside = argc > 1 && strcmp(argv[1], "inside") == 0;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(c120_no_server_at_all, after_each),
        cmocka_unit_test_teardown(c84_counters_are_what_the_server_says, after_each),
        cmocka_unit_test_teardown(c79_two_queries_within_a_tenth_are_equal, after_each),
        cmocka_unit_test_teardown(c77_what_is_always_equal_is_never_seen_different, after_each),
        cmocka_unit_test_teardown(c120_a_dead_server_leaves_its_last_words, after_each),
        cmocka_unit_test_teardown(killed_and_restarted_100_times, after_each),
        cmocka_unit_test_teardown(hostile_peers_harm_no_server, after_each),
        cmocka_unit_test_teardown(hostile_servers_harm_no_reader, after_each),
        cmocka_unit_test_teardown(there_is_only_one, after_each),
        cmocka_unit_test_teardown(a_strangers_wish_is_refused, after_each),
        cmocka_unit_test_teardown(a_strangers_server_is_not_believed, after_each),
        cmocka_unit_test_teardown(it_takes_a_socket_from_systemd, after_each),
    };
    return cmocka_run_group_tests_name("behemoth", tests, begin, end);
}
