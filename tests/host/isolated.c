/* SPDX-License-Identifier: MIT */
/*
 * Third-party providers in their helper processes, as programs use them: all are queried at once;
 * an overdue answer costs time only once; threads query, close the key and fork.
 */
#include <openperflib/block.h>
#include <windows.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../parts.h"
#include "../temp.h"

#define SERVICES "SYSTEM\\CurrentControlSet\\Services\\"
#define PERFLIB "SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion\\Perflib"
enum { SIZE = 1 << 20, MUCH_LESS = 300 /* milliseconds, on a busy machine */ };

static char root[64], gate[96], notes[96], events[96];
static unsigned char data[SIZE];
static DWORD size;

/* ---- registration ---- */

static void set(const char *key, const char *name, DWORD type, const void *value, DWORD bytes)
{
    HKEY handle;
    assert_int_equal(
        RegCreateKeyExA(HKEY_LOCAL_MACHINE, key, 0, NULL, 0, KEY_WRITE, NULL, &handle, NULL), 0);
    assert_int_equal(RegSetValueExA(handle, name, 0, type, value, bytes), 0);
    RegCloseKey(handle);
}

static const char *below(const char *service, const char *key)
{
    static char path[256];
    snprintf(path, sizeof path, SERVICES "%s\\%s", service, key);
    return path;
}

static void set_text(const char *service, const char *name, const char *text)
{
    set(below(service, "Performance"), name, REG_SZ, text, (DWORD)strlen(text) + 1);
}

static void set_dword(const char *service, const char *name, DWORD value)
{
    set(below(service, "Performance"), name, REG_DWORD, &value, sizeof value);
}

static void set_switch(const char *name, DWORD value)
{
    set(PERFLIB, name, REG_DWORD, &value, sizeof value);
}

/* INSTALL registers a service; `words` is the multi-string for third_party.c: "22222" or
 * "22222\0gate". */
#define INSTALL(service, words) install(service, words "\0", sizeof words + 1)
static void install(const char *service, const char *words, size_t bytes)
{
    set_text(service, "Open", "third_party_open");
    set_text(service, "Collect", "third_party_collect");
    set_text(service, "Close", "third_party_close");
    set_text(service, "Object List", words);
    set(below(service, "Linkage"), "Export", REG_MULTI_SZ, words, (DWORD)bytes);
    set_text(service, "Library", getenv("THIRD_PARTY"));
}

/* ---- queries ---- */

static long long now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

static LSTATUS run_query(const char *query)
{
    size = sizeof data;
    return RegQueryValueExA(HKEY_PERFORMANCE_DATA, query, NULL, NULL, data, &size);
}

/* Queries, and returns how long it took in milliseconds. */
static long long query_in_time(const char *query)
{
    long long start = now_ms();
    assert_int_equal(run_query(query), ERROR_SUCCESS);
    return now_ms() - start;
}

/* The objects of the answer in their order: "22222 33332". */
static const char *answered(void)
{
    static char text[256];
    opl_block block;
    opl_object_view object = {0};
    size_t used = 0;
    text[0] = '\0';
    assert_int_equal(opl_block_init(&block, data, size), OPL_BLOCK_GOOD);
    while (opl_block_next_object(&block, &object))
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%u", used ? " " : "",
                                 (unsigned)object.type.ObjectNameTitleIndex);
    return text;
}

static const char *read_all(const char *path)
{
    static char text[1 << 16];
    FILE *file = fopen(path, "r");
    size_t count = file ? fread(text, 1, sizeof text - 1, file) : 0;
    text[count] = '\0';
    if (file)
        fclose(file);
    return text;
}

static int count_events(unsigned id)
{
    char wanted[32];
    int count = 0;
    snprintf(wanted, sizeof wanted, "\tPerflib\t%u\t", id);
    for (const char *at = read_all(events); (at = strstr(at, wanted)); at++)
        count++;
    return count;
}

static int count_notes(const char *what)
{
    int count = 0;
    for (const char *at = read_all(notes); (at = strstr(at, what)); at++)
        count++;
    return count;
}

static void close_gate(void)
{
    temp_write(root, "gate", "");
}

static void open_gate(void)
{
    unlink(gate);
}

/* ---- tests ---- */

static void all_are_asked_at_once_and_joined_in_order(void **state)
{
    INSTALL("Third", "33336\0sleep 200");
    INSTALL("First", "33332\0sleep 200");
    INSTALL("Second", "33334\0sleep 200");
    /* starts the helper processes now, because their start is not to be measured */
    assert_int_equal(run_query("33336"), ERROR_SUCCESS);
    assert_int_equal(run_query("33332 33334"), ERROR_SUCCESS);
    long long took = query_in_time("33332 33334 33336");
    assert_string_equal(answered(), "33332 33334 33336");
    assert_in_range(took, 200, 200 + MUCH_LESS);
}

/* The first query waits until the deadline, later ones do not wait. When the answer comes, it is
 * noticed. */
static void an_overdue_provider_is_not_waited_for_again(void **state)
{
    INSTALL("Late", "22222\0gate");
    INSTALL("Fine", "33332");
    set_dword("Late", "Collect Timeout", 700);
    assert_int_equal(run_query("22222 33332"), ERROR_SUCCESS);
    assert_string_equal(answered(), "33332 22222");
    close_gate();
    assert_in_range(query_in_time("22222 33332"), 700, 700 + MUCH_LESS);
    assert_string_equal(answered(), "33332");
    for (int i = 0; i < 10; i++) {
        assert_in_range(query_in_time("22222 33332"), 0, MUCH_LESS);
        assert_string_equal(answered(), "33332");
    }
    assert_int_equal(count_events(1015), 1);
    open_gate();
    usleep(100 * 1000);
    assert_int_equal(run_query("22222 33332"), ERROR_SUCCESS);
    assert_string_equal(answered(), "33332 22222");
}

/* A helper process that does not answer is ended after ten times its deadline, at least 10 s. */
static void a_silent_helper_is_ended(void **state)
{
    INSTALL("Silent", "22222\0gate");
    set_dword("Silent", "Collect Timeout", 900);
    close_gate();
    long long start = now_ms();
    while (!strstr(read_all(events), "was ended") && now_ms() - start < 30000) {
        assert_int_equal(run_query("22222"), ERROR_SUCCESS);
        usleep(200 * 1000);
    }
    assert_in_range(now_ms() - start, 10000, 12000);
    assert_int_equal(count_events(1015), 2);
    assert_int_equal(count_notes("collect"), 1);
    usleep(1100 * 1000); /* waits until the waiting period after this failure is over */
    for (int i = 0; i < 3; i++)
        /* a query that finds the answer overdue does not wait */
        assert_in_range(query_in_time("22222"), 0, MUCH_LESS);
    assert_int_equal(count_events(1015), 2);
    open_gate();
    usleep(200 * 1000);
    assert_int_equal(count_notes("collect"), 2);
    assert_int_equal(run_query("22222"), ERROR_SUCCESS);
    assert_string_equal(answered(), "22222");
    assert_int_equal(count_notes("close"), 0);
}

/* The value Error Count; -1: there is none. */
static long long error_count(const char *service)
{
    DWORD count = 0, bytes = sizeof count;
    HKEY key;
    assert_int_equal(
        RegOpenKeyExA(HKEY_LOCAL_MACHINE, below(service, "Performance"), 0, KEY_READ, &key), 0);
    LSTATUS status = RegQueryValueExA(key, "Error Count", NULL, NULL, (BYTE *)&count, &bytes);
    RegCloseKey(key);
    return status ? -1 : (long long)count;
}

/* Runs a program that queries once. Programs with an even number end without closing the key. */
static void query_in_a_short_program(int number)
{
    int ended;
    pid_t child = fork();
    if (child == 0) {
        LSTATUS status = run_query("22222");
        if (number % 2)
            RegCloseKey(HKEY_PERFORMANCE_DATA);
        _exit(status ? 1 : 0);
    }
    assert_int_equal(waitpid(child, &ended, 0), child);
    assert_int_equal(ended, 0);
}

/* N of the registry value Unanswered, "until WHEN (N times in a row): ..."; 0: there is no such
 * value */
static int unanswered(const char *service)
{
    char text[96] = "";
    DWORD bytes = sizeof text;
    int times = 0;
    RegGetValueA(HKEY_LOCAL_MACHINE, below(service, "Performance"), "Unanswered", RRF_RT_REG_SZ,
                 NULL, text, &bytes);
    sscanf(text, "until %*s (%d time", &times);
    return times;
}

static long long query_slow_in_short_programs(int first, int last)
{
    long long start = now_ms();
    for (int i = first; i <= last; i++)
        query_in_a_short_program(i);
    return now_ms() - start;
}

/* None of these programs runs long enough to distinguish a slow provider from one that never
 * answers. So the deadlines that the provider misses are no failures; but after five of them,
 * queries of new programs do not wait for it any more. */
static void short_programs_that_find_it_silent_soon_do_not_wait(void **state)
{
    INSTALL("Late", "22222\0gate");
    set_dword("Late", "Collect Timeout", 400);
    close_gate();
    for (int i = 1; i <= 5; i++) {
        assert_true(query_slow_in_short_programs(i, i) >= 400);
        assert_int_equal(unanswered("Late"), i);
        assert_int_equal(count_events(1015), i < 5 ? i : 6);
    }
    assert_non_null(strstr(read_all(events), "5 times in a row"));
    set_dword("Late", "Collect Timeout",
              5000); /* so that a busy machine does not look like waiting */
    assert_in_range(query_slow_in_short_programs(6, 8), 0, 4999);
    assert_int_equal(unanswered("Late"), 5);
    assert_int_equal(count_events(1015), 6);
    assert_int_equal(count_events(1017), 0);
    assert_int_equal(error_count("Late"), -1);
}

/* When any program gets an answer of the provider, queries of all programs wait for it again. */
static void a_late_answer_forgives_what_other_programs_missed(void **state)
{
    INSTALL("Late", "22222\0gate");
    set_dword("Late", "Collect Timeout", 200);
    close_gate();
    query_slow_in_short_programs(1, 5);
    assert_int_equal(unanswered("Late"), 5);
    assert_in_range(query_in_time("22222"), 0, MUCH_LESS);
    open_gate();
    for (int i = 0; i < 50 && unanswered("Late"); i++) { /* at most 5 s, for a busy machine */
        usleep(100 * 1000);
        assert_int_equal(run_query("22222"), ERROR_SUCCESS);
    }
    assert_string_equal(answered(), "22222");
    assert_int_equal(unanswered("Late"), 0);
    close_gate();
    assert_true(query_slow_in_short_programs(6, 6) >= 200);
}

/* Only missed deadlines in a row count: a valid answer in between resets the count. */
static void a_good_answer_between_forgives_too(void **state)
{
    INSTALL("Late", "22222\0gate");
    set_dword("Late", "Collect Timeout", 150);
    for (int i = 0; i < 3; i++) {
        close_gate();
        query_slow_in_short_programs(1, 2);
        assert_int_equal(unanswered("Late"), 2);
        open_gate();
        query_in_a_short_program(i);
        assert_int_equal(unanswered("Late"), 0);
    }
    assert_int_equal(count_events(1017), 0);
}

/* When an overdue answer arrives, the missed deadline is no longer counted, because a slow provider
 * is not dead. And a provider that is always slow does not cause a write to the registry at each
 * query. */
static void a_late_answer_takes_its_miss_back(void **state)
{
    INSTALL("Late", "22222\0gate");
    set_dword("Late", "Collect Timeout", 300);
    for (int i = 0; i < 2; i++) {
        close_gate();
        assert_int_equal(run_query("22222"), ERROR_SUCCESS);
        assert_string_equal(answered(), "");
        assert_int_equal(unanswered("Late"), !i);
        open_gate();
        usleep(200 * 1000);
        assert_int_equal(run_query("22222"), ERROR_SUCCESS);
        assert_int_equal(unanswered("Late"), 0);
    }
}

/* A program closes the key after each query, while a provider does not answer. Its first two
 * queries wait for the provider; later ones wait less and less often. */
static void closing_the_key_forgives_no_silence(void **state)
{
    INSTALL("Late", "22222\0gate");
    set_dword("Late", "Collect Timeout", 300);
    close_gate();
    for (int i = 0; i < 5; i++) {
        long long took = query_in_time("22222");
        assert_in_range(took, i < 2 ? 300 : 0, i < 2 ? 2000 : MUCH_LESS);
        RegCloseKey(HKEY_PERFORMANCE_DATA);
    }
    assert_int_equal(count_notes("collect"), 2);
    assert_int_equal(unanswered("Late"), 2);
    open_gate();
    usleep(1100 * 1000);
    assert_int_equal(run_query("22222"), ERROR_SUCCESS);
    assert_string_equal(answered(), "22222");
    assert_int_equal(unanswered("Late"), 0);
    assert_int_equal(error_count("Late"), -1);
}

static void a_crash_in_close_counts(void **state)
{
    INSTALL("Fall", "22222\0fall");
    set_switch("Error Count Limit", 2);
    for (int i = 1; i <= 2; i++) {
        assert_int_equal(run_query("22222"), ERROR_SUCCESS);
        assert_string_equal(answered(), "22222");
        RegCloseKey(HKEY_PERFORMANCE_DATA);
        assert_int_equal(count_events(1011), i);
        assert_int_equal(count_events(1017), i - 1);
    }
    assert_non_null(strstr(read_all(events), "Close crashed: SIGSEGV"));
    assert_non_null(strstr(read_all(events), "lodctr --user /E:Fall"));
    assert_int_equal(run_query("22222"), ERROR_SUCCESS);
    assert_string_equal(answered(), "");
}

static void costly_may_take_longer(void **state)
{
    INSTALL("Late", "22222\0sleep 1300");
    assert_int_equal(run_query("Costly"), ERROR_SUCCESS);
    assert_string_equal(answered(), "22222");
    assert_int_equal(run_query("22222"), ERROR_SUCCESS);
    assert_string_equal(answered(), "");
    assert_int_equal(count_events(1015), 1);
}

static void without_hang_test_it_is_waited_for(void **state)
{
    INSTALL("Late", "22222\0sleep 400");
    set_dword("Late", "Collect Timeout", 50);
    set_switch("Configuration Flags", 8);
    assert_int_equal(run_query("22222"), ERROR_SUCCESS);
    assert_string_equal(answered(), "22222");
    assert_int_equal(count_events(1015), 0);
}

static void too_much_for_all_is_more_data(void **state)
{
    static unsigned char little[60000];
    DWORD capacity = sizeof little;
    INSTALL("First", "33332\0big 40000");
    INSTALL("Second", "33334\0big 40000");
    assert_int_equal(
        RegQueryValueExA(HKEY_PERFORMANCE_DATA, "33332 33334", NULL, NULL, little, &capacity),
        ERROR_MORE_DATA);
    assert_int_equal(capacity, sizeof little);
    assert_int_equal(count_notes("collect"), 2);
    assert_int_equal(run_query("33332 33334"), ERROR_SUCCESS);
    assert_string_equal(answered(), "33332 33334");
}

/* Queries with a buffer that doubles each time, as programs do. Returns the size that was enough,
 * or 0. */
static DWORD query_with_growing_space(const char *query)
{
    for (DWORD capacity = 8192; capacity <= sizeof data; capacity *= 2) {
        size = capacity;
        LSTATUS status = RegQueryValueExA(HKEY_PERFORMANCE_DATA, query, NULL, NULL, data, &size);
        if (status != ERROR_MORE_DATA) {
            assert_int_equal(status, ERROR_SUCCESS);
            return capacity;
        }
    }
    return 0;
}

/* A provider fills every buffer, each time with a valid answer: the other providers still get
 * space. */
static void filling_any_buffer_does_not_starve_the_others(void **state)
{
    INSTALL("Hoarder", "22222\0hog");
    INSTALL("Modest", "33332");
    for (DWORD isolation = 0; isolation <= 1; isolation++) {
        set_dword("Hoarder", "Isolation", isolation);
        assert_in_range(query_with_growing_space("22222 33332"), 8192, 65536);
        assert_string_equal(answered(), "33332");
        assert_int_equal(count_events(1020), 1);
        assert_non_null(strstr(read_all(events), "it fills buffers of any size"));
        RegCloseKey(HKEY_PERFORMANCE_DATA);
        unlink(events);
    }
}

/* If no other provider needs space, a provider may fill the buffer. After the limit of failures it
 * is in quarantine like others. */
static void one_provider_may_fill_the_buffer(void **state)
{
    INSTALL("Hoarder", "22222\0hog");
    INSTALL("Modest", "33332");
    set_switch("Error Count Limit", 2);
    for (DWORD capacity = 8192; capacity <= 65536; capacity *= 2) {
        size = capacity;
        assert_int_equal(RegQueryValueExA(HKEY_PERFORMANCE_DATA, "22222", NULL, NULL, data, &size),
                         ERROR_SUCCESS);
        assert_string_equal(answered(), "22222");
    }
    assert_string_equal(read_all(events), "");
    assert_int_not_equal(query_with_growing_space("22222 33332"), 0);
    assert_int_equal(count_events(1017), 0);
    usleep(1100 * 1000);
    assert_int_not_equal(query_with_growing_space("22222 33332"), 0);
    assert_int_equal(count_events(1017), 1);
}

/* Providers that need much space, and fill the buffer exactly, are not treated as ones that fill
 * every buffer. */
static void a_provider_that_needs_much_is_queried_on(void **state)
{
    INSTALL("First", "33332\0big 15500");
    INSTALL("Second", "33334\0big 31000");
    INSTALL("Third", "33336\0big 40000");
    for (int i = 0; i < 4; i++) {
        assert_int_equal(query_with_growing_space("33332 33334 33336"), 131072);
        assert_string_equal(answered(), "33332 33334 33336");
    }
    assert_string_equal(read_all(events), "");
}

static void a_crash_costs_only_its_objects_and_a_second_without_queries(void **state)
{
    INSTALL("Crash", "22222\0crash");
    INSTALL("Fine", "33332");
    set_switch("Error Count Limit", 2);
    assert_int_equal(run_query("22222 33332"), ERROR_SUCCESS);
    assert_string_equal(answered(), "33332");
    assert_int_equal(count_events(1010), 1);
    assert_int_equal(run_query("22222 33332"), ERROR_SUCCESS);
    assert_int_equal(count_events(1010), 1);
    usleep(1100 * 1000);
    assert_int_equal(run_query("22222 33332"), ERROR_SUCCESS);
    assert_string_equal(answered(), "33332");
    assert_int_equal(count_events(1010), 2);
    assert_int_equal(count_events(1017), 1);
    assert_non_null(strstr(read_all(events), "Collect crashed: SIGSEGV"));
}

/* Windows' event names an exception; the event's text says whether it was a crash or an exit. */
static void f_e1_a_crash_and_an_exit_are_distinguished(void **state)
{
    INSTALL("Crash", "22222\0crash");
    INSTALL("Exit", "33332\0exit");
    assert_int_equal(run_query("22222 33332"), ERROR_SUCCESS);
    assert_int_equal(count_events(1010), 1);
    assert_int_equal(count_events(4011), 1);
    assert_non_null(strstr(read_all(events), " crashed: SIGSEGV in "));
    assert_non_null(strstr(read_all(events), "called by third_party.so+0x"));
    assert_non_null(strstr(read_all(events), "Collect of Exit in "));
    assert_non_null(strstr(read_all(events), " ended its helper process with exit code 3; "));
}

/* The keeper notices the leak a moment later, so more than one query may be answered. The timeouts
 * are long because a query that does not wait for Collect lets nothing leak. */
static void a_leak_is_a_failure_and_is_reported(void **state)
{
    INSTALL("Leak", "22222\0leak");
    set_dword("Leak", "Open Timeout", 30000);
    set_dword("Leak", "Collect Timeout", 30000);
    set_dword("Leak", "Memory Limit", 64);
    set_switch("Error Count Limit", 1);
    for (int tries = 0; tries < 10 && !count_events(4014); tries++)
        assert_int_equal(run_query("22222"), ERROR_SUCCESS);
    assert_int_equal(count_events(4014), 1);
    assert_non_null(strstr(read_all(events), "it exceeded its memory limit"));
    unsigned resident = 0, limit = 0;
    const char *numbers = strstr(read_all(events), " had ");
    assert_int_equal(sscanf(numbers, " had %u MiB of memory and was ended; its limit is %u MiB",
                            &resident, &limit),
                     2);
    assert_true(resident > limit && resident <= limit + 110); /* 100 MiB in each Collect */
    assert_int_equal(count_events(1017), 1);
}

/* The most common failure: Open finds no First Counter in the registry, because lodctr was never
 * run. The event says so. */
static void an_open_that_finds_no_numbers_is_reported_to_load_them(void **state)
{
    INSTALL("First", "22222\0lost");
    assert_int_equal(run_query("22222"), ERROR_SUCCESS);
    assert_int_equal(count_events(1008), 1);
    assert_non_null(strstr(read_all(events), "never loaded; run lodctr FILE.ini"));
    unlink(events);
    set_dword("First", "First Counter", 22222);
    assert_int_equal(run_query("22222"), ERROR_SUCCESS);
    assert_int_equal(count_events(1008), 1);
    assert_null(strstr(read_all(events), "never loaded"));
    assert_non_null(strstr(read_all(events), "the key in its code must be Services\\"));
    assert_non_null(strstr(read_all(events), "drivername in the ini file names that key"));
}

/* ---- other threads ---- */

static void *query_overdue(void *status)
{
    unsigned char own[4096];
    DWORD capacity = sizeof own;
    *(LSTATUS *)status =
        RegQueryValueExA(HKEY_PERFORMANCE_DATA, "22222", NULL, NULL, own, &capacity);
    return NULL;
}

static pthread_t start_waiting(LSTATUS *status)
{
    pthread_t thread;
    INSTALL("Late", "22222\0gate");
    set_dword("Late", "Collect Timeout", 900);
    assert_int_equal(run_query("22222"), ERROR_SUCCESS);
    close_gate();
    assert_int_equal(pthread_create(&thread, NULL, query_overdue, status), 0);
    usleep(100 * 1000);
    return thread;
}

static void others_do_not_wait_for_a_waiting_query(void **state)
{
    LSTATUS status = -1;
    INSTALL("Fine", "33332");
    assert_int_equal(run_query("33332"), ERROR_SUCCESS);
    pthread_t thread = start_waiting(&status);
    assert_in_range(query_in_time("33332"), 0, MUCH_LESS);
    /* the query does not wait after a change of the registry, either */
    set_dword("Fine", "Collect Timeout", 900);
    assert_in_range(query_in_time("33332"), 0, MUCH_LESS);
    assert_int_equal(status, -1);
    pthread_join(thread, NULL);
    assert_int_equal(status, ERROR_SUCCESS);
}

static void *query_costly(void *took)
{
    unsigned char own[4096];
    DWORD capacity = sizeof own;
    long long start = now_ms();
    RegQueryValueExA(HKEY_PERFORMANCE_DATA, "Costly", NULL, NULL, own, &capacity);
    *(long long *)took = now_ms() - start;
    return NULL;
}

/* A query Costly may take 30 s. A query Global that needs the same provider meanwhile waits no
 * longer than its own deadline. */
static void no_query_waits_beyond_its_own_deadline(void **state)
{
    pthread_t thread;
    long long took = 0;
    INSTALL("Late", "22222\0gate");
    set_dword("Late", "Open Timeout", 200);
    INSTALL("Fine", "33332");
    assert_int_equal(run_query("22222 33332"), ERROR_SUCCESS);
    close_gate();
    assert_int_equal(pthread_create(&thread, NULL, query_costly, &took), 0);
    usleep(100 * 1000);
    assert_in_range(query_in_time("22222"), 1200, 1200 + MUCH_LESS);
    assert_in_range(query_in_time("22222"), 0, MUCH_LESS); /* later queries do not wait at all */
    assert_int_equal(count_events(1015), 1);
    open_gate();
    pthread_join(thread, NULL);
    assert_in_range(took, 1200, 30000);
    assert_int_equal(run_query("22222"), ERROR_SUCCESS);
    assert_string_equal(answered(), "22222");
}

/* When a provider has answered a thread's query Costly, it can answer other threads at once, even
 * while the first query still waits for another provider. */
static void a_helper_that_answered_is_free_for_others(void **state)
{
    pthread_t thread;
    long long took = 0;
    INSTALL("Hanging", "22222\0gate");
    INSTALL("Less", "33332\0sleep 20");
    INSTALL("Ready", "33334");
    assert_int_equal(run_query("22222 33332 33334"), ERROR_SUCCESS);
    assert_string_equal(answered(), "22222 33332 33334");
    close_gate();
    assert_int_equal(pthread_create(&thread, NULL, query_costly, &took), 0);
    usleep(300 * 1000);
    assert_in_range(query_in_time("33332 33334"), 0, MUCH_LESS);
    assert_string_equal(answered(), "33332 33334");
    open_gate();
    pthread_join(thread, NULL);
    assert_in_range(took, 300, 30000);
    assert_int_equal(count_events(1015), 0);
    assert_int_equal(count_notes("collect"), 3 + 3 + 2);
}

struct question {
    const char *query;
    long long took;
};

static void *query_question(void *self)
{
    struct question *question = self;
    unsigned char own[4096];
    DWORD capacity = sizeof own;
    long long start = now_ms();
    RegQueryValueExA(HKEY_PERFORMANCE_DATA, question->query, NULL, NULL, own, &capacity);
    question->took = now_ms() - start;
    return NULL;
}

/* When a helper process has answered a query, it can answer other threads at once, even while the
 * query still waits for another provider's Open. */
static void a_helper_that_answered_is_free_while_another_opens(void **state)
{
    pthread_t thread;
    struct question both = {.query = "22222 33332"};
    INSTALL("First", "22222\0open 1500");
    INSTALL("Ready", "33332");
    assert_int_equal(run_query("33332"), ERROR_SUCCESS);
    assert_int_equal(pthread_create(&thread, NULL, query_question, &both), 0);
    usleep(200 * 1000);
    assert_in_range(query_in_time("33332"), 0, MUCH_LESS);
    assert_string_equal(answered(), "33332");
    pthread_join(thread, NULL);
    assert_true(both.took >= 1400);
}

/* When a helper process has answered a query, it can answer other threads at once, even while the
 * query still waits for a provider that is busy with another thread's query. */
static void a_helper_that_answered_is_free_while_another_is_busy(void **state)
{
    pthread_t threads[2];
    struct question alone = {.query = "22222"}, both = {.query = "22222 33332"};
    INSTALL("Busy", "22222\0gate");
    INSTALL("Able", "33332");
    set_dword("Busy", "Collect Timeout", 1500);
    assert_int_equal(run_query("22222 33332"), ERROR_SUCCESS);
    close_gate();
    assert_int_equal(pthread_create(&threads[0], NULL, query_question, &alone), 0);
    usleep(100 * 1000);
    assert_int_equal(pthread_create(&threads[1], NULL, query_question, &both), 0);
    usleep(200 * 1000);
    assert_in_range(query_in_time("33332"), 0, MUCH_LESS);
    assert_string_equal(answered(), "33332");
    open_gate();
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert_in_range(both.took, 100, 1400); /* the thread may have begun late */
    assert_int_equal(count_events(1015), 0);
}

/* The first provider answers last: its object still comes first in the result. */
static void early_answers_are_joined_in_order(void **state)
{
    static unsigned char little[60000];
    DWORD capacity = sizeof little;
    INSTALL("First", "33332\0sleep 300\0big 30000");
    INSTALL("Second", "33334\0big 30000");
    INSTALL("Third", "33336\0big 30000");
    assert_int_equal(run_query("33332 33334 33336"), ERROR_SUCCESS);
    assert_string_equal(answered(), "33332 33334 33336");
    assert_int_equal(
        RegQueryValueExA(HKEY_PERFORMANCE_DATA, "33332 33334 33336", NULL, NULL, little, &capacity),
        ERROR_MORE_DATA);
}

static void closing_the_key_waits_for_queries(void **state)
{
    LSTATUS status = -1;
    pthread_t thread = start_waiting(&status);
    assert_int_equal(RegCloseKey(HKEY_PERFORMANCE_DATA), ERROR_SUCCESS);
    pthread_join(thread, NULL);
    assert_int_equal(status, ERROR_SUCCESS);
    open_gate();
    assert_int_equal(run_query("22222"), ERROR_SUCCESS);
    assert_string_equal(answered(), "22222");
    RegCloseKey(HKEY_PERFORMANCE_DATA);
    assert_int_equal(count_notes("open"), 2);
}

/* Closing the key waits no longer than the query that runs in another thread, whatever hangs: at
 * most the deadlines of Open and Collect. */
static void closing_the_key_waits_no_longer_than_a_deadline(void **state)
{
    pthread_t thread;
    struct question hanging = {.query = "22222 33332"};
    INSTALL("Hangs", "22222\0gate");
    INSTALL("Opens", "33332\0open 600");
    set_dword("Hangs", "Collect Timeout", 900);
    set_dword("Opens", "Open Timeout", 300);
    close_gate();
    assert_int_equal(pthread_create(&thread, NULL, query_question, &hanging), 0);
    usleep(100 * 1000);
    long long start = now_ms();
    assert_int_equal(RegCloseKey(HKEY_PERFORMANCE_DATA), ERROR_SUCCESS);
    assert_in_range(now_ms() - start, 500, 800 + MUCH_LESS);
    pthread_join(thread, NULL);
    start = now_ms();
    assert_int_equal(RegCloseKey(HKEY_PERFORMANCE_DATA), ERROR_SUCCESS);
    assert_in_range(now_ms() - start, 0, MUCH_LESS);
}

/* In this process Collect cannot be stopped: the key is closed when Collect returns. */
static void closing_the_key_waits_for_collect_in_this_process(void **state)
{
    pthread_t thread;
    struct question hanging = {.query = "22222"};
    INSTALL("Hangs", "22222\0sleep 1200");
    set_dword("Hangs", "Isolation", 0);
    set_dword("Hangs", "Collect Timeout", 100);
    assert_int_equal(pthread_create(&thread, NULL, query_question, &hanging), 0);
    usleep(200 * 1000);
    long long start = now_ms();
    assert_int_equal(RegCloseKey(HKEY_PERFORMANCE_DATA), ERROR_SUCCESS);
    assert_in_range(now_ms() - start, 800, 1000 + MUCH_LESS);
    pthread_join(thread, NULL);
    assert_non_null(strstr(read_all(notes), "close"));
}

static void *close_key(void *status)
{
    *(LSTATUS *)status = RegCloseKey(HKEY_PERFORMANCE_DATA);
    return NULL;
}

/* A query that waits for an answer while another thread closes the key still gets the answer. */
static void closing_the_key_lets_an_answer_through(void **state)
{
    LSTATUS status = -1;
    pthread_t thread = start_waiting(&status), closer;
    LSTATUS closed = -1;
    assert_int_equal(pthread_create(&closer, NULL, close_key, &closed), 0);
    usleep(100 * 1000);
    open_gate();
    pthread_join(thread, NULL);
    pthread_join(closer, NULL);
    assert_int_equal(status, ERROR_SUCCESS);
    assert_int_equal(closed, ERROR_SUCCESS);
    assert_non_null(strstr(read_all(notes), "close"));
    assert_int_equal(count_events(1015), 0);
}

static int child_queries(void)
{
    open_gate();
    if (run_query("22222") || strcmp(answered(), "22222") != 0)
        return 1;
    if (RegCloseKey(HKEY_PERFORMANCE_DATA))
        return 2;
    return run_query("22222") || strcmp(answered(), "22222") != 0 ? 3 : 0;
}

/* fork() does not wait, and the child's queries use helper processes of its own. */
static void a_fork_does_not_wait_and_its_child_asks(void **state)
{
    int ended;
    LSTATUS status = -1;
    pthread_t thread = start_waiting(&status);
    long long start = now_ms();
    pid_t child = fork();
    if (child == 0)
        _exit(child_queries());
    assert_in_range(now_ms() - start, 0, MUCH_LESS);
    assert_int_equal(waitpid(child, &ended, 0), child);
    assert_int_equal(ended, 0);
    pthread_join(thread, NULL);
    assert_int_equal(status, ERROR_SUCCESS);
    assert_int_equal(run_query("22222"), ERROR_SUCCESS);
    assert_string_equal(answered(), "22222");
}

static void *query_often(void *query)
{
    unsigned char own[4096];
    for (int i = 0; i < 100; i++) {
        DWORD capacity = sizeof own;
        if (RegQueryValueExA(HKEY_PERFORMANCE_DATA, query, NULL, NULL, own, &capacity))
            return "failed";
    }
    return NULL;
}

static void *close_often(void *nothing)
{
    for (int i = 0; i < 20; i++) {
        RegCloseKey(HKEY_PERFORMANCE_DATA);
        usleep(3000);
    }
    return nothing;
}

static void take_your_time(const char *service)
{
    set_dword(service, "Open Timeout", 30000);
    set_dword(service, "Collect Timeout", 30000);
}

static void many_threads(const char *const queries[4])
{
    pthread_t threads[5];
    void *failed = NULL;
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, query_often, (void *)queries[i]);
    pthread_create(&threads[4], NULL, close_often, NULL);
    for (int i = 0; i < 5; i++) {
        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
    assert_int_equal(count_notes("overlap"), 0);
    assert_string_equal(read_all(events), "");
}

static void many_threads_ask_and_close(void **state)
{
    static const char *const queries[] = {"22222 33332", "33332", "22222", "33332 22222"};
    INSTALL("First", "22222");
    INSTALL("Second", "33332");
    take_your_time("First");
    take_your_time("Second");
    many_threads(queries);
}

static void many_threads_in_this_process_too(void **state)
{
    static const char *const queries[] = {"22222", "22222", "22222", "22222"};
    INSTALL("First", "22222");
    set_dword("First", "Isolation", 0);
    take_your_time("First");
    many_threads(queries);
}

/* ---- the process in which a provider runs ---- */

static bool has_landlock_scopes(void)
{
    return syscall(444 /* landlock_create_ruleset */, NULL, 0, 1 /* version */) >= 6;
}

/* A provider that monitors other processes can read their files in /proc, and cannot send signals
 * to them. With Landlock some of these files are unreadable. */
static void an_observer_looks_into_other_processes(void **state)
{
    char pid[16];
    snprintf(pid, sizeof pid, " %d ", (int)getpid());
    INSTALL("Monitor", "22222\0observe");
    assert_int_equal(run_query("22222"), ERROR_SUCCESS);
    /* root's helper process has fewer capabilities than the program, so it may not trace the
     * program either */
    assert_int_equal(count_notes(has_landlock_scopes() || geteuid() == 0
                                     ? "observe: exe refused, io refused, stat seen, signal refused"
                                     : "observe: exe seen, io seen, stat seen, signal refused"),
                     1);
    unlink(notes);
    set_dword("Monitor", "Observe", 1);
    assert_int_equal(run_query("22222"), ERROR_SUCCESS);
    assert_string_equal(answered(), "22222");
    assert_int_equal(count_notes("observe: exe seen, io seen, stat seen, signal refused"), 1);
    /* the provider ran in a helper process, not in this one */
    assert_null(strstr(read_all(notes), pid));
}

static bool noted_here(const char *what)
{
    char wanted[64];
    snprintf(wanted, sizeof wanted, " %d %s", (int)getpid(), what);
    return strstr(read_all(notes), wanted) != NULL;
}

static void no_helper_means_nothing_of_it_runs(void **state)
{
    INSTALL("First", "22222");
    for (int i = 0; i < 3; i++) {
        assert_int_equal(run_query("22222 2"), ERROR_SUCCESS);
        assert_string_equal(answered(), "");
        /* the second query comes within the waiting period of 1 s; the third tries again */
        usleep(i ? 1100000 : 0);
    }
    assert_string_equal(read_all(notes), "");
    assert_int_equal(count_events(1018), 1);
    assert_non_null(strstr(read_all(events), "perfhost"));
    assert_non_null(strstr(read_all(events), "Isolation"));
}

static void isolation_0_runs_here(void **state)
{
    INSTALL("First", "22222");
    set_dword("First", "Isolation", 0);
    assert_int_equal(run_query("22222"), ERROR_SUCCESS);
    assert_true(noted_here("attach"));
    assert_true(noted_here("collect"));
    RegCloseKey(HKEY_PERFORMANCE_DATA);
    assert_true(noted_here("detach"));
}

static void a_resident_library_stays(void **state)
{
    INSTALL("First", "22222");
    set_dword("First", "Isolation", 0);
    set_dword("First", "Keep Resident", 1);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(run_query("22222"), ERROR_SUCCESS);
        RegCloseKey(HKEY_PERFORMANCE_DATA);
    }
    assert_int_equal(count_notes("attach"), 1);
    assert_int_equal(count_notes("detach"), 0);
    assert_int_equal(count_notes("open"), 2);
    assert_int_equal(count_notes("close"), 2);
}

/* The registry value Library Validation Code has the time (a FILETIME) and the size of the
 * library's file. */
static void a_library_that_was_replaced_runs_in_a_helper(void **state)
{
    unsigned char code[16] = {0};
    struct stat st;
    assert_int_equal(stat(getenv("THIRD_PARTY"), &st), 0);
    unsigned long long numbers[2] = {((unsigned long long)st.st_mtim.tv_sec + 11644473600ULL) *
                                             10000000 +
                                         (unsigned long long)st.st_mtim.tv_nsec / 100,
                                     (unsigned long long)st.st_size};
    for (int i = 0; i < 16; i++)
        code[i] = (unsigned char)(numbers[i / 8] >> (i % 8 * 8));
    INSTALL("First", "22222");
    set_dword("First", "Isolation", 0);
    set(below("First", "Performance"), "Library Validation Code", REG_BINARY, code, 16);
    assert_int_equal(run_query("22222"), ERROR_SUCCESS);
    assert_true(noted_here("collect"));
    assert_int_equal(count_events(2003), 0);
    code[8] ^= 1;
    unlink(notes);
    set(below("First", "Performance"), "Library Validation Code", REG_BINARY, code, 16);
    assert_int_equal(run_query("22222"), ERROR_SUCCESS);
    assert_string_equal(answered(), "22222");
    assert_false(noted_here("collect"));
    assert_int_equal(count_events(2003), 1);
}

/* In this process an overdue Collect cannot be stopped: the delay is reported, and the answer is
 * kept. */
static void late_in_this_process_is_reported_and_kept(void **state)
{
    INSTALL("First", "22222\0sleep 120");
    set_dword("First", "Isolation", 0);
    set_dword("First", "Collect Timeout", 50);
    assert_int_equal(run_query("22222"), ERROR_SUCCESS);
    assert_int_equal(run_query("22222"), ERROR_SUCCESS);
    assert_string_equal(answered(), "22222");
    assert_int_equal(count_events(1015), 1);
}

/* An Open that takes longer than OpenProcedureWaitTime only causes an event, both in this process
 * and in a helper process. */
static void a_slow_open_is_reported(void **state)
{
    INSTALL("First", "22222\0open 120");
    for (DWORD isolation = 0; isolation <= 1; isolation++) {
        set_dword("First", "Isolation", isolation);
        set_switch("OpenProcedureWaitTime", 5000);
        assert_int_equal(run_query("22222"), ERROR_SUCCESS);
        RegCloseKey(HKEY_PERFORMANCE_DATA);
        assert_int_equal(count_events(2002), isolation);
        set_switch("OpenProcedureWaitTime", 50);
        assert_int_equal(run_query("22222"), ERROR_SUCCESS);
        assert_string_equal(answered(), "22222");
        RegCloseKey(HKEY_PERFORMANCE_DATA);
        assert_int_equal(count_events(2002), isolation + 1);
    }
}

static void an_open_that_is_late_is_awaited_once(void **state)
{
    INSTALL("First", "22222\0open 700");
    set_dword("First", "Open Timeout", 250);
    assert_in_range(query_in_time("22222"), 250, 250 + MUCH_LESS);
    assert_string_equal(answered(), "");
    assert_in_range(query_in_time("22222"), 0, MUCH_LESS);
    assert_int_equal(count_events(2002), 1);
    usleep(700 * 1000);
    assert_int_equal(run_query("22222"), ERROR_SUCCESS);
    assert_string_equal(answered(), "22222");
    assert_int_equal(count_notes("open"), 1);
}

static void event_log_level_says_which_events(void **state)
{
    INSTALL("First", "22222\0sleep 20");
    set_dword("First", "Collect Timeout", 1);
    set_dword("First", "Isolation", 0);
    set(below("First", "Performance"), "Library Validation Code", REG_BINARY, "0123456789abcdef",
        16);
    for (DWORD level = 0; level <= 3; level++) {
        set_switch("EventLogLevel", level);
        assert_int_equal(run_query("22222"), ERROR_SUCCESS);
        usleep(700 * 1000); /* waits for the overdue answer, so that no waiting period begins */
        RegCloseKey(HKEY_PERFORMANCE_DATA);
        assert_int_equal(count_events(1015), level);
        assert_int_equal(count_events(2003), level < 2 ? 0 : level - 1);
    }
}

static void level_4_is_the_callers_own_buffer(void **state)
{
    for (DWORD level = 1; level <= 4; level++) {
        void *place = NULL;
        INSTALL("First", "22222");
        set_dword("First", "Isolation", 0);
        set_switch("ExtCounterTestLevel", level);
        unlink(notes);
        assert_int_equal(run_query("22222"), ERROR_SUCCESS);
        assert_string_equal(answered(), "22222");
        assert_int_equal(sscanf(strstr(read_all(notes), "collect"), "collect %p", &place), 1);
        bool ours = (unsigned char *)place >= data && (unsigned char *)place < data + sizeof data;
        assert_int_equal(ours, level == 4);
    }
}

/* A provider's own tables define which other object a query brings: here a third-party provider
 * (jobs.c) with the numbers that Windows NT uses. */
static void c31_c111_job_object_details_bring_job_objects(void **state)
{
    set_text("Jobs", "Library", getenv("JOBS"));
    set_text("Jobs", "Open", "JobsOpen");
    set_text("Jobs", "Collect", "JobsCollect");
    set_text("Jobs", "Close", "JobsClose");
    set_text("Jobs", "Object List", "1500 1548");
    set_dword("Jobs", "Shared Objects", 1); /* the objects belong to PerfProc */
    for (DWORD isolation = 0; isolation <= 1; isolation++) {
        set_dword("Jobs", "Isolation", isolation);
        assert_int_equal(run_query("1548"), ERROR_SUCCESS);
        assert_string_equal(answered(), "1500 1548");
        assert_int_equal(run_query("1500"), ERROR_SUCCESS);
        assert_string_equal(answered(), "1500");
        assert_int_equal(run_query("1548 1500 1548"), ERROR_SUCCESS);
        assert_string_equal(answered(), "1500 1548");
    }
}

/* ---- main ---- */

static int set_up(void **state)
{
    HKEY key;
    unlink(notes);
    unlink(events);
    unlink(gate);
    RegDeleteTreeA(HKEY_LOCAL_MACHINE, "SYSTEM\\CurrentControlSet\\Services");
    if (!RegOpenKeyExA(HKEY_LOCAL_MACHINE, PERFLIB, 0, KEY_ALL_ACCESS, &key)) {
        static const char *const names[] = {"ExtCounterTestLevel", "Configuration Flags",
                                            "EventLogLevel", "Error Count Limit",
                                            "OpenProcedureWaitTime"};
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
            RegDeleteValueA(key, names[i]);
        RegCloseKey(key);
    }
    return 0;
}

static int tear_down(void **state)
{
    open_gate();
    RegCloseKey(HKEY_PERFORMANCE_DATA);
    return 0;
}

static int enter(void **state)
{
    char pid[16];
    temp_make(root);
    snprintf(gate, sizeof gate, "%s/gate", root);
    snprintf(notes, sizeof notes, "%s/notes", root);
    snprintf(events, sizeof events, "%s/events", root);
    snprintf(pid, sizeof pid, "%d", (int)getpid());
    temp_write(root, "observed", pid);
    return setenv("OPENPERFLIB_ROOT", root, 1);
}

static int leave(void **state)
{
    temp_remove(root);
    return 0;
}

/* Makes an installation without the helper program. */
static int enter_without_helper(void **state)
{
    static const char *const parts[] = {"data", "providers"};
    char from[512], to[128];
    enter(state);
    snprintf(to, sizeof to, "%s/vendor", root);
    mkdir(to, 0755);
    setenv("OPENPERFLIB_VENDOR", to, 1);
    for (int i = 0; i < 2; i++) {
        snprintf(from, sizeof from, "%s/%s", getenv("BUILD_ROOT"), parts[i]);
        snprintf(to, sizeof to, "%s/vendor/%s", root, parts[i]);
        if (symlink(from, to))
            return -1;
    }
    return 0;
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(int argc, char **argv)
{
    const struct CMUnitTest alone[] = {CASE(no_helper_means_nothing_of_it_runs)};
    if (argc > 1 && !strcmp(argv[1], "no-helper"))
        return cmocka_run_group_tests(alone, enter_without_helper, leave);
    const struct CMUnitTest slow[] = {CASE(a_silent_helper_is_ended)};
    if (argc > 1 && !strcmp(argv[1], "slow"))
        return cmocka_run_group_tests(slow, enter, leave);
    const struct CMUnitTest tests[] = {
        CASE(all_are_asked_at_once_and_joined_in_order),
        CASE(an_overdue_provider_is_not_waited_for_again),
        CASE(short_programs_that_find_it_silent_soon_do_not_wait),
        CASE(a_late_answer_forgives_what_other_programs_missed),
        CASE(a_good_answer_between_forgives_too),
        CASE(a_late_answer_takes_its_miss_back),
        CASE(closing_the_key_forgives_no_silence),
        CASE(a_crash_in_close_counts),
        CASE(costly_may_take_longer),
        CASE(without_hang_test_it_is_waited_for),
        CASE(too_much_for_all_is_more_data),
        CASE(filling_any_buffer_does_not_starve_the_others),
        CASE(one_provider_may_fill_the_buffer),
        CASE(a_provider_that_needs_much_is_queried_on),
        CASE(a_crash_costs_only_its_objects_and_a_second_without_queries),
        CASE(f_e1_a_crash_and_an_exit_are_distinguished),
        CASE(a_leak_is_a_failure_and_is_reported),
        CASE(an_open_that_finds_no_numbers_is_reported_to_load_them),
        CASE(others_do_not_wait_for_a_waiting_query),
        CASE(no_query_waits_beyond_its_own_deadline),
        CASE(a_helper_that_answered_is_free_for_others),
        CASE(a_helper_that_answered_is_free_while_another_opens),
        CASE(a_helper_that_answered_is_free_while_another_is_busy),
        CASE(early_answers_are_joined_in_order),
        CASE(closing_the_key_waits_for_queries),
        CASE(closing_the_key_waits_no_longer_than_a_deadline),
        CASE(closing_the_key_waits_for_collect_in_this_process),
        CASE(closing_the_key_lets_an_answer_through),
        CASE(a_fork_does_not_wait_and_its_child_asks),
        CASE(many_threads_ask_and_close),
        CASE(many_threads_in_this_process_too),
        CASE(an_observer_looks_into_other_processes),
        CASE(isolation_0_runs_here),
        CASE(a_resident_library_stays),
        CASE(a_library_that_was_replaced_runs_in_a_helper),
        CASE(late_in_this_process_is_reported_and_kept),
        CASE(a_slow_open_is_reported),
        CASE(an_open_that_is_late_is_awaited_once),
        CASE(event_log_level_says_which_events),
        CASE(level_4_is_the_callers_own_buffer),
        CASE(c31_c111_job_object_details_bring_job_objects),
    };
    return parts_run(tests, sizeof tests / sizeof *tests, enter, leave);
}
