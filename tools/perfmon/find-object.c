/* SPDX-License-Identifier: MIT */
/* Finds the object that a word of the command line names, or prints similar names. */
#include "perfmon.h"

#include "../common/missing.h"
#include "../common/pdh-message.h"

#include <stdlib.h>
#include <string.h>

/* Finds the service's first object; NULL: no such service, or none of its objects answers. */
static struct catalogue *find_service(const char *name)
{
    struct service_settings service;
    struct catalogue *found = NULL;
    PDH_STATUS status;
    char number[16], *end;
    if (service_read(name, &service) == ERROR_SUCCESS)
        for (char *at = service.object_list; at && *at && !found; at = *end ? end + 1 : end) {
            snprintf(number, sizeof number, "%lu", strtoul(at, &end, 10));
            if (end != at)
                found = catalogue_find(NULL, NULL, number, &status);
        }
    service_done(&service);
    return found;
}

int complain_of_object(const char *machine, const char *files, const char *word, PDH_STATUS status)
{
    char path[PDH_MAX_COUNTER_PATH], clean[256], similar[256] = "";
    machine = machine ? machine : "";
    text_clean(word, clean, sizeof clean);
    if ((DWORD)status != PDH_CSTATUS_NO_OBJECT)
        return pdh_complain("perfmon", *machine ? machine : clean, status);
    snprintf(path, sizeof path, "%s%s\\%s\\*", *machine && *machine != '\\' ? "\\\\" : "", machine,
             word);
    if (!files)
        missing_part(path, status, similar, sizeof similar);
    fprintf(stderr,
            "perfmon: %s: no object with this name answers%s%s%s; \"pcview\" lists the objects, "
            "\"perfmon --help\" the commands\n",
            clean, *similar ? " (similar: " : "", text_seen(similar), *similar ? ")" : "");
    return EXIT_MISSING;
}

struct catalogue *find_object(const char *machine, const char *files, char *word,
                              const char **ret_instances, PDH_STATUS *ret_status)
{
    PDH_STATUS ignored;
    char *open = strchr(word, '('), *close = word + strlen(word);
    struct catalogue *found = catalogue_find(machine, files, word, ret_status);
    if (!found && !machine && !files)
        found = find_service(word);
    if (!found && open && open > word && close[-1] == ')') { /* OBJECT(INSTANCES) */
        *open = close[-1] = 0;
        found = catalogue_find(machine, files, word, &ignored);
        if (found)
            *ret_instances = open + 1;
        else
            *open = '(', close[-1] = ')';
    }
    return found;
}
