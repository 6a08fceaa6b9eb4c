/* SPDX-License-Identifier: MIT */
/* Compares a path with the names in PDH's lists. */
#include "missing.h"
#include "pdh-message.h"
#include "../view/text.h"
#include "../view/view.h"
#include "base/base.h"

#include <openperflib/capture.h>
#include <openperflib/load.h>
#include <winerror.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SIMILAR_MOST = 3, LEVEL = PERF_DETAIL_WIZARD };

/* Is `name` like `word`? One wrong letter is allowed for every three; a name that contains the
 * word, or is a part of it, counts as one wrong letter. */
static bool is_similar(const char *name, const char *word)
{
    return strlen(word) > 2 && names_distance(name, word) <= strlen(word) / 3;
}

/* Appends to `similar` the names of a multi-string that are spelled like the word. */
static void add_similar(const char *names, const char *word, char *similar, size_t size)
{
    int count = 0;
    size_t used = 0;
    similar[0] = 0;
    for (; names && *names && count < SIMILAR_MOST; names += strlen(names) + 1)
        if (is_similar(names, word) && used < size) {
            used +=
                (size_t)snprintf(similar + used, size - used, "%s'%s'", count ? ", " : "", names);
            count++;
        }
}

static bool has_match(const char *names, const char *pattern)
{
    for (; names && *names; names += strlen(names) + 1)
        if (text_match(pattern, names))
            return true;
    return false;
}

/* Returns the multi-string of all objects, to be freed; NULL: it cannot be read. */
static char *all_objects(const char *machine)
{
    DWORD size = 0;
    if ((DWORD)PdhEnumObjectsA(NULL, machine, NULL, &size, LEVEL, FALSE) != PDH_MORE_DATA)
        return NULL;
    char *names = malloc(size);
    if (names && PdhEnumObjectsA(NULL, machine, names, &size, LEVEL, FALSE) == 0)
        return names;
    free(names);
    return NULL;
}

/* Returns the multi-string of an object's counters, to be freed; NULL: there is no such object. */
static char *counters_of(const PDH_COUNTER_PATH_ELEMENTS_A *path)
{
    DWORD size = 0, instances_size = 0;
    PDH_STATUS status = PdhEnumObjectItemsA(NULL, path->szMachineName, path->szObjectName, NULL,
                                            &size, NULL, &instances_size, LEVEL, 0);
    if ((DWORD)status != PDH_MORE_DATA && status)
        return NULL;
    instances_size += instances_size / 4 + 256; /* the list may grow between the two calls */
    char *names = calloc(1, size + 2), *instances = malloc(instances_size);
    if (names && instances)
        status = PdhEnumObjectItemsA(NULL, path->szMachineName, path->szObjectName, names, &size,
                                     instances, &instances_size, LEVEL, 0);
    free(instances);
    if (names && instances && !status)
        return names;
    free(names);
    return NULL;
}

PDH_STATUS missing_part(const char *path, PDH_STATUS status, char *similar, size_t size)
{
    char storage[PDH_MAX_COUNTER_PATH + sizeof(PDH_COUNTER_PATH_ELEMENTS_A)]
        __attribute__((aligned(sizeof(void *))));
    DWORD text_size = sizeof storage;
    PDH_COUNTER_PATH_ELEMENTS_A *parts = (void *)storage;
    similar[0] = 0;
    if (PdhParseCounterPathA(path, parts, &text_size, 0))
        return status;
    char *names = counters_of(parts);
    PDH_STATUS found = names ? status : (PDH_STATUS)PDH_CSTATUS_NO_OBJECT;
    if (names && !has_match(names, parts->szCounterName)) {
        found = (PDH_STATUS)PDH_CSTATUS_NO_COUNTER;
        add_similar(names, parts->szCounterName, similar, size);
    } else if (!names && (names = all_objects(parts->szMachineName))) {
        add_similar(names, parts->szObjectName, similar, size);
    }
    free(names);
    return found;
}

void missing_rights(const char *tool, const char *object)
{
    static bool reported;
    const char *denied = opl_load_denied();
    size_t length = object ? strlen(object) : 0;
    if (reported || !denied ||
        (object && (strncmp(denied, object, length) || denied[length] != ':')))
        return;
    reported = true;
    fflush(stdout);
    fprintf(stderr,
            "%s: counters that this user may not read for all instances are missing: %s; %s\n",
            tool, text_seen(denied),
            geteuid() ? "root may read them: use sudo; for counters that show your own processes "
                        "see 'Needs rights' in docs/counters"
                      : "even root may not read them here, as in some containers");
}

void missing_rights_of_all(const char *tool, const char *path)
{
    const char *counter = strrchr(path, '\\'), *colon = strstr(path, "::");
    counter = colon ? colon : counter;
    if (counter && strpbrk(counter, "*?"))
        missing_rights(tool, NULL);
}

bool missing_is_capture(const char *tool, const char *word)
{
    struct stat facts;
    DWORD type = 0;
    PDH_HLOG log = NULL;
    bool is_set = stat(word, &facts) != 0; /* or nothing */
    if (!is_set && !S_ISREG(facts.st_mode))
        return false;
    PDH_STATUS status =
        PdhOpenLogA(word, PDH_LOG_READ_ACCESS | PDH_LOG_OPEN_EXISTING, &type, NULL, 0, NULL, &log);
    if (status == (PDH_STATUS)PDH_NO_DATA && is_set)
        fprintf(stderr, "%s: %s\n", tool, opl_capture_problem());
    PdhCloseLog(log, 0); /* PDH then also forgets the problem, which was printed above */
    if (status && status != (PDH_STATUS)PDH_NO_DATA)
        return false;
    const char *file = is_set ? text_seen(word) : "FILE";
    fprintf(stderr,
            "%s: %s is a %s: 'relog %s' lists and converts its counters, 'relog --summary %s' sums "
            "them up, 'perfmon %s%s' %s\n",
            tool, text_seen(word), is_set ? "set of logman" : "capture", file, file,
            is_set ? "--at TIME --set " : "", file, is_set ? "shows a time" : "charts them");
    return true;
}

int missing_complain(const char *tool, const char *path, PDH_STATUS status)
{
    char similar[256], about[PDH_MAX_COUNTER_PATH + 300];
    DWORD code = (DWORD)status;
    if (code != PDH_CSTATUS_NO_OBJECT && code != PDH_CSTATUS_NO_COUNTER &&
        code != PDH_CSTATUS_NO_INSTANCE)
        return pdh_complain(tool, path, status);
    status = missing_part(path, status, similar, sizeof similar);
    if ((DWORD)status == PDH_CSTATUS_NO_COUNTER)
        missing_rights(tool, NULL);
    snprintf(about, sizeof about, "%s%s%s%s", path, *similar ? " (similar: " : "", similar,
             *similar ? ")" : "");
    return pdh_complain(tool, about, status);
}
