/* SPDX-License-Identifier: MIT */
/*
 * The rules by which processes become groups. A line has the name of a group, in which {program},
 * {unit}, {container} and {user} are replaced, and conditions that must all be true; the first line
 * that matches decides. docs/metrics.md describes the file.
 */
#include "groups.h"

#include "../common/text-list.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RULES_MOST = 1024, KEYS = 4 };
static const struct {
    const char *name;
    enum grouping grouping;
    unsigned texts; /* of the process that it needs */
} keys[KEYS] = {
    {"program",   BY_PROGRAM,   0                       },
    {"unit",      BY_UNIT,      1u << UNIT              },
    {"container", BY_CONTAINER, 1u << UNIT | 1u << GROUP},
    {"user",      BY_USER,      1u << USER              },
};

struct rule {
    char *line; /* the texts below are parts of it */
    const char *name;
    char *patterns[KEYS]; /* with commas between; NULL: no condition */
};
struct group_rules {
    struct rule rules[RULES_MOST];
    size_t count;
    unsigned texts;
};

static size_t key_of(const char *name, size_t size)
{
    size_t key = 0;
    while (key < KEYS && (strlen(keys[key].name) != size || memcmp(keys[key].name, name, size)))
        key++;
    return key;
}

/* Returns why a line is wrong, or NULL. */
static const char *parse(struct group_rules *rules, char *line)
{
    struct rule *rule = &rules->rules[rules->count];
    char *rest = NULL, *word = strtok_r(line, " \t", &rest);
    *rule = (struct rule){.line = line, .name = word};
    for (const char *at = word; (at = strchr(at, '{')); at++) {
        size_t key = key_of(at + 1, strcspn(at + 1, "}"));
        if (key == KEYS || !strchr(at, '}'))
            return "braces may hold program, unit, container or user";
        rules->texts |= keys[key].texts;
    }
    while ((word = strtok_r(NULL, " \t", &rest))) {
        size_t size = strcspn(word, "="), key = key_of(word, size);
        if (key == KEYS || !word[size] || !word[size + 1])
            return "a condition must be program=, unit=, container= or user= and a pattern";
        if (rule->patterns[key])
            return "a condition may stand once in a line; separate patterns by commas";
        rule->patterns[key] = word + size + 1;
        rules->texts |= keys[key].texts;
    }
    rules->count++;
    return NULL;
}

static const char *take_line(void *self, char *line, unsigned number)
{
    struct group_rules *rules = self;
    return rules->count == RULES_MOST ? "too many rules" : parse(rules, line);
}

struct group_rules *group_rules_read(const char *what, char why[static GROUP_WHY])
{
    struct group_rules *rules = calloc(1, sizeof *rules);
    char *line;
    bool good = false;
    snprintf(why, GROUP_WHY, "%s", strerror(ENOMEM));
    if (rules && key_of(what, strlen(what)) < KEYS)
        good = asprintf(&line, "{%s}", what) >= 0 && !parse(rules, line);
    else if (!strchr(what, '/'))
        snprintf(why, GROUP_WHY,
                 "expected program, unit, container, user, or the path of a file, with a slash");
    else if (rules && (good = text_lines_take(what, take_line, rules, why, GROUP_WHY)) &&
             !(good = rules->count))
        snprintf(why, GROUP_WHY, "the file has no rules");
    if (good)
        return rules;
    group_rules_free(rules);
    return NULL;
}

void group_rules_free(struct group_rules *rules)
{
    for (size_t i = 0; rules && i < rules->count; i++)
        free(rules->rules[i].line);
    free(rules);
}

unsigned group_rules_texts(const struct group_rules *rules)
{
    return rules->texts;
}

/* Writes what the process has for a key: the name of its program, unit, container or user. */
static void write_text(const struct line *process, size_t key, char ret[static GROUP_NAME_SIZE])
{
    struct line line = *process;
    group_name(&line, keys[key].grouping);
    snprintf(ret, GROUP_NAME_SIZE, "%.*s", (int)line.name_length, line.name);
}

/* The patterns are a shell's, as docs/metrics.md says, not those of counter paths: the case of
 * programs' and units' names matters, and [...] has a meaning. */
static bool matches(const char *patterns, const char *text)
{
    char pattern[GROUP_NAME_SIZE];
    for (; *patterns; patterns += strspn(patterns, ",")) {
        size_t size = strcspn(patterns, ",");
        snprintf(pattern, sizeof pattern, "%.*s", (int)size, patterns);
        if (size < sizeof pattern && !fnmatch(pattern, text, 0))
            return true;
        patterns += size;
    }
    return false;
}

static void append(char to[static GROUP_NAME_SIZE], const char *text, size_t size)
{
    size_t used = strlen(to), free = GROUP_NAME_SIZE - 1 - used;
    memcpy(to + used, text, size < free ? size : free);
    to[used + (size < free ? size : free)] = '\0';
}

/* Writes a group's name, with the process's texts in place of the braces. */
static void write_name(const char *name, const struct line *process,
                       char ret[static GROUP_NAME_SIZE])
{
    char all[GROUP_NAME_SIZE] = "", text[GROUP_NAME_SIZE];
    while (*name) {
        size_t plain = strcspn(name, "{"), size = strcspn(name + plain, "}");
        append(all, name, plain);
        name += plain;
        if (*name) {
            write_text(process, key_of(name + 1, size - 1), text);
            append(all, text, strlen(text));
            name += size + 1;
        }
    }
    metric_utf8(all, ret, GROUP_NAME_SIZE);
}

bool group_rules_name(const struct group_rules *rules, const struct line *process,
                      char ret[static GROUP_NAME_SIZE])
{
    char texts[KEYS][GROUP_NAME_SIZE] = {""};
    for (size_t r = 0; r < rules->count; r++) {
        const struct rule *rule = &rules->rules[r];
        bool good = true;
        for (size_t k = 0; good && k < KEYS; k++) {
            if (rule->patterns[k] && !*texts[k])
                write_text(process, k, texts[k]);
            good = !rule->patterns[k] || matches(rule->patterns[k], texts[k]);
        }
        if (good) {
            write_name(rule->name, process, ret);
            return *ret != '\0';
        }
    }
    return false;
}
