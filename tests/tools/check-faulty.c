/* SPDX-License-Identifier: MIT */
/*
 * A registered provider, each of whose Collect functions makes one mistake that none of Perflib's
 * checks notices; openperflib-check must find it. The provider reads its numbers from its
 * registration, and has two counters, a base, and two instances.
 */
#include <openperflib/build.h>
#include <windows.h>

#include <errno.h>
#include <fcntl.h>
#include <fenv.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __declspec(dllexport)

/* Offsets in the answer, which has one object, three counter definitions, and the instances "one"
 * and "two". */
enum {
    OBJECT = 0,
    RATE = 64,
    SHARE = 104,
    BASE = 144,
    ONE = 184,
    ONE_BLOCK = 216,
    TWO = 232,
    TWO_BLOCK = 264,
    SIZE = 280
};
enum {
    TITLE = 12,
    HELP = 20,
    DETAIL = 28,
    DEFAULT = 36,
    INSTANCES = 40,
    PAGE = 44,
    TIME = 48,
    FREQUENCY = 56
};
enum { NAME = 4, HELP_INDEX = 12, SCALE = 20, TYPE = 28, WIDTH = 32, OFFSET = 36 };
enum { PARENT = 4, PARENT_INSTANCE = 8, ID = 12, NAME_OFFSET = 16, NAME_LENGTH = 20 };

static DWORD first_counter, first_help, calls;
static int opened, instances = 2;

EXPORT DWORD Open(LPWSTR names);
EXPORT DWORD Close(void);

static DWORD number(const char *name)
{
    DWORD value = 0, size = sizeof value;
    RegGetValueA(HKEY_LOCAL_MACHINE, "SYSTEM\\CurrentControlSet\\Services\\Faulty\\Performance",
                 name, RRF_RT_REG_DWORD, NULL, &value, &size);
    return value;
}

DWORD Open(LPWSTR names)
{
    first_counter = number("First Counter");
    first_help = number("First Help");
    opened++;
    return ERROR_SUCCESS;
}

DWORD Close(void)
{
    opened--;
    return ERROR_SUCCESS;
}

static DWORD answer(LPVOID *data, LPDWORD bytes, LPDWORD types)
{
    const opl_build_counter counters[] = {
        {first_counter + 2, first_help + 2, PERF_COUNTER_COUNTER, 0, 100, 0, 0},
        {first_counter + 4, first_help + 4, PERF_RAW_FRACTION,    0, 100, 0, 0},
        {first_counter + 4, first_help + 4, PERF_RAW_BASE,        0, 100, 0, 0},
    };
    const opl_build_object_info object = {
        .name_index = first_counter, .help_index = first_help, .default_counter = 0};
    opl_build build;
    opl_build_init(&build, *data, *bytes);
    opl_build_object(&build, &object, counters, 3);
    for (int i = 0; i < instances; i++) {
        opl_build_instance(&build, i ? "two" : "one");
        opl_build_dword(&build, 0, 100 + calls);
        opl_build_dword(&build, 1, 3);
        opl_build_dword(&build, 2, 4);
    }
    calls++;
    return opl_build_collect(&build, data, bytes, types);
}

/* Is the query Global, or is the number of the object among the query's first `words` words? */
static BOOL queried_in(LPCWSTR query, int words)
{
    char own[16];
    snprintf(own, sizeof own, "%u", (unsigned)first_counter);
    for (BOOL first = TRUE; *query && words > 0; first = FALSE, words--) {
        char text[16];
        size_t count = 0;
        for (; *query && *query != ' '; query++)
            if (count < sizeof text - 1)
                text[count++] = (char)*query;
        text[count] = '\0';
        if (strcmp(text, own) == 0 || (first && strcmp(text, "Global") == 0))
            return TRUE;
        while (*query == ' ')
            query++;
    }
    return FALSE;
}

static BOOL queried(LPCWSTR query)
{
    enum { ALL_WORDS = 1000 };
    return queried_in(query, ALL_WORDS);
}

__attribute__((unused)) static void put(unsigned char *at, DWORD value)
{
    memcpy(at, &value, sizeof value);
}

__attribute__((unused)) static void put_large(unsigned char *at, ULONGLONG value)
{
    memcpy(at, &value, sizeof value);
}

/* Returns the time of the monotonic clock, in units of 100 ns. */
static ULONGLONG now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (ULONGLONG)time.tv_sec * 10000000 + (ULONGLONG)time.tv_nsec / 100;
}

static DWORD get(const unsigned char *at)
{
    DWORD value;
    memcpy(&value, at, sizeof value);
    return value;
}

/* Defines a Collect function that makes a good answer and then damages it without changing its
 * lengths. */
#define MISTAKE(name, ...)                                                                         \
    EXPORT DWORD name(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD types);                   \
    EXPORT DWORD name(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD types)                    \
    {                                                                                              \
        unsigned char *at = *data;                                                                 \
        DWORD capacity = *bytes;                                                                   \
        (void)at, (void)capacity;                                                                  \
        if (!queried(query)) {                                                                     \
            *bytes = *types = 0;                                                                   \
            return ERROR_SUCCESS;                                                                  \
        }                                                                                          \
        DWORD status = answer(data, bytes, types);                                                 \
        if (status)                                                                                \
            return status;                                                                         \
        __VA_ARGS__;                                                                               \
        return status;                                                                             \
    }
#define FIELD(name, offset, value) MISTAKE(name, put(at + (offset), (DWORD)(value)))

MISTAKE(good, )

/* mistakes in the numbers of names */
FIELD(wrong_object_name, OBJECT + TITLE, first_counter + 100000)
FIELD(wrong_object_help, OBJECT + HELP, first_help + 100000)
FIELD(wrong_name, RATE + NAME, first_counter + 100000)
FIELD(name_twice, SHARE + NAME, get(at + RATE + NAME))
FIELD(same_text_twice, SHARE + NAME, first_counter + 6)
FIELD(object_of_another, OBJECT + TITLE, 238)
FIELD(help_of_another, RATE + HELP_INDEX, first_help + 4)
MISTAKE(same_explanation, put(at + RATE + NAME, first_counter + 8);
        put(at + RATE + HELP_INDEX, first_help + 8))

/* mistakes in the definitions of counters */
static void swap(unsigned char *one, unsigned char *other)
{
    unsigned char kept[40];
    memcpy(kept, one, sizeof kept);
    memcpy(one, other, sizeof kept);
    memcpy(other, kept, sizeof kept);
}

MISTAKE(base_apart, swap(at + RATE, at + SHARE)) /* the new order is fraction, rate, base */
MISTAKE(base_first, swap(at + SHARE, at + BASE))
FIELD(base_missing, BASE + TYPE, PERF_COUNTER_RAWCOUNT)
FIELD(base_of_another, BASE + TYPE, PERF_AVERAGE_BASE)
FIELD(outside, RATE + OFFSET, 4000)
FIELD(over_the_end, RATE + OFFSET, 22)
FIELD(in_the_length, RATE + OFFSET, 0)
FIELD(overlapping, RATE + OFFSET, get(at + SHARE + OFFSET) + 2)
FIELD(unaligned, RATE + OFFSET, 17)
FIELD(too_wide, RATE + WIDTH, 8)
FIELD(too_narrow, RATE + WIDTH, 2)
FIELD(scale, RATE + SCALE, 1000)
FIELD(default_counter, OBJECT + DEFAULT, 7)
FIELD(detail, OBJECT + DETAIL, 5)
FIELD(unknown_type, RATE + TYPE, 0x0fffffff)

/* Definitions that differ from one answer to the next. */
MISTAKE(type_changes, if (calls % 5 == 0) put(at + RATE + TYPE, PERF_COUNTER_RAWCOUNT))
MISTAKE(
    order_changes, if (calls % 2) {
        swap(at + RATE, at + SHARE);
        swap(at + SHARE, at + BASE);
    })
static void exchange(unsigned char *one, unsigned char *other)
{
    DWORD kept = get(one);
    put(one, get(other));
    put(other, kept);
}
MISTAKE(
    offset_changes, if (calls % 2) {
        exchange(at + RATE + OFFSET, at + SHARE + OFFSET);
        exchange(at + ONE_BLOCK + 4, at + ONE_BLOCK + 8);
        exchange(at + TWO_BLOCK + 4, at + TWO_BLOCK + 8);
    })

FIELD(short_definition, RATE, 36)

/* mistakes in the instances */
MISTAKE(same_id, put(at + ONE + ID, 5); put(at + TWO + ID, 5))
MISTAKE(id_changes, put(at + ONE + ID, 2 * calls); put(at + TWO + ID, 2 * calls + 1))
MISTAKE(same_name, memcpy(at + TWO + 24, at + ONE + 24, 8))
MISTAKE(no_parent, put(at + TWO + PARENT, get(at + TITLE)); put(at + TWO + PARENT_INSTANCE, 9))
MISTAKE(own_parent, put(at + TWO + PARENT, get(at + TITLE)); put(at + TWO + PARENT_INSTANCE, 1))
MISTAKE(
    each_others_parent, for (int i = 0; i < 2; i++) {
        unsigned char *instance = at + (i ? TWO : ONE);
        put(instance + PARENT, get(at + TITLE));
        put(instance + PARENT_INSTANCE, (DWORD)!i);
    })
/* Adds a second object with the same instances. Each instance "one" is the parent of that of the
 * other object. */
MISTAKE(
    parents_over_two_objects,
    if (capacity < 2 * SIZE) {
        *data = at;
        *bytes = *types = 0;
        return ERROR_MORE_DATA;
    } unsigned char *second = at + SIZE;
    memcpy(second, at, SIZE); put(second + TITLE, first_counter + 6);
    put(second + HELP, first_help + 6); put(at + ONE + PARENT, first_counter + 6);
    put(second + ONE + PARENT, first_counter); *data = second + SIZE; *bytes = 2 * SIZE; *types = 2)
MISTAKE(parent_elsewhere, put(at + TWO + PARENT, 230))
FIELD(no_name, ONE + NAME_LENGTH, 0)
FIELD(odd_name, ONE + NAME_LENGTH, 7)
FIELD(name_in_head, ONE + NAME_OFFSET, 8)
FIELD(name_after, ONE + NAME_OFFSET, 400)
MISTAKE(name_of_a_path, at[ONE + 24] = '\\')
FIELD(empty_name, ONE + 24, 0)
MISTAKE(line_in_a_name, at[ONE + 24] = '\n')
MISTAKE(controls_in_names, memcpy(at + ONE + 24, u"\x1b\x9b\r", 6);
        memcpy(at + TWO + 24, u"\n\x202e\x7f", 6);
        if (calls < 3 && write(1, "\033]0;said\007", 10) + write(2, "\033[31m", 5) < 0) errno = 0)
MISTAKE(name_that_is_no_text, memcpy(at + ONE + 24, "\xfd\xff", 2))
FIELD(code_page, OBJECT + PAGE, 77777)
FIELD(utf16_in_utf8, OBJECT + PAGE, 65001)
FIELD(instances_of_none, OBJECT + INSTANCES, -1)

/* mistakes in the values */
MISTAKE(falls, put(at + ONE_BLOCK + get(at + RATE + OFFSET), 1000000 - calls))
MISTAKE(is_reset, put(at + ONE_BLOCK + get(at + RATE + OFFSET), calls % 2 ? 5000 : 0))
MISTAKE(time_stands, put(at + FREQUENCY, 10000000); put(at + TIME, 1000000); put(at + TIME + 4, 0))
MISTAKE(frequency_changes, put(at + FREQUENCY, 1000 + calls % 2))
MISTAKE(above_its_base, put(at + TWO_BLOCK + get(at + SHARE + OFFSET), 5))
MISTAKE(no_frequency, put(at + RATE + TYPE, PERF_ELAPSED_TIME))

/* Makes the counter RATE 8 bytes long and changes its type; the fraction and its base share the
 * remaining 4 bytes. */
static void widen(unsigned char *at, DWORD type)
{
    put(at + RATE + TYPE, type);
    put(at + RATE + WIDTH, 8);
    put(at + RATE + OFFSET, 8);
    put(at + SHARE + OFFSET, 4);
    put(at + BASE + OFFSET, 4);
}

static void put_time(unsigned char *at, ULONGLONG time, DWORD frequency)
{
    widen(at, PERF_ELAPSED_TIME);
    put_large(at + TIME, time);
    put_large(at + FREQUENCY, frequency);
}
MISTAKE(time_too_fast, put_time(at, now(), 1000))
MISTAKE(time_too_slow, put_time(at, now() / 10000, 1000000))

/* Gives both instances a start time, and the object its present time, in ticks since the machine's
 * boot. */
static void put_start(unsigned char *at, DWORD ticks_a_second, ULONGLONG start)
{
    put_time(at, now() / (10000000 / ticks_a_second), ticks_a_second);
    put_large(at + ONE_BLOCK + 8, start);
    put_large(at + TWO_BLOCK + 8, start);
}
MISTAKE(time_in_ticks, put_start(at, 100, 1))
MISTAKE(time_in_seconds, put_start(at, 1, 1))

/* Times since the year 1601, in 100 ns, which PerfTime should have. */
#define EPOCH 116444736000000000
static ULONGLONG clock_now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    return (ULONGLONG)time.tv_sec * 10000000 + (ULONGLONG)time.tv_nsec / 100 + EPOCH;
}
static void put_age(unsigned char *at, ULONGLONG start)
{
    put_start(at, 10000000, start);
    put_large(at + TIME, clock_now());
}
static ULONGLONG first_now(void)
{
    static ULONGLONG first;
    return first = first ? first : clock_now();
}
MISTAKE(starts_once, put_age(at, first_now()))
MISTAKE(starts_first_or_now, put_age(at, first_now()); put_large(at + TWO_BLOCK + 8, clock_now()))
MISTAKE(starts_anew_once, put_age(at, calls < 100 ? first_now() : first_now() + 1))
MISTAKE(age_as_start, put_age(at, now()))
MISTAKE(unix_start, put_age(at, first_now() - EPOCH))
MISTAKE(start_to_come, put_age(at, first_now() * 2))
MISTAKE(started_before_boot, put_age(at, first_now() - now() - 30 * 86400 * 10000000ULL))
MISTAKE(starts_always, put_age(at, clock_now()))
MISTAKE(falls_as_it_starts, put_age(at, clock_now()); put(at + SHARE + TYPE, PERF_COUNTER_COUNTER);
        put(at + ONE_BLOCK + 4, 100000 - calls))
MISTAKE(falls_beside_a_start, put_age(at, first_now());
        put_large(at + TWO_BLOCK + 8, first_now() + calls);
        put(at + SHARE + TYPE, PERF_COUNTER_COUNTER); put(at + ONE_BLOCK + 4, 100000 - calls))
MISTAKE(falls_below_a_start, put_age(at, clock_now()); put(at + TWO + PARENT, first_counter);
        put(at + SHARE + TYPE, PERF_COUNTER_COUNTER); put(at + TWO_BLOCK + 4, 100000 - calls))

static void put_timer(unsigned char *at, ULONGLONG time)
{
    widen(at, PERF_100NSEC_TIMER);
    put_large(at + ONE_BLOCK + 8, time);
    put_large(at + TWO_BLOCK + 8, time);
}
MISTAKE(timer_in_ns, put_timer(at, now() * 100000))
MISTAKE(timer_at_100, put_timer(at, now()))

/* resources that Collect does not free */
static void *volatile leaked;
static void *wait_for_ever(void *unused)
{
    for (;;)
        sleep(1000);
    return unused;
}
static void start_thread(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, wait_for_ever, NULL) == 0)
        pthread_detach(thread);
}

MISTAKE(leaks_memory, leaked = malloc(100); memset(leaked, 1, 100))
static void map_pages(void)
{
    enum { BYTES = 64 << 10 };
    void *pages = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages != MAP_FAILED)
        memset(pages, 1, BYTES);
}
MISTAKE(leaks_mappings, map_pages())
static void use_block(void)
{
    /* so large that a sanitizer keeps the block mapped for a while after it was freed */
    enum { BYTES = 1 << 20 };
    void *volatile block = malloc(BYTES);
    free(block);
}
MISTAKE(frees_large_blocks, use_block())
MISTAKE(leaks_slowly, usleep(60000); leaked = malloc(4 << 20); memset(leaked, 1, 4 << 20))
static void wait_while_printing(void)
{
    static char line[8192];
    memset(line, 'x', sizeof line);
    for (;;)
        if (write(STDOUT_FILENO, line, sizeof line) < 0)
            usleep(1000);
}
MISTAKE(leaves_a_segment, if (calls == 2) shmget(IPC_PRIVATE, 4096, 0600))
MISTAKE(sends_a_signal, if (kill(getppid(), SIGTERM)) errno = 0)
static void restart_calls(void)
{
    struct sigaction action;
    sigaction(SIGTERM, NULL, &action);
    action.sa_flags |= SA_RESTART;
    sigaction(SIGTERM, &action, NULL);
}
MISTAKE(changes_flags_of_a_signal, restart_calls())
static void round_x87(void)
{
#if defined __x86_64__ || defined __i386__
    unsigned short control;
    __asm__ volatile("fnstcw %0" : "=m"(control));
    control &= 0xfcff; /* sets the floating-point unit (x87) to a precision of 24 bits */
    __asm__ volatile("fldcw %0" : : "m"(control));
#else
    fesetround(FE_UPWARD);
#endif
}
MISTAKE(less_precise, round_x87())
static void round_sse(void)
{
#ifdef __SSE__
    __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x2000);
#else
    fesetround(FE_DOWNWARD);
#endif
}
MISTAKE(rounds_down_in_sse, round_sse())
MISTAKE(rounds_down, fesetround(FE_DOWNWARD))
MISTAKE(prints_without_end, wait_while_printing())
MISTAKE(leaks_descriptors, open("/dev/null", O_RDONLY))
MISTAKE(leaves_a_thread, if (calls == 1) start_thread())
MISTAKE(starts_a_process, if (fork() == 0) _exit(0))
MISTAKE(runs_a_command, if (system("true")) errno = 0)
MISTAKE(takes_40_ms, usleep(40000))
MISTAKE(takes_300_ms, usleep(300000))
MISTAKE(takes_900_ms, usleep(900000))
MISTAKE(leaks_very_slowly, usleep(300000); leaked = malloc(4 << 20); memset(leaked, 1, 4 << 20))
MISTAKE(is_slow, usleep(1300000))
MISTAKE(hangs, sleep(600))
MISTAKE(needs_first_open, if (opened > 1) * (volatile int *)0 = 1)
MISTAKE(own_thread, static __thread int times;
        if (times++ == 0 && calls > 2) memset(at + capacity, 0, 4096))

/* Collect functions that never return, but only in a later call or only for the query Costly. */
MISTAKE(hangs_later, if (calls >= 3) wait_for_ever(NULL))
EXPORT DWORD costly_is_slow(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD types);
DWORD costly_is_slow(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD types)
{
    if (query[0] == 'C')
        sleep(60);
    return good(query, data, bytes, types);
}

/* Overwrites the memory (the channel) that openperflib-check shares with this process. */
static void overwrite_channel(void)
{
    char line[512];
    void *first, *end;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps))
        if (strstr(line, "memfd:channel") && sscanf(line, "%p-%p", &first, &end) == 2)
            memset(first, 0xff, (size_t)((char *)end - (char *)first));
    if (maps)
        fclose(maps);
}
MISTAKE(overwrites_channel, overwrite_channel())

/* mistakes with the size of the buffer */
EXPORT DWORD ignores_size(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD types);
DWORD ignores_size(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD types)
{
    static unsigned char kept[SIZE];
    LPVOID place = kept;
    DWORD capacity = sizeof kept, objects = 0;
    *types = 0;
    if (!queried(query)) {
        *bytes = 0;
        return ERROR_SUCCESS;
    }
    answer(&place, &capacity, &objects);
    memcpy(*data, kept, capacity);
    *data = (char *)*data + capacity;
    *bytes = capacity;
    *types = objects;
    return ERROR_SUCCESS;
}

EXPORT DWORD returns_size_needed(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD types);
DWORD returns_size_needed(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD types)
{
    if (queried(query) && *bytes < SIZE) {
        /* returns the needed size: RegQueryValueEx does that, but Collect must not */
        *bytes = SIZE;
        return ERROR_MORE_DATA;
    }
    return good(query, data, bytes, types);
}

/* Defines a Collect function with a mistake that happens only when the answer does not fit into the
 * buffer. */
#define SHORT(name, ...)                                                                           \
    EXPORT DWORD name(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD types);                   \
    EXPORT DWORD name(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD types)                    \
    {                                                                                              \
        DWORD capacity = *bytes, status = good(query, data, bytes, types);                         \
        (void)capacity;                                                                            \
        if (status == ERROR_MORE_DATA) {                                                           \
            __VA_ARGS__;                                                                           \
        }                                                                                          \
        return status;                                                                             \
    }
SHORT(leaks_when_short, leaked = malloc(100); memset(leaked, 1, 100))
SHORT(leaks_descriptors_when_short, open("/dev/null", O_RDONLY))
SHORT(nothing_when_short, status = ERROR_SUCCESS)
SHORT(one_when_short, *bytes = capacity; instances = 1; status = good(query, data, bytes, types);
      instances = 2)

EXPORT DWORD finds_digits(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD types);
DWORD finds_digits(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD types)
{
    static WCHAR global[] = {'G', 'l', 'o', 'b', 'a', 'l', 0};
    char text[256] = "", own[16];
    for (size_t i = 0; i < sizeof text - 1 && query[i]; i++)
        text[i] = (char)query[i];
    snprintf(own, sizeof own, "%u", (unsigned)first_counter);
    return good(strstr(text, own) ? global : query, data, bytes, types);
}

/* Aborts if the query has more than `most` characters, as a provider would that copies it into a
 * small buffer. */
static void check_length(LPCWSTR query, size_t most)
{
    size_t count = 0;
    while (query[count])
        count++;
    if (count > most)
        abort();
}
MISTAKE(aborts_at_40, check_length(query, 40))
MISTAKE(aborts_at_1000, check_length(query, 1000))

EXPORT DWORD first_100_words_only(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD types);
DWORD first_100_words_only(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD types)
{
    if (queried_in(query, 100))
        return good(query, data, bytes, types);
    *bytes = *types = 0;
    return ERROR_SUCCESS;
}

static __thread BOOL is_first;
EXPORT DWORD first_thread_only(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD types);
DWORD first_thread_only(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD types)
{
    is_first |= calls == 0;
    if (is_first)
        return good(query, data, bytes, types);
    *bytes = *types = 0;
    return ERROR_SUCCESS;
}

/* Defines a Collect function that fails in every `every`-th call, however large the buffer is. */
#define REFUSES(name, every)                                                                       \
    EXPORT DWORD name(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD types);                   \
    EXPORT DWORD name(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD types)                    \
    {                                                                                              \
        static unsigned times;                                                                     \
        if (++times % (every) != 1 || times < 4)                                                   \
            return good(query, data, bytes, types);                                                \
        *bytes = *types = 0;                                                                       \
        return ERROR_MORE_DATA;                                                                    \
    }
REFUSES(refuses_every_second, 2)
REFUSES(refuses_every_fifth, 5)

EXPORT DWORD first_word_only(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD types);
DWORD first_word_only(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD types)
{
    if (queried_in(query, 1))
        return good(query, data, bytes, types);
    *bytes = *types = 0;
    return ERROR_SUCCESS;
}

EXPORT DWORD global_only(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD types);
DWORD global_only(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD types)
{
    if (query[0] == 'G')
        return good(query, data, bytes, types);
    *bytes = *types = 0;
    return ERROR_SUCCESS;
}
