/* SPDX-License-Identifier: MIT */
/*
 * Runs, starts or stops a set that a file of lines "key=value" describes, without logman's command
 * line and without XML: runner-driver run|start|stop|status NAME [--system]. The file is
 * $OPENPERFLIB_ROOT/sets/NAME.
 */
#include "logman/set.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

char *set_path(bool user, const char *name, enum set_place place)
{
    static const char *const places[] = {"sets", "captures", "run"};
    char *path = NULL;
    (void)user;
    return asprintf(&path, "%s/%s/%s", getenv("OPENPERFLIB_ROOT"), places[place], name) < 0 ? NULL
                                                                                            : path;
}

static const struct key {
    const char *name;
    enum { TEXT, NUMBER, LONG, FLAG, REAL } type;
    size_t member;
} keys[] = {
    {"output",     TEXT,   offsetof(struct set, output)        },
    {"command",    TEXT,   offsetof(struct set, command)       },
    {"user",       TEXT,   offsetof(struct set, user)          },
    {"start_set",  TEXT,   offsetof(struct set, start_set)     },
    {"task",       TEXT,   offsetof(struct set, task)          },
    {"arguments",  TEXT,   offsetof(struct set, task_arguments)},
    {"kind",       NUMBER, offsetof(struct set, kind)          },
    {"format",     NUMBER, offsetof(struct set, format)        },
    {"version",    NUMBER, offsetof(struct set, version)       },
    {"serial",     NUMBER, offsetof(struct set, serial)        },
    {"most",       NUMBER, offsetof(struct set, most)          },
    {"most_unit",  NUMBER, offsetof(struct set, most_unit)     },
    {"new_file",   NUMBER, offsetof(struct set, new_file)      },
    {"new_unit",   NUMBER, offsetof(struct set, new_unit)      },
    {"run_for",    NUMBER, offsetof(struct set, run_for)       },
    {"samples",    NUMBER, offsetof(struct set, samples)       },
    {"keep_free",  NUMBER, offsetof(struct set, keep_free)     },
    {"hold",       NUMBER, offsetof(struct set, hold)          },
    {"pause",      NUMBER, offsetof(struct set, pause)         },
    {"begin",      LONG,   offsetof(struct set, begin)         },
    {"end",        LONG,   offsetof(struct set, end)           },
    {"retention",  LONG,   offsetof(struct set, retention)     },
    {"append",     FLAG,   offsetof(struct set, append)        },
    {"overwrite",  FLAG,   offsetof(struct set, overwrite)     },
    {"segment",    FLAG,   offsetof(struct set, segment)       },
    {"repeat",     FLAG,   offsetof(struct set, repeat)        },
    {"lines",      FLAG,   offsetof(struct set, command_lines) },
    {"event",      FLAG,   offsetof(struct set, event)         },
    {"interval",   REAL,   offsetof(struct set, interval)      },
    {"hysteresis", REAL,   offsetof(struct set, hysteresis)    },
};

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
        text_list_add(&set->counters, value);
        return;
    }
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        char *member = (char *)set + keys[i].member;
        if (strlen(keys[i].name) != length || strncmp(line, keys[i].name, length) != 0)
            continue;
        switch (keys[i].type) {
        case TEXT:
            *(char **)(void *)member = strdup(value);
            return;
        case NUMBER:
            *(uint32_t *)(void *)member = (uint32_t)strtoul(value, NULL, 10);
            return;
        case LONG:
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
    text_list_done(&set->counters);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (keys[i].type == TEXT)
            free(*(char **)(void *)((char *)set + keys[i].member));
}

int main(int argc, char **argv)
{
    struct text_list lines = {0};
    struct set set = {.interval = 15, .event = true};
    if (argc < 3)
        return 2;
    char *path = set_path(true, argv[2], PLACE_SET);
    bool user = argc < 4 || strcmp(argv[3], "--system") != 0;
    set.name = argv[2];
    if (!path || !text_list_read(&lines, path))
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
