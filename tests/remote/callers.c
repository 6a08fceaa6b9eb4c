/* SPDX-License-Identifier: MIT */
/* Connections whose requests are made for another user, as the library inside Samba does: which
 * programs may do that, for which users, and what these users may read. */
#include "remote/proto.h"

#include <setjmp.h>

#include <cmocka.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <openperflib/block.h>
#include <winperf.h>

#include "../skip.h"
#include "requests.h"

/* ---- queries ---- */

static uint32_t query(int fd)
{
    struct proto_request request = query_of("2");
    return run_query(fd, &request);
}

/* Returns the status of a query on a new connection, for a caller with these SIDs. Tries again
 * while the caller's earlier connections are still ending, because their number is limited. */
static uint32_t requested(const char *sids)
{
    uint32_t status = 0xdead;
    for (int i = 0; i < 200 && status == 0xdead; i++) {
        int fd = connect_here();
        status = speak_for(fd, sids, 0);
        if (!status)
            status = query(fd);
        close(fd);
        if (status == 0xdead)
            usleep(20000);
    }
    return status;
}

/* ---- which programs may speak for users, and for which ---- */

static void others_may_not_speak(void **state)
{
    if (geteuid() != 0) {
        report_skipped("only root can become another user");
        return;
    }
    pid_t pid = fork();
    if (!pid) {
        if (setgid(65534) || setuid(65534))
            _exit(99);
        int fd = connect_here();
        _exit((int)speak_for(fd, ADMINISTRATORS LOGGED_IN, 0));
    }
    int status;
    waitpid(pid, &status, 0);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), ERROR_ACCESS_DENIED);
}

static void usual_callers(void **state)
{
    static const struct {
        const char *sids;
        uint32_t status;
    } rows[] = {
        {ADMINISTRATORS LOGGED_IN,              0},
        {"S-1-5-21-1-2-3-1001 S-1-5-32-558",    0},
        {"S-1-5-21-1-2-3-1001" LOGGED_IN,       5},
        {"S-1-5-32-5440",                       5},
        {"S-1-1-0",                             5},
        {"S-1-5-7",                             5},
        {"S-1-5-7 " ADMINISTRATORS,             5},
        {ADMINISTRATORS " S-1-5-32-546",        5},
        {"S-1-5-21-1-2-3-501 " ADMINISTRATORS,  5},
        {"S-1-5-21-1-2-3-1501 " ADMINISTRATORS, 0},
 /* root of another machine, which has no rights here */
        {"S-1-22-1-0",                          5},
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        if (requested(rows[i].sids) != rows[i].status)
            fail_msg("%s: not %u", rows[i].sids, rows[i].status);
}

static void the_group_here(void **state)
{
    char sids[64];
    const struct group *group = getgrnam("openperflib");
    if (!group) {
        report_skipped("there is no group openperflib here");
        return;
    }
    snprintf(sids, sizeof sids, "S-1-22-1-99 S-1-22-2-%u", (unsigned)group->gr_gid);
    assert_int_equal(requested(sids), 0);
}

static void no_sids_at_all(void **state)
{
    static const char *const wrong[] = {
        "",         " ",        "S-1",  "S-1-5-",   "S-2-5-18",
        "S-1-5--7", "S-1-5-7x", "anna", "s-1-5-18", "S-1-5-18 S-1-5-x"};
    for (size_t i = 0; i < COUNT(wrong); i++) {
        int fd = connect_here();
        assert_int_equal(query(fd), 0); /* reads with the rights of its own user */
        assert_int_equal(speak_for(fd, wrong[i], 0), ERROR_INVALID_PARAMETER);
        /* after a refused request the connection has no rights, not even those of the user who
         * opened it */
        assert_int_equal(query(fd), ERROR_ACCESS_DENIED);
        assert_int_equal(speak_for(fd, ADMINISTRATORS, 0), 0);
        assert_int_equal(query(fd), 0);
        close(fd);
    }
    int fd = connect_here();
    assert_int_equal(speak_for(fd, NULL, 0), ERROR_INVALID_PARAMETER);
    assert_int_equal(query(fd), ERROR_ACCESS_DENIED);
    close(fd);
}

static void lists_of_sids(void **state)
{
    SET_LIST(GATE, "Access", "S-1-5-21-1-2-3-1001\0root\0@root");
    assert_int_equal(requested("S-1-5-21-1-2-3-1001"), 0);
    assert_int_equal(requested(ADMINISTRATORS LOGGED_IN), 5);
    assert_int_equal(requested("S-1-22-1-0"), 0);
    assert_int_equal(requested("S-1-22-1-12345 S-1-22-2-0"), 0);
    assert_int_equal(requested("S-1-22-1-12345 S-1-22-2-12345"), 5);
    SET_LIST(LAB_PERFLIB, "Access", ADMINISTRATORS);
    assert_int_equal(requested("S-1-5-21-1-2-3-1001"), 5);
    assert_int_equal(requested("S-1-5-21-1-2-3-1001 " ADMINISTRATORS), 0);
    lab_unset(LAB_PERFLIB, "Access");
    SET_LIST(GATE, "Access", "S-1-1-0");
    assert_int_equal(requested(ADMINISTRATORS LOGGED_IN), 5);
    SET_LIST(GATE, "Access", "*");
    assert_int_equal(requested("S-1-5-21-1-2-3-1001" LOGGED_IN), 0);
    assert_int_equal(requested("S-1-5-21-1-2-3-1001 S-1-1-0"), 5);
    assert_int_equal(requested("S-1-5-7" LOGGED_IN), 5);
    lab_unset(GATE, "Access");
}

static void encryption_is_required(void **state)
{
    static const struct {
        uint32_t protection, status;
    } rows[] = {
        {0,                   5},
        {1,                   5},
        {5,                   5},
        {6,                   0},
        {PROTO_ENCRYPTED,     0},
        {PROTO_ENCRYPTED | 6, 0},
        {0x600,               5},
    };
    lab_set_dword(SETTINGS, "RequireEncryption", 1);
    for (size_t i = 0; i < COUNT(rows); i++) {
        int fd = connect_here();
        assert_int_equal(speak_for(fd, ADMINISTRATORS, rows[i].protection), 0);
        assert_int_equal(query(fd), rows[i].status);
        close(fd);
    }
    int fd = connect_here(); /* a local client needs no encryption */
    assert_int_equal(query(fd), 0);
    close(fd);
    lab_unset(SETTINGS, "RequireEncryption");
}

/* ---- which objects a user sees ---- */

struct seen {
    uint32_t numbers[64];
    size_t count;
    LONG default_object;
};

/* Queries for a user, and walks through the answer strictly: every length in it must be correct. */
static void see(const char *sids, const char *name, struct seen *ret)
{
    BUFFER_AUTO message = {0};
    struct proto_reply reply;
    struct proto_request request = query_of(name);
    opl_block block;
    opl_object_view object = {0};
    int fd = connect_here();
    assert_true(!sids || speak_for(fd, sids, 0) == 0);
    send_only(fd, &request);
    assert_int_equal(hear(fd, &message, &reply), 0);
    close(fd);
    assert_int_equal(reply.needed, reply.data_size);
    assert_int_equal(opl_block_init(&block, reply.data, reply.data_size), OPL_BLOCK_GOOD);
    assert_int_equal(block.header.TotalByteLength, reply.data_size);
    size_t end = block.header.HeaderLength;
    *ret = (struct seen){.default_object = block.header.DefaultObject};
    while (opl_block_next_object(&block, &object)) {
        ret->numbers[ret->count++] = object.type.ObjectNameTitleIndex;
        assert_int_equal(object.offset, end);
        end += object.type.TotalByteLength;
    }
    assert_int_equal(block.fault, OPL_BLOCK_GOOD);
    assert_int_equal(end, reply.data_size);
    assert_int_equal(block.header.NumObjectTypes, ret->count);
}

static bool has(const struct seen *seen, uint32_t number)
{
    for (size_t i = 0; i < seen->count; i++)
        if (seen->numbers[i] == number)
            return true;
    return false;
}

static void objects_for_some(void **state)
{
    struct seen whole, part, none;
    const char *other = ADMINISTRATORS " S-1-5-21-1-2-3-1002";
    see(ADMINISTRATORS, "Global", &whole);
    assert_true(has(&whole, 2) && has(&whole, 4) && has(&whole, 230) && has(&whole, 238));
    SET_LIST(OBJECTS, "1st", "no number: a note, the lists after it count");
    SET_LIST(OBJECTS, "230", "!S-1-5-21-1-2-3-1002");
    SET_LIST(OBJECTS, "4", "S-1-5-21-1-2-3-1002");
    SET_LIST(OBJECTS, "238", "no such user");
    /* the value's type is wrong (no list of users), so the object is hidden */
    lab_set_dword(OBJECTS, "2", 1);
    see(other, "Global", &part);
    assert_false(has(&part, 230) || has(&part, 238) || has(&part, 2));
    assert_true(has(&part, 4));
    assert_int_equal(part.count, whole.count - 3);
    assert_true(part.default_object == (LONG)part.numbers[0] ||
                has(&part, (uint32_t)part.default_object));
    see(ADMINISTRATORS, "230 4", &part);
    assert_true(part.count == 1 && part.numbers[0] == 230);
    see(ADMINISTRATORS, "4", &none);
    assert_int_equal(none.count, 0);
    static char longest[64 << 10] = "S-1-5-21-1-2-3-1002";
    memset(longest + strlen(longest) + 1, 'x', sizeof longest - strlen(longest) - 3);
    set_list(OBJECTS, "4", longest, sizeof longest);
    see(other, "4", &part);
    assert_int_equal(part.count, 1);
    see(NULL, "Global", &part); /* the server's own user sees all objects */
    assert_int_equal(part.count, whole.count);
    RegDeleteTreeA(HKEY_LOCAL_MACHINE, OBJECTS);
}

/* Process Details contains command lines, so it is hidden from all users, unless a list in the
 * registry names users who may see it. */
static void process_details_are_hidden_unless_listed(void **state)
{
    enum { DETAILS = 102000 };
    static const char *const queries[] = {"Costly", "102000", "2 102000"};
    static const char *const readers[] = {ADMINISTRATORS, NULL};
    struct seen seen;
    for (size_t i = 0; i < 2; i++)
        for (size_t k = 0; k < 3; k++) {
            see(readers[i], queries[k], &seen);
            assert_false(has(&seen, DETAILS));
            assert_int_equal(has(&seen, 2), k == 2);
        }
    SET_LIST(OBJECTS, "102000", "S-1-5-21-1-2-3-1002");
    see(ADMINISTRATORS, "102000", &seen);
    assert_int_equal(seen.count, 0);
    see(ADMINISTRATORS " S-1-5-21-1-2-3-1002", "Costly", &seen);
    assert_true(has(&seen, DETAILS));
    see(NULL, "102000", &seen); /* lists for other users do not limit the server's own user */
    assert_true(has(&seen, DETAILS));
    RegDeleteTreeA(HKEY_LOCAL_MACHINE, OBJECTS);
    see(NULL, "102000", &seen);
    assert_int_equal(seen.count, 0);
}

/* ---- limits ---- */

static void refusals_are_noted(void **state)
{
    enum { MANY = 40, AT_MOST = 20 };
    lab_remove("events");
    for (int i = 0; i < MANY; i++)
        assert_int_equal(requested("S-1-5-7"), 5);
    int lines = 0;
    for (const char *at = lab_read("events"); (at = strstr(at, "anna read performance data")); at++)
        lines++;
    assert_int_equal(lines, AT_MOST); /* the events file gets at most this many lines in a minute */
}

/* Opens `many` connections for a caller; returns how many of them the server serves. */
static int streams_of(const char *sids, int many)
{
    int fds[40], good = 0;
    for (int i = 0; i < many; i++) {
        fds[i] = connect_here();
        uint32_t status = speak_for(fds[i], sids, 0);
        assert_true(status == 0 || status == ERROR_BUSY);
        good += status == 0;
    }
    if (many > 16) /* the limit does not affect another caller */
        assert_int_equal(requested("S-1-5-21-9-9-9-2 " ADMINISTRATORS), 0);
    for (int i = 0; i < many; i++)
        close(fds[i]);
    return good;
}

static void so_many_streams_of_a_caller(void **state)
{
    if (geteuid() != 0) {
        report_skipped("a user here has no more streams than that at all");
        return;
    }
    assert_int_equal(streams_of("S-1-5-21-9-9-9-1 " ADMINISTRATORS, 36), 32);
    lab_set_dword(SETTINGS, "MostStreams", 3);
    assert_int_equal(streams_of("S-1-5-21-9-9-9-3 " ADMINISTRATORS, 5), 3);
    lab_unset(SETTINGS, "MostStreams");
    for (int i = 0; i < 100 && requested("S-1-5-21-9-9-9-1 " ADMINISTRATORS); i++)
        usleep(50000);
    assert_int_equal(requested("S-1-5-21-9-9-9-1 " ADMINISTRATORS), 0);
}

static void so_many_queries_a_second(void **state)
{
    enum { MANY = 20, MOST = 5 };
    int fd = connect_here(), good = 0;
    lab_set_dword(SETTINGS, "MostPerSecond", MOST);
    assert_int_equal(speak_for(fd, ADMINISTRATORS, 0), 0);
    for (int i = 0; i < MANY; i++) {
        uint32_t status = query(fd);
        assert_true(status == 0 || status == ERROR_BUSY);
        good += status == 0;
    }
    assert_in_range(good, MOST, 3 * MOST); /* one or two more seconds may have begun meanwhile */
    lab_unset(SETTINGS, "MostPerSecond");
    close(fd);
}

/* Six queries at the same time, each of which takes 1.5 seconds: four are answered, and the others
 * are refused with the advice to try again. Queries that have ended do not count. */
static void so_many_costly_at_once(void **state)
{
    enum { MANY = 6, GOOD = 4 };
    int fds[MANY], good = 0, busy = 0;
    struct proto_request request = query_of("Costly");
    for (int i = 0; i < MANY; i++) {
        fds[i] = connect_here();
        assert_int_equal(speak_for(fds[i], ADMINISTRATORS, 0), 0);
        assert_int_equal(run_query(fds[i], &request), 0);
    }
    server_lab_slow(true);
    for (int i = 0; i < MANY; i++)
        send_only(fds[i], &request);
    for (int i = 0; i < MANY; i++) {
        BUFFER_AUTO message = {0};
        struct proto_reply reply;
        uint32_t status = hear(fds[i], &message, &reply);
        good += status == 0;
        busy += status == ERROR_BUSY;
        close(fds[i]);
    }
    server_lab_slow(false);
    assert_int_equal(good, GOOD);
    assert_int_equal(busy, MANY - GOOD);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refusals_are_noted),
        cmocka_unit_test(others_may_not_speak),
        cmocka_unit_test(usual_callers),
        cmocka_unit_test(the_group_here),
        cmocka_unit_test(no_sids_at_all),
        cmocka_unit_test(lists_of_sids),
        cmocka_unit_test(encryption_is_required),
        cmocka_unit_test(objects_for_some),
        cmocka_unit_test(process_details_are_hidden_unless_listed),
        cmocka_unit_test(so_many_queries_a_second),
        cmocka_unit_test(so_many_streams_of_a_caller),
        cmocka_unit_test(so_many_costly_at_once),
    };
    server_lab("record_object");
    server_way("unix");
    server_start();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    server_stop();
    lab_close();
    return failed;
}
