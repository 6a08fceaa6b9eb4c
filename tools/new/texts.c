/* SPDX-License-Identifier: MIT */
/* The names of the example's counters in all available languages. */
#include "new.h"

#include <string.h>

enum { OBJECT, REQUESTS, RATE, FREE, HITS, HIT_RATE };

/* clang-format off */
/* The texts in each language. The object's name is not one of them: it is always the service's. */
static const struct example_text_row {
    int what;
    const char *word, *language, *name, *help;
} texts[] = {
    {OBJECT, "object", "009", NULL, "An example that openperflib-new wrote."},
    {OBJECT, "object", "007", NULL, "Ein Beispiel, das openperflib-new geschrieben hat."},
    {OBJECT, "object", "019", NULL, "Пример, написанный openperflib-new."},
    {REQUESTS, "requests", "009", "Requests", "How often this object was queried."},
    {REQUESTS, "requests", "007", "Anfragen", "Wie oft nach diesem Objekt gefragt wurde."},
    {REQUESTS, "requests", "019", "Запросы", "Сколько раз запрашивали этот объект."},
    {RATE, "rate", "009", "Requests/sec", "How often it is queried per second."},
    {RATE, "rate", "007", "Anfragen/s", "Wie oft in einer Sekunde danach gefragt wird."},
    {RATE, "rate", "019", "Запросов/с", "Сколько раз в секунду его запрашивают."},
    {FREE, "free", "009", "Free Bytes", "Memory that can be given to processes without swapping."},
    {FREE, "free", "007", "Freie Bytes", "Speicher, den Prozesse ohne Auslagern bekommen können."},
    {FREE, "free", "019", "Свободно байт", "Память, которую процессы могут получить без подкачки."},
    {HITS, "hits", "009", "Hits", "How often something happened to this instance."},
    {HITS, "hits", "007", "Treffer", "Wie oft mit dieser Instanz etwas geschah."},
    {HITS, "hits", "019", "Попадания", "Сколько раз с экземпляром что-то произошло."},
    {HIT_RATE, "hitrate", "009", "Hits/sec", "How often something happens to it per second."},
    {HIT_RATE, "hitrate", "007", "Treffer/s", "Wie oft in einer Sekunde etwas mit ihr geschieht."},
    {HIT_RATE, "hitrate", "019", "Попаданий/с", "Сколько раз в секунду с ним что-то происходит."},
};
/* clang-format on */

static const struct example_text_row *find(int what, const char *language)
{
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i].what == what && strcmp(texts[i].language, language) == 0)
            return &texts[i];
    return NULL;
}

const char *example_text(const struct chosen *chosen, const char *word)
{
    const char *dot = strchr(word, '.');
    for (size_t i = 0; dot && i < sizeof texts / sizeof *texts; i++) {
        const struct example_text_row *text = &texts[i];
        if (strcmp(text->language, "009") != 0 || strlen(text->word) != (size_t)(dot - word) ||
            strncmp(text->word, word, (size_t)(dot - word)) != 0)
            continue;
        if (strcmp(dot, ".help") == 0)
            return text->help;
        return text->name ? text->name : chosen->service;
    }
    return NULL;
}

static const struct example_text_row *add_counter(struct example *example, int what)
{
    const struct example_text_row *text = find(what, "009");
    DWORD index = (DWORD)(example->object.counter_count + 1) * 2;
    example->counters[example->object.counter_count++] =
        (opl_counter){.index = index, .help_index = index, .name = text->name, .help = text->help};
    return text;
}

static void translate(const struct chosen *chosen, struct example *example, int what,
                      const char *symbol)
{
    for (size_t i = 0; i < chosen->languages.language_count; i++) {
        const char *language = chosen->languages.languages[i].id;
        const struct example_text_row *text = find(what, language);
        if (!text)
            continue;
        old_add_text(&example->texts, symbol, language, false,
                     text->name ? text->name : chosen->service);
        old_add_text(&example->texts, symbol, language, true, text->help);
    }
}

bool example_make(const struct chosen *chosen, struct example *ret)
{
    const int single[] = {OBJECT, REQUESTS, RATE, FREE}, many[] = {OBJECT, HITS, HIT_RATE};
    const int *which = chosen->instances ? many : single;
    size_t count = chosen->instances || chosen->windows ? 3 : 4;
    *ret = (struct example){
        .tables = {.service = chosen->service, .count = 1}
    };
    ret->object.name = chosen->service;
    ret->object.help = find(OBJECT, "009")->help;
    ret->object.counters = ret->counters;
    ret->objects[0] = &ret->object;
    ret->tables.objects = ret->objects;
    for (size_t i = 1; i < count; i++)
        add_counter(ret, which[i]);
    if (!entries_read(chosen->file, &ret->tables, &ret->entries))
        return false;
    for (size_t i = 0; i < chosen->languages.language_count; i++)
        old_add_language(&ret->texts, chosen->languages.languages[i].id, "");
    for (size_t i = 0; i < count; i++)
        translate(chosen, ret, which[i], ret->entries.list[i].symbol);
    return true;
}

void example_done(struct example *example)
{
    entries_done(&example->entries);
    old_done(&example->texts);
}
