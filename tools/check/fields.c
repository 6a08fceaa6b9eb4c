/* SPDX-License-Identifier: MIT */
/* Checks every field of an answer whose lengths add up: mistakes here cause no event, but a
 * viewer would show a wrong value or none. */
#include "check.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

enum { NAME_SIZE = 256, COUNTERS_MOST = 512, PARTIAL = 64 };

struct scene {
    struct check_answer *answer;
    const struct registration *is;
    struct report *report;
    opl_object_view object;
    opl_counter_view counters[COUNTERS_MOST];
    size_t counter_count;
};

static struct place object_place(const struct scene *scene)
{
    return (struct place){scene->object.type.ObjectNameTitleIndex, 0, NULL};
}

static struct place counter_place(const struct scene *scene, size_t counter)
{
    return (struct place){scene->object.type.ObjectNameTitleIndex,
                          scene->counters[counter].definition.CounterNameTitleIndex, NULL};
}

static opl_type_info info_of(const struct scene *scene, size_t counter)
{
    opl_type_info info;
    opl_type_describe(scene->counters[counter].definition.CounterType, &info);
    return info;
}

/* ---- numbers and names ---- */

static void check_name(const struct scene *scene, const struct place *place, const char *field,
                       uint32_t index, bool help)
{
    struct view_names *names = &scene->report->names;
    if (!scene->is->has_names || (help ? names_help(names, index) : names_title(names, index)))
        return;
    bool own = scene->is->first_counter > 0;
    struct finding *finding = report_add(
        scene->report, MISTAKE, place, field, IN_NAMES,
        help ? "an index that has an explanation" : "an index that has a name",
        "%" PRIu32 ", which has no %s in the registry", index, help ? "explanation" : "name");
    if (finding && own && finding->times == 1)
        snprintf(finding->details, sizeof finding->details,
                 "the registered indices are %" PRIu32 " to %" PRIu32, scene->is->first_counter,
                 help ? scene->is->last_help : scene->is->last_counter);
}

/* Reports an explanation that belongs to another name in the symbol file: a name's offset from
 * First Counter must be its explanation's offset from First Help. */
static void check_explanation(const struct scene *scene, const struct place *place,
                              const char *field, uint32_t name, uint32_t help)
{
    const struct registration *is = scene->is;
    check_name(scene, place, field, help, true);
    bool own = is->first_counter && name >= is->first_counter && name <= is->last_counter &&
               help >= is->first_help && help <= is->last_help;
    if (own && name - is->first_counter != help - is->first_help)
        report_add(scene->report, WARNING, place, field, IN_NAMES,
                   "the explanation that belongs to the name",
                   "%" PRIu32 ", which is the explanation of name %" PRIu32, help,
                   help - is->first_help + is->first_counter);
}

static bool lists(const char *list, uint32_t number)
{
    while (list && *list) {
        char *end;
        unsigned long listed = strtoul(list, &end, 10);
        if (end != list && listed == number)
            return true;
        list = end != list ? end : list + 1;
    }
    return false;
}

/* Reports an object whose number is not registered for this service. */
static void check_owner(const struct scene *scene)
{
    const struct registration *is = scene->is;
    uint32_t number = scene->object.type.ObjectNameTitleIndex;
    struct place place = object_place(scene);
    bool own = number >= is->first_counter && number <= is->last_counter;
    if (!is->service || own || lists(is->object_list, number) ||
        (!is->object_list && is->first_counter == 0))
        return;
    report_add(scene->report, WARNING, &place, "ObjectNameTitleIndex", IN_NAMES,
               "an index of this service",
               "%" PRIu32 ", which is registered for another service or for no service", number);
}

/* ---- counter definitions ---- */

static uint32_t size_of_type(DWORD type)
{
    switch (type & 0x300) {
    case PERF_SIZE_DWORD:
        return 4;
    case PERF_SIZE_LARGE:
        return 8;
    default:
        return 0;
    }
}

static void check_size(const struct scene *scene, size_t counter)
{
    const PERF_COUNTER_DEFINITION *definition = &scene->counters[counter].definition;
    struct place place = counter_place(scene, counter);
    uint32_t size = size_of_type(definition->CounterType);
    bool eight = definition->CounterType == PERF_AVERAGE_TIMER && definition->CounterSize == 8;
    if (size && definition->CounterSize != size && !eight)
        report_add(scene->report, MISTAKE, &place, "CounterSize", IN_COUNTERS,
                   size == 4 ? "4, because of the counter type" : "8, because of the counter type",
                   "%" PRIu32, (uint32_t)definition->CounterSize);
    if (size && definition->CounterSize == size && definition->CounterOffset % size != 0)
        report_add(scene->report, definition->CounterOffset % 4 ? MISTAKE : WARNING, &place,
                   "CounterOffset", IN_COUNTERS, size == 4 ? "a multiple of 4" : "a multiple of 8",
                   "%" PRIu32, (uint32_t)definition->CounterOffset);
    if (definition->CounterOffset < sizeof(PERF_COUNTER_BLOCK) && definition->CounterSize > 0)
        report_add(scene->report, MISTAKE, &place, "CounterOffset", IN_COUNTERS,
                   "at least 4: the first 4 bytes of a counter block are its length", "%" PRIu32,
                   (uint32_t)definition->CounterOffset);
}

static bool base_fits(DWORD type, DWORD base)
{
    switch (type) {
    case PERF_SAMPLE_FRACTION:
        return base == PERF_SAMPLE_BASE;
    case PERF_RAW_FRACTION:
        return base == PERF_RAW_BASE;
    case PERF_AVERAGE_TIMER:
    case PERF_AVERAGE_BULK:
        return base == PERF_AVERAGE_BASE;
    default:
        return size_of_type(base) == size_of_type(type);
    }
}

/* Reports a counter whose base is not the next definition: its value is wrong without any error. */
static void check_next(const struct scene *scene, size_t counter, const opl_type_info *info)
{
    opl_type_info next = {0};
    struct place place = counter_place(scene, counter);
    bool last = counter + 1 == scene->counter_count;
    if (!last)
        next = info_of(scene, counter + 1);
    if (!next.is_base)
        report_add(scene->report, MISTAKE, &place, "CounterType", IN_COUNTERS,
                   "its base directly after it", "%s, followed by %s", info->name,
                   last        ? "no definition"
                   : next.name ? next.name
                               : "an unknown type");
    else if (!info->multi && !base_fits(scene->counters[counter].definition.CounterType,
                                        scene->counters[counter + 1].definition.CounterType))
        report_add(scene->report, WARNING, &place, "CounterType", IN_COUNTERS,
                   "the base that belongs to the type", "%s with %s", info->name, next.name);
}

static void check_base(const struct scene *scene, size_t counter)
{
    opl_type_info info = info_of(scene, counter), before = {0};
    struct place place = counter_place(scene, counter);
    if (info.needs_base || (info.multi && info.name && !info.is_base))
        check_next(scene, counter, &info);
    if (counter > 0)
        before = info_of(scene, counter - 1);
    if (info.is_base && !before.needs_base && !before.multi)
        report_add(scene->report, MISTAKE, &place, "CounterType", IN_COUNTERS,
                   "a base only directly after a counter that needs a base", "%s", info.name);
}

static void check_definition(const struct scene *scene, size_t counter)
{
    const PERF_COUNTER_DEFINITION *definition = &scene->counters[counter].definition;
    struct place place = counter_place(scene, counter);
    opl_type_info info = info_of(scene, counter);
    if (!info.name)
        report_add(scene->report, WARNING, &place, "CounterType", IN_COUNTERS,
                   "one of the types of winperf.h", "0x%08" PRIx32,
                   (uint32_t)definition->CounterType);
    if (definition->DefaultScale < -10 || definition->DefaultScale > 10)
        report_add(scene->report, MISTAKE, &place, "DefaultScale", IN_COUNTERS,
                   "a power of ten from -10 to 10", "%" PRId32, (int32_t)definition->DefaultScale);
    check_size(scene, counter);
    check_base(scene, counter);
    if (info.is_base)
        return; /* nothing to check: the value of a base is not shown */
    check_name(scene, &place, "CounterNameTitleIndex", definition->CounterNameTitleIndex, false);
    if (definition->CounterHelpTitleIndex)
        check_explanation(scene, &place, "CounterHelpTitleIndex", place.counter,
                          definition->CounterHelpTitleIndex);
    if (definition->DetailLevel < PERF_DETAIL_NOVICE ||
        definition->DetailLevel > PERF_DETAIL_WIZARD)
        report_add(scene->report, WARNING, &place, "DetailLevel", IN_COUNTERS,
                   "PERF_DETAIL_NOVICE (100) to PERF_DETAIL_WIZARD (400)", "%" PRIu32,
                   (uint32_t)definition->DetailLevel);
}

/* Reports values that overlap partially. Two counters may share exactly the same bytes. */
static void check_overlaps(const struct scene *scene, size_t counter)
{
    const PERF_COUNTER_DEFINITION *own = &scene->counters[counter].definition;
    struct place place = counter_place(scene, counter);
    for (size_t i = 0; i < counter; i++) {
        const PERF_COUNTER_DEFINITION *other = &scene->counters[i].definition;
        uint64_t own_end = (uint64_t)own->CounterOffset + own->CounterSize;
        uint64_t other_end = (uint64_t)other->CounterOffset + other->CounterSize;
        bool equal = own->CounterOffset == other->CounterOffset;
        if (own->CounterNameTitleIndex == other->CounterNameTitleIndex &&
            own->CounterNameTitleIndex && !info_of(scene, counter).is_base &&
            !info_of(scene, i).is_base)
            report_add(scene->report, MISTAKE, &place, "CounterNameTitleIndex", IN_NAMES,
                       "a number that no other counter of the object has", "twice");
        if (!equal && own->CounterOffset < other_end && other->CounterOffset < own_end)
            report_add(scene->report, MISTAKE, &place, "CounterOffset", IN_COUNTERS,
                       "bytes that no other counter uses",
                       "%" PRIu32 ", which is inside the bytes of counter %" PRIu32,
                       (uint32_t)own->CounterOffset, (uint32_t)other->CounterNameTitleIndex);
    }
}

/* Reports a second counter of the same name, which no counter path can find, and a counter with the
 * explanation of another counter. */
static void check_namesakes(const struct scene *scene, size_t counter)
{
    struct view_names *names = &scene->report->names;
    const PERF_COUNTER_DEFINITION *own = &scene->counters[counter].definition;
    struct place place = counter_place(scene, counter);
    const char *name = names_english(names, place.counter);
    const char *help = names_help(names, own->CounterHelpTitleIndex);
    for (size_t i = 0; name && scene->is->has_names && i < counter; i++) {
        const PERF_COUNTER_DEFINITION *other = &scene->counters[i].definition;
        uint32_t number = other->CounterNameTitleIndex;
        const char *text = names_english(names, number);
        const char *explanation = names_help(names, other->CounterHelpTitleIndex);
        if (!text || number == place.counter || info_of(scene, counter).is_base ||
            info_of(scene, i).is_base)
            continue;
        if (strcasecmp(text, name) == 0)
            report_add(scene->report, MISTAKE, &place, "CounterNameTitleIndex", IN_NAMES,
                       "a name that no other counter of the object has",
                       "\"%s\", which is also the name of counter %" PRIu32, name, number);
        else if (help && explanation && strcmp(help, explanation) == 0)
            report_add(scene->report, WARNING, &place, "CounterHelpTitleIndex", IN_NAMES,
                       "an explanation that no other counter of the object has",
                       "the same as that of counter %" PRIu32 ", \"%s\"", number, text);
    }
}

/* ---- the object ---- */

static void check_object_times(const struct scene *scene)
{
    const PERF_OBJECT_TYPE *type = &scene->object.type;
    struct place place = object_place(scene);
    bool timed = false;
    for (size_t i = 0; i < scene->counter_count; i++)
        timed |= (scene->counters[i].definition.CounterType & 0x00300000) == PERF_OBJECT_TIMER;
    if (timed && type->PerfFreq.QuadPart <= 0)
        report_add(scene->report, MISTAKE, &place, "PerfFreq", IN_VALUES,
                   "ticks per second of the object's clock, which measures a counter", "%lld",
                   (long long)type->PerfFreq.QuadPart);
    if (timed && type->PerfTime.QuadPart <= 0)
        report_add(scene->report, MISTAKE, &place, "PerfTime", IN_VALUES,
                   "the time of the object's clock, which measures a counter", "%lld",
                   (long long)type->PerfTime.QuadPart);
}

static bool code_page_known(DWORD page)
{
    static const WORD known[] = {37,   437,  737,  775,  850,  852,  855,  857,  858,  860, 861,
                                 862,  863,  864,  865,  866,  869,  874,  932,  936,  949, 950,
                                 1200, 1250, 1251, 1252, 1253, 1254, 1255, 1256, 1257, 1258};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i] == page)
            return true;
    return page == 0 || page == 65001 || page == 20127 || page == 20866 || page == 21866 ||
           (page >= 28591 && page <= 28605);
}

/* Reports an object without instances that has data after its definitions, or after the counter
 * block of an object with PERF_NO_INSTANCES. Zeros are no data: some readers expect a counter block
 * there even without instances. */
static void check_rest(const struct scene *scene)
{
    const PERF_OBJECT_TYPE *type = &scene->object.type;
    const unsigned char *object = scene->answer->data + scene->object.offset;
    uint32_t used = type->DefinitionLength, rest = type->TotalByteLength - used, block = 0;
    bool single = type->NumInstances == PERF_NO_INSTANCES;
    struct place place = object_place(scene);
    if (single && rest >= sizeof block)
        memcpy(&block, object + used, sizeof block); /* the counter block's ByteLength */
    if (block > rest)
        return;
    used += block;
    rest -= block;
    const unsigned char *at = object + used;
    while (rest > 0 && *at == 0)
        at++, rest--;
    if (type->NumInstances == 0 && rest >= 8)
        report_add(scene->report, WARNING, &place, "NumInstances", IN_INSTANCES,
                   "the number of instances, or PERF_NO_INSTANCES (-1)",
                   "0, but %" PRIu32 " bytes follow the definitions", type->TotalByteLength - used);
    if (single && rest >= 8)
        report_add(scene->report, MISTAKE, &place, "NumInstances", IN_INSTANCES,
                   "the number of instances, if the object has any",
                   "-1 (PERF_NO_INSTANCES), but %" PRIu32 " bytes follow the counter block",
                   type->TotalByteLength - used);
}

/* True if a counter identifies the instance, as ID Process does. Equal names are correct then. */
static bool has_identity(const struct scene *scene)
{
    for (size_t i = 0; i < scene->counter_count; i++) {
        const char *name = names_english(&scene->report->names,
                                         scene->counters[i].definition.CounterNameTitleIndex);
        if (name && strncmp(name, "ID ", 3) == 0)
            return true;
    }
    return false;
}

static void check_object(const struct scene *scene)
{
    const PERF_OBJECT_TYPE *type = &scene->object.type;
    struct place place = object_place(scene);
    check_name(scene, &place, "ObjectNameTitleIndex", type->ObjectNameTitleIndex, false);
    if (type->ObjectHelpTitleIndex)
        check_explanation(scene, &place, "ObjectHelpTitleIndex", place.object,
                          type->ObjectHelpTitleIndex);
    check_owner(scene);
    check_object_times(scene);
    if (type->DefaultCounter != -1 && ((DWORD)type->DefaultCounter >= type->NumCounters))
        report_add(scene->report, MISTAKE, &place, "DefaultCounter", IN_COUNTERS,
                   "-1, or the position of one of the object's counters", "%" PRId32,
                   (int32_t)type->DefaultCounter);
    if (type->DetailLevel < PERF_DETAIL_NOVICE || type->DetailLevel > PERF_DETAIL_WIZARD)
        report_add(scene->report, WARNING, &place, "DetailLevel", IN_COUNTERS,
                   "PERF_DETAIL_NOVICE (100) to PERF_DETAIL_WIZARD (400)", "%" PRIu32,
                   (uint32_t)type->DetailLevel);
    if (!code_page_known(type->CodePage))
        report_add(scene->report, WARNING, &place, "CodePage", IN_INSTANCES,
                   "0 for UTF-16, or an existing code page", "%" PRIu32, (uint32_t)type->CodePage);
    check_rest(scene);
}

/* ---- instances ---- */

static void check_text(const struct scene *scene, const opl_instance_view *instance,
                       const opl_counter_view *counter, const struct place *place)
{
    DWORD size = counter->definition.CounterSize;
    const unsigned char *text = opl_counter_data(&scene->answer->block, instance, counter);
    bool wide = (counter->definition.CounterType & 0x000F0000) == PERF_TEXT_UNICODE, ended = false;
    for (DWORD i = 0; text && i + wide < size && !ended; i += 1 + wide)
        ended = text[i] == 0 && (!wide || text[i + 1] == 0);
    if (text && size > 0 && !ended)
        report_add(scene->report, WARNING, place, "value", IN_VALUES,
                   "a text that ends with a zero character within CounterSize",
                   "no zero character in %" PRIu32 " bytes", (uint32_t)size);
    if (wide && size % 2)
        report_add(scene->report, MISTAKE, place, "CounterSize", IN_COUNTERS,
                   "an even number, because the text is UTF-16", "%" PRIu32, (uint32_t)size);
}

/* Reports a percentage above 100, which viewers show as 100. A fraction whose name does not begin
 * with "%" may be a factor, and is not checked. */
static void check_fraction(const struct scene *scene, const opl_instance_view *instance,
                           size_t counter, const struct place *place)
{
    DWORD type = scene->counters[counter].definition.CounterType;
    const char *name = names_english(&scene->report->names, place->counter);
    uint64_t part, whole;
    if ((type == PERF_RAW_FRACTION || type == PERF_LARGE_RAW_FRACTION) && name && *name == '%' &&
        counter + 1 < scene->counter_count && info_of(scene, counter + 1).is_base &&
        opl_counter_number(&scene->answer->block, instance, &scene->counters[counter], &part) &&
        opl_counter_number(&scene->answer->block, instance, &scene->counters[counter + 1],
                           &whole) &&
        part > whole)
        report_add(scene->report, WARNING, place, "value", IN_VALUES, "at most its base (100 %)",
                   "%" PRIu64 " of %" PRIu64, part, whole);
}

/* Returns the seconds since this machine's boot, with the time in which it slept. */
static double uptime(void)
{
    struct timespec time;
    clock_gettime(CLOCK_BOOTTIME, &time);
    return (double)time.tv_sec;
}

/* Reports a start time that is not between boot and now, for example a duration or a Unix time. A
 * thing of another machine may be older than this boot, but not by many years. With
 * OPENPERFLIB_SYSROOT the data may come from files of another machine, so nothing is checked. */
static void check_start(const struct scene *scene, const opl_instance_view *instance,
                        const opl_counter_view *counter, const struct place *place)
{
    const double minute = 60, day = 86400, many_years = 10 * 365 * day;
    const PERF_OBJECT_TYPE *type = &scene->object.type;
    uint64_t start;
    if (counter->definition.CounterType != PERF_ELAPSED_TIME || type->PerfFreq.QuadPart <= 0 ||
        !opl_counter_number(&scene->answer->block, instance, counter, &start) ||
        getenv("OPENPERFLIB_SYSROOT") || (place->instance && is_total(place->instance)))
        return;
    double age =
        ((double)type->PerfTime.QuadPart - (double)start) / (double)type->PerfFreq.QuadPart;
    double beyond = age < 0 ? -age : age - uptime();
    if (beyond > minute)
        report_add(scene->report, beyond > many_years ? MISTAKE : WARNING, place, "value",
                   IN_VALUES, "the start time, in the same unit as PerfTime",
                   "%" PRIu64 ", %.1f days %s", start, beyond / day,
                   age < 0 ? "after PerfTime" : "before this machine's boot");
}

static void check_values(const struct scene *scene, const opl_instance_view *instance,
                         const char *name)
{
    for (size_t i = 0; i < scene->counter_count; i++) {
        const PERF_COUNTER_DEFINITION *definition = &scene->counters[i].definition;
        struct place place = counter_place(scene, i);
        place.instance = name;
        if ((uint64_t)definition->CounterOffset + definition->CounterSize > instance->counters_size)
            report_add(scene->report, MISTAKE, &place, "CounterOffset", IN_COUNTERS,
                       "inside the counter block",
                       "%" PRIu32 " with CounterSize %" PRIu32 ", but the block has %zu bytes",
                       (uint32_t)definition->CounterOffset, (uint32_t)definition->CounterSize,
                       instance->counters_size);
        else if ((definition->CounterType & 0x00000C00) == PERF_TYPE_TEXT)
            check_text(scene, instance, &scene->counters[i], &place);
        else
            check_fraction(scene, instance, i, &place);
        check_start(scene, instance, &scene->counters[i], &place);
    }
}

static bool has_surrogate_alone(const unsigned char *text, size_t size)
{
    for (size_t i = 0; i + 1 < size; i += 2) {
        unsigned unit = text[i] | (unsigned)text[i + 1] << 8;
        unsigned next = i + 3 < size ? text[i + 2] | (unsigned)text[i + 3] << 8 : 0;
        if (unit >= 0xd800 && unit < 0xdc00 && next >= 0xdc00 && next < 0xe000)
            i += 2;
        else if (unit >= 0xd800 && unit < 0xe000)
            return true;
    }
    return false;
}

/* True for an existing code page whose texts end with one byte 0. */
static bool ends_with_a_byte(DWORD page)
{
    return page != 0 && page != 1200 && code_page_known(page);
}

/* True if the text goes on after its first 0, and this 0 is the second half of a UTF-16 unit. */
static bool is_utf16(const unsigned char *text, size_t length)
{
    const unsigned char *zero = memchr(text, 0, length);
    return zero && (zero - text) % 2 && zero + 1 < text + length && zero[1];
}

static void check_instance_text(const struct scene *scene, const opl_instance_view *instance,
                                const struct place *place)
{
    const PERF_INSTANCE_DEFINITION *definition = &instance->definition;
    const unsigned char *text = scene->answer->data + instance->offset + definition->NameOffset;
    size_t length = definition->NameLength;
    bool wide = scene->object.type.CodePage == 0, ended = false;
    for (size_t i = 0; i + wide < length && !ended; i += 1 + wide)
        ended = text[i] == 0 && (!wide || text[i + 1] == 0);
    if (wide && length % 2)
        report_add(scene->report, MISTAKE, place, "NameLength", IN_INSTANCES,
                   "an even number, because the name is UTF-16", "%zu", length);
    else if (!ended)
        report_add(scene->report, WARNING, place, "NameLength", IN_INSTANCES,
                   "a length that includes the terminator", "%zu bytes without a zero", length);
    if (ends_with_a_byte(scene->object.type.CodePage) && is_utf16(text, length))
        report_add(scene->report, MISTAKE, place, "CodePage", IN_INSTANCES,
                   "0, because the names are UTF-16",
                   "%" PRIu32 ", with which a name would end at its first zero byte",
                   (uint32_t)scene->object.type.CodePage);
    if (wide && has_surrogate_alone(text, length))
        report_add(scene->report, WARNING, place, "name", IN_INSTANCES, "valid UTF-16",
                   "an unpaired surrogate");
}

/* True if the name has invalid text. opl_instance_name replaces invalid text by U+FFFD. */
static bool has_odd_characters(const char *name)
{
    for (const char *at = name; *at; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7f)
            return true;
    return strstr(name, "\xef\xbf\xbd") != NULL;
}

static void check_instance_name(const struct scene *scene, const opl_instance_view *instance,
                                const struct place *place)
{
    const PERF_INSTANCE_DEFINITION *definition = &instance->definition;
    if (definition->UniqueID == PERF_NO_UNIQUE_ID && definition->NameLength == 0) {
        report_add(scene->report, MISTAKE, place, "NameLength", IN_INSTANCES,
                   "a name, or a UniqueID in its place", "0");
        return;
    }
    if (definition->NameLength > 0 && definition->NameOffset < sizeof *definition)
        report_add(scene->report, MISTAKE, place, "NameOffset", IN_INSTANCES,
                   "at least 24, after the fields of the instance", "%" PRIu32,
                   (uint32_t)definition->NameOffset);
    if (definition->NameLength > 0)
        check_instance_text(scene, instance, place);
    if (definition->UniqueID == PERF_NO_UNIQUE_ID && !*place->instance)
        report_add(scene->report, WARNING, place, "name", IN_INSTANCES,
                   "at least one character, for counter paths", "an empty name");
    if (has_odd_characters(place->instance))
        report_add(scene->report, WARNING, place, "name", IN_INSTANCES,
                   "printable characters in a valid encoding (UTF-8, if the library has tables)",
                   "a control character, or U+FFFD in place of invalid text");
    if (strpbrk(place->instance, "\\()*#"))
        report_add(scene->report, WARNING, place, "name", IN_INSTANCES,
                   "none of \\ ( ) * #, which have a meaning in counter paths", "%s",
                   place->instance);
}

static void check_parent(const struct scene *scene, const opl_instance_view *instance,
                         const struct place *place)
{
    opl_block *block = &scene->answer->block;
    const PERF_INSTANCE_DEFINITION *definition = &instance->definition;
    uint32_t number = definition->ParentObjectTitleIndex;
    opl_object_view parent;
    if (!number)
        return;
    if (!opl_block_find_object(block, number, &parent)) {
        report_add(scene->report, WARNING, place, "ParentObjectTitleIndex", IN_INSTANCES,
                   "an object of the same answer", "%" PRIu32 ", which is not in it", number);
        return;
    }
    int32_t count = parent.type.NumInstances;
    if (count < 0 || definition->ParentObjectInstance >= (DWORD)count)
        report_add(scene->report, MISTAKE, place, "ParentObjectInstance", IN_INSTANCES,
                   "the position of an instance of the parent object",
                   "%" PRIu32 ", but that object has %" PRId32 " instances",
                   (uint32_t)definition->ParentObjectInstance, count < 0 ? 0 : count);
    else if (parent.offset == scene->object.offset &&
             definition->ParentObjectInstance == instance->position)
        report_add(scene->report, MISTAKE, place, "ParentObjectInstance", IN_INSTANCES,
                   "another instance", "%" PRIu32 ", itself",
                   (uint32_t)definition->ParentObjectInstance);
}

/* ---- instances that cannot be distinguished ---- */

struct key {
    uint32_t parent, parent_instance;
    int32_t id;
    char name[PARTIAL];
};

static int compare_keys(const void *left, const void *right)
{
    const struct key *a = left, *b = right;
    int names = strcmp(a->name, b->name);
    return names                    ? names
           : a->parent != b->parent ? (a->parent < b->parent ? -1 : 1)
           : a->parent_instance != b->parent_instance
               ? (a->parent_instance < b->parent_instance ? -1 : 1)
               : 0;
}

/* Reports instances with equal names and parents. Names that do not fit into a key are skipped. */
static void check_twins(const struct scene *scene, struct key *keys, size_t count)
{
    struct place place = object_place(scene);
    qsort(keys, count, sizeof *keys, compare_keys);
    for (size_t i = 1; i < count; i++) {
        if (compare_keys(&keys[i - 1], &keys[i]) != 0 || strlen(keys[i].name) >= PARTIAL - 1)
            continue;
        place.instance = keys[i].name;
        if (keys[i].id != PERF_NO_UNIQUE_ID)
            report_add(scene->report, MISTAKE, &place, "UniqueID", IN_INSTANCES,
                       "a number that no other instance has", "%" PRId32 " twice", keys[i].id);
        else if (!has_identity(scene))
            report_add(scene->report, WARNING, &place, "name", IN_INSTANCES,
                       "a name that no other instance has: programs know instances of one name "
                       "only by their order, and mix them up when one disappears",
                       "\"%s\" more than once", keys[i].name);
    }
}

static void check_instances(const struct scene *scene)
{
    opl_block *block = &scene->answer->block;
    opl_instance_view instance = {0};
    char name[NAME_SIZE];
    bool single = scene->object.type.NumInstances < 0;
    size_t most = single ? 1 : (size_t)scene->object.type.NumInstances, count = 0;
    struct key *keys = calloc(most + 1, sizeof *keys);
    while (keys && opl_object_next_instance(block, &scene->object, &instance)) {
        struct place place = object_place(scene);
        opl_instance_name(block, &scene->object, &instance, name, sizeof name);
        place.instance = name;
        check_values(scene, &instance, single ? NULL : name);
        if (single)
            continue;
        check_instance_name(scene, &instance, &place);
        check_parent(scene, &instance, &place);
        keys[count] = (struct key){instance.definition.ParentObjectTitleIndex,
                                   instance.definition.ParentObjectInstance,
                                   instance.definition.UniqueID, ""};
        snprintf(keys[count++].name, PARTIAL, "%.*s", PARTIAL - 1, name);
    }
    if (keys)
        check_twins(scene, keys, count);
    free(keys);
}

/* ---- instances that are their own ancestors, through any objects of the answer ---- */

struct node {
    uint32_t object, parent, parent_instance;
    size_t seen; /* 1 + index of the node where the walk to here began; 0: not visited */
    char name[PARTIAL];
};
struct family { /* an object's instances; the list ends with `end` 0 */
    uint32_t object;
    size_t first, end;
};

/* Returns the position of the node's parent; `none`: the node has no parent, or is its own parent,
 * which check_parent finds. */
static size_t parent_of(const struct node *nodes, size_t at, const struct family *families,
                        size_t none)
{
    const struct node *node = &nodes[at];
    for (; node->parent && families->end; families++)
        if (families->object == node->parent) {
            size_t parent = families->first + node->parent_instance;
            return parent < families->end && parent != at ? parent : none;
        }
    return none;
}

static size_t read_family(opl_block *block, const opl_object_view *object, struct node *nodes,
                          size_t count, size_t most)
{
    opl_instance_view instance = {0};
    while (count < most && opl_object_next_instance(block, object, &instance)) {
        nodes[count] = (struct node){.object = object->type.ObjectNameTitleIndex,
                                     .parent = instance.definition.ParentObjectTitleIndex,
                                     .parent_instance = instance.definition.ParentObjectInstance};
        opl_instance_name(block, object, &instance, nodes[count++].name, PARTIAL);
    }
    return count;
}

static void walk(struct report *report, struct node *nodes, size_t count,
                 const struct family *families)
{
    for (size_t i = 0; i < count; i++) {
        size_t at = i;
        while (at < count && !nodes[at].seen) {
            nodes[at].seen = i + 1;
            at = parent_of(nodes, at, families, count);
        }
        if (at == count || nodes[at].seen != i + 1)
            continue;
        const struct place place = {nodes[at].object, 0, nodes[at].name};
        report_add(report, MISTAKE, &place, "ParentObjectInstance", IN_INSTANCES,
                   "parents that do not lead back to the instance",
                   "%" PRIu32 " of object %" PRIu32 ", of which it is a parent itself",
                   nodes[at].parent_instance, nodes[at].parent);
    }
}

static void check_circles(opl_block *block, struct report *report)
{
    opl_object_view object = {0};
    size_t objects = 0, most = 0, count = 0;
    for (; opl_block_next_object(block, &object); objects++)
        most += object.type.NumInstances > 0 ? (size_t)object.type.NumInstances : 0;
    struct node *nodes = calloc(most + 1, sizeof *nodes);
    struct family *families = calloc(objects + 1, sizeof *families);
    object = (opl_object_view){0};
    for (size_t i = 0; nodes && families && opl_block_next_object(block, &object);) {
        families[i] = (struct family){object.type.ObjectNameTitleIndex, count, 0};
        count = read_family(block, &object, nodes, count, most);
        families[i].end = count;
        i += families[i].end > families[i].first;
    }
    if (nodes && families)
        walk(report, nodes, count, families);
    free(nodes);
    free(families);
}

/* ---- all of it ---- */

static void read_counters(struct scene *scene)
{
    opl_counter_view counter = {0};
    scene->counter_count = 0;
    while (scene->counter_count < COUNTERS_MOST &&
           opl_object_next_counter(&scene->answer->block, &scene->object, &counter))
        scene->counters[scene->counter_count++] = counter;
}

static void check_twice(const struct scene *scene)
{
    opl_object_view first;
    struct place place = object_place(scene);
    if (opl_block_find_object(&scene->answer->block, place.object, &first) &&
        first.offset != scene->object.offset)
        report_add(scene->report, MISTAKE, &place, "ObjectNameTitleIndex", IN_OBJECTS,
                   "each object only once", "a second object with this index");
}

void fields_check(struct check_answer *answer, const struct registration *registration,
                  struct report *report)
{
    struct scene *scene = calloc(1, sizeof *scene);
    if (!scene)
        return;
    *scene = (struct scene){.answer = answer, .is = registration, .report = report};
    while (opl_block_next_object(&answer->block, &scene->object)) {
        read_counters(scene);
        check_twice(scene);
        check_object(scene);
        for (size_t i = 0; i < scene->counter_count; i++) {
            check_definition(scene, i);
            check_overlaps(scene, i);
            check_namesakes(scene, i);
        }
        check_instances(scene);
    }
    check_circles(&answer->block, report);
    free(scene);
}
