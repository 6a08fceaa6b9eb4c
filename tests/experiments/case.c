/* SPDX-License-Identifier: MIT */
/*
 * Runs one case: one kind of fault at one test level. The faulty third-party provider is registered
 * as "Faulty" between the providers that ship with openperflib and a correct third-party provider;
 * a query asks for the objects of all three. Expected: the answer is a valid block with System and
 * the correct provider's object; Faulty's object is in it or not, as kinds.c defines; Faulty's
 * event was written, and no event about another provider; the query took no longer than the
 * deadline and the start of helper processes on a busy machine; the state of the querying program
 * is unchanged.
 */
#include "case.h"

#include <openperflib/block.h>
#include <winperf.h>

#include <fcntl.h>
#include <string.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unharmed.h"
#include "../temp.h"

#define QUERY "2 22222 33332"
enum { OWN = 22222, UNASKED = 22228, GOOD = 33332, SYSTEM = 2 };
enum { FIRST_SIZE = 2 << 20, LAST_SIZE = 128 << 20, MARGIN = 4096, ROUNDS = 30 };
enum { SHORT_MS = 100, LONG_MS = 2000, AMPLE_MS = 20000, BUSY_MS = 8000 };

static unsigned char *data; /* LAST_SIZE bytes and a margin, between inaccessible pages */
static DWORD size, capacity;
static FILE *report;

/* ---- preparing a case ---- */

static void make_buffer(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), whole = LAST_SIZE + MARGIN + 2 * page;
    unsigned char *map = mmap(NULL, whole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    data = map + page;
    if (map == MAP_FAILED || mprotect(data, LAST_SIZE + MARGIN, PROT_READ | PROT_WRITE))
        abort();
}

static const char *library_path(const char *name)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/%s", getenv("THIRD_PARTIES"), name);
    if (access(path, F_OK) != 0)
        snprintf(path, sizeof path, "%s/%s", lab_root, name);
    return path;
}

/* Writes a file that begins like a library for another kind of machine, so that it cannot be
 * loaded: i386, or x86-64 on 32-bit machines. */
static void write_other_class(void)
{
    enum { WIDE = sizeof(void *) == 4 };
    static const unsigned char head[4096] = {
        0x7f,     'E',      'L', 'F', WIDE ? 2 : 1, 1, 1, [16] = 3, [18] = WIDE ? 62 : 3,
        [20] = 1, [40] = 52};
    char path[128];
    snprintf(path, sizeof path, "%s/otherclass.so", lab_root);
    FILE *file = fopen(path, "w");
    if (!file || fwrite(head, sizeof head, 1, file) != 1 || fclose(file))
        abort();
}

static void write_files(void)
{
    char text[128], own[16];
    temp_write(lab_root, "text.so", "This is no library.\n");
    temp_write(lab_root, "empty.so", "");
    write_other_class();
    snprintf(text, sizeof text, "%s/folder.so", lab_root);
    snprintf(own, sizeof own, "%d", getpid());
    temp_write(lab_root, "client", own);
    if (mkdir(text, 0755))
        abort();
}

static bool hangs_early(const struct kind *kind)
{
    return kind->library || (kind->open && strcmp(kind->open, "open_fine") != 0);
}

static void set_limits(const struct kind *kind)
{
    const char *key = lab_performance("Faulty");
    DWORD deadline = kind->flags & HANGS ? SHORT_MS : kind->flags & HANGS_LONG ? LONG_MS : AMPLE_MS;
    lab_set_dword(key, "Open Timeout", hangs_early(kind) ? deadline : AMPLE_MS);
    lab_set_dword(key, "Collect Timeout", hangs_early(kind) ? AMPLE_MS : deadline);
    lab_set_dword(key, "Children", kind->flags & CHILDREN ? 1 : 0);
    key = lab_performance("Good");
    lab_set_dword(key, "Open Timeout", AMPLE_MS);
    lab_set_dword(key, "Collect Timeout", AMPLE_MS);
}

static void register_both(const struct kind_table *table, const struct kind *kind, int isolation)
{
    char collect[64];
    snprintf(collect, sizeof collect, "%s%s", table->prefix, kind->name);
    lab_register(&(struct lab_service){
        "Faulty", library_path(kind->library ? kind->library : table->library),
        kind->open ? kind->open : "lie_open", kind->collect ? kind->collect : collect,
        kind->close ? kind->close : "lie_close", "22222", isolation});
    lab_register(&(struct lab_service){"Good", getenv("SECOND_RECORDER"), "record_open",
                                       "record_object", "record_close", "33332", isolation});
    set_limits(kind);
}

/* Redirects what the program or the library prints to two files, which must stay empty. */
static void redirect_output(void)
{
    static const char *const names[] = {"out", "err"};
    char path[128];
    fflush(NULL);
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s", lab_root, names[i]);
        int file = open(path, O_RDWR | O_CREAT | O_APPEND, 0644);
        if (file < 0 || dup2(file, STDOUT_FILENO + i) < 0 || close(file))
            abort();
    }
}

/* ---- queries ---- */

static LSTATUS run_query(void)
{
    LSTATUS status;
    capacity = FIRST_SIZE / 2;
    do {
        capacity *= 2;
        memset(data + capacity, 0xc5, MARGIN);
        size = capacity;
        status = RegQueryValueExA(HKEY_PERFORMANCE_DATA, QUERY, NULL, NULL, data, &size);
        for (int i = 0; i < MARGIN; i++)
            if (data[capacity + (DWORD)i] != 0xc5) {
                fprintf(report, "byte %d behind the caller's buffer was written\n", i);
                break;
            }
    } while (status == ERROR_MORE_DATA && capacity < LAST_SIZE);
    return status;
}

/* Walks through the whole block and reads everything. Returns the first damage found. */
static opl_block_fault walk(void)
{
    opl_block block;
    opl_object_view object = {0};
    char name[256];
    uint64_t number;
    opl_block_init(&block, data, size);
    while (opl_block_next_object(&block, &object)) {
        opl_instance_view instance = {0};
        while (opl_object_next_instance(&block, &object, &instance)) {
            opl_counter_view counter = {0};
            opl_instance_name(&block, &object, &instance, name, sizeof name);
            while (opl_object_next_counter(&block, &object, &counter))
                opl_counter_number(&block, &instance, &counter, &number);
        }
    }
    return block.fault;
}

static bool answered(DWORD index)
{
    opl_block block;
    opl_object_view object;
    opl_instance_view instance = {0};
    return opl_block_init(&block, data, size) == OPL_BLOCK_GOOD &&
           opl_block_find_object(&block, index, &object) && object.type.NumCounters > 0 &&
           (index != GOOD || opl_object_next_instance(&block, &object, &instance));
}

static void check_others(const char *when, bool sound)
{
    if (!answered(SYSTEM))
        fprintf(report, "%s: System is missing\n", when);
    if (sound && !answered(GOOD))
        fprintf(report, "%s: the good third_party's object is missing\n", when);
    opl_block_fault fault = walk();
    if (sound && fault)
        fprintf(report, "%s: damaged: %s\n", when, opl_block_fault_text(fault));
}

/* Must the whole answer be a valid block? Not if the faulty data may be kept or dropped (EITHER),
 * because kept data may have names and values in wrong places. At test level 1 the flag SOUND
 * demands a valid block of these kinds, too. */
static bool is_sound(const struct kind *kind, int level)
{
    return level == 1 ? kind->at[0].kept != EITHER || kind->flags & SOUND
                      : kind->at[level - 1].kept != EITHER;
}

static long long timed_query(const char *when, const struct kind *kind, int level)
{
    long long start = lab_now_ms();
    LSTATUS status = run_query();
    long long took = lab_now_ms() - start;
    if (status)
        fprintf(report, "%s: status %d\n", when, (int)status);
    else
        check_others(when, is_sound(kind, level));
    if (took > BUSY_MS)
        fprintf(report, "%s: took %lld ms\n", when, took);
    return took;
}

/* ---- checking the results ---- */

static void check_kept(const struct outcome *wanted)
{
    bool kept = answered(OWN) || answered(UNASKED);
    if (wanted->kept != EITHER && kept != (wanted->kept == KEPT))
        fprintf(report, "its data is %s\n", kept ? "kept" : "dropped");
}

static void check_event(const struct outcome *wanted)
{
    const char *ids = lab_events("Faulty", false);
    bool right = wanted->event == WHATEVER ? true
                 : wanted->event == NONE   ? !*ids
                 : wanted->event == SOME
                     ? *ids != '\0'
                     : lab_has_event("Faulty", wanted->event) ||
                           (wanted->or_event && lab_has_event("Faulty", wanted->or_event));
    if (!right)
        fprintf(report, "wanted event %d, there is: %s\n", wanted->event,
                *lab_events("Faulty", false) ? lab_read("events") : "none");
}

/* A provider is never disabled because of a wrong return code, or of a wrong length that stays
 * inside the buffer. */
static void check_disabled(const struct kind *kind, const struct outcome *wanted)
{
    bool disabled = lab_get_dword(lab_performance("Faulty"), "Disable Performance Counters") == 1;
    bool sanitized = wanted->event == NONE || wanted->event == 1003 || wanted->event == 1004 ||
                     wanted->event == 1008 || wanted->event == 1014 || wanted->event == 1016 ||
                     wanted->event == 1019 || wanted->event == 2000 || wanted->event == 4006;
    if (kind->flags & DISABLES && wanted->kept == DROPPED) {
        if (!disabled)
            fprintf(report, "it is not disabled\n");
    } else if (sanitized && disabled && !(kind->flags & DISABLES)) {
        fprintf(report, "it is disabled\n");
    }
}

static void check_notes(const struct kind *kind)
{
    const char *notes = lab_read("notes");
    if (!strstr(notes, "second Collect \"" QUERY "\""))
        fprintf(report, "the good third_party got another query:\n%s", notes);
    if (kind->flags & REFUSED && (!strstr(notes, "refused") || strstr(notes, "allowed")))
        fprintf(report, "what it tried was not refused:\n%s", notes);
}

static void check_silence(void)
{
    char all[4096];
    snprintf(all, sizeof all, "%s", lab_events(NULL, true));
    if (strcmp(all, lab_events("Faulty", true)) != 0)
        fprintf(report, "there are events about others:\n%s", lab_read("events"));
    if (*lab_read("out") || *lab_read("err"))
        fprintf(report, "something was printed: %s%.2000s\n", lab_read("out"), lab_read("err"));
}

/* Queries several times. The returned bytes belong to the caller: they must be complete, and must
 * not change afterwards, even if the provider still writes to its own buffer. */
static void query_again_and_again(const struct kind *kind, int level)
{
    static unsigned char copy[FIRST_SIZE];
    for (int i = 0; i < ROUNDS; i++) {
        timed_query("queried again", kind, level);
        if (size > sizeof copy)
            return;
        memcpy(copy, data, size);
        usleep(2000);
        if (memcmp(copy, data, size) != 0)
            fprintf(report, "the delivered data changed\n");
    }
}

static void close_key(void)
{
    long long start = lab_now_ms();
    RegCloseKey(HKEY_PERFORMANCE_DATA);
    if (lab_now_ms() - start > BUSY_MS)
        fprintf(report, "closing took %lld ms\n", lab_now_ms() - start);
}

static void observe(const struct kind *kind, int level)
{
    const struct outcome *wanted = &kind->at[level - 1];
    timed_query("first query", kind, level);
    check_kept(wanted);
    if (!(kind->flags & AT_CLOSE))
        check_event(wanted);
    long long took = timed_query("second query", kind, level);
    if (kind->flags & HANGS_LONG && took > LONG_MS / 2)
        fprintf(report, "the second query waited again: %lld ms\n", took);
    if (kind->flags & SOUND)
        query_again_and_again(kind, level);
    check_disabled(kind, wanted);
    check_notes(kind);
    close_key();
    if (kind->flags & AT_CLOSE)
        check_event(wanted);
    check_silence();
}

void case_run(const struct kind_table *table, const struct kind *kind, int isolation, int level,
              FILE *file)
{
    report = file;
    make_buffer();
    write_files();
    redirect_output();
    register_both(table, kind, isolation);
    lab_set_dword(LAB_PERFLIB, "ExtCounterTestLevel", (DWORD)level);
    unharmed_begin();
    observe(kind, level);
    unharmed_end(report);
}
