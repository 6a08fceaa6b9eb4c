/* SPDX-License-Identifier: MIT */
/* Tests the library as programs use it: through HKEY_PERFORMANCE_DATA, in a helper process,
 * registered in the temporary registry. Perflib's reports about the library are in that registry's
 * event log. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_SIZE = 256 << 10, LAST_SIZE = 64 << 20 };
enum { SOURCE = 1, NUMBER, LEVEL, SERVICE, MESSAGE, FIELDS };

static const struct place nowhere;

/* Returns the block that answers one query; to be freed; NULL: no block. */
static unsigned char *run_query(const char *query, DWORD *ret_size, LSTATUS *ret_status)
{
    unsigned char *data = NULL;
    *ret_status = ERROR_MORE_DATA;
    for (DWORD capacity = FIRST_SIZE; *ret_status == ERROR_MORE_DATA && capacity <= LAST_SIZE;
         capacity *= 4) {
        free(data);
        data = malloc(capacity);
        *ret_size = capacity;
        *ret_status =
            data ? RegQueryValueExA(HKEY_PERFORMANCE_DATA, query, NULL, NULL, data, ret_size)
                 : ERROR_NOT_ENOUGH_MEMORY;
    }
    return data;
}

static void report_event(char *line, struct report *report)
{
    char *fields[FIELDS] = {NULL};
    for (int i = 0; i < FIELDS && line; i++)
        fields[i] = strsep(&line, "\t");
    if (!fields[MESSAGE] || strcmp(fields[SOURCE], "Perflib") != 0)
        return;
    report_add(report, MISTAKE, &nowhere, "event", IN_LIFE,
               "no event about it when a program queries it", "%s: %s%s%s", fields[NUMBER],
               fields[MESSAGE], line ? " " : "", line ? line : "");
}

static void report_events(const struct registration *is, struct report *report)
{
    char path[4096], *line = NULL;
    size_t capacity = 0;
    snprintf(path, sizeof path, "%s/events", is->root);
    FILE *file = fopen(path, "re");
    while (file && getline(&line, &capacity, file) > 0) {
        line[strcspn(line, "\n")] = '\0';
        report_event(line, report);
    }
    free(line);
    if (file)
        fclose(file);
}

void perflib_check(const struct registration *registration, const char *query,
                   struct report *report)
{
    DWORD size = 0;
    LSTATUS status;
    opl_block block;
    opl_object_view object = {0};
    unsigned char *data = run_query(query, &size, &status);
    if (status)
        report_add(report, MISTAKE, &nowhere, "query", IN_LIFE,
                   "an answer to a program that queries Perflib", "error %d for \"%s\"",
                   (int)status, query);
    else if (opl_block_init(&block, data, size) || !opl_block_next_object(&block, &object))
        report_add(report, MISTAKE, &nowhere, "query", IN_LIFE,
                   "an answer to a program that queries Perflib", "no object for \"%s\"", query);
    RegCloseKey(HKEY_PERFORMANCE_DATA);
    free(data);
    report_events(registration, report);
}
