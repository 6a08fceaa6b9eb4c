/* SPDX-License-Identifier: MIT */
/* Queries one provider now, by its objects' numbers, to find out whether the provider answers, and
 * how fast. */
#include "perfmon.h"

#include <stdlib.h>
#include <string.h>

enum { QUERY_SIZE = 2048, TIMEOUT_MS = 3000, PAUSE_MS = 50 };

static double now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* Writes the numbers in the provider's Object List. Without a list, writes all numbers of the
 * provider, some of which are objects. "": no numbers are known. */
static void make_query(const struct service_settings *service, char query[static QUERY_SIZE])
{
    size_t used = 0;
    *query = '\0';
    if (service->object_list && strlen(service->object_list) < QUERY_SIZE) {
        strcpy(query, service->object_list);
        return;
    }
    for (DWORD index = service->first_counter;
         service->loaded && index <= service->last_counter && used < QUERY_SIZE - 16; index += 2)
        used += (size_t)snprintf(query + used, QUERY_SIZE - used, "%s%u", used ? " " : "",
                                 (unsigned)index);
}

static bool is_listed(const char *query, DWORD index)
{
    char *end;
    for (; *query; query = end) {
        unsigned long number = strtoul(query, &end, 10);
        if (end == query)
            return false;
        if (number == index)
            return true;
    }
    return false;
}

static void count_answer(struct view_snapshot *snapshot, const char *query,
                         struct status_answer *ret)
{
    opl_object_view object = {0};
    ret->objects = ret->instances = 0;
    bool more = snapshot_begin(snapshot) && snapshot_next_object(snapshot, &object);
    for (; more; more = snapshot_next_object(snapshot, &object))
        if (is_listed(query, object.type.ObjectNameTitleIndex)) {
            opl_instance_view instance = {0};
            ret->objects++;
            while (snapshot_next_instance(snapshot, &object, &instance))
                ret->instances++;
        }
}

/* Repeats the query until the provider had time to answer: a single query does not wait for a
 * provider that was overdue too often. */
static void repeat_query(struct view_snapshot *snapshot, const char *query,
                         struct status_answer *ret)
{
    const struct timespec pause = {.tv_nsec = PAUSE_MS * 1000000L};
    double begin = now_ms();
    while (!ret->status && !ret->objects && now_ms() - begin < TIMEOUT_MS) {
        nanosleep(&pause, NULL);
        double start = now_ms();
        ret->status = snapshot_query(snapshot, query);
        ret->again_ms = now_ms() - start;
        if (!ret->status)
            count_answer(snapshot, query, ret);
    }
}

static bool answers_global(struct view_snapshot *snapshot, const char *query)
{
    struct status_answer global = {0};
    if (!snapshot_query(snapshot, "Global"))
        count_answer(snapshot, query, &global);
    return global.objects > 0;
}

void query_provider(const struct service_settings *service, struct status_answer *ret)
{
    struct view_snapshot snapshot = {0};
    char query[QUERY_SIZE];
    *ret = (struct status_answer){0};
    make_query(service, query);
    if (!*query)
        return;
    ret->queried = true;
    /* unloads all providers, so that the first time includes loading and Open */
    RegCloseKey(HKEY_PERFORMANCE_DATA);
    double begin = now_ms();
    ret->status = snapshot_query(&snapshot, query);
    double middle = now_ms();
    if (!ret->status)
        ret->status = snapshot_query(&snapshot, query);
    double end = now_ms();
    if (!ret->status)
        count_answer(&snapshot, query, ret);
    ret->first_ms = middle - begin;
    ret->again_ms = end - middle;
    if (service->unanswered)
        repeat_query(&snapshot, query, ret);
    ret->answered = !ret->status && ret->objects;
    ret->only_global = !ret->status && !ret->objects && answers_global(&snapshot, query);
    snapshot_done(&snapshot);
    RegCloseKey(HKEY_PERFORMANCE_DATA);
}
