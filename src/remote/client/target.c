/* SPDX-License-Identifier: MIT */
/*
 * The machines. All keys of a machine share one connection, which is made at the first request, and
 * again after it was lost. Each request has a deadline. A machine that cannot be reached is retried
 * only after a pause.
 */
#include "remote/client/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct target *targets;

static struct target *find_target(const char *url)
{
    struct target *target = targets;
    while (target && strcmp(target->url, url) != 0)
        target = target->next;
    return target;
}

static struct target *new_target(const char *url)
{
    struct target *target = calloc(1, sizeof *target + strlen(url) + 1);
    if (!target)
        return NULL;
    strcpy(target->url, url);
    target->next = targets;
    targets = target;
    return target;
}

/* True if the machine must be kept although it has no open keys: it missed a deadline, and a new
 * entry would wait as long again. */
static bool is_remembered(const struct target *target)
{
    return target->missed &&
           clock_ticks() < target->not_before + CLIENT_REMEMBERED_SECONDS * CLOCK_TICKS_PER_SECOND;
}

static void forget_target(struct target **at)
{
    struct target *target = *at;
    *at = target->next;
    target_disconnect(target);
    free(target);
}

static void forget_old_targets(void)
{
    struct target **at = &targets;
    while (*at)
        if (!(*at)->users && !is_remembered(*at))
            forget_target(at);
        else
            at = &(*at)->next;
}

LSTATUS target_hold(const char *name, struct target **ret)
{
    BUFFER_AUTO url = {0};
    LSTATUS status = address_of(name, &url);
    if (status)
        return status;
    lock_take(&lock);
    forget_old_targets();
    *ret = find_target(url.data);
    if (!*ret)
        *ret = new_target(url.data);
    if (*ret)
        (*ret)->users++;
    lock_release(&lock);
    return *ret ? ERROR_SUCCESS : ERROR_NOT_ENOUGH_MEMORY;
}

void target_hold_again(struct target *target)
{
    lock_take(&lock);
    target->users++;
    lock_release(&lock);
}

void target_release(struct target *target)
{
    lock_take(&lock);
    bool last = --target->users == 0;
    struct target **at = &targets;
    while (last && *at != target)
        at = &(*at)->next;
    if (last && !is_remembered(target))
        forget_target(at);
    lock_release(&lock);
}

/* ---- connections ---- */

/* Forgets the overdue reply. In a child of fork() the reply is not freed, because the parent may
 * have been writing to its memory. */
void target_forget_overdue(struct target *target)
{
    if (target->overdue.pid == getpid())
        buffer_done(&target->overdue.message);
    target->overdue = (struct overdue_reply){0};
}

void target_disconnect(struct target *target)
{
    link_close(&target->link);
    target_forget_overdue(target);
    target->answered = target->data_wanted = false;
}

static uint32_t deadline_setting(void)
{
    uint32_t ms;
    if (registry_get_dword(REMOTE_SETTINGS, "Deadline", &ms))
        return CLIENT_REPLY_MS;
    return ms < CLIENT_LEAST_REPLY_MS  ? CLIENT_LEAST_REPLY_MS
           : ms > CLIENT_MOST_REPLY_MS ? CLIENT_MOST_REPLY_MS
                                       : ms;
}

LSTATUS target_connect(struct target *target)
{
    target->deadline_ms = deadline_setting();
    return address_connect(target->url, &target->link);
}

/* ---- the performance data ---- */

void target_use_data(struct target *target)
{
    lock_take(&lock);
    target->data_users++;
    lock_release(&lock);
}

void target_leave_data(struct target *target)
{
    UNCANCELLED;
    CALL_AUTO call = {
        .target = target,
        .request = {.operation = PROTO_CLOSE,
                    .root = (uint32_t)(uintptr_t)HKEY_PERFORMANCE_DATA,
                    .path = ""}
    };
    lock_take(&lock);
    bool last = --target->data_users == 0;
    lock_release(&lock);
    if (last && target->data_wanted)
        call_run(&call);
}
