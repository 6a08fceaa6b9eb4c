/* SPDX-License-Identifier: MIT */
/* Prints the kinds of faulty providers, one per line: library, its three functions, whether its
 * data is kept at test level 1 (all checks), the number of the event that is reported, its name;
 * separated by tabs. */
#include "../experiments/kinds.h"

#include <stdio.h>

static const char * or (const char *text, const char *otherwise)
{
    return text ? text : otherwise;
}

int main(void)
{
    for (size_t t = 0; t < kind_table_count; t++)
        for (size_t i = 0; i < kind_tables[t].count; i++) {
            const struct kind *kind = &kind_tables[t].kinds[i];
            char collect[100];
            snprintf(collect, sizeof collect, "%s%s", kind_tables[t].prefix, kind->name);
            printf("%s\t%s\t%s\t%s\t%d\t%u\t%s\n", or (kind->library, kind_tables[t].library),
                   or (kind->open, "lie_open"), or (kind->collect, collect),
                   or (kind->close, "lie_close"), kind->at[0].kept, kind->at[0].event, kind->name);
        }
    return 0;
}
