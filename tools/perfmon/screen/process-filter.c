/* SPDX-License-Identifier: MIT */
/* The filter of the list of processes. */
#include "processes.h"

#include "../../view/view.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The columns that a filter can name. */
static const struct {
    const char *word;
    int column;
    bool text;
} columns[] = {
    {"user:",  USER,    true },
    {"state:", STATE,   true },
    {"unit:",  UNIT,    true },
    {"group:", GROUP,   true },
    {"cmd:",   COMMAND, true },
    {"cpu>",   CPU,     false},
    {"mem>",   MEMORY,  false},
    {"read>",  READ,    false},
    {"write>", WRITTEN, false},
    {"pid>",   PID,     false}
};
enum { COLUMNS = sizeof columns / sizeof *columns };

/* Reads a number such as "5", "1.5G" or "200M". NaN: this is no such number. */
static double number_of(const char *text)
{
    static const char units[] = "KMGT";
    char *end;
    double number = strtod(text, &end);
    const char *unit = *end ? strchr(units, toupper((unsigned char)*end)) : NULL;
    if (end == text || (*end && (!unit || end[1])))
        return NAN;
    return unit ? number * pow(1024, (double)(unit - units + 1)) : number;
}

/* Writes into ret->problem that no column has the name in the first `length` bytes of `part`. */
static void complain_of_column(const char *part, size_t length, struct filter *ret)
{
    snprintf(ret->problem, sizeof ret->problem, local("%.*s is no column; columns:"), (int)length,
             part);
    for (size_t i = 0; i < COLUMNS; i++)
        text_append(ret->problem, sizeof ret->problem, " %s", columns[i].word);
}

static void read_part(const char *part, struct filter *ret)
{
    struct filter_part *to = &ret->parts[ret->count++];
    size_t letters = strspn(part, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
    *to = (struct filter_part){.kind = PART_WORD, .text = part};
    if (!letters || !part[letters] || !strchr(":<>", part[letters]))
        return;
    for (size_t i = 0; i < COLUMNS; i++) {
        size_t length = strlen(columns[i].word);
        if (strncasecmp(part, columns[i].word, length) != 0)
            continue;
        *to = (struct filter_part){.kind = columns[i].text ? PART_TEXT : PART_NUMBER,
                                   .column = columns[i].column,
                                   .text = part + length};
        to->least = number_of(to->text);
        if (to->kind == PART_NUMBER && isnan(to->least))
            snprintf(ret->problem, sizeof ret->problem,
                     local("%s: '%s' is no number; numbers are like 5, 0.5, 200M, 1G"), part,
                     to->text);
        return;
    }
    complain_of_column(part, letters + 1, ret);
}

void filter_read(const char *text, struct filter *ret)
{
    char *rest;
    ret->count = 0;
    *ret->problem = 0;
    snprintf(ret->text, sizeof ret->text, "%s", text);
    for (char *part = strtok_r(ret->text, " ", &rest); part && !*ret->problem;
         part = strtok_r(NULL, " ", &rest))
        read_part(part, ret);
    if (*ret->problem)
        ret->count = 0;
}

static bool holds(const struct line *line, const struct filter_part *part)
{
    char name[256];
    if (part->kind == PART_NUMBER)
        return line_value(line, part->column) > part->least;
    if (part->kind == PART_TEXT)
        return text_contains(text_of(line, (enum line_text)part->column), part->text);
    snprintf(name, sizeof name, "%.*s", (int)line->name_length, line->name);
    return text_contains(name, part->text) || text_contains(text_of(line, COMMAND), part->text);
}

bool filter_matches(const struct filter *filter, const struct line *line)
{
    for (size_t i = 0; i < filter->count; i++)
        if (!holds(line, &filter->parts[i]))
            return false;
    return true;
}
