/* SPDX-License-Identifier: MIT */
/*
 * Runs, starts or stops a set that a file of lines "key=value" describes, without logman's command
 * line and without XML: runner-driver run|start|stop|status NAME [--system]. The file is
 * $OPENPERFLIB_ROOT/sets/NAME. Its clocks can be set: $OPENPERFLIB_ROOT/clock has the seconds by
 * which the wall clock is ahead, and for how many the machine was suspended.
 */
#include "logman/set.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* ---- the clocks: these functions replace the C library's, also for the library ---- */

#ifdef SYS_clock_gettime64 /* SYS_clock_gettime has 32-bit times here */
enum { GET_TIME = SYS_clock_gettime64 };
#else
enum { GET_TIME = SYS_clock_gettime };
#endif

__attribute__((visibility("default"))) int clock_gettime(clockid_t which, struct timespec *ret)
{
    char path[512], text[64] = "";
    long ahead = 0, slept = 0;
    int status = (int)syscall(GET_TIME, which, ret);
    if (status || (which != CLOCK_REALTIME && which != CLOCK_BOOTTIME))
        return status;
    snprintf(path, sizeof path, "%s/clock", getenv("OPENPERFLIB_ROOT"));
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && read(fd, text, sizeof text - 1) > 0)
        sscanf(text, "%ld %ld", &ahead, &slept);
    if (fd >= 0)
        close(fd);
    ret->tv_sec += which == CLOCK_REALTIME ? ahead + slept : slept;
    return 0;
}

__attribute__((visibility("default"))) time_t time(time_t *ret)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (ret)
        *ret = now.tv_sec;
    return now.tv_sec;
}

/* ---- the set ---- */

#define SET(member) false, offsetof(struct set, member)
#define COLLECTOR(member) true, offsetof(struct collector, member)
/* clang-format off */
static const struct key {
    const char *name;
    enum { TEXT, CHOICE, NUMBER, LARGE, FLAG, REAL } type;
    bool of_collector;
    size_t member;
} keys[] = {
    {"folder", TEXT, SET(folder)},
    {"file", TEXT, COLLECTOR(file)},
    {"command", TEXT, SET(command)},
    {"user", TEXT, SET(user)},
    {"start_set", TEXT, COLLECTOR(start_set)},
    {"task", TEXT, COLLECTOR(task)},
    {"arguments", TEXT, COLLECTOR(task_arguments)},
    {"kind", CHOICE, SET(kind)},
    {"format", CHOICE, COLLECTOR(format)},
    {"version", CHOICE, COLLECTOR(version)},
    {"serial", NUMBER, SET(serial)},
    {"most", NUMBER, SET(most)},
    {"new_file", NUMBER, SET(new_file)},
    {"run_for", NUMBER, SET(run_for)},
    {"samples", NUMBER, COLLECTOR(samples)},
    {"keep_free", REAL, SET(keep_free)},
    {"hold", NUMBER, COLLECTOR(hold)},
    {"pause", NUMBER, COLLECTOR(pause)},
    {"begin", LARGE, SET(begin)},
    {"end", LARGE, SET(end)},
    {"retention", LARGE, SET(retention)},
    {"append", FLAG, COLLECTOR(append)},
    {"overwrite", FLAG, COLLECTOR(overwrite)},
    {"segment", FLAG, SET(segment)},
    {"repeat", FLAG, SET(repeat)},
    {"lines", FLAG, SET(command_lines)},
    {"compress", FLAG, SET(compress)},
    {"event", FLAG, COLLECTOR(event)},
    {"interval", REAL, COLLECTOR(interval)},
    {"hysteresis", REAL, COLLECTOR(hysteresis)},
};
/* clang-format on */

static struct collector collectors[4];

/* begin=+N and end=+N are N seconds from now, in local time. */
static int64_t take_long(const char *value)
{
    time_t now = time(NULL);
    struct tm parts;
    int64_t local = timegm(localtime_r(&now, &parts));
    return *value == '+'   ? local + strtoll(value + 1, NULL, 10)
           : *value == '-' ? local + strtoll(value, NULL, 10)
                           : strtoll(value, NULL, 10);
}

static void take(struct set *set, const char *line)
{
    const char *value = strchr(line, '=');
    size_t length = value ? (size_t)(value++ - line) : 0;
    if (length == 7 && strncmp(line, "counter", length) == 0) {
        text_list_add(&collectors[set->count - 1].counters, value);
        return;
    }
    if (strcmp(line, "collector") == 0) { /* begins a further collector */
        collectors[set->count++].interval = collectors[0].interval;
        return;
    }
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        char *base = keys[i].of_collector ? (char *)&collectors[set->count - 1] : (char *)set;
        char *member = base + keys[i].member;
        if (strlen(keys[i].name) != length || strncmp(line, keys[i].name, length) != 0)
            continue;
        switch (keys[i].type) {
        case TEXT:
            *(char **)(void *)member = strdup(value);
            return;
        case CHOICE:
            *(unsigned *)(void *)member = (unsigned)strtoul(value, NULL, 10);
            return;
        case NUMBER:
            *(uint64_t *)(void *)member = strtoull(value, NULL, 10);
            return;
        case LARGE:
            *(int64_t *)(void *)member = take_long(value);
            return;
        case FLAG:
            *(bool *)member = *value == '1';
            return;
        case REAL:
            *(double *)(void *)member = strtod(value, NULL);
            return;
        }
    }
    fprintf(stderr, "runner-driver: unknown key in '%s'\n", line);
    exit(2);
}

static void done(struct set *set)
{
    for (size_t j = 0; j < set->count; j++) {
        text_list_done(&collectors[j].counters);
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
            if (keys[i].type == TEXT && (keys[i].of_collector || j == 0))
                free(*(
                    char **)(void *)((keys[i].of_collector ? (char *)&collectors[j] : (char *)set) +
                                     keys[i].member));
    }
}

int main(int argc, char **argv)
{
    struct text_list lines = {0};
    struct set set = {.collectors = collectors, .count = 1};
    *collectors = (struct collector){.interval = 15, .event = true};
    if (argc < 3)
        return 2;
    if (strncmp(argv[1], "--compress", 10) == 0) /* as the runner calls logman */
        return set_compress(argv[2], argv + 3, argv[1][10]);
    char *path = NULL;
    if (asprintf(&path, "%s/sets/%s", getenv("OPENPERFLIB_ROOT"), argv[2]) < 0)
        return 2;
    bool user = argc < 4 || strcmp(argv[3], "--system") != 0;
    set.name = argv[2];
    if (!text_list_read(&lines, path))
        return perror("runner-driver"), 2;
    for (size_t i = 0; i < lines.count; i++)
        take(&set, lines.texts[i]);
    int code = 0;
    if (strcmp(argv[1], "run") == 0)
        code = set_run(&set, user);
    else if (strcmp(argv[1], "start") == 0)
        code = set_start(&set, user);
    else if (strcmp(argv[1], "stop") == 0)
        code = set_stop(&set, user);
    else
        set_print_status(&set, user);
    done(&set);
    text_list_done(&lines);
    free(path);
    return code;
}
