/* SPDX-License-Identifier: MIT */
/* Prints the metrics of all counters in the tables of provider libraries, for
 * docs/metric-names.tsv. usage: metric-names LIBRARY... */
#include "metrics.h"

#include <openperflib/unstable.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 8192 };
static char *lines[MOST];
static size_t count;

static int by_text(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

static void add(const opl_object *object, const char *title, uint32_t index, uint32_t type)
{
    static const char *const kinds[] = {"gauge", "counter", "summary", "info"};
    struct metric_family families[METRIC_FAMILIES];
    unsigned found = metric_describe(object->name, title, index, type, families);
    for (unsigned i = 0; i < found && count < MOST; i++) {
        const struct metric_family *family = &families[i];
        if (family->hidden)
            continue;
        bool ends = family->kind == METRIC_COUNTER || family->kind == METRIC_INFO;
        if (asprintf(&lines[count++], "%s%s\t%s\t%s\t%s", family->name,
                     ends ? family->samples[0].suffix : "", kinds[family->kind], object->name,
                     title) < 0)
            abort();
    }
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        char why[OPL_TABLES_WHY];
        const opl_table_list *tables = opl_tables_load(argv[i], why);
        if (!tables) {
            fprintf(stderr, "metric-names: %s: %s\n", argv[i], why);
            return 1;
        }
        for (size_t t = 0; t < tables->count; t++)
            for (size_t k = 0; k < tables->objects[t]->counter_count; k++) {
                const opl_counter *row = &tables->objects[t]->counters[k];
                add(tables->objects[t], row->name, row->index, row->type);
            }
    }
    qsort(lines, count, sizeof *lines, by_text);
    puts("# SPDX-License-Identifier: MIT\n# metric\ttype\tobject\tcounter");
    for (size_t i = 0; i < count; i++) {
        puts(lines[i]);
        free(lines[i]);
    }
    return 0;
}
