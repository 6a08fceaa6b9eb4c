/* SPDX-License-Identifier: MIT */
/* What a client may see, and how much of the server it may use, with any kind of request; and how
 * the server divides its connections among users. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../skip.h"
#include "requests.h"

#include <openperflib/block.h>
#include <winperf.h>

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define CALLER ADMINISTRATORS LOGGED_IN
#define PERFLIB "SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion\\Perflib"
#define DATA 0x80000004u
#define NAMES 0x80000050u
#define MACHINE 0x80000002u
enum { HIDDEN = 230 };

static int stream_for(const char *sids)
{
    int fd = connect_here();
    assert_int_equal(speak_for(fd, sids, 0), 0);
    return fd;
}

/* ---- every request of the protocol ---- */

static const uint32_t roots[] = {DATA, NAMES, 0x80000060, MACHINE, 0x80000003};
static const char *const paths[] = {"", PERFLIB, PERFLIB "\\009", PERFLIB "\\CurrentLanguage"};
static const char *const names[] = {NULL,       "Global",  " global ",   "Costly",
                                    " costly ", "2 230 4", "OLD_Global", "Foreign here",
                                    "230",      "Counter", "Help 009",   "Last Counter"};

/* Counts how often an object occurs in all blocks of a reply. */
static unsigned count_objects(const struct proto_reply *reply, uint32_t number)
{
    opl_block block;
    opl_object_view object = {0};
    unsigned count = 0;
    if (!reply->data_size || opl_block_init(&block, reply->data, reply->data_size))
        return 0;
    while (opl_block_next_object(&block, &object))
        count += !number || object.type.ObjectNameTitleIndex == number;
    assert_int_equal(block.fault, OPL_BLOCK_GOOD);
    return count;
}

struct sums {
    unsigned received, blocks, hidden;
};

static void query_one(int fd, const struct proto_request *request, struct sums *sums)
{
    BUFFER_AUTO message = {0};
    struct proto_reply reply;
    send_only(fd, request);
    assert_int_not_equal(hear(fd, &message, &reply), 0xdead);
    unsigned hidden = count_objects(&reply, HIDDEN);
    if (hidden)
        print_message("# operation %u, root %x, path \"%s\", index %u, flags %u, name %s\n",
                      request->operation, request->root, request->path, request->index,
                      request->flags, request->name ? request->name : "(none)");
    sums->hidden += hidden;
    sums->blocks += count_objects(&reply, 0) > 0;
    sums->received++;
}

static void query_in_all_ways(int fd, struct proto_request request, struct sums *sums)
{
    bool by_name = request.operation == PROTO_QUERY;
    for (size_t i = 0; i < (by_name ? COUNT(names) : 3); i++)
        for (uint16_t flags = 0; flags <= PROTO_FLAGS; flags++) {
            request.flags = flags;
            request.name = by_name ? names[i] : NULL;
            request.index = by_name ? 0 : (uint32_t)i;
            query_one(fd, &request, sums);
        }
}

static void f_c1_no_request_shows_what_is_hidden(void **state)
{
    struct sums sums = {0};
    SET_LIST(OBJECTS, "230", "no such user");
    lab_set_dword(SETTINGS, "MostPerSecond", 0);
    int fd = stream_for(CALLER);
    for (size_t i = 0; i < COUNT(roots); i++)
        for (size_t j = 0; j < COUNT(paths); j++)
            for (uint16_t operation = 1; operation < PROTO_CALLER; operation++)
                query_in_all_ways(fd,
                                  (struct proto_request){.operation = operation,
                                                         .root = roots[i],
                                                         .path = paths[j],
                                                         .capacity = SIZE},
                                  &sums);
    close(fd);
    RegDeleteTreeA(HKEY_LOCAL_MACHINE, OBJECTS);
    lab_unset(SETTINGS, "MostPerSecond");
    print_message("# %u requests, %u with objects\n", sums.received, sums.blocks);
    assert_in_range(sums.blocks, 20, sums.received);
    assert_int_equal(sums.hidden, 0);
}

/* Even the size of an answer must not show anything hidden: from the size of object 230, a client
 * could compute how many processes the machine has. */
static void f_c1_no_size_speaks_of_what_is_hidden(void **state)
{
    struct proto_request request = query_of("230");
    SET_LIST(OBJECTS, "230", "no such user");
    request.capacity = 300; /* enough for the block's header without objects */
    int fd = stream_for(CALLER);
    assert_int_equal(run_query(fd, &request), 0);
    request.capacity = 40;
    assert_int_equal(run_query(fd, &request), ERROR_MORE_DATA);
    close(fd);
    RegDeleteTreeA(HKEY_LOCAL_MACHINE, OBJECTS);
}

/* Writes `many` lists (values that say which users may see an object) into one file of the
 * registry; a thousand single writes would take a minute. */
static void write_lists(unsigned many)
{
    char path[128];
    snprintf(path, sizeof path, "%s/machine/registry.d/lists.reg", lab_root);
    unlink(path); /* a new file is noticed at once, an edited one later */
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "Windows Registry Editor Version 5.00\n\n[HKEY_LOCAL_MACHINE\\%s]\n", OBJECTS);
    for (unsigned i = 0; i < many; i++)
        fprintf(file, "\"%u\"=dword:00000001\n", 100000 + i);
    fprintf(file, "\"a name that is much longer than any object's number\"=dword:00000001\n");
    fclose(file);
}

/* If the registry has more lists of users than the server reads (1,024), all objects are hidden,
 * because otherwise an object with an unread list would be shown. */
static void f_c1_too_many_lists_hide_all(void **state)
{
    enum { MOST = 1024 };
    struct proto_request request = query_of("Global");
    struct sums sums = {0};
    int fd = stream_for(CALLER);
    write_lists(MOST);
    query_one(fd, &request, &sums);
    assert_int_equal(sums.blocks, 1);
    write_lists(MOST + 1);
    query_one(fd, &request, &sums);
    assert_int_equal(sums.blocks, 1);
    close(fd);
    lab_remove("machine/registry.d/lists.reg");
}

/* ---- limits of the server's work ---- */

/* Makes several queries at the same time, each of which takes 1.5 seconds. Returns how many were
 * answered; *ret_busy: how many were refused because the server is busy. */
static unsigned query_at_once(struct proto_request request, unsigned *ret_busy)
{
    enum { MANY = 7 };
    int fds[MANY];
    unsigned good = 0;
    *ret_busy = 0;
    for (int i = 0; i < MANY; i++)
        fds[i] = stream_for(CALLER);
    for (int i = 0; i < MANY; i++)
        send_only(fds[i], &request);
    for (int i = 0; i < MANY; i++) {
        BUFFER_AUTO message = {0};
        struct proto_reply reply;
        uint32_t status = hear(fds[i], &message, &reply);
        good += status == 0;
        *ret_busy += status == ERROR_BUSY;
        close(fds[i]);
    }
    return good;
}

static void f_c1_costly_however_it_is_asked(void **state)
{
    static const struct {
        uint32_t root;
        uint16_t operation;
        const char *path, *name;
    } rows[] = {
        {DATA,    PROTO_QUERY,      "",              " costly "},
        {NAMES,   PROTO_QUERY,      "",              "Costly"  },
        {MACHINE, PROTO_QUERY,      PERFLIB "\\009", "Costly"  },
        {DATA,    PROTO_ENUM_VALUE, "",              NULL      },
    };
    unsigned busy;
    server_lab_slow(true);
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct proto_request request = {.operation = rows[i].operation,
                                        .root = rows[i].root,
                                        .path = rows[i].path,
                                        .name = rows[i].name,
                                        .index = 1,
                                        .capacity = SIZE};
        unsigned good = query_at_once(request, &busy);
        if (good > 4 || (rows[i].name && (good != 4 || busy != 3)))
            fail_msg("row %zu: %u were done, %u refused", i, good, busy);
    }
    server_lab_slow(false);
}

static void f_c1_questions_a_second_however_they_are_asked(void **state)
{
    static const uint16_t operations[] = {PROTO_QUERY, PROTO_ENUM_VALUE, PROTO_ENUM_KEY,
                                          PROTO_INFO};
    enum { MANY = 30, MOST = 5 };
    lab_set_dword(SETTINGS, "MostPerSecond", MOST);
    for (size_t i = 0; i < COUNT(operations); i++) {
        struct proto_request request = {.operation = operations[i],
                                        .root = MACHINE,
                                        .path = PERFLIB,
                                        .name = "Last Counter",
                                        .capacity = SIZE};
        unsigned good = 0;
        int fd = stream_for(CALLER);
        for (int j = 0; j < MANY; j++) {
            uint32_t status = run_query(fd, &request);
            assert_true(status == 0 || status == ERROR_BUSY);
            good += status == 0;
        }
        assert_in_range(good, MOST, 4 * MOST); /* further seconds may have begun meanwhile */
        close(fd);
    }
    lab_unset(SETTINGS, "MostPerSecond");
}

/* ---- how many connections a user gets ---- */

enum { HOGS = 4, FIRST_USER = 60001 };

static bool become(uid_t uid)
{
    return setgid(uid) == 0 && setuid(uid) == 0;
}

/* As the user `uid`, opens as many idle connections as the server accepts, and holds them until it
 * is killed. */
static pid_t start_hog(uid_t uid)
{
    char byte = 0;
    int ready[2];
    assert_int_equal(pipe(ready), 0);
    pid_t pid = fork();
    if (!pid) {
        enum { MANY = 40 };
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (!become(uid))
            _exit(99);
        for (int i = 0; i < MANY; i++)
            connect_here();
        while (write(ready[1], &byte, 1) != 1)
            continue;
        for (;;)
            pause();
    }
    close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    return pid;
}

static int query_as(uid_t uid)
{
    pid_t pid = fork();
    if (!pid) {
        struct proto_request request = query_of("2");
        if (!become(uid))
            _exit(99);
        _exit((int)(run_query(connect_here(), &request) & 0x7f));
    }
    return server_join(pid);
}

static bool is_served(int fd)
{
    BUFFER_AUTO bytes = {0}, message = {0};
    struct proto_request request = query_of("2");
    struct proto_reply reply;
    proto_write_request(&request, &bytes);
    send(fd, bytes.data, bytes.len, MSG_NOSIGNAL);
    return hear(fd, &message, &reply) == 0;
}

/* A user opens 33 connections: the 32nd is served, the last one is closed. */
static void a_user_has_32_connections(void **state)
{
    enum { MOST = 32 };
    int fds[MOST + 1];
    if (geteuid() != 0) {
        report_skipped("root may have more");
        return;
    }
    SET_LIST(GATE, "Access", "*");
    pid_t pid = fork();
    if (!pid) {
        if (!become(FIRST_USER))
            _exit(99);
        for (int i = 0; i <= MOST; i++)
            fds[i] = connect_here();
        _exit(is_served(fds[MOST - 1]) && !is_served(fds[MOST]) ? 0 : 1);
    }
    assert_int_equal(server_join(pid), 0);
    lab_unset(GATE, "Access");
}

/* Four users hold as many idle connections as they can get: twelve other users must still be
 * served. */
static void f_c10_few_users_do_not_shut_out_the_others(void **state)
{
    enum { NEWCOMERS = 12 };
    pid_t hogs[HOGS];
    if (geteuid() != 0) {
        report_skipped("only root can become several users");
        return;
    }
    SET_LIST(GATE, "Access", "*");
    for (int i = 0; i < HOGS; i++)
        hogs[i] = start_hog((uid_t)(FIRST_USER + i));
    for (int i = 0; i < NEWCOMERS; i++)
        assert_int_equal(query_as((uid_t)(FIRST_USER + HOGS + i)), 0);
    for (int i = 0; i < HOGS; i++) {
        kill(hogs[i], SIGKILL);
        waitpid(hogs[i], NULL, 0);
    }
    lab_unset(GATE, "Access");
}

/* Five callers (users in whose name root's process sends) open 30 connections each, more than the
 * 128 that one user may have: another caller must still be served, although all these connections
 * belong to root. */
static void f_c10_few_callers_do_not_shut_out_the_others(void **state)
{
    enum { CALLERS = 5, OF_EACH = 30 };
    int fds[CALLERS * OF_EACH];
    char sids[64];
    if (geteuid() != 0) {
        report_skipped("a user here has not so many streams at all");
        return;
    }
    for (int i = 0; i < CALLERS * OF_EACH; i++) {
        snprintf(sids, sizeof sids, "S-1-5-21-1-2-3-%d " ADMINISTRATORS, 2000 + i / OF_EACH);
        fds[i] = connect_here();
        assert_int_equal(speak_for(fds[i], sids, 0), 0);
    }
    int fd = stream_for("S-1-5-21-1-2-3-3000 " ADMINISTRATORS);
    struct proto_request request = query_of("2");
    assert_int_equal(run_query(fd, &request), 0);
    close(fd);
    for (int i = 0; i < CALLERS * OF_EACH; i++)
        close(fds[i]);
}

/* A caller that already has MostStreams connections opens one more: naming the caller on it fails,
 * and the server closes it at the next request. */
static void f_c10_one_too_many_is_hung_up_on(void **state)
{
    int fds[3];
    uint32_t status = 0;
    struct proto_request request = query_of("2");
    BUFFER_AUTO message = {0};
    struct proto_reply reply;
    lab_set_dword(SETTINGS, "MostStreams", 2);
    for (int i = 0; i < 3; i++) {
        fds[i] = connect_here();
        status = speak_for(fds[i], "S-1-5-21-1-2-3-4000 " ADMINISTRATORS, 0);
    }
    assert_int_equal(status, ERROR_BUSY);
    BUFFER_AUTO bytes = {0};
    assert_true(proto_write_request(&request, &bytes));
    send(fds[2], bytes.data, bytes.len, MSG_NOSIGNAL);
    assert_int_equal(hear(fds[2], &message, &reply), 0xdead);
    lab_unset(SETTINGS, "MostStreams");
    for (int i = 0; i < 3; i++)
        close(fds[i]);
}

/* A client without the right to read is disconnected after ten seconds, whether it sends requests
 * or not. A client with that right stays connected. */
static void f_c10_refused_peers_do_not_stay(void **state)
{
    struct proto_request request = query_of("2");
    int good = stream_for(CALLER), requests = connect_here(), silent = connect_here();
    assert_int_equal(speak_for(requests, "S-1-5-7", 0), 0);
    assert_int_equal(speak_for(silent, "S-1-5-7", 0), 0);
    assert_int_equal(run_query(requests, &request), ERROR_ACCESS_DENIED);
    assert_int_equal(run_query(silent, &request), ERROR_ACCESS_DENIED);
    struct pollfd waits[] = {
        {.fd = requests, .events = POLLIN},
        {.fd = silent,   .events = POLLIN}
    };
    sleep(5);
    BUFFER_AUTO bytes = {0};
    assert_true(proto_write_request(&request, &bytes));
    send(requests, bytes.data, bytes.len, MSG_NOSIGNAL);
    BUFFER_AUTO message = {0};
    struct proto_reply reply;
    /* returns status 5 (access denied), or 0xdead if it is already disconnected */
    hear(requests, &message, &reply);
    for (size_t i = 0; i < COUNT(waits); i++) {
        char byte;
        assert_int_equal(poll(&waits[i], 1, 60000), 1);
        assert_true(recv(waits[i].fd, &byte, 1, 0) <= 0);
        close(waits[i].fd);
    }
    assert_int_equal(run_query(good, &request), 0);
    close(good);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(f_c1_no_request_shows_what_is_hidden),
        cmocka_unit_test(f_c1_no_size_speaks_of_what_is_hidden),
        cmocka_unit_test(f_c1_too_many_lists_hide_all),
        cmocka_unit_test(f_c1_costly_however_it_is_asked),
        cmocka_unit_test(f_c1_questions_a_second_however_they_are_asked),
        cmocka_unit_test(a_user_has_32_connections),
        cmocka_unit_test(f_c10_few_users_do_not_shut_out_the_others),
        cmocka_unit_test(f_c10_few_callers_do_not_shut_out_the_others),
        cmocka_unit_test(f_c10_one_too_many_is_hung_up_on),
        cmocka_unit_test(f_c10_refused_peers_do_not_stay),
    };
    server_lab("record_object");
    server_way("unix");
    server_start();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    server_stop();
    lab_close();
    return failed;
}
