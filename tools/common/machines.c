/* SPDX-License-Identifier: MIT */
/* Connects to all machines before counters are added, so that a machine that does not answer costs
 * its deadline only once, not once for each of its counters. */
#include "machines.h"
#include "machine-message.h"

#include "../view/text.h"

#include <openperflib/machine.h>
#include <pdh.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* Returns the length of the machine's name after two slashes of either kind; 0: the path has no
 * machine, or a pattern as its machine. */
static size_t name_length(const char *path)
{
    bool windows = !strncmp(path, "\\\\", 2);
    if (!windows && strncmp(path, "//", 2) != 0)
        return 0;
    size_t length = strcspn(path + 2, windows ? "\\" : "/");
    return memchr(path + 2, '*', length) || memchr(path + 2, '?', length) ? 0 : length;
}

static size_t place_of(const struct machines *machines, const char *path)
{
    size_t length = name_length(path), i = 0;
    while (i < machines->count && (strncasecmp(machines->names[i] + 2, path + 2, length) != 0 ||
                                   machines->names[i][2 + length]))
        i++;
    return i;
}

static bool grow(struct machines *machines)
{
    if (machines->count < machines->capacity)
        return true;
    size_t capacity = machines->capacity ? machines->capacity * 2 : 16;
    char **names = reallocarray(machines->names, capacity, sizeof *names);
    if (names)
        machines->names = names;
    LSTATUS *reasons = names ? reallocarray(machines->reasons, capacity, sizeof *reasons) : NULL;
    if (!reasons)
        return false;
    machines->reasons = reasons;
    machines->capacity = capacity;
    return true;
}

bool machines_note(struct machines *machines, const char *path)
{
    char *name = NULL;
    size_t length = name_length(path);
    if (!length || place_of(machines, path) < machines->count)
        return true;
    if (!grow(machines) || asprintf(&name, "\\\\%.*s", (int)length, path + 2) < 0)
        return false;
    machines->reasons[machines->count] = ERROR_SUCCESS;
    machines->names[machines->count++] = name;
    return true;
}

void machines_show_wait(const char *name, size_t others)
{
    if (!isatty(STDERR_FILENO))
        return;
    if (name)
        fprintf(stderr, "connecting to %s%s ...", text_seen(name), others ? " and others" : "");
    else
        fputs("\r\033[K", stderr);
}

static void connect_all(struct machines *machines)
{
    machines_show_wait(machines->names[0], machines->count - 1);
    opl_connect_machines((const char *const *)machines->names, machines->count, machines->reasons);
    machines_show_wait(NULL, 0);
}

size_t machines_connect(struct machines *machines, const char *tool)
{
    size_t away = 0;
    if (machines->count)
        connect_all(machines);
    for (size_t i = 0; i < machines->count; i++) {
        LSTATUS reason = machines->reasons[i];
        if (!reason)
            continue;
        const char *message = machine_message(machines->names[i], reason);
        away++;
        fprintf(stderr, "%s: %s cannot be reached: %s (error %d)\n", tool,
                text_seen(machines->names[i]), message ? text_seen(message) : "no reason given",
                (int)reason);
    }
    return away;
}

bool machines_lack(const struct machines *machines, const char *path)
{
    size_t place = name_length(path) ? place_of(machines, path) : machines->count;
    return place < machines->count && machines->reasons[place];
}

void machines_done(struct machines *machines)
{
    for (size_t i = 0; i < machines->count; i++)
        free(machines->names[i]);
    free(machines->names);
    free(machines->reasons);
    *machines = (struct machines){0};
}
