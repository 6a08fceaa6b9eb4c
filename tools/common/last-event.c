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

/* If openperflib itself disabled the service, reports why it is not queried. False: openperflib did
 * not disable the service. */
static bool report_quarantine(const char *tool, const char *object,
                              const struct service_settings *service)
{
    const char *why = service->quarantine;
    if (!why || service_enabled(service))
        return false;
    fprintf(stderr, "%s: %s belongs to %s, which is %s %s; \"lodctr%s /E:%s\" enables it\n", tool,
            text_seen(object), text_seen(service->name),
            strncmp(why, "until ", 6) ? "disabled" : "in quarantine", text_seen(why),
            service_option(service), text_seen(service->name));
    return true;
}

bool last_event_report(const char *tool, const char *object, const char *service)
{
    opl_load_event event;
    struct service_settings settings;
    bool reported = false, enabled = false;
    if (!service_read(service, &settings)) {
        reported = report_quarantine(tool, object, &settings);
        enabled = service_enabled(&settings);
    }
    service_done(&settings);
    if (reported || !enabled || !last_event_fails(service, &event))
        return reported;
    fprintf(stderr, "%s: %s belongs to %s: event %u: %s; %s\n", tool, text_seen(object),
            text_seen(service), (unsigned)event.id, text_seen(event.text), text_seen(event.advice));
    return true;
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
    *ret_why = strange ? "not a regular file; delete it, and events are written there again"
               : large ? "too large; move it away, and events are written there again"
               : errno == ENOENT ? NULL
                                 : strerror(errno);
    if (fd >= 0 && !file)
        close(fd);
    return file;
}

/* ---- an object that is missing ---- */

struct event_search {
    const char *tool, *object;
    DWORD index;
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

static bool explain(void *self, const char *name)
{
    const struct event_search *search = self;
    struct service_settings service;
    if (service_read(name, &service))
        return true;
    if (has_object(&service, search->index))
        last_event_report(search->tool, search->object, name);
    service_done(&service);
    return true;
}

void last_event_explain(const char *tool, const char *object)
{
    struct event_search search = {.tool = tool, .object = object};
    if (PdhLookupPerfIndexByNameA(NULL, object, &search.index) == ERROR_SUCCESS)
        service_each(explain, &search);
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
