/* SPDX-License-Identifier: MIT */
/* The name, type and unit of a counter's metrics, from its English titles and its type. A name must
 * never change, so the words of a title are only tidied, not improved. docs/metrics.md has the
 * rules. */
#include "metrics.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>
#include <winperf.h>

/* How each counter type is exposed. `base`: a second sample of a summary, or a second family. */
static const struct shape {
    uint32_t type;
    enum metric_kind kind;
    enum metric_source source;
    enum metric_clock clock;
    const char *ending; /* the name's ending before _total */
    enum { ALONE, WITH_COUNT, WITH_BASE, WITH_MULTI } second;
} shapes[] = {
  /* clang-format off */
    {PERF_COUNTER_RAWCOUNT,               METRIC_GAUGE,   SOURCE_VALUE, CLOCK_NONE,   "",             ALONE},
    {PERF_COUNTER_LARGE_RAWCOUNT,         METRIC_GAUGE,   SOURCE_VALUE, CLOCK_NONE,   "",             ALONE},
    {PERF_COUNTER_RAWCOUNT_HEX,           METRIC_GAUGE,   SOURCE_VALUE, CLOCK_NONE,   "",             ALONE},
    {PERF_COUNTER_LARGE_RAWCOUNT_HEX,     METRIC_GAUGE,   SOURCE_VALUE, CLOCK_NONE,   "",             ALONE},
    {PERF_COUNTER_COUNTER,                METRIC_COUNTER, SOURCE_VALUE, CLOCK_NONE,   "",             ALONE},
    {PERF_COUNTER_BULK_COUNT,             METRIC_COUNTER, SOURCE_VALUE, CLOCK_NONE,   "",             ALONE},
    {PERF_SAMPLE_COUNTER,                 METRIC_COUNTER, SOURCE_VALUE, CLOCK_NONE,   "",             ALONE},
    {PERF_COUNTER_DELTA,                  METRIC_COUNTER, SOURCE_VALUE, CLOCK_NONE,   "",             ALONE},
    {PERF_COUNTER_LARGE_DELTA,            METRIC_COUNTER, SOURCE_VALUE, CLOCK_NONE,   "",             ALONE},
    {PERF_COUNTER_TIMER,                  METRIC_COUNTER, SOURCE_VALUE, CLOCK_TICKS,  "_seconds",     ALONE},
    {PERF_COUNTER_TIMER_INV,              METRIC_COUNTER, SOURCE_VALUE, CLOCK_TICKS,  "_idle_seconds", ALONE},
    {PERF_100NSEC_TIMER,                  METRIC_COUNTER, SOURCE_VALUE, CLOCK_100NS,  "_seconds",     ALONE},
    {PERF_100NSEC_TIMER_INV,              METRIC_COUNTER, SOURCE_VALUE, CLOCK_100NS,  "_idle_seconds", ALONE},
    {PERF_OBJ_TIME_TIMER,                 METRIC_COUNTER, SOURCE_VALUE, CLOCK_OBJECT, "_seconds",     ALONE},
    /* these two count seconds: their formula multiplies by the frequency (docs/formulas.md) */
    {PERF_COUNTER_MULTI_TIMER,            METRIC_COUNTER, SOURCE_VALUE, CLOCK_NONE,   "_seconds",     WITH_MULTI},
    {PERF_COUNTER_MULTI_TIMER_INV,        METRIC_COUNTER, SOURCE_VALUE, CLOCK_NONE,   "_idle_seconds", WITH_MULTI},
    {PERF_100NSEC_MULTI_TIMER,            METRIC_COUNTER, SOURCE_VALUE, CLOCK_100NS,  "_seconds",     WITH_MULTI},
    {PERF_100NSEC_MULTI_TIMER_INV,        METRIC_COUNTER, SOURCE_VALUE, CLOCK_100NS,  "_idle_seconds", WITH_MULTI},
    {PERF_PRECISION_SYSTEM_TIMER,         METRIC_COUNTER, SOURCE_VALUE, CLOCK_TICKS,  "_seconds",     WITH_BASE},
    {PERF_PRECISION_100NS_TIMER,          METRIC_COUNTER, SOURCE_VALUE, CLOCK_100NS,  "_seconds",     WITH_BASE},
    {PERF_PRECISION_OBJECT_TIMER,         METRIC_COUNTER, SOURCE_VALUE, CLOCK_OBJECT, "_seconds",     WITH_BASE},
    {PERF_COUNTER_QUEUELEN_TYPE,          METRIC_COUNTER, SOURCE_VALUE, CLOCK_TICKS,  "_seconds",     ALONE},
    {PERF_COUNTER_LARGE_QUEUELEN_TYPE,    METRIC_COUNTER, SOURCE_VALUE, CLOCK_TICKS,  "_seconds",     ALONE},
    {PERF_COUNTER_100NS_QUEUELEN_TYPE,    METRIC_COUNTER, SOURCE_VALUE, CLOCK_100NS,  "_seconds",     ALONE},
    {PERF_COUNTER_OBJ_TIME_QUEUELEN_TYPE, METRIC_COUNTER, SOURCE_VALUE, CLOCK_OBJECT, "_seconds",     ALONE},
    {PERF_SAMPLE_FRACTION,                METRIC_COUNTER, SOURCE_VALUE, CLOCK_NONE,   "",             WITH_BASE},
    {PERF_RAW_FRACTION,                   METRIC_GAUGE,   SOURCE_RATIO, CLOCK_NONE,   "_ratio",       ALONE},
    {PERF_LARGE_RAW_FRACTION,             METRIC_GAUGE,   SOURCE_RATIO, CLOCK_NONE,   "_ratio",       ALONE},
    {PERF_AVERAGE_TIMER,                  METRIC_SUMMARY, SOURCE_VALUE, CLOCK_TICKS,  "",             WITH_COUNT},
    {PERF_AVERAGE_BULK,                   METRIC_SUMMARY, SOURCE_VALUE, CLOCK_NONE,   "",             WITH_COUNT},
    {PERF_ELAPSED_TIME,                   METRIC_GAUGE,   SOURCE_START, CLOCK_OBJECT, "_start_time_seconds", ALONE},
    {PERF_COUNTER_TEXT,                   METRIC_INFO,    SOURCE_TEXT,  CLOCK_NONE,   "",             ALONE},
  /* clang-format on */
};

/* Words that stand for others: metrics have whole units, and an average is exposed as a sum and a
 * count. */
static const char *const replaced[][2] = {
    {"sec",       "seconds"},
    {"s",         "seconds"},
    {"avg",       ""       },
    {"ms",        "msec"   },
    {"kb",        "kbytes" },
    {"mb",        "mbytes" },
    {"kilobytes", "kbytes" },
    {"megabytes", "mbytes" },
};

struct snake {
    char *out;
    size_t size, capacity, word; /* `word`: where the last word begins */
};

static void put(struct snake *snake, const char *text)
{
    for (; *text && snake->size + 1 < snake->capacity; text++)
        snake->out[snake->size++] = *text;
    snake->out[snake->size] = '\0';
}

/* Ends a word: replaces it, and begins the next one. */
static void end_word(struct snake *snake)
{
    const char *word = snake->out + snake->word;
    if (!*word)
        return;
    for (size_t i = 0; i < sizeof replaced / sizeof *replaced; i++)
        if (!strcmp(word, replaced[i][0])) {
            snake->size = snake->word;
            snake->out[snake->size] = '\0';
            put(snake, replaced[i][1]);
            break;
        }
    if (snake->size > snake->word)
        put(snake, "_");
    snake->word = snake->size;
}

/* Is there a word boundary before the second of these letters? Not in mSec, KiB, IPv4, DPCs. */
static bool is_boundary(const char *title, const char *at)
{
    return at - title >= 2 && isupper((unsigned char)at[0]) && islower((unsigned char)at[-1]) &&
           islower((unsigned char)at[-2]);
}

/* Writes a title in lower case, with _ between its words. `slash`: the word that stands for "/". */
static void snake_of(const char *title, const char *end, const char *slash, char *out,
                     size_t capacity)
{
    struct snake snake = {.out = out, .capacity = capacity};
    *out = '\0';
    for (const char *at = title; at < end; at++) {
        bool letter = (unsigned char)*at < 0x80 && isalnum((unsigned char)*at);
        if (!letter || is_boundary(title, at))
            end_word(&snake);
        if (letter)
            put(&snake, (char[]){(char)tolower((unsigned char)*at), '\0'});
        else if (*at == '/' && *slash) {
            put(&snake, slash);
            end_word(&snake);
        }
    }
    end_word(&snake);
    if (snake.size && out[snake.size - 1] == '_')
        out[snake.size - 1] = '\0';
}

void metric_snake(const char *title, char *out, size_t capacity)
{
    snake_of(title, title + strlen(title), "", out, capacity);
}

/* Removes a word from the end of the text; false: it ends otherwise, or is nothing else. */
static bool without(char *text, const char *word)
{
    size_t size = strlen(text), length = strlen(word);
    if (size <= length + 1 || strcmp(text + size - length, word) != 0 ||
        text[size - length - 1] != '_')
        return false;
    text[size - length - 1] = '\0';
    return true;
}

static void append(char name[METRIC_NAME_SIZE], const char *text)
{
    size_t size = strlen(name);
    snprintf(name + size, METRIC_NAME_SIZE - size, "%s", text);
}

static const char *unit_of(const char *name)
{
    static const char *const units[] = {"_seconds", "_bytes", "_ratio"};
    size_t size = strlen(name);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (size > strlen(units[i]) && !strcmp(name + size - strlen(units[i]), units[i]))
            return units[i] + 1;
    return "";
}

/* Writes the name without the ending of the type. */
static void begin_name(const char *object, const char *counter, const struct shape *shape,
                       char name[METRIC_NAME_SIZE])
{
    char first[METRIC_NAME_SIZE / 3], second[METRIC_NAME_SIZE / 2];
    size_t length = strlen(counter);
    bool rate = length > 4 && !strcasecmp(counter + length - 4, "/sec");
    bool per = shape->second == WITH_COUNT || (rate && shape->kind != METRIC_COUNTER);
    metric_snake(object, first, sizeof first);
    snake_of(counter, counter + length - (rate && shape->kind == METRIC_COUNTER ? 4 : 0),
             per ? "per" : "", second, sizeof second);
    if (shape->kind == METRIC_COUNTER || shape->kind == METRIC_GAUGE)
        without(second, "total"); /* counters get it again; gauges must not have it */
    if (shape->kind == METRIC_GAUGE && without(second, "count"))
        strcat(second, second[strlen(second) - 1] == 's' ? "" : "s");
    if (shape->source == SOURCE_START)
        without(second, "time");
    snprintf(name, METRIC_NAME_SIZE, "perf_%s_%s", first, second);
}

/* Describes the family of the counter's own value; `first` has the name without an ending. */
static void describe_first(const char *counter, uint32_t index, const struct shape *shape,
                           struct metric_family *first)
{
    static const char *const suffixes[] = {"", "_total", "_sum", "_info"}; /* by metric_kind */
    struct view_counter described = {.now.definition.CounterType = shape->type};
    const char *ending = shape->ending;
    first->samples[0] = (struct metric_sample){shape->source, shape->clock, suffixes[shape->kind]};
    view_describe(&described, index, counter);
    if (shape->source == SOURCE_RATIO && !*described.type.suffix) {
        first->samples[0].source = SOURCE_PERCENT;
        ending = "";
    } else if (shape->kind == METRIC_GAUGE && shape->source == SOURCE_VALUE) {
        bool percent = strchr(counter, '%');
        first->samples[0].clock = percent ? CLOCK_HUNDRED : CLOCK_NONE;
        ending = percent ? "_ratio" : "";
        if (described.unit == UNIT_BYTES && !strcasestr(counter, "bytes"))
            ending = "_bytes"; /* such as Working Set */
    }
    append(first->name, ending);
    if (shape->second == WITH_COUNT)
        first->samples[first->sample_count++] =
            (struct metric_sample){SOURCE_BASE, CLOCK_NONE, "_count"};
}

/* Describes the family of the base; `gauge`: it is none that grows. */
static void describe_base(const struct shape *shape, bool gauge, struct metric_family *base)
{
    bool multi = shape->second == WITH_MULTI;
    base->hidden = shape->source == SOURCE_RATIO;
    base->kind = gauge ? METRIC_GAUGE : METRIC_COUNTER;
    base->samples[0] =
        (struct metric_sample){multi ? SOURCE_MULTI : SOURCE_BASE,
                               gauge ? CLOCK_NONE : shape->clock, gauge ? "" : "_total"};
    append(base->name, "_base");
    append(base->name, gauge ? "" : shape->ending);
    base->unit = unit_of(base->name);
}

unsigned metric_describe(const char *object, const char *counter, uint32_t index, uint32_t type,
                         struct metric_family ret[METRIC_FAMILIES])
{
    const struct shape *shape = NULL;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes && !shape; i++)
        if (shapes[i].type == type)
            shape = &shapes[i];
    if (!shape)
        return 0;
    struct metric_family *first = &ret[0], *second = &ret[1];
    *first = (struct metric_family){.kind = shape->kind, .sample_count = 1};
    begin_name(object, counter, shape, first->name);
    *second = *first;
    describe_first(counter, index, shape, first);
    first->unit = unit_of(first->name);
    bool gauge = shape->source == SOURCE_RATIO || shape->second == WITH_MULTI;
    if (!gauge && shape->second != WITH_BASE)
        return 1;
    describe_base(shape, gauge, second);
    return 2;
}
