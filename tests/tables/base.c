/* SPDX-License-Identifier: MIT */
/*
 * Reads from the project's data files which objects and counters Windows itself has.
 */
#include "tables.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_COUNTERS = 1024, MOST_NAMES = 1848, MOST_ABSENT = 1024, MOST_FIELDS = 16 };

struct base_counter base_counters[MOST_COUNTERS];
size_t base_counter_count;
static char names[MOST_NAMES][96];
static struct {
    unsigned object, index;
} absent[MOST_ABSENT];
static size_t absent_count;

const char *source_root(void)
{
    const char *root = getenv("SOURCE_ROOT");
    return root ? root : ".";
}

/* Calls `take` with the fields of each line of the file, except lines that begin with '#'. */
static void each_line(const char *path, void (*take)(char **fields, size_t count))
{
    char line[4096], *fields[MOST_FIELDS];
    FILE *file = fopen(path, "r");
    if (!file) {
        perror(path);
        exit(99);
    }
    while (fgets(line, sizeof line, file)) {
        size_t count = 0;
        line[strcspn(line, "\n")] = 0;
        for (char *rest = line, *field; (field = strsep(&rest, "\t")) && count < MOST_FIELDS;)
            fields[count++] = field;
        if (*line != '#')
            take(fields, count);
    }
    fclose(file);
}

static void take_counter(char **fields, size_t count)
{
    if (count < 14 || base_counter_count == MOST_COUNTERS || !strtoul(fields[0], NULL, 10))
        return;
    struct base_counter *counter = &base_counters[base_counter_count++];
    counter->object = (unsigned)strtoul(fields[0], NULL, 10);
    counter->order = atoi(fields[5]);
    counter->index = (unsigned)strtoul(fields[6], NULL, 10);
    snprintf(counter->name, sizeof counter->name, "%s", fields[7]);
    counter->type = (unsigned)strtoul(fields[9], NULL, 16);
    counter->level = (unsigned)strtoul(fields[10], NULL, 10);
    counter->scale = atoi(fields[11]);
    sscanf(fields[13], "recorded (help index %u", &counter->help);
}

static void take_name(char **fields, size_t count)
{
    unsigned long index = strtoul(fields[0], NULL, 10);
    if (count > 1 && index < MOST_NAMES)
        snprintf(names[index], sizeof names[index], "%s", fields[1]);
}

static void take_absent(char **fields, size_t count)
{
    if (count != 4 || !*fields[3] || absent_count == MOST_ABSENT) {
        fprintf(stderr, "absent.tsv: four fields are needed behind \"%s\"\n", fields[0]);
        exit(99);
    }
    absent[absent_count].object = (unsigned)strtoul(fields[0], NULL, 10);
    absent[absent_count++].index = (unsigned)strtoul(fields[1], NULL, 10);
}

void base_load(void)
{
    char path[1024];
    glob_t found;
    snprintf(path, sizeof path, "%s/data/base-counters.tsv", source_root());
    each_line(path, take_counter);
    snprintf(path, sizeof path, "%s/data/base-names.tsv", source_root());
    each_line(path, take_name);
    snprintf(path, sizeof path, "%s/providers/*/absent.tsv", source_root());
    if (glob(path, 0, NULL, &found) == 0)
        for (size_t i = 0; i < found.gl_pathc; i++)
            each_line(found.gl_pathv[i], take_absent);
    globfree(&found);
}

const char *base_name(unsigned index)
{
    return index < MOST_NAMES && *names[index] ? names[index] : NULL;
}

const struct base_counter *base_counter(unsigned object, unsigned index)
{
    for (size_t i = 0; i < base_counter_count; i++)
        if (base_counters[i].object == object && base_counters[i].index == index)
            return &base_counters[i];
    return NULL;
}

bool is_absent(unsigned object, unsigned index)
{
    for (size_t i = 0; i < absent_count; i++)
        if (absent[i].object == object && absent[i].index == index)
            return true;
    return false;
}
