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

static bool is_alias(size_t row, const char *word)
{
    for (const char *const *at = aliases[row].typed; *at; at++)
        if (text_equal(*at, word))
            return true;
    return false;
}

static bool is_in(const char *text, const char *word)
{
    return text && text_contains(text, word);
}

static enum catalogue_rank rank_of(const struct catalogue_object *object,
                                   const struct catalogue_counter *counter, const char *word,
                                   enum catalogue_rank in_counter)
{
    if (is_in(object->name, word))
        return RANK_OBJECT;
    if (counter && is_in(counter->name, word))
        return in_counter;
    return is_in(object->explain, word) || (counter && is_in(counter->explain, word))
               ? RANK_EXPLANATION
               : RANK_NONE;
}

enum catalogue_rank catalogue_rank(const struct catalogue_object *object,
                                   const struct catalogue_counter *counter, const char *text)
{
    char copy[256], *rest = copy;
    enum catalogue_rank worst = RANK_OBJECT;
    snprintf(copy, sizeof copy, "%s", text);
    for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        enum catalogue_rank best = rank_of(object, counter, word, RANK_COUNTER), other;
        for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++)
            for (const char *const *at = aliases[i].parts; is_alias(i, word) && *at; at++) {
                other = rank_of(object, counter, *at, RANK_ALIAS);
                best = other < best ? other : best;
            }
        worst = best > worst ? best : worst;
    }
    /* few people look for costly objects, so these come last */
    return *text && object->costly && worst < RANK_EXPLANATION ? RANK_EXPLANATION : worst;
}

size_t catalogue_paths(struct catalogue *catalogue, const char *text, size_t most,
                       void (*found)(void *context, const char *path), void *context)
{
    char path[PDH_MAX_COUNTER_PATH];
    size_t ready, objects = catalogue_count(catalogue, &ready), count = 0, passed = 0;
    for (enum catalogue_rank rank = RANK_OBJECT; rank < RANK_NONE; rank++)
        for (size_t o = 0; o < objects && o < ready; o++) {
            const struct catalogue_object *object = catalogue_object(catalogue, o);
            for (size_t c = 0, of_object = 0; c < object->counter_count; c++) {
                const struct catalogue_counter *counter = &object->counters[c];
                if (catalogue_rank(object, counter, text) != rank)
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
