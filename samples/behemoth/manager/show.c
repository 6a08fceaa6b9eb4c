/* SPDX-License-Identifier: MIT */
/* The herd of one moment as a table or as JSON. */
#include "manager.h"

#include <json.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { KILOGRAMS = 1000 };

/* ---- status ---- */

static void put_summary_json(struct json *json, const struct manager *manager,
                             const struct behemoth_herd *herd)
{
    json_string(json, "socket", manager->place);
    json_integer(json, "process", (int64_t)herd->process);
    json_integer(json, "moment", herd->moment);
    json_integer(json, "time", herd->time);
    json_integer(json, "ticks", (int64_t)herd->ticks);
    json_integer(json, "count", herd->count);
    json_integer(json, "founded", (int64_t)herd->founded);
    json_integer(json, "births", (int64_t)herd->births);
    json_integer(json, "deaths", (int64_t)herd->deaths);
    json_integer(json, "weight", (int64_t)herd->weight);
    json_integer(json, "ages", (int64_t)herd->ages);
    json_integer(json, "left_steps", (int64_t)herd->left_steps);
    json_integer(json, "right_steps", (int64_t)herd->right_steps);
    json_integer(json, "width", herd->width);
    json_integer(json, "height", herd->height);
    json_integer(json, "lifetime", (int64_t)herd->lifetime);
}

static uint32_t count_females(const struct behemoth_herd *herd)
{
    uint32_t ret = 0;
    for (uint32_t i = 0; i < herd->count; i++)
        ret += behemoth_all(herd)[i].sex == BEHEMOTH_FEMALE;
    return ret;
}

static void print_status(const struct manager *manager, const struct behemoth_herd *herd)
{
    char storage[32];
    uint32_t females = count_females(herd);
    int64_t mean = herd->count > 0 ? (int64_t)(herd->ages / herd->count) : 0;
    printf("Server      process %" PRIu64 ", at %s\n", herd->process, manager->place);
    printf("Herd time   %s UTC", time_words(herd->time, storage));
    printf(", %s since it began\n", age_text((int64_t)herd->ticks * BEHEMOTH_SECOND, storage));
    printf("Behemoths   %u: %u female, %u male\n", (unsigned)herd->count, (unsigned)females,
           (unsigned)(herd->count - females));
    printf("Life        %" PRIu64 " came, %" PRIu64 " were born, %" PRIu64 " died\n", herd->founded,
           herd->births, herd->deaths);
    printf("Mean age    %s", age_text(mean * BEHEMOTH_SECOND, storage));
    printf(" of %s\n", age_text((int64_t)herd->lifetime * BEHEMOTH_SECOND, storage));
    printf("Weight      %.1f t together\n", (double)herd->weight / KILOGRAMS);
    printf("Field       %u x %u m\n", (unsigned)herd->width, (unsigned)herd->height);
}

int command_status(struct manager *manager)
{
    const struct behemoth_herd *herd;
    struct json json = {.out = stdout};
    int code = manager_herd(manager, &herd);
    if (code)
        return code;
    if (!manager->json) {
        print_status(manager, herd);
        return EXIT_GOOD;
    }
    json_open(&json, NULL, '{');
    put_summary_json(&json, manager, herd);
    json_close(&json, '}');
    putchar('\n');
    return EXIT_GOOD;
}

/* ---- list ---- */

struct row {
    const struct behemoth *is, *mother;
    int64_t age;
};

typedef int64_t row_key(const struct row *row);
#define KEY(member)                                                                                \
    static int64_t key_##member(const struct row *row)                                             \
    {                                                                                              \
        return (int64_t)row->is->member;                                                           \
    }
KEY(id)
KEY(sex)
KEY(x)
KEY(y)
KEY(weight)
KEY(volume)
KEY(generation)
KEY(children)
KEY(mother)
static int64_t key_age(const struct row *row)
{
    return row->age;
}

static const struct column {
    const char *name;
    row_key *key; /* NULL: by name */
} columns[] = {
    {"id",         key_id        },
    {"name",       NULL          },
    {"sex",        key_sex       },
    {"age",        key_age       },
    {"x",          key_x         },
    {"y",          key_y         },
    {"weight",     key_weight    },
    {"volume",     key_volume    },
    {"generation", key_generation},
    {"children",   key_children  },
    {"mother",     key_mother    },
};
static const struct column *sorted_by; /* qsort has no place for it */

static int compare(const void *left, const void *right)
{
    const struct row *one = left, *other = right;
    int64_t a = sorted_by->key ? sorted_by->key(one) : strcasecmp(one->is->name, other->is->name);
    int64_t b = sorted_by->key ? sorted_by->key(other) : 0;
    if (a != b)
        return a < b ? -1 : 1;
    return one->is->id < other->is->id ? -1 : one->is->id > other->is->id;
}

static int find_column(const struct manager *manager)
{
    sorted_by = &columns[0];
    for (size_t i = 0; manager->sort && i < sizeof columns / sizeof *columns; i++) {
        sorted_by = &columns[i];
        if (strcasecmp(manager->sort, columns[i].name) == 0)
            return EXIT_GOOD;
    }
    return manager->sort
               ? options_complain(&manager->options, "there is no column '%s'", manager->sort)
               : EXIT_GOOD;
}

static struct row row_of(const struct behemoth_herd *herd, const struct behemoth *is)
{
    const struct behemoth *all = behemoth_all(herd);
    return (struct row){
        .is = is,
        .mother = is->mother_position == BEHEMOTH_NONE ? NULL : &all[is->mother_position],
        .age = herd->time - is->birthday,
    };
}

/* Those who are wanted, or all. NULL: said why. */
static struct row *choose(const struct manager *manager, const struct behemoth_herd *herd,
                          size_t *ret_count, int *ret_code)
{
    const struct behemoth *all = behemoth_all(herd);
    size_t count = manager->word_count > 0 ? manager->word_count : herd->count;
    struct row *rows = calloc(count + 1, sizeof *rows);
    *ret_count = count;
    *ret_code = rows ? EXIT_GOOD : EXIT_FAILED;
    for (size_t i = 0; rows && i < count; i++) {
        const struct behemoth *is =
            manager->word_count > 0 ? manager_find(herd, manager->words[i]) : &all[i];
        if (!is) {
            free(rows);
            *ret_code = EXIT_MISSING;
            return NULL;
        }
        rows[i] = row_of(herd, is);
    }
    return rows;
}

static void print_rows(const struct manager *manager, const struct row *rows, size_t count)
{
    char age[32];
    const char *bold = manager->colours ? "\033[1m" : "",
               *plain = manager->colours ? "\033[0m" : "";
    printf("%s%8s  %-15s %-6s %9s %6s %6s %6s %6s %4s %5s  %s%s\n", bold, "ID", "NAME", "SEX",
           "AGE", "X", "Y", "KG", "LITRES", "GEN", "BIRTHS", "MOTHER", plain);
    for (size_t i = 0; i < count; i++) {
        const struct behemoth *is = rows[i].is;
        printf("%8" PRIu64 "  %-15s %-6s %9s %6u %6u %6u %6u %4u %6u  %s\n", is->id, is->name,
               sex_word(is->sex), age_text(rows[i].age, age), (unsigned)is->x, (unsigned)is->y,
               (unsigned)is->weight, (unsigned)is->volume, (unsigned)is->generation,
               (unsigned)is->children, rows[i].mother ? rows[i].mother->name : "-");
    }
}

static void put_row_json(struct json *json, const struct row *row)
{
    const struct behemoth *is = row->is;
    json_open_flat(json, NULL);
    json_integer(json, "id", (int64_t)is->id);
    json_string(json, "name", is->name);
    json_string(json, "sex", sex_word(is->sex));
    json_integer(json, "age", row->age / BEHEMOTH_SECOND);
    json_integer(json, "birthday", is->birthday);
    json_integer(json, "x", is->x);
    json_integer(json, "y", is->y);
    json_integer(json, "weight", is->weight);
    json_integer(json, "volume", is->volume);
    json_integer(json, "generation", is->generation);
    json_integer(json, "children", is->children);
    json_string(json, "mother", row->mother ? row->mother->name : NULL);
    json_close_flat(json);
}

static void print_json(const struct manager *manager, const struct behemoth_herd *herd,
                       const struct row *rows, size_t count)
{
    struct json json = {.out = stdout};
    json_open(&json, NULL, '{');
    put_summary_json(&json, manager, herd);
    json_open(&json, "behemoths", '[');
    for (size_t i = 0; i < count; i++)
        put_row_json(&json, &rows[i]);
    json_close(&json, ']');
    json_close(&json, '}');
    putchar('\n');
}

static void reverse(struct row *rows, size_t count)
{
    for (size_t i = 0; i < count / 2; i++) {
        struct row kept = rows[i];
        rows[i] = rows[count - 1 - i];
        rows[count - 1 - i] = kept;
    }
}

int command_list(struct manager *manager)
{
    const struct behemoth_herd *herd;
    size_t count;
    int code = find_column(manager);
    if (!code)
        code = manager_herd(manager, &herd);
    if (code)
        return code;
    struct row *rows = choose(manager, herd, &count, &code);
    if (!rows)
        return code;
    qsort(rows, count, sizeof *rows, compare);
    if (manager->reverse)
        reverse(rows, count);
    if (manager->json)
        print_json(manager, herd, rows, count);
    else
        print_rows(manager, rows, count);
    free(rows);
    return EXIT_GOOD;
}
