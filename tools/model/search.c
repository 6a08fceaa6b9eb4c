/* SPDX-License-Identifier: MIT */
/*
 * The search of the catalogue. People who do not know counters type words of everyday life, which
 * no name and no explanation contains: the table below says what they look for.
 */
#include "catalogue.h"

#include <string.h>

enum { MOST_OF_OBJECT = 3 };

/* clang-format off */
/* `typed`: in any language; `parts`: of names in the languages that have such a name */
static const struct {
    const char *typed[12], *parts[10];
} aliases[] = {
    {{"cpu", "цп"}, {"processor", "prozessor", "процессор"}},
    {{"mem", "ram", "memory", "озу", "память"}, {"memory", "arbeitsspeicher", "памят"}},
    {{"net", "network", "internet", "wifi", "wlan", "lan", "netz", "интернет", "сеть"}, {"network", "netzwerk", "сетево"}},
    {{"disk", "hdd", "ssd", "drive", "platte", "festplatte", "laufwerk"}, {"disk", "datenträger", "диск"}},
    {{"load", "нагрузка"},
     {"queue length", "load average", "warteschlangenlänge", "mittlere last", "длина очереди", "средняя нагрузка"}},
    {{"slow", "lag", "hang", "langsam", "hängt", "медленно", "тормозит", "зависает"},
     {"pressure", "queue length", "load average", "ressourcenengpass", "warteschlangenlänge", "mittlere last", "нехватка ресурсов",
      "длина очереди", "средняя нагрузка"}},
    {{"speed", "fast", "geschwindigkeit", "tempo", "schnell", "скорость", "быстро"},
     {"bytes total/sec", "disk bytes/sec", "frequency", "gesamtanzahl bytes", "bytes/s", "frequenz", "всего байт", "байт обмена", "частота"}},
    {{"download", "herunterladen", "скачивание"}, {"bytes received", "empfangene bytes", "байт получено"}},
    {{"upload", "hochladen", "отправка"}, {"bytes sent", "bytes gesendet", "байт послано"}},
    {{"full", "space", "voll", "platz", "полный", "место"},
     {"free space", "free megabytes", "freier speicherplatz", "mb frei", "свободного места", "свободно мегабайт"}},
    {{"temperature", "temp", "heat", "hot", "hitze", "heiß", "температура", "перегрев"}, {"thermal", "температур"}},
    {{"busy", "usage", "auslastung", "занят", "загрузка"}, {"processor time", "idle time", "prozessorzeit", "leerlaufzeit", "загруженности", "простоя"}},
    {{"lost", "dropped", "verloren", "потери"}, {"discarded", "verworfen", "отброшен"}},
    {{"stolen", "gestohlen"}, {"steal time", "entzogene", "отнятого"}},
    {{"swap", "auslagerung", "подкачка", "своп"}, {"paging", "swap", "auslagerung", "подкачк"}},
    {{"fs", "dateisystem"}, {"file system", "dateisystem", "файлов"}}
};
/* clang-format on */

static bool has_word(const struct catalogue_object *object, const struct catalogue_counter *counter,
                     const char *word)
{
    return text_contains(object->name, word) ||
           (object->explain && text_contains(object->explain, word)) ||
           (counter && (text_contains(counter->name, word) ||
                        (counter->explain && text_contains(counter->explain, word))));
}

static bool is_alias(size_t row, const char *word)
{
    for (const char *const *at = aliases[row].typed; *at; at++)
        if (text_equal(*at, word))
            return true;
    return false;
}

/* True if `word` is one of the table's words, and the names contain what it stands for. */
static bool has_alias(const struct catalogue_object *object,
                      const struct catalogue_counter *counter, const char *word)
{
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++)
        for (const char *const *at = aliases[i].parts; is_alias(i, word) && *at; at++)
            if (has_word(object, counter, *at))
                return true;
    return false;
}

bool catalogue_matches(const struct catalogue_object *object,
                       const struct catalogue_counter *counter, const char *text)
{
    char copy[256], *rest = copy;
    snprintf(copy, sizeof copy, "%s", text);
    for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
        if (!has_word(object, counter, word) && !has_alias(object, counter, word))
            return false;
    return true;
}

size_t catalogue_paths(struct catalogue *catalogue, const char *text, size_t most,
                       void (*found)(void *context, const char *path), void *context)
{
    char path[PDH_MAX_COUNTER_PATH];
    size_t ready, objects = catalogue_count(catalogue, &ready), count = 0, passed = 0;
    for (int names = 1; names >= 0; names--)
        for (size_t o = 0; o < objects && o < ready; o++) {
            const struct catalogue_object *object = catalogue_object(catalogue, o);
            const struct catalogue_object bare = {.name = object->name};
            for (size_t c = 0, of_object = 0; c < object->counter_count; c++) {
                const struct catalogue_counter *counter = &object->counters[c];
                const struct catalogue_counter named = {.name = counter->name};
                if (catalogue_matches(&bare, &named, text) != names ||
                    (!names && !catalogue_matches(object, counter, text)))
                    continue;
                count++;
                if (of_object++ >= MOST_OF_OBJECT || passed >= most)
                    continue;
                passed++;
                catalogue_path(object, "*", counter->name, path, sizeof path);
                found(context, path);
            }
        }
    return count;
}
