/* SPDX-License-Identifier: MIT */
/* The last event of a provider, compared with the time of its last answer. */
#include "last-event.h"
#include "service.h"

#include "../view/text.h"

#include <errno.h>
#include <fcntl.h>
#include <pdh.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Is the provider's data missing after this event? Other events do not affect data. */
static bool costs_data(DWORD id)
{
    static const DWORD remarks[] = {1017, 2001, 2003, 3003, 3004, 4004, 4008, 4010};
    for (size_t i = 0; i < sizeof remarks / sizeof *remarks; i++)
        if (remarks[i] == id)
            return false;
    return true;
}

bool last_event_fails(const char *service, opl_load_event *ret)
{
    opl_load_answer answer = {0};
    if (opl_load_last_event(service, ret) || !costs_data(ret->id) ||
        !strcmp(ret->level, "information")) /* the event reports that the provider works again */
        return false;
    opl_load_last_answer(service, &answer);
    return ret->when > answer.when;
}

/* If openperflib itself disabled the service, writes why it is not queried. False: openperflib did
 * not disable the service. */
static bool quarantine_text(const struct service_settings *service, char *ret, size_t capacity)
{
    const char *why = service->quarantine;
    if (!why || service_enabled(service))
        return false;
    snprintf(ret, capacity, "belongs to %s, which is %s %s; \"lodctr%s /E:%s\" enables it",
             service->name, strncmp(why, "until ", 6) ? "disabled" : "in quarantine", why,
             service_option(service), service->name);
    return true;
}

bool last_event_text(const char *service, char *ret, size_t capacity)
{
    opl_load_event event;
    struct service_settings settings;
    bool written = false, enabled = false;
    if (!service_read(service, &settings)) {
        written = quarantine_text(&settings, ret, capacity);
        enabled = service_enabled(&settings);
    }
    service_done(&settings);
    if (written || !enabled || !last_event_fails(service, &event))
        return written;
    snprintf(ret, capacity, "belongs to %s: event %u: %s; %s", service, (unsigned)event.id,
             event.text, event.advice);
    return true;
}

static void report(const char *tool, const char *object, const char *text)
{
    fprintf(stderr, "%s: %s %s\n", tool, text_seen(object), text_seen(text));
}

bool last_event_report(const char *tool, const char *object, const char *service)
{
    char text[LAST_EVENT_SIZE];
    bool known = last_event_text(service, text, sizeof text);
    if (known)
        report(tool, object, text);
    return known;
}

time_t last_event_time(const opl_load_event *event)
{
    enum { TICKS = 10000000 };
    static const int64_t from_1601 = 11644473600; /* seconds from 1601 to 1970 */
    return (time_t)(event->when / TICKS - from_1601);
}

FILE *last_event_open(const char *path, const char **ret_why)
{
    enum { LARGEST = 8 << 20 }; /* bytes, as for openperflib's own file of events */
    struct stat st = {0};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    bool strange =
        fd < 0 ? errno == ELOOP || errno == ENXIO : !fstat(fd, &st) && !S_ISREG(st.st_mode);
    bool large = fd >= 0 && !strange && st.st_size > LARGEST;
    FILE *file = fd < 0 || strange || large ? NULL : fdopen(fd, "r");
    *ret_why = strange ? "it is not a regular file, so no events are written there; delete it"
               : large ? "it is too large, so no events are written there; move it away"
               : errno == ENOENT ? NULL
                                 : strerror(errno);
    if (fd >= 0 && !file)
        close(fd);
    return file;
}

/* ---- objects that are missing ---- */

struct event_search {
    DWORD index;
    char *text;
    size_t capacity;
    bool found;
};

static bool has_object(const struct service_settings *service, DWORD index)
{
    char *end;
    for (const char *list = service->object_list; list && *list; list = end) {
        unsigned long number = strtoul(list, &end, 10);
        if (end == list)
            break;
        if (number == index)
            return true;
    }
    return service->loaded && index >= service->first_counter && index <= service->last_counter;
}

static bool search_service(void *self, const char *name)
{
    struct event_search *search = self;
    struct service_settings service;
    if (service_read(name, &service))
        return true;
    if (has_object(&service, search->index))
        search->found = last_event_text(name, search->text, search->capacity);
    if (has_object(&service, search->index) && !search->found && !service_enabled(&service)) {
        snprintf(search->text, search->capacity,
                 "belongs to %s, which is disabled; \"lodctr%s /E:%s\" enables it", name,
                 service_option(&service), name);
        search->found = true;
    }
    service_done(&service);
    return !search->found;
}

bool last_event_of_object(const char *object, char *ret, size_t capacity)
{
    struct event_search search = {.text = ret, .capacity = capacity};
    if (PdhLookupPerfIndexByNameA(NULL, object, &search.index) == ERROR_SUCCESS)
        service_each(search_service, &search);
    return search.found;
}

void last_event_explain(const char *tool, const char *object)
{
    char text[LAST_EVENT_SIZE];
    if (last_event_of_object(object, text, sizeof text))
        report(tool, object, text);
}

struct object_search {
    void (*each)(void *self, DWORD object);
    void *self;
};

static bool search_objects(void *self, const char *name)
{
    const struct object_search *search = self;
    struct service_settings service;
    char text[LAST_EVENT_SIZE], *end;
    if (service_read(name, &service))
        return true;
    if (last_event_text(name, text, sizeof text))
        for (const char *list = service.object_list; list && *list; list = end) {
            unsigned long object = strtoul(list, &end, 10);
            if (end == list)
                break;
            search->each(search->self, (DWORD)object);
        }
    service_done(&service);
    return true;
}

void last_event_objects(void (*each)(void *self, DWORD object), void *self)
{
    struct object_search search = {each, self};
    service_each(search_objects, &search);
}

void last_event_no_names(const char *tool)
{
    opl_load_event event;
    const char *folder = getenv("OPENPERFLIB_VENDOR");
    if (folder && !opl_load_last_event("OPENPERFLIB_VENDOR", &event) && strstr(event.text, folder))
        fprintf(stderr, "%s: there are no names: %s\n", tool, text_seen(event.text));
    else
        fprintf(stderr,
                "%s: there are no names: the data files of openperflib were not found. Install\n"
                "them, or run 'meson devenv -C BUILD', or name their folder in "
                "OPENPERFLIB_VENDOR.\n",
                tool);
}

bool last_event_root_refused(const char *tool)
{
    opl_load_event event;
    if (opl_load_last_event("OPENPERFLIB_ROOT", &event))
        return false;
    fflush(stdout);
    fprintf(stderr, "%s: %s\n", tool, text_seen(event.text));
    return true;
}
