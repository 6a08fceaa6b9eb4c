/* SPDX-License-Identifier: MIT */
/* The commands that change the herd. Requests that the server would refuse without a reason are
 * checked here first. */
#include "manager.h"

#include <inttypes.h>
#include <string.h>

enum { FORWARD_MS = 3600 * 1000, FORWARD_MOST = 100000 };

/* ---- create, kill ---- */

static int wrong(const struct manager *manager, const char *why)
{
    return options_complain(&manager->options, "%s", why);
}

static int judge_name(struct manager *manager, const char *name)
{
    if (strlen(name) >= BEHEMOTH_NAME)
        return wrong(manager, "a name has at most 23 letters");
    for (const char *at = name; *at; at++) {
        if ((unsigned char)*at < ' ' || (unsigned char)*at >= 127 || strchr("\\/()#*", *at))
            return wrong(manager, "a name has letters of ASCII, without \\ / ( ) # *, which have "
                                  "a meaning in the path of a counter");
    }
    strcpy(manager->create.name, name);
    return EXIT_GOOD;
}

static int find_mother(struct manager *manager, const struct behemoth_herd *herd)
{
    const struct behemoth *mother = manager_find(herd, manager->mother);
    if (!mother)
        return EXIT_MISSING;
    if (mother->sex != BEHEMOTH_FEMALE) {
        fprintf(stderr, "behemoth-manager: %s is no mother, but male.\n", mother->name);
        return EXIT_FAILED;
    }
    if (manager->create.age > (herd->time - mother->birthday) / BEHEMOTH_SECOND) {
        fprintf(stderr, "behemoth-manager: %s is younger than that herself.\n", mother->name);
        return EXIT_FAILED;
    }
    manager->create.mother = mother->id;
    return EXIT_GOOD;
}

static int judge_place(const struct manager *manager, const struct behemoth_herd *herd)
{
    const struct behemoth_create *wish = &manager->create;
    if ((wish->x == BEHEMOTH_NONE || wish->x < herd->width) &&
        (wish->y == BEHEMOTH_NONE || wish->y < herd->height))
        return EXIT_GOOD;
    fprintf(stderr, "behemoth-manager: the field has %u x %u metres.\n", (unsigned)herd->width,
            (unsigned)herd->height);
    return EXIT_FAILED;
}

int command_create(struct manager *manager)
{
    const struct behemoth_herd *herd;
    struct behemoth born;
    int code = manager->word_count > 0 ? judge_name(manager, manager->words[0]) : EXIT_GOOD;
    if (!code)
        code = manager_herd(manager, &herd);
    if (!code && manager->mother)
        code = find_mother(manager, herd);
    if (!code)
        code = judge_place(manager, herd);
    if (!code)
        code = manager_ask(manager, BEHEMOTH_CREATE, &manager->create, sizeof manager->create);
    if (code)
        return code;
    if (manager->line.head.bytes != sizeof born) {
        fputs("behemoth-manager: the server says nonsense.\n", stderr);
        return EXIT_FAILED;
    }
    memcpy(&born, manager->line.body, sizeof born);
    printf("created %.*s (%" PRIu64 "), %s, %u kg\n", BEHEMOTH_NAME - 1, born.name, born.id,
           sex_word(born.sex), (unsigned)born.weight);
    return EXIT_GOOD;
}

static int kill_one(struct manager *manager, const char *word)
{
    const struct behemoth_herd *herd;
    int code = manager_herd(manager, &herd);
    if (code)
        return code;
    const struct behemoth *one = manager_find(herd, word);
    if (!one)
        return EXIT_MISSING;
    struct behemoth dead = *one;
    code = manager_ask(manager, BEHEMOTH_KILL, &dead.id, sizeof dead.id);
    if (!code)
        printf("killed %s (%" PRIu64 ")\n", dead.name, dead.id);
    return code;
}

/* Each separately: an unknown one does not stop the others. The exit code is that of the first
 * error. */
int command_kill(struct manager *manager)
{
    int code = EXIT_GOOD;
    if (manager->word_count == 0)
        return wrong(manager, "a name or a number is missing");
    for (size_t i = 0; i < manager->word_count; i++) {
        int one = kill_one(manager, manager->words[i]);
        code = code ? code : one;
        if (one == EXIT_NO_SERVER || one == EXIT_NO_RIGHT)
            return one;
    }
    return code;
}

/* ---- parameters ---- */

static int read_parameters(struct manager *manager, struct behemoth_parameter *all, size_t most,
                           size_t *ret_count)
{
    int code = manager_ask(manager, BEHEMOTH_PARAMETERS, NULL, 0);
    if (code)
        return code;
    size_t count = manager->line.head.bytes / sizeof *all;
    *ret_count = count < most ? count : most;
    memcpy(all, manager->line.body, *ret_count * sizeof *all);
    for (size_t i = 0; i < *ret_count; i++)
        all[i].name[BEHEMOTH_NAME - 1] = 0;
    return EXIT_GOOD;
}

static const char *meaning(const char *name)
{
    static const struct {
        const char *name, *meaning;
    } rows[] = {
        {"capacity", "how many the field can bear: the nearer, the fewer are born"},
        {"lifetime", "mean, in seconds of the herd's time"                        },
        {"children", "of each mother in a life, if there were space for all"      },
        {"speed",    "thousandths of the herd's seconds in one of ours; 0: stop"  },
        {"width",    "of the field, in metres"                                    },
        {"height",   "of the field, in metres"                                    },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (strcmp(rows[i].name, name) == 0)
            return rows[i].meaning;
    }
    return "";
}

static void print_parameters(const struct manager *manager, const struct behemoth_parameter *all,
                             size_t count)
{
    const char *bold = manager->colours ? "\033[1m" : "",
               *plain = manager->colours ? "\033[0m" : "";
    printf("%s%-10s %10s %6s %10s  %s%s\n", bold, "NAME", "VALUE", "LEAST", "MOST", "MEANING",
           plain);
    for (size_t i = 0; i < count; i++) {
        printf("%-10s %10" PRId64 " %6" PRId64 " %10" PRId64 "  %s\n", all[i].name, all[i].value,
               all[i].least, all[i].most, meaning(all[i].name));
    }
}

static void print_parameters_json(const struct behemoth_parameter *all, size_t count)
{
    printf("{");
    for (size_t i = 0; i < count; i++) {
        printf("%s\n  \"%s\": {\"value\": %" PRId64 ", \"least\": %" PRId64 ", \"most\": %" PRId64
               "}",
               i ? "," : "", all[i].name, all[i].value, all[i].least, all[i].most);
    }
    printf("\n}\n");
}

static const struct behemoth_parameter *
find_parameter(const struct behemoth_parameter *all, size_t count, const char *name, size_t length)
{
    for (size_t i = 0; i < count; i++) {
        if (strlen(all[i].name) == length && strncmp(all[i].name, name, length) == 0)
            return &all[i];
    }
    fprintf(stderr, "behemoth-manager: no parameter '%.*s'; there are", (int)length, name);
    for (size_t i = 0; i < count; i++)
        fprintf(stderr, "%s %s", i ? "," : "", all[i].name);
    fputs(".\n", stderr);
    return NULL;
}

static int judge_parameter(const struct behemoth_parameter *all, size_t count, const char *word,
                           struct behemoth_parameter *ret)
{
    size_t length = strcspn(word, "=");
    const struct behemoth_parameter *known = find_parameter(all, count, word, length);
    if (!known)
        return EXIT_MISSING;
    *ret = *known;
    if (word[length] && !number_of(word + length + 1, known->least, known->most, &ret->value)) {
        fprintf(stderr,
                "behemoth-manager: %s takes a number from %" PRId64 " to %" PRId64 ", not %s.\n",
                known->name, known->least, known->most, word + length + 1);
        return EXIT_USAGE;
    }
    return EXIT_GOOD;
}

/* Sets either all parameters or none. */
static int set_parameters(struct manager *manager, const struct behemoth_parameter *wishes)
{
    for (size_t i = 0; i < manager->word_count; i++) {
        if (!strchr(manager->words[i], '='))
            continue;
        int code = manager_ask(manager, BEHEMOTH_SET, &wishes[i], sizeof wishes[i]);
        if (code)
            return code;
    }
    return EXIT_GOOD;
}

int command_parameters(struct manager *manager)
{
    enum { MOST = 32 };
    struct behemoth_parameter all[MOST], wishes[MOST];
    size_t count = 0, shown = manager->word_count;
    int code = read_parameters(manager, all, MOST, &count);
    if (shown > MOST)
        return wrong(manager, "too many parameters");
    for (size_t i = 0; i < shown && !code; i++)
        code = judge_parameter(all, count, manager->words[i], &wishes[i]);
    if (!code)
        code = set_parameters(manager, wishes);
    if (code)
        return code;
    if (shown == 0)
        memcpy(wishes, all, sizeof all);
    if (manager->json)
        print_parameters_json(wishes, shown ? shown : count);
    else
        print_parameters(manager, wishes, shown ? shown : count);
    return EXIT_GOOD;
}

/* ---- time, disk ---- */

int command_forward(struct manager *manager)
{
    int64_t seconds;
    uint64_t ticks;
    if (manager->word_count != 1 || !number_of(manager->words[0], 1, FORWARD_MOST, &seconds))
        return wrong(manager, "by how much? a number of seconds from 1 to 100000 is missing");
    ticks = (uint64_t)seconds;
    int code = manager_ask_within(manager, BEHEMOTH_FORWARD, &ticks, sizeof ticks, FORWARD_MS);
    if (!code)
        printf("%" PRId64 " seconds passed\n", seconds);
    return code;
}

int command_save(struct manager *manager)
{
    int code = manager_ask(manager, BEHEMOTH_SAVE, NULL, 0);
    if (!code)
        puts("saved");
    return code;
}
