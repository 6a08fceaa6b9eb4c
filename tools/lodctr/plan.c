/* SPDX-License-Identifier: MIT */
/* The result of a dry run: the registry file of one service, parsed by the library and printed
 * as values and as one list of texts for each language. */
#include "lodctr.h"
#include "../common/list.h"

#include "../view/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <openperflib/regfile.h>
#include <winreg.h>

struct plan_value {
    char *name, *text; /* `text` is NULL for a number */
    DWORD number;
    size_t place;     /* place in the file: without it, qsort may exchange equal values */
    char language[8]; /* language id of a text; "" for a value of the service's key */
};

struct install_plan {
    struct plan_value *values;
    size_t count, capacity;
    bool good;
};

struct install_plan *plan_new(void)
{
    return calloc(1, sizeof(struct install_plan));
}

void plan_free(struct install_plan *plan)
{
    for (size_t i = 0; plan && i < plan->count; i++) {
        free(plan->values[i].name);
        free(plan->values[i].text);
    }
    if (plan)
        free(plan->values);
    free(plan);
}

/* Writes the last part of a key like "...\Performance\Names\007"; "" for any other key. */
static void key_language(const char *key, char language[static 8])
{
    static const char names[] = "\\Names\\";
    const char *last = strrchr(key, '\\');
    size_t before = last ? (size_t)(last - key) + 1 : 0, count = strlen(names);
    bool texts = before >= count && !strncasecmp(key + before - count, names, count);
    snprintf(language, 8, "%s", texts ? last + 1 : "");
}

/* Fills a value with the number or text of an entry; the strings of a REG_MULTI_SZ are joined by
 * blanks. False: no memory. */
static bool fill(struct plan_value *value, const opl_reg_entry *entry)
{
    value->name = strdup(entry->name);
    if (entry->type == REG_DWORD && entry->size == sizeof value->number) {
        memcpy(&value->number, entry->data, sizeof value->number);
        return value->name;
    }
    value->text = calloc(entry->size + 1, 1);
    if (!value->text)
        return false;
    memcpy(value->text, entry->data, entry->size);
    for (size_t i = 0, count = strnlen(value->text, entry->size); i + 1 < entry->size; i++)
        if (i >= count && !value->text[i] && value->text[i + 1])
            value->text[i] = ' ';
    return value->name;
}

static bool take_entry(void *self, const opl_reg_entry *entry)
{
    struct install_plan *plan = self;
    plan->good &= entry->kind != OPL_REG_DAMAGED;
    if (entry->kind != OPL_REG_VALUE)
        return true;
    if (!list_grow(&plan->values, plan->count, &plan->capacity, sizeof *plan->values))
        return plan->good = false;
    struct plan_value *value = &plan->values[plan->count++];
    *value = (struct plan_value){.place = plan->count};
    key_language(entry->key, value->language);
    return plan->good &= fill(value, entry);
}

/* Compares values for sorting: texts by language, then by index; the service's values come first,
 * in the file's order. */
static int compare(const void *left, const void *right)
{
    const struct plan_value *a = left, *b = right;
    int order = strcasecmp(a->language, b->language);
    unsigned long i = *a->language ? strtoul(a->name, NULL, 10) : a->place;
    unsigned long j = *a->language ? strtoul(b->name, NULL, 10) : b->place;
    return order ? order : (i > j) - (i < j);
}

bool plan_read(struct install_plan *plan, const char *text, size_t size)
{
    plan->good = true;
    if (opl_reg_read(text, size, 0, take_entry, plan) || !plan->good)
        return false;
    qsort(plan->values, plan->count, sizeof *plan->values, compare);
    return true;
}

static const char *language_name(const char *language)
{
    static const char *const rows[][2] = {
        {"004", "Chinese"           },
        {"007", "German"            },
        {"009", "English"           },
        {"00A", "Spanish"           },
        {"00C", "French"            },
        {"010", "Italian"           },
        {"011", "Japanese"          },
        {"019", "Russian"           },
        {"404", "Chinese, Taiwan"   },
        {"416", "Portuguese, Brazil"},
        {"804", "Chinese, China"    },
        {"816", "Portuguese"        },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!strcasecmp(rows[i][0], language))
            return rows[i][1];
    return "";
}

void plan_print(const struct install_plan *plan)
{
    const char *language = "";
    for (size_t i = 0; i < plan->count; i++) {
        const struct plan_value *value = &plan->values[i];
        if (strcasecmp(language, value->language))
            printf("  %s %s\n", text_seen(value->language), language_name(value->language));
        language = value->language;
        if (*language) /* explanations follow their titles */
            printf("    %7s %s%s\n", text_seen(value->name),
                   strtoul(value->name, NULL, 10) % 2 ? "  " : "",
                   value->text ? text_seen(value->text) : "");
        else if (value->text)
            printf("  %-15s %s\n", text_seen(value->name), text_seen(value->text));
        else
            printf("  %-15s %" PRIu32 "\n", text_seen(value->name), value->number);
    }
}

void plan_json(const struct install_plan *plan, struct json *json)
{
    const char *language = "";
    json_open(json, "values", '{');
    for (size_t i = 0; i < plan->count; i++) {
        const struct plan_value *value = &plan->values[i];
        if (strcasecmp(language, value->language)) {
            json_close(json, '}');
            if (!*language)
                json_open(json, "texts", '{');
            json_open(json, value->language, '{');
        }
        language = value->language;
        if (value->text)
            json_string(json, value->name, value->text);
        else
            json_integer(json, value->name, value->number);
    }
    json_close(json, '}');
    if (*language)
        json_close(json, '}');
}
