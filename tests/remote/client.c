/* SPDX-License-Identifier: MIT */
/* The Reg functions with keys of another machine. The argument chooses the way to its server: a
 * socket, or ssh (replaced by a script). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <grp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <openperflib/block.h>
#include <pdh.h>

#include "../skip.h"
#include "server.h"

enum { SIZE = 4 << 20, SKIPPED = 77 };
static BYTE near_data[SIZE], remote_data[SIZE];
static bool by_socket;

static HKEY connect_to(HKEY root)
{
    HKEY key = NULL;
    assert_int_equal(RegConnectRegistryA(server_url, root, &key), ERROR_SUCCESS);
    assert_non_null(key);
    return key;
}

static LSTATUS run_query(HKEY key, const char *name, DWORD *size)
{
    DWORD type = 99;
    LSTATUS status = RegQueryValueExA(key, name, NULL, &type, remote_data, size);
    if (!status)
        assert_int_equal(type, REG_BINARY);
    return status;
}

static bool has_object(const BYTE *data, DWORD size, DWORD index)
{
    opl_block block;
    opl_object_view object = {0};
    assert_int_equal(opl_block_init(&block, data, size), OPL_BLOCK_GOOD);
    return opl_block_find_object(&block, index, &object);
}

static void c28_performance_data(void **state)
{
    HKEY key = connect_to(HKEY_PERFORMANCE_DATA);
    DWORD size = SIZE;
    assert_int_equal(run_query(key, "2 238", &size), ERROR_SUCCESS);
    assert_true(has_object(remote_data, size, 2));
    assert_true(has_object(remote_data, size, 238));
    size = SIZE;
    assert_int_equal(run_query(key, "Global", &size), ERROR_SUCCESS);
    assert_true(has_object(remote_data, size, 22222));
    DWORD whole = size;
    size = 200;
    memset(remote_data, 0x5a, 300);
    assert_int_equal(run_query(key, "Global", &size), ERROR_MORE_DATA);
    for (size_t i = 0; i < 300; i++)
        assert_int_equal(remote_data[i], 0x5a);
    size = whole + 4096;
    assert_int_equal(run_query(key, "Global", &size), ERROR_SUCCESS);
    assert_int_equal(RegCloseKey(key), ERROR_SUCCESS);
    assert_int_equal(RegCloseKey(key), ERROR_INVALID_HANDLE);
}

static void same_value(HKEY near, HKEY remote, const char *name)
{
    DWORD near_size = SIZE, remote_size = SIZE, near_type = 0, remote_type = 0;
    WCHAR wide[64] = {0};
    for (size_t i = 0; name[i]; i++)
        wide[i] = (WCHAR)name[i];
    assert_int_equal(RegQueryValueExA(near, name, NULL, &near_type, near_data, &near_size), 0);
    assert_int_equal(RegQueryValueExA(remote, name, NULL, &remote_type, remote_data, &remote_size),
                     0);
    assert_int_equal(near_type, remote_type);
    assert_int_equal(near_size, remote_size);
    assert_memory_equal(near_data, remote_data, near_size);
    near_size = remote_size = SIZE;
    assert_int_equal(RegQueryValueExW(near, wide, NULL, &near_type, near_data, &near_size), 0);
    assert_int_equal(RegQueryValueExW(remote, wide, NULL, &remote_type, remote_data, &remote_size),
                     0);
    assert_int_equal(near_size, remote_size);
    assert_memory_equal(near_data, remote_data, near_size);
    remote_size = near_size - 1;
    assert_int_equal(RegQueryValueExW(remote, wide, NULL, &remote_type, remote_data, &remote_size),
                     ERROR_MORE_DATA);
    assert_int_equal(remote_size, near_size);
    remote_size = 0;
    assert_int_equal(RegQueryValueExW(remote, wide, NULL, &remote_type, NULL, &remote_size), 0);
    assert_int_equal(remote_size, near_size);
}

static void c28_names(void **state)
{
    HKEY data = connect_to(HKEY_PERFORMANCE_DATA), text = connect_to(HKEY_PERFORMANCE_TEXT);
    HKEY nls = connect_to(HKEY_PERFORMANCE_NLSTEXT);
    same_value(HKEY_PERFORMANCE_DATA, data, "Counter 009");
    same_value(HKEY_PERFORMANCE_TEXT, text, "Counter");
    same_value(HKEY_PERFORMANCE_TEXT, text, "Help");
    same_value(HKEY_PERFORMANCE_NLSTEXT, nls, "Counter");
    RegCloseKey(data);
    RegCloseKey(text);
    RegCloseKey(nls);
}

static void same_enumerations(HKEY near, HKEY remote)
{
    char near_name[256], remote_name[256];
    LSTATUS near_status = 0, remote_status = 0;
    DWORD i = 0;
    for (; !near_status && i < 1000; i++) {
        DWORD near_size = sizeof near_name, remote_size = sizeof remote_name, near_type = 0,
              remote_type = 0;
        near_status = RegEnumValueA(near, i, near_name, &near_size, NULL, &near_type, NULL, NULL);
        remote_status =
            RegEnumValueA(remote, i, remote_name, &remote_size, NULL, &remote_type, NULL, NULL);
        assert_int_equal(near_status, remote_status);
        assert_int_equal(near_size, remote_size);
        assert_int_equal(near_type, remote_type);
        if (!near_status)
            assert_string_equal(near_name, remote_name);
    }
    assert_true(i > 2);
    for (i = 0, near_status = 0; !near_status && i < 1000; i++) {
        DWORD near_size = sizeof near_name, remote_size = sizeof remote_name;
        near_status = RegEnumKeyExA(near, i, near_name, &near_size, NULL, NULL, NULL, NULL);
        remote_status = RegEnumKeyExA(remote, i, remote_name, &remote_size, NULL, NULL, NULL, NULL);
        assert_int_equal(near_status, remote_status);
        if (!near_status)
            assert_string_equal(near_name, remote_name);
    }
}

static void same_info(HKEY near, HKEY remote)
{
    DWORD a[5], b[5];
    assert_int_equal(RegQueryInfoKeyW(near, NULL, NULL, NULL, &a[0], &a[1], NULL, &a[2], &a[3],
                                      &a[4], NULL, NULL),
                     0);
    assert_int_equal(RegQueryInfoKeyW(remote, NULL, NULL, NULL, &b[0], &b[1], NULL, &b[2], &b[3],
                                      &b[4], NULL, NULL),
                     0);
    assert_memory_equal(a, b, sizeof a);
}

static void perflib_key_is_the_same(void **state)
{
    HKEY near, remote, root = connect_to(HKEY_LOCAL_MACHINE), sub;
    assert_int_equal(RegOpenKeyExA(HKEY_LOCAL_MACHINE, LAB_PERFLIB, 0, KEY_READ, &near), 0);
    assert_int_equal(RegOpenKeyExA(root, LAB_PERFLIB, 0, KEY_READ, &remote), 0);
    same_value(near, remote, "Last Counter");
    same_value(near, remote, "Base Index");
    same_enumerations(near, remote);
    same_info(near, remote);
    assert_int_equal(RegOpenKeyExA(remote, "\\009\\", 0, KEY_READ, &sub), 0);
    same_value(HKEY_PERFORMANCE_TEXT, sub, "Counter");
    RegCloseKey(sub);
    assert_int_equal(RegOpenKeyExA(remote, "7ff", 0, KEY_READ, &sub), ERROR_FILE_NOT_FOUND);
    DWORD number = 0, size = sizeof number;
    assert_int_equal(
        RegGetValueA(root, LAB_PERFLIB, "Last Help", RRF_RT_REG_DWORD, NULL, &number, &size), 0);
    assert_true(number > 1000);
    assert_int_equal(RegQueryValueExA(remote, "Nothing", NULL, NULL, NULL, NULL),
                     ERROR_FILE_NOT_FOUND);
    RegCloseKey(near);
    RegCloseKey(remote);
    RegCloseKey(root);
}

static void nothing_is_written_and_little_is_seen(void **state)
{
    HKEY root = connect_to(HKEY_LOCAL_MACHINE), key, users = connect_to(HKEY_USERS);
    DWORD value = 1, size = sizeof value;
    assert_int_equal(RegOpenKeyExA(root, LAB_PERFLIB, 0, KEY_ALL_ACCESS, &key),
                     ERROR_ACCESS_DENIED);
    assert_int_equal(RegOpenKeyExA(root, LAB_PERFLIB, 0, MAXIMUM_ALLOWED, &key), 0);
    assert_int_equal(RegSetValueExA(key, "X", 0, REG_DWORD, (BYTE *)&value, size),
                     ERROR_ACCESS_DENIED);
    assert_int_equal(RegDeleteValueA(key, "Last Counter"), ERROR_ACCESS_DENIED);
    assert_int_equal(RegDeleteTreeA(key, NULL), ERROR_ACCESS_DENIED);
    assert_int_equal(RegDeleteKeyA(key, "009"), ERROR_ACCESS_DENIED);
    RegCloseKey(key);
    assert_int_equal(RegCreateKeyExA(root, "SOFTWARE\\New", 0, NULL, 0, KEY_READ, NULL, &key, NULL),
                     ERROR_ACCESS_DENIED);
    assert_int_equal(RegOpenKeyExA(root, "SYSTEM\\CurrentControlSet\\Services", 0, KEY_READ, &key),
                     ERROR_ACCESS_DENIED);
    assert_int_equal(RegOpenKeyExA(root, "SOFTWARE\\openperflib", 0, KEY_READ, &key),
                     ERROR_ACCESS_DENIED);
    assert_int_equal(RegOpenKeyExA(users, "S-1-5-18", 0, KEY_READ, &key), ERROR_FILE_NOT_FOUND);
    char name[64];
    size = sizeof name;
    assert_int_equal(RegEnumKeyExA(root, 0, name, &size, NULL, NULL, NULL, NULL),
                     ERROR_ACCESS_DENIED);
    RegCloseKey(users);
    RegCloseKey(root);
}

static void names_of_machines(void **state)
{
    static const char *const wrong[] = {"ssh://",       "ssh://-oProxyCommand=x",
                                        "ssh://a b",    "unix:rel",
                                        "\\\\no..body", "http://x",
                                        "ssh://a;b",    "unix:",
                                        "unix:nope",    "ssh://a:b",
                                        "smb://a:0",    "smb://-a"};
    HKEY key;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(RegConnectRegistryA(wrong[i], HKEY_LOCAL_MACHINE, &key),
                         ERROR_BAD_NETPATH);
    assert_int_equal(RegConnectRegistryA(server_url, HKEY_CURRENT_USER, &key),
                     ERROR_INVALID_HANDLE);
    lab_set_text("SOFTWARE\\openperflib\\Remote\\Machines", "BOX", server_url);
    assert_int_equal(RegConnectRegistryA("\\\\box", HKEY_LOCAL_MACHINE, &key), 0);
    RegCloseKey(key);
    assert_int_equal(RegConnectRegistryA("BOX", HKEY_PERFORMANCE_DATA, &key), 0);
    RegCloseKey(key);
}

static int cook_a_far_counter(void)
{
    HQUERY query;
    HCOUNTER counter;
    PDH_FMT_COUNTERVALUE value;
    if (PdhOpenQueryA(NULL, 0, &query) ||
        PdhAddEnglishCounterA(query, "\\\\BOX2\\System\\Processes", 0, &counter) ||
        PdhCollectQueryData(query) ||
        PdhGetFormattedCounterValue(counter, PDH_FMT_LONG, NULL, &value))
        return 1;
    return value.longValue <= 0 || PdhCloseQuery(query) ||
           !PdhValidatePathA("\\\\NOBOX\\System\\Processes");
}

/* Names come from the server's lists, values from its providers. This runs in a child process,
 * because PDH would stay connected. */
static void pdh_paths_name_a_machine(void **state)
{
    lab_set_text("SOFTWARE\\openperflib\\Remote\\Machines", "BOX2", server_url);
    assert_int_equal(server_join(server_fork(cook_a_far_counter)), 0);
}

/* An experiment of the second article (docs/windows), with another machine: the provider is loaded
 * by the server's process, and its functions are called in order. */
static void c60_the_provider_is_loaded_at_the_server(void **state)
{
    char calls[512];
    server_forget_notes();
    HKEY key = connect_to(HKEY_PERFORMANCE_DATA);
    DWORD size = SIZE;
    assert_int_equal(run_query(key, "22222", &size), 0);
    size = SIZE;
    assert_int_equal(run_query(key, "22222", &size), 0);
    pid_t there = server_notes(calls, sizeof calls);
    assert_int_not_equal(there, getpid());
    assert_string_equal(calls, "attach, Open, Collect, Collect");
    HKEY second = connect_to(HKEY_PERFORMANCE_DATA);
    RegCloseKey(key);
    server_notes(calls, sizeof calls);
    assert_string_equal(calls, "attach, Open, Collect, Collect");
    RegCloseKey(second);
    assert_true(server_gone(there));
    server_notes(calls, sizeof calls);
    assert_string_equal(calls, "attach, Open, Collect, Collect, Close, detach");
}

static void c61_close_lets_the_next_query_open(void **state)
{
    char calls[512];
    HKEY other = connect_to(HKEY_LOCAL_MACHINE); /* keeps the connection open between the queries */
    server_forget_notes();
    for (int i = 0; i < 2; i++) {
        HKEY key = connect_to(HKEY_PERFORMANCE_DATA);
        DWORD size = SIZE;
        assert_int_equal(run_query(key, "22222", &size), 0);
        RegCloseKey(key);
    }
    server_notes(calls, sizeof calls);
    assert_string_equal(
        calls, "attach, Open, Collect, Close, detach, attach, Open, Collect, Close, detach");
    RegCloseKey(other);
}

static int five_queries(void)
{
    HKEY key;
    if (RegConnectRegistryA(server_url, HKEY_PERFORMANCE_DATA, &key))
        return 1;
    for (int i = 0; i < 5; i++) {
        DWORD size = SIZE;
        if (RegQueryValueExA(key, "22222", NULL, NULL, remote_data, &size) ||
            !has_object(remote_data, size, 22222))
            return 2;
    }
    return RegCloseKey(key);
}

/* Checks the order of calls in the provider's notes: Open, Collect..., Close, and again for each
 * session. */
static void judge_order(const char *text, int pid)
{
    int open = 0, opens = 0, collects = 0;
    char what[64];
    for (const char *line = text; *line; line += strcspn(line, "\n") + 1) {
        int other, thread;
        if (sscanf(line, "%d %d %63s", &other, &thread, what) != 3 || other != pid)
            continue;
        if (!strcmp(what, "Open")) {
            assert_false(open);
            open = 1;
            opens++;
        } else if (!strcmp(what, "Close")) {
            assert_true(open);
            open = 0;
        } else if (!strcmp(what, "Collect")) {
            assert_true(open);
            collects++;
        }
    }
    assert_int_equal(open, 0);
    assert_int_equal(opens, 1);
    assert_int_equal(collects, 5);
}

static void c61_several_users_at_once(void **state)
{
    enum { USERS = 3 };
    pid_t pids[USERS];
    int seen[64] = {0}, count = 0, pid, thread;
    char text[16384];
    server_forget_notes();
    for (int i = 0; i < USERS; i++)
        pids[i] = server_fork(five_queries);
    for (int i = 0; i < USERS; i++)
        assert_int_equal(server_join(pids[i]), 0);
    for (int tries = 0; tries < 500; tries++) {
        int closes = 0;
        snprintf(text, sizeof text, "%s", lab_read("notes"));
        for (const char *at = text; (at = strstr(at, "Close")); at++)
            closes++;
        if (closes == USERS)
            break;
        usleep(10000);
    }
    for (const char *line = text; *line; line += strcspn(line, "\n") + 1)
        if (sscanf(line, "%d %d", &pid, &thread) == 2) {
            int at = 0;
            while (at < count && seen[at] != pid)
                at++;
            if (at == count)
                seen[count++] = pid;
        }
    assert_int_equal(count, USERS);
    for (int i = 0; i < count; i++)
        judge_order(text, seen[i]);
}

/* ---- threads ---- */

enum { THREADS = 4 };
static HKEY common_key;

static void *query_in_thread(void *failed)
{
    enum { LITTLE = 64 << 10 };
    BYTE *data = malloc(LITTLE);
    for (int i = 0; data && i < 5; i++) {
        DWORD size = LITTLE, type = REG_NONE;
        LSTATUS status = RegQueryValueExA(common_key, "22222", NULL, &type, data, &size);
        if (status || !has_object(data, size, 22222))
            *(int *)failed = 1;
    }
    free(data);
    return NULL;
}

static int query_in_threads(void)
{
    pthread_t threads[THREADS];
    int failed[THREADS] = {0}, any = 0;
    if (RegConnectRegistryA(server_url, HKEY_PERFORMANCE_DATA, &common_key))
        return 1;
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, query_in_thread, &failed[i]))
            return 2;
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        any |= failed[i];
    }
    return any ? 3 : RegCloseKey(common_key);
}

/* Each user of the server has a separate copy of a provider's static data. The threads of one user
 * share it: only one thread at a time calls the provider, between one Open and one Close. */
static void c119_data_of_a_user(void **state)
{
    enum { USERS = 2 };
    pid_t users[USERS];
    int attached = 0, opened = 0, collected = 0, closed = 0;
    server_forget_notes();
    for (int i = 0; i < USERS; i++)
        users[i] = server_fork(query_in_threads);
    for (int i = 0; i < USERS; i++)
        assert_int_equal(server_join(users[i]), 0);
    for (int tries = 0; tries < 500 && closed < USERS; tries++) {
        attached = opened = collected = closed = 0;
        usleep(10000);
        for (const char *line = lab_read("notes"); *line; line += strcspn(line, "\n") + 1) {
            char what[64];
            if (sscanf(line, "%*d %*d %63s", what) != 1)
                break;
            attached += !strcmp(what, "attach");
            opened += !strcmp(what, "Open");
            collected += !strcmp(what, "Collect");
            closed += !strcmp(what, "Close");
        }
    }
    assert_int_equal(attached, USERS);
    assert_int_equal(opened, USERS);
    assert_int_equal(collected, USERS * THREADS * 5);
    assert_int_equal(closed, USERS);
}

static int query_and_vanish(void)
{
    HKEY key;
    DWORD size = SIZE;
    if (RegConnectRegistryA(server_url, HKEY_PERFORMANCE_DATA, &key) ||
        RegQueryValueExA(key, "22222", NULL, NULL, remote_data, &size))
        return 1;
    kill(getpid(), SIGKILL);
    return 2;
}

static void a_vanished_client_leaves_nothing(void **state)
{
    char calls[512];
    server_forget_notes();
    assert_int_equal(server_join(server_fork(query_and_vanish)), 1000 + SIGKILL);
    pid_t there = server_notes(calls, sizeof calls);
    assert_true(there > 0);
    assert_true(server_gone(there));
    server_notes(calls, sizeof calls);
    assert_string_equal(calls, "attach, Open, Collect, Close, detach");
}

/* If a client is killed while its query hangs in a provider, the server's process for that client
 * must end. */
static void a_client_that_vanishes_ends_its_query(void **state)
{
    struct lab_service service = {.name = "MyPerf",
                                  .library = getenv("RECORDER"),
                                  .open = "record_open",
                                  .collect = "record_hangs",
                                  .close = "record_close",
                                  .isolation = LAB_IN_PROCESS};
    char calls[512];
    lab_register(&service);
    server_forget_notes();
    pid_t requesting = server_fork(query_and_vanish);
    for (int i = 0; i < 1000 && !strstr(lab_read("notes"), "Collect"); i++)
        usleep(10000);
    pid_t there = server_notes(calls, sizeof calls);
    assert_string_equal(calls, "attach, Open, Collect");
    kill(requesting, SIGKILL);
    server_join(requesting);
    assert_true(server_gone(there));
    service.collect = "record_object";
    service.isolation = 0;
    lab_register(&service);
}

static int query_in_child(void)
{
    return five_queries();
}

static HKEY inherited;

static int query_inherited(void)
{
    DWORD size = SIZE;
    LSTATUS status = RegQueryValueExA(inherited, "2", NULL, NULL, remote_data, &size);
    return status ? (int)status : RegCloseKey(inherited);
}

static void a_fork_has_its_own_connection(void **state)
{
    inherited = connect_to(HKEY_PERFORMANCE_DATA);
    DWORD size = SIZE;
    assert_int_equal(run_query(inherited, "2", &size), 0);
    pid_t first = server_fork(query_inherited), second = server_fork(query_in_child);
    for (int i = 0; i < 10; i++) {
        size = SIZE;
        assert_int_equal(run_query(inherited, "2", &size), 0);
    }
    assert_int_equal(server_join(first), 0);
    assert_int_equal(server_join(second), 0);
    size = SIZE;
    assert_int_equal(run_query(inherited, "2", &size), 0);
    RegCloseKey(inherited);
}

static int close_all_and_query(void)
{
    HKEY key;
    DWORD size = SIZE;
    if (RegConnectRegistryA(server_url, HKEY_PERFORMANCE_DATA, &key) ||
        RegQueryValueExA(key, "2", NULL, NULL, remote_data, &size))
        return 1;
    int before = dup(2);
    for (int fd = 3; fd < 256; fd++)
        close(fd);
    /* these new descriptors reuse the number of the closed connection, so the library must
     * notice that */
    int mine[8];
    for (int i = 0; i < 8; i++)
        mine[i] = dup(2);
    size = SIZE;
    if (before < 0 || RegQueryValueExA(key, "2", NULL, NULL, remote_data, &size))
        return 2;
    RegCloseKey(key);
    for (int i = 0; i < 8; i++)
        if (close(mine[i]))
            return 3;
    return 0;
}

static void a_program_may_close_everything(void **state)
{
    assert_int_equal(server_join(server_fork(close_all_and_query)), 0);
}

static volatile sig_atomic_t children_seen;

static void see_child(int number)
{
    (void)number;
    children_seen++;
}

static int notice_nothing(void)
{
    HKEY key;
    signal(SIGCHLD, see_child);
    if (five_queries())
        return 1;
    if (RegConnectRegistryA(server_url, HKEY_LOCAL_MACHINE, &key))
        return 2;
    if (waitpid(-1, NULL, WNOHANG) != -1 || errno != ECHILD)
        return 3;
    RegCloseKey(key);
    usleep(100000);
    return children_seen ? 4 : 0;
}

static void the_program_has_no_child(void **state)
{
    assert_int_equal(server_join(server_fork(notice_nothing)), 0);
}

static void a_slow_query_blocks_no_other(void **state)
{
    lab_register(&(struct lab_service){.name = "MyPerf",
                                       .library = getenv("RECORDER"),
                                       .open = "record_open",
                                       .collect = "record_very_slow",
                                       .close = "record_close",
                                       .isolation = LAB_IN_PROCESS});
    server_forget_notes();
    pid_t slow = server_fork(five_queries);
    for (int i = 0; i < 1000 && !strstr(lab_read("notes"), "Collect"); i++)
        usleep(10000);
    HKEY key = connect_to(HKEY_PERFORMANCE_DATA);
    DWORD size = SIZE;
    long long began = lab_now_ms();
    assert_int_equal(run_query(key, "2", &size), 0);
    assert_int_equal(kill(slow, 0), 0);
    assert_int_equal(waitpid(slow, NULL, WNOHANG), 0);
    assert_true(lab_now_ms() - began < 5000);
    RegCloseKey(key);
    kill(slow, SIGKILL);
    server_join(slow);
    lab_register(&(struct lab_service){.name = "MyPerf",
                                       .library = getenv("RECORDER"),
                                       .open = "record_open",
                                       .collect = "record_object",
                                       .close = "record_close",
                                       .isolation = LAB_IN_PROCESS});
}

static void a_server_that_comes_back(void **state)
{
    if (!by_socket) {
        report_skipped("through ssh each connection has a server of its own");
        return;
    }
    HKEY key = connect_to(HKEY_PERFORMANCE_DATA);
    DWORD size = SIZE;
    assert_int_equal(run_query(key, "2", &size), 0);
    server_stop();
    size = SIZE;
    assert_int_equal(run_query(key, "2", &size), RPC_S_SERVER_UNAVAILABLE);
    long long began = lab_now_ms();
    assert_int_equal(run_query(key, "2", &size), RPC_S_SERVER_UNAVAILABLE);
    assert_true(lab_now_ms() - began < 500);
    server_start();
    LSTATUS status = ERROR_BUSY;
    for (int i = 0; i < 200 && status; i++) {
        usleep(50000);
        size = SIZE;
        status = run_query(key, "2", &size);
    }
    assert_int_equal(status, 0);
    RegCloseKey(key);
}

static void a_shell_that_fails(void **state)
{
    HKEY key;
    assert_int_equal(RegConnectRegistryA("ssh://down", HKEY_LOCAL_MACHINE, &key),
                     RPC_S_SERVER_UNAVAILABLE);
    assert_int_equal(RegConnectRegistryA("ssh://chatty", HKEY_LOCAL_MACHINE, &key),
                     ERROR_INVALID_DATA);
    assert_int_equal(RegConnectRegistryA("ssh://me@[::1]:2222", HKEY_LOCAL_MACHINE, &key), 0);
    RegCloseKey(key);
    char *log = lab_read("shell.log");
    assert_non_null(strstr(log, "-oBatchMode=yes"));
    assert_non_null(strstr(log, " -p 2222 -- me@::1 openperflib-winregd --stdio\n"));
}

/* ---- another user ---- */

static LSTATUS wanted_status;

static int query_as_nobody(void)
{
    HKEY key;
    if (setgroups(0, NULL) || setresgid(65534, 65534, 65534) || setresuid(65534, 65534, 65534))
        return SKIPPED;
    LSTATUS status = RegConnectRegistryA(server_url, HKEY_PERFORMANCE_DATA, &key);
    DWORD size = SIZE;
    if (!status)
        status = RegQueryValueExA(key, "2", NULL, NULL, remote_data, &size);
    return status != wanted_status;
}

static void expect_nobody(LSTATUS status)
{
    wanted_status = status;
    assert_int_equal(server_join(server_fork(query_as_nobody)), 0);
}

static const char gate[] = "SYSTEM\\CurrentControlSet\\Control\\SecurePipeServers\\winreg";

static void c29_access(void **state)
{
    if (!by_socket || geteuid() != 0) {
        report_skipped("needs a socket, and root to become another user");
        return;
    }
    expect_nobody(ERROR_ACCESS_DENIED);
    assert_true(lab_has_event(NULL, 1000));
    lab_set_text(gate, "Access", "65534");
    expect_nobody(0);
    lab_set_text(LAB_PERFLIB, "Access", "nosuchuser");
    expect_nobody(ERROR_ACCESS_DENIED);
    lab_set_text(LAB_PERFLIB, "Access", "@65534");
    expect_nobody(0);
    lab_set_dword(gate, "Access", 1);
    expect_nobody(ERROR_ACCESS_DENIED);
    lab_unset(gate, "Access");
    expect_nobody(0);
    lab_set_text(LAB_PERFLIB, "Access", "*");
    expect_nobody(0);
    lab_unset(LAB_PERFLIB, "Access");
    expect_nobody(ERROR_ACCESS_DENIED);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(c28_performance_data),
        cmocka_unit_test(c28_names),
        cmocka_unit_test(perflib_key_is_the_same),
        cmocka_unit_test(nothing_is_written_and_little_is_seen),
        cmocka_unit_test(names_of_machines),
        cmocka_unit_test(pdh_paths_name_a_machine),
        cmocka_unit_test(c60_the_provider_is_loaded_at_the_server),
        cmocka_unit_test(c61_close_lets_the_next_query_open),
        cmocka_unit_test(c61_several_users_at_once),
        cmocka_unit_test(c119_data_of_a_user),
        cmocka_unit_test(a_vanished_client_leaves_nothing),
        cmocka_unit_test(a_client_that_vanishes_ends_its_query),
        cmocka_unit_test(a_fork_has_its_own_connection),
        cmocka_unit_test(a_program_may_close_everything),
        cmocka_unit_test(the_program_has_no_child),
        cmocka_unit_test(a_server_that_comes_back),
        cmocka_unit_test(a_shell_that_fails),
        cmocka_unit_test(a_slow_query_blocks_no_other),
        cmocka_unit_test(c29_access),
    };
    if (argc != 2)
        return 2;
    by_socket = strcmp(argv[1], "unix") == 0;
    server_lab("record_object");
    server_way(argv[1]);
    server_start();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    server_stop();
    lab_close();
    return failed;
}
