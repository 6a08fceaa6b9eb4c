/* SPDX-License-Identifier: MIT */
/* Shared by the parts of openperflib-new: templates, options, and the example's texts. */
#ifndef OPL_TOOLS_NEW_H
#define OPL_TOOLS_NEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "../tables/tables.h"

struct template
{
    const char *name, *text;
};
extern const struct template templates[]; /* ended by a zeroed row */

struct chosen {
    const char *file; /* NAME as it was given: demo */
    char service[80]; /* NAME with a capital letter, also the object's name: Demo */
    bool instances, windows;
    struct old languages; /* languages to write texts for, besides English */
};

/* ---- texts.c: the example's objects and counters ---- */
struct example {
    opl_counter counters[4];
    opl_object object;
    const opl_object *objects[1];
    opl_table_list tables;
    struct entries entries;
    struct old texts;
};
bool example_make(const struct chosen *chosen, struct example *ret);
void example_done(struct example *example);
/* "object.name", "rate.help": the English text; NULL: there is none. */
const char *example_text(const struct chosen *chosen, const char *word);

/* ---- template.c ---- */
/* Writes the template with its @words@ replaced, and of its optional parts only those for the
 * chosen options. */
void template_print(FILE *out, const char *name, const struct chosen *chosen,
                    const struct example *example);

#endif
