/* SPDX-License-Identifier: MIT */
/* The commands that show the herd once, or change it. */
#include "manager.h"

#include <jansson.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { FORWARD_MOST = 100000 };

const char *sex_word(uint32_t sex)
{
    return sex == BEHEMOTH_FEMALE ? "female" : "male";
}

static double age_of(const struct behemoth_herd *herd, const struct behemoth *is)
{
    return (double)((herd->time - is->birthday) / BEHEMOTH_SECOND);
}

/* ---- finding a behemoth ---- */

/* Returns how many behemoths have `word` as their number or name, or (`whole` is false) a name that
 * begins with `word`. *ret is the first of these behemoths. `list`: prints them. */
static uint32_t matches(const struct behemoth_herd *herd, const char *word, bool whole, bool list,
                        const struct behemoth **ret)
{
    int64_t id;
    uint32_t count = 0;
    bool number = options_number(word, 1, INT64_MAX, &id);
    for (uint32_t i = 0; i < herd->count; i++) {
        const struct behemoth *is = &behemoth_all(herd)[i];
        if (!(number && is->id == (uint64_t)id) &&
            (whole ? strcasecmp(is->name, word) : strncasecmp(is->name, word, strlen(word))) != 0)
            continue;
        *ret = count == 0 ? is : *ret;
        if (list)
            fprintf(stderr, "%s%s (%" PRIu64 ")", count > 0 ? ", " : "", is->name, is->id);
        count++;
    }
    return count;
}

/* A behemoth by number, or by name in any case. NULL, after a message: no behemoth matches, or
 * several do. */
static const struct behemoth *find(const struct behemoth_herd *herd, const char *word)
{
    const struct behemoth *found = NULL;
    uint32_t count = matches(herd, word, true, false, &found);
    if (count == 1)
        return found;
    fputs("behemoth-manager: ", stderr);
    if (count > 1) {
        fprintf(stderr, "%u behemoths have the name '%s'; give a number: ", (unsigned)count, word);
        matches(herd, word, true, true, &found);
    } else {
        fprintf(stderr, "no living behemoth has the name or number '%s'; ", word);
        if (*word && matches(herd, word, false, false, &found) > 0) {
            fputs("names that begin with it: ", stderr);
            matches(herd, word, false, true, &found);
        } else {
            fputs("'behemoth-manager list' shows all", stderr);
        }
    }
    fputs(".\n", stderr);
    return NULL;
}

/* ---- status and list ---- */

static json_t *summary_json(const struct behemoth_herd *herd)
{
    return json_pack("{s:s,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I}", "socket",
                     manager.place, "process", herd->process, "moment", herd->moment, "time",
                     herd->time, "ticks", herd->ticks, "count", (json_int_t)herd->count, "founded",
                     herd->founded, "births", herd->births, "deaths", herd->deaths, "weight",
                     herd->weight, "ages", herd->ages, "left_steps", herd->left_steps,
                     "right_steps", herd->right_steps, "width", (json_int_t)herd->width, "height",
                     (json_int_t)herd->height, "lifetime", herd->lifetime);
}

static int print_json(json_t *json)
{
    bool good = json && json_dumpf(json, stdout, JSON_INDENT(1)) == 0;
    if (good)
        putchar('\n');
    json_decref(json);
    return good ? EXIT_GOOD : EXIT_FAILED;
}

int command_status(void)
{
    const struct behemoth_herd *herd = manager_look(BEHEMOTH_HERD);
    char text[TEXT_VALUE];
    uint32_t females = 0;
    if (!herd)
        return manager_complain();
    if (manager.json)
        return print_json(summary_json(herd));
    for (uint32_t i = 0; i < herd->count; i++)
        females += behemoth_all(herd)[i].sex == BEHEMOTH_FEMALE;
    printf("Server      process %" PRIu64 ", at %s\n", herd->process, manager.place);
    printf("Herd time   %s UTC", time_text((uint64_t)herd->time, text));
    printf(", %s since it began\n", age_text((double)herd->ticks, text));
    printf("Behemoths   %u: %u female, %u male\n", (unsigned)herd->count, (unsigned)females,
           (unsigned)(herd->count - females));
    printf("Life        %" PRIu64 " came, %" PRIu64 " were born, %" PRIu64 " died\n", herd->founded,
           herd->births, herd->deaths);
    printf("Mean age    %s",
           age_text(herd->count > 0 ? (double)(herd->ages / herd->count) : 0, text));
    printf(" of %s\n", age_text((double)herd->lifetime, text));
    printf("Weight      %.1f t together\n", (double)herd->weight / 1000);
    printf("Field       %u x %u m\n", (unsigned)herd->width, (unsigned)herd->height);
    return EXIT_GOOD;
}

/* The columns to sort by: offset and size of a number; size 0: the name, which is a text. */
static const struct column {
    const char *name;
    size_t offset, bytes;
} columns[] = {
    {"id",         offsetof(struct behemoth, id),         8},
    {"name",       offsetof(struct behemoth, name),       0},
    {"sex",        offsetof(struct behemoth, sex),        4},
    {"age",        offsetof(struct behemoth, birthday),   8},
    {"x",          offsetof(struct behemoth, x),          4},
    {"y",          offsetof(struct behemoth, y),          4},
    {"weight",     offsetof(struct behemoth, weight),     4},
    {"volume",     offsetof(struct behemoth, volume),     4},
    {"generation", offsetof(struct behemoth, generation), 4},
    {"children",   offsetof(struct behemoth, children),   4},
    {"mother",     offsetof(struct behemoth, mother),     8},
};
static const struct column *sorted_by; /* qsort passes no context */

static uint64_t key_of(const struct behemoth *is)
{
    uint32_t small;
    uint64_t large;
    memcpy(&small, (const char *)is + sorted_by->offset, sizeof small);
    memcpy(&large, (const char *)is + sorted_by->offset, sizeof large);
    return sorted_by->bytes == 4 ? small : large;
}

static int compare(const void *left, const void *right)
{
    const struct behemoth *a = *(const struct behemoth *const *)left;
    const struct behemoth *b = *(const struct behemoth *const *)right;
    uint64_t one = key_of(a), other = key_of(b);
    int order =
        sorted_by->bytes == 0 ? strcasecmp(a->name, b->name) : (one > other) - (one < other);
    if (strcmp(sorted_by->name, "age") == 0) /* the oldest behemoth was born first */
        order = -order;
    order = order ? order : (a->id > b->id) - (a->id < b->id);
    return manager.reverse ? -order : order;
}

static json_t *behemoth_json(const struct behemoth_herd *herd, const struct behemoth *is,
                             const char *mother)
{
    return json_pack("{s:I,s:s,s:s,s:I,s:I,s:i,s:i,s:i,s:i,s:I,s:I,s:s?}", "id", is->id, "name",
                     is->name, "sex", sex_word(is->sex), "age", (json_int_t)age_of(herd, is),
                     "birthday", is->birthday, "x", is->x, "y", is->y, "weight", is->weight,
                     "volume", is->volume, "generation", (json_int_t)is->generation, "children",
                     (json_int_t)is->children, "mother", mother);
}

static int print_list(const struct behemoth_herd *herd, const struct behemoth **rows, size_t count)
{
    char age[TEXT_VALUE];
    json_t *json = manager.json ? summary_json(herd) : NULL, *array = json_array();
    if (!json)
        printf("%s%8s  %-15s %-6s %9s %6s %6s %6s %6s %4s %5s  %s%s\n",
               manager.style.colours ? STRONG : "", "ID", "NAME", "SEX", "AGE", "X", "Y", "KG",
               "LITRES", "GEN", "BIRTHS", "MOTHER", manager.style.colours ? PLAIN : "");
    for (size_t i = 0; i < count; i++) {
        const struct behemoth *is = rows[i];
        const char *mother = is->mother_position == BEHEMOTH_NONE
                                 ? NULL
                                 : behemoth_all(herd)[is->mother_position].name;
        if (json)
            json_array_append_new(array, behemoth_json(herd, is, mother));
        else
            printf("%8" PRIu64 "  %-15s %-6s %9s %6u %6u %6u %6u %4u %6u  %s\n", is->id, is->name,
                   sex_word(is->sex), age_text(age_of(herd, is), age), (unsigned)is->x,
                   (unsigned)is->y, (unsigned)is->weight, (unsigned)is->volume,
                   (unsigned)is->generation, (unsigned)is->children, mother ? mother : "-");
    }
    json_object_set_new(json, "behemoths", array);
    return json ? print_json(json) : EXIT_GOOD;
}

int command_list(void)
{
    const struct behemoth_herd *herd = NULL;
    sorted_by = manager.sort ? NULL : &columns[0];
    for (size_t i = 0; manager.sort && i < sizeof columns / sizeof *columns; i++)
        sorted_by = strcasecmp(manager.sort, columns[i].name) == 0 ? &columns[i] : sorted_by;
    if (!sorted_by)
        return options_complain(&manager.options, "unknown column '%s'", manager.sort);
    if (!(herd = manager_look(BEHEMOTH_HERD)))
        return manager_complain();
    size_t count = manager.arg_count > 0 ? manager.arg_count : herd->count;
    const struct behemoth **rows = calloc(count + 1, sizeof *rows);
    int code = rows ? EXIT_GOOD : EXIT_FAILED;
    for (size_t i = 0; !code && i < count; i++) {
        rows[i] = manager.arg_count > 0 ? find(herd, manager.args[i]) : &behemoth_all(herd)[i];
        code = rows[i] ? EXIT_GOOD : EXIT_MISSING;
    }
    if (!code) {
        qsort(rows, count, sizeof *rows, compare);
        code = print_list(herd, rows, count);
    }
    free(rows);
    return code;
}

/* ---- create, kill ---- */

static uint32_t or_none(int64_t number)
{
    return number < 0 ? BEHEMOTH_NONE : (uint32_t)number;
}

/* Creates a behemoth. Mistakes for which the server's status would have no details are found here,
 * before the request is sent. */
int command_create(void)
{
    const struct behemoth *mother = NULL;
    struct behemoth born;
    struct behemoth_create wanted = {.sex = manager.sex,
                                     .age = manager.age < 0 ? 0 : (uint32_t)manager.age,
                                     .x = or_none(manager.x),
                                     .y = or_none(manager.y)};
    const char *name = manager.arg_count > 0 ? manager.args[0] : "";
    if (strlen(name) >= BEHEMOTH_NAME)
        return options_complain(&manager.options, "a name has at most 23 characters");
    strcpy(wanted.name, name);
    const struct behemoth_herd *herd = manager_look(BEHEMOTH_HERD);
    if (!herd)
        return manager_complain();
    if (manager.mother && !(mother = find(herd, manager.mother)))
        return EXIT_MISSING;
    wanted.mother = mother ? mother->id : 0;
    if (manager.x >= herd->width || manager.y >= herd->height) {
        fprintf(stderr, "behemoth-manager: -x or -y is outside the field of %u x %u metres.\n",
                (unsigned)herd->width, (unsigned)herd->height);
        return EXIT_FAILED;
    }
    int code = manager_request(BEHEMOTH_CREATE, &wanted, sizeof wanted);
    if (code || manager.line.head.bytes != sizeof born)
        return code ? code : EXIT_FAILED;
    memcpy(&born, manager.line.body, sizeof born);
    printf("created %.*s (%" PRIu64 "), %s, %u kg\n", BEHEMOTH_NAME - 1, born.name, born.id,
           sex_word(born.sex), (unsigned)born.weight);
    return EXIT_GOOD;
}

/* Kills each named behemoth, even after an unknown name. Returns the exit code of the first
 * error. */
int command_kill(void)
{
    int ret = EXIT_GOOD;
    if (manager.arg_count == 0)
        return options_complain(&manager.options, "BEHEMOTH is missing: a name or a number");
    for (size_t i = 0; i < manager.arg_count; i++) {
        const struct behemoth_herd *herd = manager_look(BEHEMOTH_HERD);
        if (!herd)
            return manager_complain();
        const struct behemoth *one = find(herd, manager.args[i]);
        struct behemoth dead = one ? *one : (struct behemoth){0};
        int code = one ? manager_request(BEHEMOTH_KILL, &dead.id, sizeof dead.id) : EXIT_MISSING;
        if (!code)
            printf("killed %s (%" PRIu64 ")\n", dead.name, dead.id);
        ret = ret ? ret : code;
        if (code == EXIT_NO_SERVER || code == EXIT_NO_RIGHT)
            return code;
    }
    return ret;
}

/* ---- parameters, time, disk ---- */

/* Parses "NAME" or "NAME=VALUE"; *ret is the parameter with the given value, or with its present
 * value. */
static int read_parameter(const struct behemoth_parameter *all, size_t count, const char *word,
                          struct behemoth_parameter *ret)
{
    size_t length = strcspn(word, "="), i = 0;
    while (i < count && (strncmp(all[i].name, word, length) != 0 || all[i].name[length]))
        i++;
    if (i == count) {
        fprintf(stderr, "behemoth-manager: unknown parameter '%.*s'; the parameters are",
                (int)length, word);
        for (i = 0; i < count; i++)
            fprintf(stderr, "%s %s", i ? "," : "", all[i].name);
        fputs(".\n", stderr);
        return EXIT_MISSING;
    }
    *ret = all[i];
    if (!word[length] || options_number(word + length + 1, all[i].least, all[i].most, &ret->value))
        return EXIT_GOOD;
    fprintf(stderr,
            "behemoth-manager: %s needs a number from %" PRId64 " to %" PRId64 ", not %s.\n",
            all[i].name, all[i].least, all[i].most, word + length + 1);
    return EXIT_USAGE;
}

static int print_parameters(const struct behemoth_parameter *all, size_t count)
{
    json_t *json = manager.json ? json_object() : NULL;
    const struct option_row *row;
    if (!json)
        printf("%s%-10s %10s %6s %10s  %s%s\n", manager.style.colours ? STRONG : "", "NAME",
               "VALUE", "LEAST", "MOST", "MEANING", manager.style.colours ? PLAIN : "");
    for (size_t i = 0; i < count; i++) {
        const struct behemoth_parameter *one = &all[i];
        for (row = behemoth_server_rows; row->name && strcmp(row->name, one->name) != 0; row++)
            ;
        json_object_set_new(json, one->name,
                            json_pack("{s:I,s:I,s:I}", "value", one->value, "least", one->least,
                                      "most", one->most));
        if (!json)
            printf("%-10s %10" PRId64 " %6" PRId64 " %10" PRId64 "  %s\n", one->name, one->value,
                   one->least, one->most, row->name ? row->help : "");
    }
    return json ? print_json(json) : EXIT_GOOD;
}

/* Sets the parameters that have a value, or none of them if one is invalid. Then shows the named
 * parameters, or all. */
int command_parameters(void)
{
    enum { MOST = 32 };
    struct behemoth_parameter all[MOST] = {0}, wanted[MOST];
    int code = manager_request(BEHEMOTH_PARAMETERS, NULL, 0);
    size_t count = manager.line.head.bytes / sizeof *all, args = manager.arg_count;
    if (code)
        return code;
    if (args > MOST || count > MOST)
        return options_complain(&manager.options, "too many parameters");
    memcpy(all, manager.line.body, count * sizeof *all);
    for (size_t i = 0; i < count; i++)
        all[i].name[BEHEMOTH_NAME - 1] = 0;
    for (size_t i = 0; i < args && !code; i++)
        code = read_parameter(all, count, manager.args[i], &wanted[i]);
    for (size_t i = 0; i < args && !code; i++) {
        if (strchr(manager.args[i], '='))
            code = manager_request(BEHEMOTH_SET, &wanted[i], sizeof *wanted);
    }
    if (code)
        return code;
    return print_parameters(args > 0 ? wanted : all, args > 0 ? args : count);
}

int command_forward(void)
{
    int64_t seconds;
    if (manager.arg_count != 1 || !options_number(manager.args[0], 1, FORWARD_MOST, &seconds))
        return options_complain(&manager.options, "SECONDS must be a number from 1 to 100000");
    int code = manager_request(BEHEMOTH_FORWARD, &seconds, sizeof seconds);
    if (!code)
        printf("%" PRId64 " seconds passed\n", seconds);
    return code;
}

int command_save(void)
{
    int code = manager_request(BEHEMOTH_SAVE, NULL, 0);
    if (!code)
        puts("saved");
    return code;
}
