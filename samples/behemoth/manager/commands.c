/* SPDX-License-Identifier: MIT */
/* The commands that show the herd once, or change it. */
#include "manager.h"

#include <err.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { FORWARD_MOST = 100000, PARAMETERS_MOST = 32 };

const char *sex_word(uint32_t sex)
{
    return sex == BEHEMOTH_FEMALE ? "female" : "male";
}

/* ---- finding a behemoth ---- */

/* A behemoth by number, or by name in any case. NULL, after a message: no behemoth matches, or
 * several do. */
static const struct behemoth *find(const struct behemoth_herd *herd, const char *word)
{
    const struct behemoth *found = NULL;
    uint32_t counts[2] = {0}; /* [1]: `word` is the number or name; [0]: the name begins with it */
    char *lists[2];
    size_t size;
    FILE *out[2] = {open_memstream(&lists[0], &size), open_memstream(&lists[1], &size)};
    int64_t id = 0; /* no behemoth has this number */
    if (!out[0] || !out[1])
        return NULL;
    options_number(word, 1, INT64_MAX, &id);
    for (uint32_t i = 0; i < herd->count; i++) {
        const struct behemoth *is = &behemoth_all(herd)[i];
        bool whole = is->id == (uint64_t)id || strcasecmp(is->name, word) == 0;
        if (whole || strncasecmp(is->name, word, strlen(word)) == 0)
            fprintf(out[whole], "%s %s (%" PRIu64 ")", counts[whole]++ > 0 ? "," : "", is->name,
                    is->id);
        found = whole ? is : found;
    }
    fclose(out[0]);
    fclose(out[1]);
    if (counts[1] > 1)
        warnx("%u behemoths have the name '%s'; give a number:%s.", counts[1], word, lists[1]);
    if (counts[1] == 0)
        warnx("no living behemoth has the name or number '%s'; names that begin with it:%s.", word,
              counts[0] > 0 ? lists[0] : " none");
    free(lists[0]);
    free(lists[1]);
    return counts[1] == 1 ? found : NULL;
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
    putchar('\n');
    json_decref(json);
    return good ? EXIT_GOOD : EXIT_FAILED;
}

int command_status(void)
{
    const struct behemoth_herd *herd = manager_look(BEHEMOTH_HERD);
    unsigned females = 0;
    if (!herd)
        return manager_complain();
    if (manager.json)
        return print_json(summary_json(herd));
    for (uint32_t i = 0; i < herd->count; i++)
        females += behemoth_all(herd)[i].sex == BEHEMOTH_FEMALE;
    printf("Server      process %" PRIu64 ", at %s\n"
           "Herd time   %s UTC, %s since it began\n"
           "Behemoths   %u: %u female, %u male\n"
           "Life        %" PRIu64 " came, %" PRIu64 " were born, %" PRIu64 " died\n"
           "Mean age    %s of %s\n"
           "Weight      %.1f t together\n"
           "Field       %u x %u m\n",
           herd->process, manager.place, time_text((uint64_t)herd->time),
           age_text((double)herd->ticks), (unsigned)herd->count, females, herd->count - females,
           herd->founded, herd->births, herd->deaths,
           age_text(herd->count > 0 ? (double)(herd->ages / herd->count) : 0),
           age_text((double)herd->lifetime), (double)herd->weight / 1000, (unsigned)herd->width,
           (unsigned)herd->height);
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
    const void *at = (const char *)is + sorted_by->offset;
    return sorted_by->bytes == 4 ? *(const uint32_t *)at : *(const uint64_t *)at;
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

int command_list(void)
{
    sorted_by = manager.sort ? NULL : &columns[0];
    for (size_t i = 0; manager.sort && i < sizeof columns / sizeof *columns; i++)
        sorted_by = strcasecmp(manager.sort, columns[i].name) == 0 ? &columns[i] : sorted_by;
    if (!sorted_by)
        return options_complain(&manager.options, "unknown column '%s'", manager.sort);
    const struct behemoth_herd *herd = manager_look(BEHEMOTH_HERD);
    if (!herd)
        return manager_complain();
    size_t count = manager.arg_count > 0 ? manager.arg_count : herd->count;
    const struct behemoth **rows = calloc(count + 1, sizeof *rows);
    for (size_t i = 0; i < count; i++) {
        rows[i] = manager.arg_count > 0 ? find(herd, manager.args[i]) : &behemoth_all(herd)[i];
        if (!rows[i]) {
            free(rows);
            return EXIT_MISSING;
        }
    }
    qsort(rows, count, sizeof *rows, compare);
    json_t *json = manager.json ? summary_json(herd) : NULL, *array = json_array();
    if (!json)
        text_lines(stdout,
                   STRONG "      ID  NAME            SEX          AGE      X      Y     KG "
                          "LITRES  GEN BIRTHS  MOTHER" PLAIN "\n",
                   0, manager.style);
    for (size_t i = 0; i < count; i++) {
        const struct behemoth *is = rows[i], *mother = NULL;
        json_int_t age = (herd->time - is->birthday) / BEHEMOTH_SECOND;
        if (is->mother_position != BEHEMOTH_NONE)
            mother = &behemoth_all(herd)[is->mother_position];
        if (json)
            json_array_append_new(
                array,
                json_pack("{s:I,s:s,s:s,s:I,s:I,s:i,s:i,s:i,s:i,s:I,s:I,s:s?}", "id", is->id,
                          "name", is->name, "sex", sex_word(is->sex), "age", age, "birthday",
                          is->birthday, "x", is->x, "y", is->y, "weight", is->weight, "volume",
                          is->volume, "generation", (json_int_t)is->generation, "children",
                          (json_int_t)is->children, "mother", mother ? mother->name : NULL));
        else
            printf("%8" PRIu64 "  %-15s %-6s %9s %6u %6u %6u %6u %4u %6u  %s\n", is->id, is->name,
                   sex_word(is->sex), age_text((double)age), is->x, is->y, is->weight, is->volume,
                   is->generation, is->children, mother ? mother->name : "-");
    }
    free(rows);
    json_object_set_new(json, "behemoths", array);
    return json ? print_json(json) : EXIT_GOOD;
}

/* ---- create, kill ---- */

/* Creates a behemoth. Mistakes for which the server's status would have no details are found here,
 * before the request is sent. */
int command_create(void)
{
    const char *sex = manager.sex ? manager.sex : "";
    bool female = strcmp(sex, "female") == 0, male = strcmp(sex, "male") == 0;
    struct behemoth_create wanted = {.sex = female ? BEHEMOTH_FEMALE
                                            : male ? BEHEMOTH_MALE
                                                   : BEHEMOTH_NONE,
                                     .age = (uint32_t)manager.age,
                                     .x = (uint32_t)manager.x, /* -1 becomes BEHEMOTH_NONE */
                                     .y = (uint32_t)manager.y};
    const char *name = manager.arg_count > 0 ? manager.args[0] : "";
    if (*sex && !female && !male)
        return options_complain(&manager.options, "--sex must be male or female");
    if (strlen(name) >= BEHEMOTH_NAME)
        return options_complain(&manager.options, "a name has at most 23 characters");
    strcpy(wanted.name, name);
    const struct behemoth_herd *herd = manager_look(BEHEMOTH_HERD);
    if (!herd)
        return manager_complain();
    const struct behemoth *mother = manager.mother ? find(herd, manager.mother) : NULL;
    if (manager.mother && !mother)
        return EXIT_MISSING;
    wanted.mother = mother ? mother->id : 0;
    if (manager.x >= herd->width || manager.y >= herd->height) {
        warnx("-x or -y is outside the field of %u x %u metres", herd->width, herd->height);
        return EXIT_FAILED;
    }
    int code = manager_request(BEHEMOTH_CREATE, &wanted, sizeof wanted);
    const struct behemoth *born = (const void *)manager.line.body;
    if (code || manager.line.head.bytes != sizeof *born)
        return code ? code : EXIT_FAILED;
    printf("created %.*s (%" PRIu64 "), %s, %u kg\n", BEHEMOTH_NAME - 1, born->name, born->id,
           sex_word(born->sex), (unsigned)born->weight);
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
            break;
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
        fprintf(stderr, "behemoth-manager: unknown parameter '%s'; the parameters are", word);
        for (i = 0; i < count; i++)
            fprintf(stderr, "%s %s", i ? "," : "", all[i].name);
        fputs(".\n", stderr);
        return EXIT_MISSING;
    }
    *ret = all[i];
    if (!word[length] || options_number(word + length + 1, ret->least, ret->most, &ret->value))
        return EXIT_GOOD;
    warnx("%s needs a number from %" PRId64 " to %" PRId64 ", not %s", ret->name, ret->least,
          ret->most, word + length + 1);
    return EXIT_USAGE;
}

/* Sets the parameters that have a value, or none of them if one is invalid. Then shows the named
 * parameters, or all. */
int command_parameters(void)
{
    struct behemoth_parameter all[PARAMETERS_MOST] = {0}, wanted[PARAMETERS_MOST], *one;
    int code = manager_request(BEHEMOTH_PARAMETERS, NULL, 0);
    size_t count = manager.line.head.bytes / sizeof *all, args = manager.arg_count;
    json_t *json = NULL;
    if (code)
        return code;
    if (args > PARAMETERS_MOST || count > PARAMETERS_MOST)
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
    if (manager.json)
        json = json_object();
    else
        text_lines(stdout, STRONG "NAME            VALUE  LEAST       MOST  MEANING" PLAIN "\n", 0,
                   manager.style);
    count = args > 0 ? args : count;
    for (one = args > 0 ? wanted : all; count > 0; one++, count--) {
        const struct option_row *row = behemoth_server_rows;
        while (row->name && strcmp(row->name, one->name) != 0)
            row++;
        json_object_set_new(json, one->name,
                            json_pack("{s:I,s:I,s:I}", "value", one->value, "least", one->least,
                                      "most", one->most));
        if (!json)
            printf("%-10s %10" PRId64 " %6" PRId64 " %10" PRId64 "  %s\n", one->name, one->value,
                   one->least, one->most, row->name ? row->help : "");
    }
    return json ? print_json(json) : EXIT_GOOD;
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
