/* SPDX-License-Identifier: MIT */
/*
 * Kernel Limits (100700): for each resource that the kernel limits: how many are in use, the limit,
 * and the used share. A limit per user is shown for the user who is nearest to it.
 */
#include <string.h>

#include "perflinux.h"

static const opl_source loadavg = {.path = "proc/loadavg"};
static const opl_source pid_max = {.path = "proc/sys/kernel/pid_max"};
static const opl_source threads_max = {.path = "proc/sys/kernel/threads-max"};
static const opl_source files = {.path = "proc/sys/fs/file-nr"};
static const opl_source requests = {.path = "proc/sys/fs/aio-nr"};
static const opl_source requests_max = {.path = "proc/sys/fs/aio-max-nr"};
static const opl_source watches_max = {.path = "proc/sys/fs/inotify/max_user_watches"};
static const opl_source instances_max = {.path = "proc/sys/fs/inotify/max_user_instances"};
static const opl_source key_users = {.path = "proc/key-users"};

/* The number of threads, each of which has an id: 94 in "0.56 0.18 0.08 1/94 7030". */
static bool threads(opl_reading *reading, uint64_t *ret)
{
    const char *text = opl_reading_text(reading, &loadavg, NULL);
    const char *slash = text ? strchr(text, '/') : NULL;
    if (!slash)
        return false;
    slash++;
    *ret = perflinux_number(&slash);
    return true;
}

/* ---- keys ---- */

/* proc/key-users has a line per user, " 0: 9 8/8 3/1000000 40/25000000": references to the user,
 * keys, used/allowed keys, used/allowed bytes of keys. */

struct user {
    uint64_t keys, count, count_max, bytes, bytes_max;
};

static bool read_pair(const char **at, uint64_t *ret, uint64_t *ret_max)
{
    *at += strspn(*at, " ");
    *ret = perflinux_number(at);
    if (**at != '/')
        return false;
    ++*at;
    *ret_max = perflinux_number(at);
    return true;
}

static bool read_user(const char *line, struct user *ret)
{
    uint64_t whole;
    const char *end = strchrnul(line, '\n');
    const char *at = memchr(line, ':', (size_t)(end - line));
    if (!at)
        return false;
    at += 1 + strspn(at + 1, " ");
    perflinux_number(&at);
    return read_pair(&at, &ret->keys, &whole) && read_pair(&at, &ret->count, &ret->count_max) &&
           read_pair(&at, &ret->bytes, &ret->bytes_max);
}

static bool keys(opl_reading *reading, uint64_t *ret)
{
    struct user user;
    const char *line = opl_reading_text(reading, &key_users, NULL);
    if (!line)
        return false;
    for (*ret = 0; *line; line = opl_next_line(line))
        if (read_user(line, &user))
            *ret += user.keys;
    return true;
}

/* True if a / a_max > b / b_max. */
static bool is_fuller(uint64_t a, uint64_t a_max, uint64_t b, uint64_t b_max)
{
    return b_max == 0 || (a_max > 0 && (double)a / (double)a_max > (double)b / (double)b_max);
}

/* Finds the user who has used the largest share of the quota of keys (`bytes`: of the bytes of
 * keys), and returns use and quota. */
static bool fullest(opl_reading *reading, bool bytes, uint64_t *ret, uint64_t *ret_max)
{
    struct user user;
    const char *line = opl_reading_text(reading, &key_users, NULL);
    *ret = *ret_max = 0;
    for (; line && *line; line = opl_next_line(line)) {
        if (!read_user(line, &user))
            continue;
        uint64_t used = bytes ? user.bytes : user.count;
        uint64_t most = bytes ? user.bytes_max : user.count_max;
        if (is_fuller(used, most, *ret, *ret_max)) {
            *ret = used;
            *ret_max = most;
        }
    }
    return *ret_max > 0;
}

static bool key_count(opl_reading *reading, uint64_t *ret)
{
    uint64_t most;
    return fullest(reading, false, ret, &most);
}

static bool key_count_max(opl_reading *reading, uint64_t *ret)
{
    uint64_t used;
    return fullest(reading, false, &used, ret);
}

static bool key_bytes(opl_reading *reading, uint64_t *ret)
{
    uint64_t most;
    return fullest(reading, true, ret, &most);
}

static bool key_bytes_max(opl_reading *reading, uint64_t *ret)
{
    uint64_t used;
    return fullest(reading, true, &used, ret);
}

#define COUNT PERF_COUNTER_LARGE_RAWCOUNT
#define SHARE PERF_LARGE_RAW_FRACTION, 0, PERF_DETAIL_NOVICE
#define LOADAVG "proc/loadavg, after the slash"

/* clang-format off */
static const opl_counter counters[] = {
    {100702, 100703, COUNT, -2, PERF_DETAIL_NOVICE, OPL_FN_OF(&loadavg, threads), .name = "Process IDs",
     .help = "Process and thread numbers that are in use now: each thread has one.", .where = LOADAVG},
    {100704, 100705, COUNT, -4, PERF_DETAIL_ADVANCED, OPL_COLUMN(&pid_max, 1, OPL_ONE), .name = "Process IDs Maximum",
     .help = "The number of process and thread numbers that can exist."},
    {100706, 100707, SHARE, OPL_FN_OF(&loadavg, threads), .base = OPL_COLUMN(&pid_max, 1, OPL_ONE), .name = "% Process IDs Used",
     .help = "Share of the possible process and thread numbers that is in use.", .where = LOADAVG "; divided by `proc/sys/kernel/pid_max`"},
    {100708, 100709, COUNT, -4, PERF_DETAIL_ADVANCED, OPL_COLUMN(&threads_max, 1, OPL_ONE), .name = "Threads Maximum",
     .help = "Threads that can exist on the whole machine."},
    {100710, 100711, SHARE, OPL_FN_OF(&loadavg, threads), .base = OPL_COLUMN(&threads_max, 1, OPL_ONE), .name = "% Threads Used",
     .help = "Threads that exist now, as a share of those that can exist.", .where = LOADAVG "; divided by `proc/sys/kernel/threads-max`"},
    {100712, 100713, COUNT, -2, PERF_DETAIL_NOVICE, OPL_COLUMN(&files, 1, OPL_ONE), .name = "File Handles",
     .help = "Files that are open on the whole machine. A file that was opened once and has several descriptors counts once."},
    {100714, 100715, COUNT, -4, PERF_DETAIL_ADVANCED, OPL_COLUMN(&files, 3, OPL_ONE), .name = "File Handles Maximum",
     .help = "Files that can be open on the whole machine. On most systems the number is so high that it is no real limit."},
    {100716, 100717, SHARE, OPL_COLUMN(&files, 1, OPL_ONE), .base = OPL_COLUMN(&files, 3, OPL_ONE), .name = "% File Handles Used",
     .help = "Files that are open now, as a share of those that can be open."},
    {100718, 100719, COUNT, 0, PERF_DETAIL_ADVANCED, OPL_COLUMN(&requests, 1, OPL_ONE), .name = "Asynchronous IO Requests",
     .help = "Requests that programs reserved for asynchronous reading and writing."},
    {100720, 100721, COUNT, -4, PERF_DETAIL_ADVANCED, OPL_COLUMN(&requests_max, 1, OPL_ONE), .name = "Asynchronous IO Requests Maximum",
     .help = "Requests that can be reserved for asynchronous reading and writing."},
    {100722, 100723, SHARE, OPL_COLUMN(&requests, 1, OPL_ONE), .base = OPL_COLUMN(&requests_max, 1, OPL_ONE), .name = "% Asynchronous IO Requests Used",
     .help = "Share of the requests for asynchronous reading and writing that is reserved."},
    {100724, 100725, COUNT, -4, PERF_DETAIL_ADVANCED, OPL_COLUMN(&watches_max, 1, OPL_ONE), .name = "Inotify Watches Maximum",
     .help = "Files and folders that one user's programs can watch for changes."},
    {100726, 100727, COUNT, -1, PERF_DETAIL_ADVANCED, OPL_COLUMN(&instances_max, 1, OPL_ONE), .name = "Inotify Instances Maximum",
     .help = "Queues that report changes of files (inotify instances): how many one user's programs can have."},
    {100728, 100729, COUNT, 0, PERF_DETAIL_ADVANCED, OPL_FN_OF(&key_users, keys), .name = "Keys",
     .help = "Keys that the kernel keeps for the users that the querying user may see.", .where = "proc/key-users: the sum of nkeys"},
    {100730, 100731, SHARE, OPL_FN_OF(&key_users, key_count), .base = OPL_FN_OF(&key_users, key_count_max), .name = "% Key Quota Used",
     .help = "Share of the quota of keys that is used by the user who uses the largest share.", .where = "proc/key-users: qnkeys; divided by maxkeys"},
    {100732, 100733, SHARE, OPL_FN_OF(&key_users, key_bytes), .base = OPL_FN_OF(&key_users, key_bytes_max), .name = "% Key Byte Quota Used",
     .help = "Share of the quota of bytes in keys that is used by the user who uses the largest share.",
     .where = "proc/key-users: qnbytes; divided by maxbytes"},
};
/* clang-format on */

const opl_object perflinux_limits = {
    100700,
    100701,
    "Kernel Limits",
    "How much is used of what the kernel limits: process numbers, threads, open files, requests, "
    "keys.",
    OPL_COUNTERS(counters),
    .default_counter = 100706};
