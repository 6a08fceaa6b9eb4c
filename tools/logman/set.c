/* SPDX-License-Identifier: MIT */
/*
 * Sets as XML files in the form of MS-PLA 3.2.4.19. A set keeps the document that it was read from,
 * and saving changes only the elements whose members have changed, so that all others survive.
 * What Windows does not have is in elements of a namespace of our own.
 */
#include "set.h"

#include "../common/options.h"
#include "../common/output-file.h"
#include "../common/when.h"
#include "../view/text.h"
#include "base/base.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libxml/parser.h>
#include <math.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define OURS "urn:openperflib:data-collector-set"
#define XML(text) ((const xmlChar *)(text))

/* ---- names and places ---- */

bool set_name_valid(const char *name)
{
    size_t size = strlen(name);
    bool good = size > 0 && size <= SET_NAME_MOST && name[0] != '.' && utf8_valid(name, size);
    for (; good && *name; name++)
        good = *name != '/' && *name != 127 && (unsigned char)*name >= ' ';
    return good;
}

/* Returns the variable, or the folder below the user's home if it is not set or not absolute. */
static char *user_folder(const char *variable, const char *below)
{
    const char *value = secure_getenv(variable), *home = secure_getenv("HOME");
    if (value && *value == '/')
        return strdup(value);
    if (!home || *home != '/') {
        const struct passwd *user = getpwuid(geteuid());
        home = user ? user->pw_dir : NULL;
    }
    return home ? text_format("%s/%s", home, below) : NULL;
}

static char *place_folder(bool user, enum set_place place)
{
    static const char *const below_root[] = {"sets", "captures", "run"};
    static const char *const system[] = {"/etc/openperflib/sets", "/var/log/openperflib",
                                         "/run/openperflib/sets"};
    static const char *const variables[] = {"XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR"};
    static const char *const below_home[] = {".config", ".local/state", ".local/state"};
    static const char *const below_user[] = {"sets", "captures", "sets"};
    const char *root = secure_getenv("OPENPERFLIB_ROOT");
    if (root && *root)
        return text_format("%s/%s", root, below_root[place]);
    if (!user)
        return strdup(system[place]);
    FREE_AUTO char *folder = user_folder(variables[place], below_home[place]);
    return folder ? text_format("%s/openperflib/%s", folder, below_user[place]) : NULL;
}

char *set_path(bool user, const char *name, enum set_place place)
{
    FREE_AUTO char *folder = place_folder(user, place);
    if (!folder)
        return NULL;
    return name ? text_format("%s/%s%s", folder, name, place == PLACE_SET ? ".xml" : "")
                : strdup(folder);
}

/* ---- the elements ---- */

enum element_place { IN_SET, IN_SCHEDULE, IN_COLLECTOR, IN_OURS };
/* clang-format off */
enum element_type {
    TEXT, FLAG, WHOLE, LARGE, REAL, /* members; the others have rules of their own */
    ROOT_PATH, FILE_NAME, NAME_FORMAT, NAME_PATTERN, LOG_FORMAT, CIRCULAR, INTERVAL, EXACT_INTERVAL,
    START_DATE, START_TIME, DAYS, ENABLED, DURATION, END
};
/* clang-format on */

/* In the order in which they are read: a later one may complete an earlier one. */
/* clang-format off */
static const struct element {
    const char *name;
    enum element_place place;
    enum element_type type;
    size_t member;
} elements[] = {
    {"Segment", IN_SET, FLAG, offsetof(struct set, segment)},
    {"SegmentMaxDuration", IN_SET, WHOLE, offsetof(struct set, new_file)},
    {"SegmentMaxSize", IN_SET, WHOLE, offsetof(struct set, most)},
    {"SerialNumber", IN_SET, WHOLE, offsetof(struct set, serial)},
    {"Task", IN_SET, TEXT, offsetof(struct set, command)},
    {"UserAccount", IN_SET, TEXT, offsetof(struct set, user)},
    {"LogAppend", IN_COLLECTOR, FLAG, offsetof(struct set, append)},
    {"LogOverwrite", IN_COLLECTOR, FLAG, offsetof(struct set, overwrite)},
    {"SegmentMaxRecords", IN_COLLECTOR, WHOLE, offsetof(struct set, samples)},
    {"EventLog", IN_COLLECTOR, FLAG, offsetof(struct set, event)},
    {"TriggerDataCollectorSet", IN_COLLECTOR, TEXT, offsetof(struct set, start_set)},
    {"Task", IN_COLLECTOR, TEXT, offsetof(struct set, task)},
    {"TaskArguments", IN_COLLECTOR, TEXT, offsetof(struct set, task_arguments)},
    {"Retention", IN_OURS, LARGE, offsetof(struct set, retention)},
    {"KeepFree", IN_OURS, WHOLE, offsetof(struct set, keep_free)},
    {"CommandLines", IN_OURS, FLAG, offsetof(struct set, command_lines)},
    {"Hold", IN_OURS, WHOLE, offsetof(struct set, hold)},
    {"Hysteresis", IN_OURS, REAL, offsetof(struct set, hysteresis)},
    {"Pause", IN_OURS, WHOLE, offsetof(struct set, pause)},
    {"RootPath", IN_SET, ROOT_PATH, 0},
    {"FileName", IN_COLLECTOR, FILE_NAME, 0},
    {"FileNameFormat", IN_COLLECTOR, NAME_FORMAT, 0},
    {"FileNameFormatPattern", IN_COLLECTOR, NAME_PATTERN, 0},
    {"LogFileFormat", IN_COLLECTOR, LOG_FORMAT, 0},
    {"LogCircular", IN_COLLECTOR, CIRCULAR, 0},
    {"SampleInterval", IN_COLLECTOR, INTERVAL, 0},
    {"Interval", IN_OURS, EXACT_INTERVAL, 0},
    {"StartDate", IN_SCHEDULE, START_DATE, 0},
    {"StartTime", IN_SCHEDULE, START_TIME, 0},
    {"Days", IN_SCHEDULE, DAYS, 0},
    {"SchedulesEnabled", IN_SET, ENABLED, 0},
    {"Duration", IN_SET, DURATION, 0},
    {"End", IN_OURS, END, 0},
};
/* clang-format on */

/* Parses a decimal number, or a hexadecimal one after 0x. */
static bool parse_number(const char *text, uint64_t most, uint64_t *ret)
{
    char *end;
    errno = 0;
    *ret = strtoull(text, &end, strncasecmp(text, "0x", 2) == 0 ? 16 : 10);
    return isdigit((unsigned char)*text) && !errno && !*end && *ret <= most;
}

/* Windows writes -1 for true. */
static bool parse_flag(const char *text, bool *ret)
{
    uint64_t number = strcasecmp(text, "true") == 0;
    bool word = number || strcasecmp(text, "false") == 0;
    bool good = word || parse_number(text + (*text == '-'), UINT32_MAX, &number);
    *ret = number != 0;
    return good;
}

static bool parse_real(const char *text, double least, double most, double *ret)
{
    char *end;
    *ret = strtod(text, &end);
    return isdigit((unsigned char)*text) && !*end && *ret >= least && *ret <= most;
}

/* Parses a local time as seconds since 1970. */
static bool parse_time(const char *date, const char *clock, int64_t *ret)
{
    FREE_AUTO char *text = text_format("%s %s", date, clock);
    LONGLONG time;
    if (!text || !when_parse(text, &time))
        return false;
    *ret = time / 10000000 - 11644473600;
    return true;
}

static bool read_member(struct set *set, const struct element *element, const char *text)
{
    void *member = (char *)set + element->member;
    uint64_t number;
    switch (element->type) {
    case TEXT:
        return (*(char **)member = strdup(text)) != NULL;
    case FLAG:
        return parse_flag(text, member);
    case REAL:
        return parse_real(text, 0, 100, member);
    case LARGE:
        return parse_number(text, INT64_MAX, member);
    default:
        if (!parse_number(text, UINT32_MAX, &number))
            return false;
        *(uint32_t *)member = (uint32_t)number;
        return true;
    }
}

/* Folders of Windows, such as %systemdrive%\PerfLogs, stand for the default folder. */
static bool read_path(struct set *set, enum element_type type, const char *text)
{
    char *path = set->output;
    if (type == FILE_NAME && !set_name_valid(text))
        return false;
    if (type == FILE_NAME || *text == '/') {
        set->output = text_format("%s%s%s", path ? path : "", text, type == ROOT_PATH ? "/" : "");
        free(path);
    }
    return true;
}

/* Any other form of a date in a file's name becomes _MMDDHHMM. */
static bool read_name_format(struct set *set, const char *text)
{
    enum { SERIAL = 0x200, PATTERN_OR_DATE = 0x7D01 };
    uint64_t format;
    bool good = parse_number(text, UINT32_MAX, &format);
    set->version = (format & SERIAL)            ? VERSION_NUMBER
                   : (format & PATTERN_OR_DATE) ? VERSION_MONTH_DAY_HOUR_MINUTE
                                                : VERSION_NONE;
    return good;
}

static bool read_log_format(struct set *set, enum element_type type, const char *text)
{
    static const enum set_format formats[] = {SET_CSV, SET_TSV, SET_BIN, SET_BIN};
    uint64_t format;
    bool circular;
    if (type == CIRCULAR) {
        if (!parse_flag(text, &circular))
            return false;
        if (circular && set->format == SET_BIN)
            set->format = SET_BINCIRC;
        return true;
    }
    if (!parse_number(text, 3, &format) || format == 2) /* 2: a database */
        return false;
    set->format = formats[format];
    return true;
}

static bool read_schedule(struct set *set, enum element_type type, const char *text)
{
    uint64_t number;
    bool enabled;
    switch (type) {
    case START_DATE:
        return parse_time(text, "", &set->begin);
    case START_TIME: {
        int64_t clock;
        if (!set->begin || !parse_time("1970-01-01", text, &clock))
            return false;
        set->begin += clock;
        return true;
    }
    case DAYS:
        if (!parse_number(text, UINT32_MAX, &number))
            return false;
        set->repeat = number && set->begin;
        return true;
    case ENABLED:
        if (!parse_flag(text, &enabled))
            return false;
        if (!enabled)
            set->begin = set->repeat = 0;
        return true;
    case DURATION:
        if (!parse_number(text, UINT32_MAX, &number))
            return false;
        if (set->repeat && number)
            set->end = set->begin + (int64_t)number;
        else
            set->run_for = (uint32_t)number;
        return true;
    default:
        set->run_for = 0;
        return parse_time(text, "", &set->end);
    }
}

static bool read_element(struct set *set, const struct element *element, const char *text)
{
    double exact;
    switch (element->type) {
    case ROOT_PATH:
    case FILE_NAME:
        return read_path(set, element->type, text);
    case NAME_FORMAT:
        return read_name_format(set, text);
    case NAME_PATTERN:
        if (set->version != VERSION_NONE && strchr(text, 'N'))
            set->version = VERSION_NUMBER;
        return true;
    case LOG_FORMAT:
    case CIRCULAR:
        return read_log_format(set, element->type, text);
    case INTERVAL:
        return parse_real(text, 1, 366.0 * 24 * 3600, &set->interval);
    case EXACT_INTERVAL:
        if (!parse_real(text, 0.001, 366.0 * 24 * 3600, &exact))
            return false;
        if (ceil(exact) == set->interval) /* else a program has changed SampleInterval alone */
            set->interval = exact;
        return true;
    default:
        return element->type <= REAL ? read_member(set, element, text)
                                     : read_schedule(set, element->type, text);
    }
}

/* ---- the same members as text: to be freed; NULL: no memory ---- */

static char *print_member(const struct set *set, const struct element *element)
{
    const void *member = (const char *)set + element->member;
    const char *text = element->type == TEXT ? *(char *const *)member : NULL;
    switch (element->type) {
    case TEXT:
        return strdup(text ? text : "");
    case FLAG:
        return strdup(*(const bool *)member ? "-1" : "0");
    case REAL:
        return text_format("%.15g", *(const double *)member);
    case LARGE:
        return text_format("%llu", (unsigned long long)*(const uint64_t *)member);
    default:
        return text_format("%lu", (unsigned long)*(const uint32_t *)member);
    }
}

static char *print_time(int64_t time, const char *format)
{
    char text[32] = "";
    time_t seconds = time;
    struct tm parts = {0};
    if (time)
        strftime(text, sizeof text, format, gmtime_r(&seconds, &parts));
    return strdup(text);
}

/* Windows has the time when a set begins and how long it runs; the time of its end is ours. */
static char *print_schedule(const struct set *set, enum element_type type)
{
    const int64_t day = 24 * 3600;
    int64_t length = set->begin && set->end ? set->end - set->begin : set->run_for;
    switch (type) {
    case START_DATE:
        return print_time(set->begin, "%m/%d/%Y");
    case START_TIME:
        return print_time(set->begin, "%H:%M:%S");
    case DAYS:
        return strdup(set->repeat ? "127" : set->begin ? "0" : "");
    case ENABLED:
        return strdup(set->begin ? "-1" : "0");
    case DURATION:
        return text_format("%lld", (long long)(set->repeat ? (length % day + day) % day : length));
    default:
        return print_time(set->end, "%Y-%m-%d %H:%M:%S");
    }
}

static char *print_path(const struct set *set, enum element_type type)
{
    const char *output = set->output ? set->output : "", *slash = strrchr(output, '/');
    if (type == FILE_NAME)
        return strdup(slash ? slash + 1 : output);
    return slash ? strndup(output, slash > output ? (size_t)(slash - output) : 1) : strdup("");
}

static char *print_element(const struct set *set, const struct element *element)
{
    static const char *const patterns[] = {"", "\\_NNNNNN", "\\_MMddHHmm"};
    static const char *const formats[] = {"3", "3", "0", "1"};
    bool whole = set->interval == ceil(set->interval);
    switch (element->type) {
    case ROOT_PATH:
    case FILE_NAME:
        return print_path(set, element->type);
    case NAME_FORMAT:
        return strdup(set->version == VERSION_NONE ? "0" : "1");
    case NAME_PATTERN:
        return strdup(patterns[set->version]);
    case LOG_FORMAT:
        return strdup(formats[set->format]);
    case CIRCULAR:
        return strdup(set->format == SET_BINCIRC ? "-1" : "0");
    case INTERVAL:
        return text_format("%.15g", ceil(set->interval));
    case EXACT_INTERVAL:
        return whole ? strdup("") : text_format("%.15g", set->interval);
    default:
        return element->type <= REAL ? print_member(set, element)
                                     : print_schedule(set, element->type);
    }
}

/* ---- the document ---- */

static bool is_element(const xmlNode *node, const char *name, bool ours)
{
    if (node->type != XML_ELEMENT_NODE || strcmp((const char *)node->name, name) != 0)
        return false;
    return (node->ns && strcmp((const char *)node->ns->href, OURS) == 0) == ours;
}

static xmlNode *child(const xmlNode *parent, const char *name, bool ours)
{
    xmlNode *node = parent ? parent->children : NULL;
    while (node && !is_element(node, name, ours))
        node = node->next;
    return node;
}

/* Returns the element's text without blanks around it, to be freed. NULL: no element, or no
 * memory. */
static char *text_of(const xmlNode *node)
{
    char *content = node ? (char *)xmlNodeGetContent(node) : NULL;
    const char *text = content ? content + strspn(content, " \t\r\n") : "";
    size_t size = strlen(text);
    while (size && strchr(" \t\r\n", text[size - 1]))
        size--;
    char *copy = content ? strndup(text, size) : NULL;
    xmlFree(content);
    return copy;
}

/* The element of the document that has the elements of a place; NULL: none. */
static xmlNode *place_node(const xmlDoc *document, enum element_place place)
{
    xmlNode *root = xmlDocGetRootElement(document);
    xmlNode *counters = child(root, "PerformanceCounterDataCollector", false);
    return place == IN_SCHEDULE    ? child(root, "Schedule", false)
           : place != IN_COLLECTOR ? root
           : counters              ? counters
                                   : child(root, "AlertDataCollector", false);
}

static xmlNode *add_element(xmlNode *parent, const char *name, xmlNs *ns, const char *text)
{
    xmlNode *node = xmlNewDocNode(parent->doc, ns, XML(name), NULL);
    xmlNode *collector = place_node(parent->doc, IN_COLLECTOR);
    xmlNodeAddContent(node, XML(text));
    /* what belongs to the set comes before its collector */
    return collector->parent == parent ? xmlAddPrevSibling(collector, node)
                                       : xmlAddChild(parent, node);
}

/* Sets the element's text. "" removes an element of a schedule, "" and "0" one of ours. */
static void put(xmlDoc *document, const struct element *element, const char *text)
{
    xmlNode *root = xmlDocGetRootElement(document), *parent = place_node(document, element->place);
    bool ours = element->place == IN_OURS;
    xmlNode *node = child(parent, element->name, ours);
    if (ours && strcmp(text, "0") == 0)
        text = "";
    if (node && !*text && (ours || element->place == IN_SCHEDULE)) {
        xmlUnlinkNode(node);
        xmlFreeNode(node);
    } else if (node) {
        xmlNodeSetContent(node, NULL);
        xmlNodeAddContent(node, XML(text));
    } else if (*text) {
        xmlNs *ns = ours ? xmlSearchNsByHref(document, root, XML(OURS)) : root->ns;
        if (ours && !ns)
            ns = xmlNewNs(root, XML(OURS), XML("openperflib"));
        if (!parent)
            parent = add_element(root, "Schedule", ns, "");
        add_element(parent, element->name, ns, text);
    }
}

static bool same_counters(const struct set *set, const struct set *other)
{
    bool same = set->counters.count == other->counters.count;
    for (size_t i = 0; same && i < set->counters.count; i++)
        same = strcmp(set->counters.texts[i], other->counters.texts[i]) == 0;
    return same;
}

static void put_counters(const struct set *set)
{
    static const char *const names[][2] = {
        {"Counter", "CounterDisplayName"},
        {"Alert",   "AlertDisplayName"  },
    };
    xmlNode *collector = place_node(set->document, IN_COLLECTOR);
    for (xmlNode *node = collector->children, *next; node; node = next) {
        next = node->next;
        if (is_element(node, names[set->kind][0], false) ||
            is_element(node, names[set->kind][1], false)) {
            xmlUnlinkNode(node);
            xmlFreeNode(node);
        }
    }
    for (size_t i = 0; i < set->counters.count; i++)
        add_element(collector, names[set->kind][0], collector->ns, set->counters.texts[i]);
}

/* ---- sets ---- */

static void clear(struct set *set)
{
    for (size_t i = 0; i < COUNT(elements); i++)
        if (elements[i].type == TEXT)
            free(*(char **)((char *)set + elements[i].member));
    free(set->name);
    free(set->output);
    text_list_done(&set->counters);
}

void set_free(struct set *set)
{
    if (set) {
        clear(set);
        xmlFreeDoc(set->document);
        free(set);
    }
}

bool set_is_threshold(const char *text)
{
    const char *sign = text + strlen(text);
    char *end = NULL;
    while (sign > text && *sign != '<' && *sign != '>')
        sign--;
    return sign > text && isfinite(strtod(sign + 1, &end)) && end != sign + 1 && !*end;
}

static bool fail(char why[static SET_WHY], const char *element, const char *text)
{
    snprintf(why, SET_WHY, "%s: cannot be '%.80s'", element, text);
    return false;
}

static bool read_counters(struct set *set, const xmlNode *collector, char why[static SET_WHY])
{
    const char *name = set->kind == SET_ALERT ? "Alert" : "Counter";
    for (const xmlNode *node = collector->children; node; node = node->next) {
        FREE_AUTO char *path = is_element(node, name, false) ? text_of(node) : NULL;
        if (!path || !*path)
            continue;
        if (set->kind == SET_ALERT && !set_is_threshold(path))
            return fail(why, name, path);
        if (!text_list_add(&set->counters, path))
            return false;
    }
    return true;
}

/* Fills the members from the document; false: `why` has the reason. */
static bool read_document(struct set *set, char why[static SET_WHY])
{
    const xmlNode *root = xmlDocGetRootElement(set->document);
    const xmlNode *collector = place_node(set->document, IN_COLLECTOR);
    if (!root || !is_element(root, "DataCollectorSet", false) || !collector) {
        snprintf(why, SET_WHY, "it is no DataCollectorSet with a collector of counters or alerts");
        return false;
    }
    set->kind = is_element(collector, "AlertDataCollector", false) ? SET_ALERT : SET_COUNTER;
    set->serial = 1;
    set->interval = 15;
    for (size_t i = 0; i < COUNT(elements); i++) {
        const struct element *element = &elements[i];
        const xmlNode *parent = place_node(set->document, element->place);
        FREE_AUTO char *text = text_of(child(parent, element->name, element->place == IN_OURS));
        if (text && *text && !read_element(set, element, text))
            return fail(why, element->name, text);
    }
    if (set->output && set->output[strlen(set->output) - 1] == '/')
        read_path(set, FILE_NAME, set->name);
    set->most_unit = set->most ? UNIT_MIB : UNIT_NONE;
    set->new_unit = set->new_file ? UNIT_SECONDS : UNIT_NONE;
    return read_counters(set, collector, why);
}

/* A document type could define entities, which may refer to files or grow without limit. */
static void refuse_document_type(void *context, const xmlChar *name, const xmlChar *external,
                                 const xmlChar *system)
{
    xmlParserCtxt *parser = context;
    (void)name, (void)external, (void)system;
    parser->_private = parser;
    xmlStopParser(parser);
}

/* libxml2 prints some errors to stderr, with bytes of the file, whatever the flags are. */
static void discard_error(void *context, const char *format, ...)
{
    (void)context, (void)format;
}

static xmlDoc *parse_document(const void *data, size_t size, char why[static SET_WHY])
{
    xmlParserCtxt *parser = xmlNewParserCtxt();
    if (!parser)
        return NULL;
    xmlSetGenericErrorFunc(NULL, discard_error);
    parser->sax->internalSubset = refuse_document_type;
    xmlDoc *document = xmlCtxtReadMemory(parser, data, (int)size, NULL, NULL,
                                         XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING |
                                             XML_PARSE_NOBLANKS);
    const xmlError *error = xmlCtxtGetLastError(parser);
    if (parser->_private) {
        snprintf(why, SET_WHY, "it has a document type (DOCTYPE), which a set does not have");
        xmlFreeDoc(document);
        document = NULL;
    } else if (!document && error && error->message) {
        snprintf(why, SET_WHY, "line %d: %.*s", error->line, (int)strcspn(error->message, "\n"),
                 error->message);
    }
    xmlFreeParserCtxt(parser);
    return document;
}

struct set *set_parse(const char *name, const void *data, size_t size, char why[static SET_WHY])
{
    struct set *set = calloc(1, sizeof *set);
    snprintf(why, SET_WHY, "%s", size > SET_FILE_MOST ? "it is larger than 1 MiB" : "no memory");
    if (set && size <= SET_FILE_MOST && (set->name = strdup(name)) &&
        (set->document = parse_document(data, size, why)) && read_document(set, why))
        return set;
    set_free(set);
    return NULL;
}

struct set *set_new(const char *name, enum set_kind kind)
{
    static const char *const texts[] = {
        [SET_COUNTER] = "<DataCollectorSet><PerformanceCounterDataCollector>"
                        "<DataCollectorType>0</DataCollectorType><Name>DataCollector01</Name>"
                        "<SampleInterval>15</SampleInterval><LogFileFormat>3</LogFileFormat>"
                        "</PerformanceCounterDataCollector></DataCollectorSet>",
        [SET_ALERT] =
            "<DataCollectorSet><AlertDataCollector>"
            "<DataCollectorType>3</DataCollectorType><Name>DataCollector01</Name>"
            "<SampleInterval>15</SampleInterval></AlertDataCollector></DataCollectorSet>"};
    char why[SET_WHY];
    return set_parse(name, texts[kind], strlen(texts[kind]), why);
}

/* Do both have the same members? If not, and `document` is not NULL, it gets those of `set`. */
static bool compare(const struct set *set, const struct set *other, xmlDoc *document)
{
    bool same = same_counters(set, other);
    if (!same && document)
        put_counters(set);
    for (size_t i = 0; i < COUNT(elements); i++) {
        FREE_AUTO char *text = print_element(set, &elements[i]);
        FREE_AUTO char *old = print_element(other, &elements[i]);
        if (text && old && strcmp(text, old) == 0)
            continue;
        same = false;
        if (text && document)
            put(document, &elements[i], text);
    }
    return same;
}

void *set_print(struct set *set, size_t *ret_size)
{
    static const struct element name = {"Name", IN_SET, TEXT, offsetof(struct set, name)};
    char why[SET_WHY];
    struct set old = {.name = strdup(set->name), .document = set->document};
    if (old.name && read_document(&old, why)) {
        compare(set, &old, set->document);
        put(set->document, &name, set->name);
    }
    clear(&old);
    xmlChar *text = NULL;
    int size = 0;
    xmlDocDumpFormatMemoryEnc(set->document, &text, &size, "UTF-8", 1);
    struct set *again = text ? set_parse(set->name, text, (size_t)size, why) : NULL;
    bool same = again && compare(set, again, NULL);
    set_free(again);
    *ret_size = (size_t)size;
    if (same)
        return text;
    xmlFree(text);
    return NULL;
}

/* ---- files ---- */

static int complain(const char *name, const char *what)
{
    fprintf(stderr, "logman: %s: %s\n", text_seen(name), text_seen(what));
    return EXIT_FAILED;
}

static int complain_status(const char *name, LSTATUS status)
{
    bool missing = status == ERROR_FILE_NOT_FOUND || status == ERROR_PATH_NOT_FOUND;
    complain(name, status_text(status));
    return missing ? EXIT_MISSING : status == ERROR_ACCESS_DENIED ? EXIT_NO_RIGHTS : EXIT_FAILED;
}

static int read_set(const char *name, const char *path, struct set **ret)
{
    BUFFER_AUTO bytes = {0};
    char why[SET_WHY];
    const char *kind = file_kind(path);
    LSTATUS status = kind ? ERROR_SUCCESS : file_read_most(AT_FDCWD, path, SET_FILE_MOST, &bytes);
    if (kind || status)
        return kind ? complain(path, kind) : complain_status(path, status);
    *ret = set_parse(name, bytes.data ? bytes.data : "", bytes.len, why);
    return *ret ? EXIT_GOOD : complain(path, why);
}

int set_import(const char *name, const char *path, struct set **ret)
{
    int code = read_set(name, path, ret);
    const xmlNode *used = code ? NULL : place_node((*ret)->document, IN_COLLECTOR);
    for (const xmlNode *node = used ? used->parent->children : NULL; node; node = node->next)
        if (node != used && node->type == XML_ELEMENT_NODE &&
            strstr((const char *)node->name, "DataCollector"))
            fprintf(stderr, "logman: %s: line %ld: another collector, %s, is kept but not run\n",
                    text_seen(path), xmlGetLineNo(node), text_seen((const char *)node->name));
    return code;
}

int set_load(bool user, const char *name, struct set **ret)
{
    FREE_AUTO char *path = set_name_valid(name) ? set_path(user, name, PLACE_SET) : NULL;
    if (path && (access(path, F_OK) == 0 || errno == EACCES))
        return read_set(name, path, ret);
    complain(name, "no such data collector set; 'logman query' lists them");
    return EXIT_MISSING;
}

static const char unprintable[] = "it has text that an XML file of 1 MiB cannot have";

int set_export(struct set *set, const char *path)
{
    size_t size;
    void *text = set_print(set, &size);
    FILE *file = text ? output_file_open("logman", path) : NULL;
    if (!text)
        return complain(set->name, unprintable);
    if (file)
        fwrite(text, 1, size, file);
    xmlFree(text);
    return file && output_file_close("logman", path, file) ? EXIT_GOOD : output_file_code();
}

int set_save(struct set *set, bool user)
{
    FREE_AUTO char *folder = set_path(user, NULL, PLACE_SET);
    FREE_AUTO char *path = set_path(user, set->name, PLACE_SET);
    if (!folder || !path)
        return complain(set->name, "there is no home folder");
    size_t size;
    void *text = set_print(set, &size);
    if (!text)
        return complain(set->name, unprintable);
    LSTATUS status = file_make_folders(folder, user ? 0700 : 0755);
    if (!status)
        status = file_replace(AT_FDCWD, path, 0640, text, size, NULL, NULL);
    xmlFree(text);
    return status ? complain_status(path, status) : EXIT_GOOD;
}

int set_delete(bool user, const char *name)
{
    FREE_AUTO char *path = set_path(user, name, PLACE_SET);
    LSTATUS status = path ? file_remove(AT_FDCWD, path) : ERROR_NOT_ENOUGH_MEMORY;
    return status ? complain_status(name, status) : EXIT_GOOD;
}

static int is_set_file(const struct dirent *entry)
{
    size_t size = strlen(entry->d_name);
    return entry->d_name[0] != '.' && size > 4 && strcmp(entry->d_name + size - 4, ".xml") == 0;
}

bool set_list(bool user, struct text_list *ret)
{
    FREE_AUTO char *folder = set_path(user, NULL, PLACE_SET);
    struct dirent **entries = NULL;
    bool good = folder != NULL;
    int count = folder ? scandir(folder, &entries, is_set_file, alphasort) : 0;
    for (int i = 0; i < count; i++) {
        good = good && text_list_add_part(ret, entries[i]->d_name, strlen(entries[i]->d_name) - 4);
        free(entries[i]);
    }
    free(entries);
    return good;
}
