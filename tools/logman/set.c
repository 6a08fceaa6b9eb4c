/* SPDX-License-Identifier: MIT */
/*
 * Sets as XML files in the format of MS-PLA 3.2.4.19. A set keeps the document that it was read
 * from. Saving changes only the elements whose values have changed, so that unknown elements are
 * kept. Elements that Windows does not have are in a namespace of our own.
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

/* ---- the elements ---- */

enum element_place { IN_SET, IN_SCHEDULE, IN_COLLECTOR };
enum element_type { TEXT, FLAG, WHOLE, REAL, DATE, CLOCK, MOMENT };
static const double longest = 366.0 * 24 * 3600;

/* clang-format off */
#define SET(member) offsetof(struct set, member)
#define COLLECTOR(member) offsetof(struct collector, member)
static const struct element {
    const char *name;
    enum element_place place;
    bool ours;
    enum element_type type;
    size_t member;
    double least, most; /* of numbers */
} elements[] = {
    {"RootPath", IN_SET, false, TEXT, SET(folder), 0, 0},
    {"Segment", IN_SET, false, FLAG, SET(segment), 0, 0},
    {"SegmentMaxDuration", IN_SET, false, WHOLE, SET(new_file), 0, UINT32_MAX},
    {"SegmentMaxSize", IN_SET, false, WHOLE, SET(most), 0, UINT32_MAX},
    {"SerialNumber", IN_SET, false, WHOLE, SET(serial), 0, UINT32_MAX},
    {"Task", IN_SET, false, TEXT, SET(command), 0, 0},
    {"UserAccount", IN_SET, false, TEXT, SET(user), 0, 0},
    {"SchedulesEnabled", IN_SET, false, FLAG, SET(enabled), 0, 0},
    {"Duration", IN_SET, false, WHOLE, SET(duration), 0, UINT32_MAX},
    {"StartDate", IN_SCHEDULE, false, DATE, SET(begin), 0, 0},
    {"StartTime", IN_SCHEDULE, false, CLOCK, SET(begin), 0, 0},
    {"Days", IN_SCHEDULE, false, WHOLE, SET(days), 0, UINT32_MAX},
    {"Compress", IN_SET, true, FLAG, SET(compress), 0, 0},
    {"CommandLines", IN_SET, true, FLAG, SET(command_lines), 0, 0},
    {"End", IN_SET, true, MOMENT, SET(end), 0, 0},
    {"KeepFree", IN_SET, true, REAL, SET(keep_free), 0, 100},
    {"Retention", IN_SET, true, WHOLE, SET(retention), 0, 1e15},
    {"Name", IN_COLLECTOR, false, TEXT, COLLECTOR(label), 0, 0},
    {"FileName", IN_COLLECTOR, false, TEXT, COLLECTOR(file), 0, 0},
    {"FileNameFormat", IN_COLLECTOR, false, WHOLE, COLLECTOR(name_format), 0, UINT32_MAX},
    {"FileNameFormatPattern", IN_COLLECTOR, false, TEXT, COLLECTOR(pattern), 0, 0},
    {"LogAppend", IN_COLLECTOR, false, FLAG, COLLECTOR(append), 0, 0},
    {"LogCircular", IN_COLLECTOR, false, FLAG, COLLECTOR(circular), 0, 0},
    {"LogFileFormat", IN_COLLECTOR, false, WHOLE, COLLECTOR(log_format), 0, 3},
    {"LogOverwrite", IN_COLLECTOR, false, FLAG, COLLECTOR(overwrite), 0, 0},
    {"SampleInterval", IN_COLLECTOR, false, REAL, COLLECTOR(whole_interval), 1, longest},
    {"SegmentMaxRecords", IN_COLLECTOR, false, WHOLE, COLLECTOR(samples), 0, UINT32_MAX},
    {"EventLog", IN_COLLECTOR, false, FLAG, COLLECTOR(event), 0, 0},
    {"TriggerDataCollectorSet", IN_COLLECTOR, false, TEXT, COLLECTOR(start_set), 0, 0},
    {"Task", IN_COLLECTOR, false, TEXT, COLLECTOR(task), 0, 0},
    {"TaskArguments", IN_COLLECTOR, false, TEXT, COLLECTOR(task_arguments), 0, 0},
    {"Hold", IN_COLLECTOR, true, WHOLE, COLLECTOR(hold), 0, UINT32_MAX},
    {"Hysteresis", IN_COLLECTOR, true, REAL, COLLECTOR(hysteresis), 0, 100},
    {"Interval", IN_COLLECTOR, true, REAL, COLLECTOR(exact_interval), 0.001, longest},
    {"Pause", IN_COLLECTOR, true, WHOLE, COLLECTOR(pause), 0, UINT32_MAX},
};
/* clang-format on */

/* Returns the address of the member that belongs to an element, in the set or in a collector. */
static void *member_of(const struct set *set, const struct element *element, size_t collector)
{
    char *base = element->place == IN_COLLECTOR ? (char *)&set->collectors[collector] : (char *)set;
    return base + element->member;
}

static size_t count_of(const struct set *set, const struct element *element)
{
    return element->place == IN_COLLECTOR ? set->count : 1;
}

/* Parses a decimal number, or a hexadecimal number after 0x. */
static bool parse_whole(const char *text, double most, uint64_t *ret)
{
    char *end;
    errno = 0;
    *ret = strtoull(text, &end, strncasecmp(text, "0x", 2) == 0 ? 16 : 10);
    return isdigit((unsigned char)*text) && !errno && !*end && (double)*ret <= most;
}

static bool parse_real(const char *text, double least, double most, double *ret)
{
    char *end;
    *ret = strtod(text, &end);
    return isdigit((unsigned char)*text) && !*end && *ret >= least && *ret <= most;
}

/* Windows writes -1 for true. */
static bool parse_flag(const char *text, bool *ret)
{
    uint64_t number = strcasecmp(text, "true") == 0;
    bool word = number || strcasecmp(text, "false") == 0;
    bool good = word || parse_whole(text + (*text == '-'), UINT32_MAX, &number);
    *ret = number;
    return good;
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

static bool read_value(void *member, const struct element *element, const char *text)
{
    int64_t time;
    switch (element->type) {
    case TEXT:
        return (*(char **)member = strdup(text)) != NULL;
    case FLAG:
        return parse_flag(text, member);
    case REAL:
        return parse_real(text, element->least, element->most, member);
    case WHOLE:
        return parse_whole(text, element->most, member);
    case CLOCK: /* a time of day: added to the date that was read before */
        if (!*(int64_t *)member || !parse_time("1970-01-01", text, &time))
            return false;
        *(int64_t *)member += time;
        return true;
    default:
        return parse_time(text, "", member);
    }
}

/* ---- values that depend on several elements ---- */

/* Returns the version that file names get. Any form of a date becomes _MMDDHHMM. */
static enum set_version version_of(uint64_t name_format, const char *pattern)
{
    enum { SERIAL = 0x200, PATTERN_OR_DATE = 0x7D01 };
    if (!(name_format & (SERIAL | PATTERN_OR_DATE)))
        return VERSION_NONE;
    return name_format & SERIAL || (pattern && strchr(pattern, 'N'))
               ? VERSION_NUMBER
               : VERSION_MONTH_DAY_HOUR_MINUTE;
}

static void settle(struct set *set)
{
    if (!set->enabled)
        set->begin = 0;
    set->repeat = set->days && set->begin;
    if (!set->end && !set->repeat)
        set->run_for = set->duration;
    else if (!set->end && set->duration)
        set->end = set->begin + (int64_t)set->duration;
    for (struct collector *at = set->collectors; at < set->collectors + set->count; at++) {
        at->version = version_of(at->name_format, at->pattern);
        at->format = at->log_format == 0   ? SET_CSV
                     : at->log_format == 1 ? SET_TSV
                     : at->circular        ? SET_BINCIRC
                                           : SET_BIN;
        /* not exact: another program has changed SampleInterval and not our element Interval */
        bool exact = ceil(at->exact_interval) == at->whole_interval;
        at->interval = exact ? at->exact_interval : at->whole_interval;
    }
}

/* ---- the document ---- */

static const struct {
    const char *collector, *counter, *display;
} names[] = {
    [SET_COUNTER] = {"PerformanceCounterDataCollector", "Counter", "CounterDisplayName"},
    [SET_ALERT] = {"AlertDataCollector",              "Alert",   "AlertDisplayName"  },
};

static bool is_element(const xmlNode *node, const char *name, bool ours)
{
    if (node->type != XML_ELEMENT_NODE || strcmp((const char *)node->name, name) != 0)
        return false;
    return (node->ns && strcmp((const char *)node->ns->href, OURS) == 0) == ours;
}

static xmlNode *next_of(xmlNode *node, const char *name, bool ours)
{
    while (node && !is_element(node, name, ours))
        node = node->next;
    return node;
}

static xmlNode *child(const xmlNode *parent, const char *name, bool ours)
{
    return parent ? next_of(parent->children, name, ours) : NULL;
}

/* Returns the element's text without surrounding blanks, to be freed. NULL: there is no such
 * element, or no memory. */
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

/* Returns the XML element that contains the elements of this place; NULL: it does not exist. */
static xmlNode *parent_of(const struct set *set, enum element_place place,
                          const struct collector *collector)
{
    xmlNode *root = xmlDocGetRootElement(set->document);
    return place == IN_COLLECTOR  ? collector->node
           : place == IN_SCHEDULE ? child(root, "Schedule", false)
                                  : root;
}

static xmlNode *add_element(const struct set *set, xmlNode *parent, const char *name, xmlNs *ns,
                            const char *text)
{
    xmlNode *node = xmlNewDocNode(set->document, ns, XML(name), NULL);
    xmlNode *collector = set->collectors[0].node;
    xmlNodeAddContent(node, XML(text));
    /* the set's own elements come before its collectors */
    return collector->parent == parent ? xmlAddPrevSibling(collector, node)
                                       : xmlAddChild(parent, node);
}

static void remove_element(xmlNode *node)
{
    xmlUnlinkNode(node);
    xmlFreeNode(node);
}

static const struct element *element_of(const char *name, bool of_collector)
{
    const struct element *element = elements;
    while ((element->place == IN_COLLECTOR) != of_collector || strcmp(element->name, name) != 0)
        element++;
    return element;
}

char *set_get(const struct set *set, const struct collector *collector, const char *name)
{
    const struct element *element = element_of(name, collector);
    return text_of(child(parent_of(set, element->place, collector), name, element->ours));
}

void set_put(struct set *set, const struct collector *collector, const char *name, const char *text)
{
    const struct element *element = element_of(name, collector);
    xmlNode *root = xmlDocGetRootElement(set->document);
    xmlNode *parent = parent_of(set, element->place, collector);
    xmlNode *node = child(parent, name, element->ours);
    bool optional = element->ours || element->place == IN_SCHEDULE;
    bool none = !*text || (optional && strcmp(text, "0") == 0);
    if (node && none && optional) {
        remove_element(node);
    } else if (node) {
        xmlNodeSetContent(node, NULL);
        xmlNodeAddContent(node, XML(text));
    } else if (!none) {
        xmlNs *ns = element->ours ? xmlSearchNsByHref(set->document, root, XML(OURS)) : root->ns;
        if (element->ours && !ns)
            ns = xmlNewNs(root, XML(OURS), XML("openperflib"));
        if (!parent)
            parent = add_element(set, root, "Schedule", ns, "");
        add_element(set, parent, name, ns, text);
    }
}

void set_put_counters(struct set *set, const struct text_list *counters)
{
    xmlNode *parent = set->collectors->node;
    for (xmlNode *node = parent->children, *next; node; node = next) {
        next = node->next;
        if (is_element(node, names[set->kind].counter, false) ||
            is_element(node, names[set->kind].display, false))
            remove_element(node);
    }
    for (size_t i = 0; i < counters->count; i++)
        add_element(set, parent, names[set->kind].counter, parent->ns, counters->texts[i]);
}

/* ---- sets ---- */

/* Frees the members that are read from the document. */
static void forget(struct set *set)
{
    for (size_t i = 0; i < COUNT(elements); i++)
        for (size_t j = 0; elements[i].type == TEXT && j < count_of(set, &elements[i]); j++)
            free(*(char **)member_of(set, &elements[i], j));
    for (size_t i = 0; i < set->count; i++)
        text_list_done(&set->collectors[i].counters);
    free(set->collectors);
}

void set_free(struct set *set)
{
    if (set) {
        forget(set);
        xmlFreeDoc(set->document);
        free(set->name);
        free(set);
    }
}

static bool fail(char why[static SET_WHY], const char *element, const char *text)
{
    snprintf(why, SET_WHY, "%s: cannot be '%.80s'", element, text);
    return false;
}

static bool read_collector(struct set *set, xmlNode *node, char why[static SET_WHY])
{
    struct collector *grown = reallocarray(set->collectors, set->count + 1, sizeof *grown);
    const char *name = names[set->kind].counter;
    double limit;
    if (!grown)
        return false;
    set->collectors = grown;
    struct collector *collector = &grown[set->count++];
    *collector = (struct collector){.node = node, .whole_interval = 15, .log_format = 3};
    for (node = child(node, name, false); node; node = next_of(node->next, name, false)) {
        FREE_AUTO char *path = text_of(node);
        if (path && *path && set->kind == SET_ALERT && !text_limit(path, &limit))
            return fail(why, name, path);
        if (!path || (*path && !text_list_add(&collector->counters, path)))
            return false;
    }
    return true;
}

static bool read_collectors(struct set *set, char why[static SET_WHY])
{
    xmlNode *root = xmlDocGetRootElement(set->document);
    set->kind = child(root, names[SET_COUNTER].collector, false) ? SET_COUNTER : SET_ALERT;
    const char *name = names[set->kind].collector;
    xmlNode *node = child(root, name, false);
    if (!node || !is_element(root, "DataCollectorSet", false)) {
        snprintf(why, SET_WHY, "it is no DataCollectorSet with a collector of counters or alerts");
        return false;
    }
    for (; node; node = next_of(node->next, name, false))
        if (!read_collector(set, node, why))
            return false;
    return true;
}

bool set_read(struct set *set, char why[static SET_WHY])
{
    forget(set);
    *set = (struct set){.name = set->name, .document = set->document, .serial = 1, .enabled = true};
    if (!read_collectors(set, why))
        return false;
    for (size_t i = 0; i < COUNT(elements); i++)
        for (size_t j = 0; j < count_of(set, &elements[i]); j++) {
            const struct element *element = &elements[i];
            const struct collector *collector = &set->collectors[j];
            FREE_AUTO char *text =
                set_get(set, element->place == IN_COLLECTOR ? collector : NULL, element->name);
            if (text && *text && !read_value(member_of(set, element, j), element, text))
                return fail(why, element->name, text);
        }
    settle(set);
    for (size_t i = 0; i < set->count; i++) {
        const struct collector *collector = &set->collectors[i];
        if (collector->file && !set_name_valid(collector->file))
            return fail(why, "FileName", collector->file);
        if (collector->log_format == 2)
            return fail(why, "LogFileFormat", "2"); /* a database */
    }
    return true;
}

/* Stops the parser at a document type, whose entities could read files or grow without limit. */
static void refuse_document_type(void *context, const xmlChar *name, const xmlChar *external,
                                 const xmlChar *system)
{
    xmlParserCtxt *parser = context;
    (void)name, (void)external, (void)system;
    parser->_private = parser;
    xmlStopParser(parser);
}

/* libxml2 prints some errors to stderr whatever its flags are, with bytes of the file. */
static void discard_error(void *context, const char *format, ...)
{
    (void)context, (void)format;
}

/* True if an element has more attributes than libxml2 can compare in a moment. Between two '<' only
 * attributes have '='. */
static bool has_many_attributes(const char *bytes, size_t size)
{
    enum { MOST_ATTRIBUTES = 1000 };
    int count = 0;
    for (size_t i = 0; i < size && count <= MOST_ATTRIBUTES; i++)
        count = bytes[i] == '<' ? 0 : count + (bytes[i] == '=');
    return count > MOST_ATTRIBUTES;
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
    bool many = has_many_attributes(data, size);
    if (many)
        snprintf(why, SET_WHY, "an element has more than 1000 attributes");
    if (set && !many && size <= SET_FILE_MOST && (set->name = strdup(name)) &&
        (set->document = parse_document(data, size, why)) && set_read(set, why))
        return set;
    set_free(set);
    return NULL;
}

struct set *set_new(const char *name, enum set_kind kind)
{
    static const char *const texts[] = {
        [SET_COUNTER] = "<DataCollectorSet><PerformanceCounterDataCollector>"
                        "<DataCollectorType>0</DataCollectorType><Name>DataCollector01</Name>"
                        "<FileNameFormat>1</FileNameFormat>"
                        "<FileNameFormatPattern>\\_NNNNNN</FileNameFormatPattern>"
                        "<SampleInterval>15</SampleInterval><LogFileFormat>3</LogFileFormat>"
                        "</PerformanceCounterDataCollector></DataCollectorSet>",
        [SET_ALERT] =
            "<DataCollectorSet><AlertDataCollector>"
            "<DataCollectorType>3</DataCollectorType><Name>DataCollector01</Name>"
            "<SampleInterval>15</SampleInterval></AlertDataCollector></DataCollectorSet>"};
    char why[SET_WHY];
    return set_parse(name, texts[kind], strlen(texts[kind]), why);
}

void *set_print(struct set *set, size_t *ret_size)
{
    char why[SET_WHY];
    xmlNode *root = xmlDocGetRootElement(set->document), *name = child(root, "Name", false);
    xmlChar *text = NULL;
    int size = 0;
    if (!name)
        name = add_element(set, root, "Name", root->ns, "");
    xmlNodeSetContent(name, NULL);
    xmlNodeAddContent(name, XML(set->name));
    xmlDocDumpFormatMemoryEnc(set->document, &text, &size, "UTF-8", 1);
    struct set *again = text ? set_parse(set->name, text, (size_t)size, why) : NULL;
    *ret_size = (size_t)size;
    if (!again) {
        xmlFree(text);
        text = NULL;
    }
    set_free(again);
    return text;
}

/* ---- files ---- */

int set_complain(const char *name, const char *what, int code)
{
    fprintf(stderr, "logman: %s: %s\n", text_seen(name), text_seen(what));
    return code;
}

static int complain_status(const char *name, LSTATUS status)
{
    bool missing = status == ERROR_FILE_NOT_FOUND || status == ERROR_PATH_NOT_FOUND;
    return set_complain(name, status_text(status),
                        missing                         ? EXIT_MISSING
                        : status == ERROR_ACCESS_DENIED ? EXIT_NO_RIGHTS
                                                        : EXIT_FAILED);
}

static int read_set(const char *name, const char *path, struct set **ret)
{
    BUFFER_AUTO bytes = {0};
    char why[SET_WHY];
    const char *kind = file_kind(path);
    LSTATUS status = kind ? ERROR_SUCCESS : file_read_most(AT_FDCWD, path, SET_FILE_MOST, &bytes);
    if (kind || status)
        return kind ? set_complain(path, kind, EXIT_FAILED) : complain_status(path, status);
    *ret = set_parse(name, bytes.data ? bytes.data : "", bytes.len, why);
    return *ret ? EXIT_GOOD : set_complain(path, why, EXIT_FAILED);
}

int set_import(const char *name, const char *path, struct set **ret)
{
    int code = read_set(name, path, ret);
    const struct collector *first = code ? NULL : (*ret)->collectors;
    const xmlNode *node = first ? ((xmlNode *)first->node)->parent->children : NULL;
    for (; node; node = node->next)
        if (node->type == XML_ELEMENT_NODE && strstr((const char *)node->name, "DataCollector") &&
            !is_element(node, names[(*ret)->kind].collector, false))
            fprintf(stderr,
                    "logman: %s: line %ld: %s is a collector of another kind: it stays in the "
                    "set, but logman does not run it\n",
                    text_seen(path), xmlGetLineNo(node), text_seen((const char *)node->name));
    return code;
}

/* Returns, to be freed, the path of a set that comes with logman; `name` "": of their folder. */
static char *shipped_path(const char *name)
{
    FREE_AUTO char *folder = place_honours_vendor() ? text_format("%s/data/sets", place_vendor())
                                                    : strdup(OPL_SHIPPED_SETS);
    return !folder ? NULL : text_format("%s/%s%s", folder, name, *name ? ".xml" : "");
}

int set_load(bool user, const char *name, struct set **ret)
{
    bool valid = set_name_valid(name);
    FREE_AUTO char *path = valid ? set_path(user, name, PLACE_SET) : NULL;
    FREE_AUTO char *shipped = valid ? shipped_path(name) : NULL;
    if (path && (access(path, F_OK) == 0 || errno == EACCES))
        return read_set(name, path, ret);
    if (shipped && access(shipped, F_OK) == 0)
        return read_set(name, shipped, ret);
    return set_complain(name, "no such data collector set; 'logman query' lists them",
                        EXIT_MISSING);
}

static const char unprintable[] =
    "it has characters that XML does not allow, or is larger than 1 MiB as XML";

int set_export(struct set *set, const char *path)
{
    size_t size;
    void *text = set_print(set, &size);
    FILE *file = text ? output_file_open("logman", path) : NULL;
    if (!text)
        return set_complain(set->name, unprintable, EXIT_FAILED);
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
        return set_complain(set->name, "there is no home folder", EXIT_FAILED);
    size_t size;
    void *text = set_print(set, &size);
    if (!text)
        return set_complain(set->name, unprintable, EXIT_FAILED);
    LSTATUS status = file_make_folders(folder, user ? 0700 : 0755);
    if (!status)
        status = file_replace(AT_FDCWD, path, 0640, text, size, NULL, NULL);
    xmlFree(text);
    return status ? complain_status(path, status) : EXIT_GOOD;
}

int set_delete(bool user, const char *name)
{
    FREE_AUTO char *path = set_path(user, name, PLACE_SET), *shipped = shipped_path(name);
    LSTATUS status = path ? file_remove(AT_FDCWD, path) : ERROR_NOT_ENOUGH_MEMORY;
    if (status && path && access(path, F_OK) != 0 && shipped && access(shipped, F_OK) == 0)
        return set_complain(name, "cannot be deleted, because it comes with logman", EXIT_FAILED);
    return status ? complain_status(name, status) : EXIT_GOOD;
}

static int is_set_file(const struct dirent *entry)
{
    size_t size = strlen(entry->d_name);
    return entry->d_name[0] != '.' && size > 4 && strcmp(entry->d_name + size - 4, ".xml") == 0;
}

static int by_name(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

bool set_list(bool user, struct text_list *ret)
{
    FREE_AUTO char *folder = set_path(user, NULL, PLACE_SET), *shipped = shipped_path("");
    const char *const folders[] = {folder, shipped};
    bool good = folder && shipped;
    for (size_t i = 0; good && i < COUNT(folders); i++) {
        struct dirent **entries = NULL;
        int count = scandir(folders[i], &entries, is_set_file, NULL);
        for (int j = 0; j < count; free(entries[j++])) {
            FREE_AUTO char *name = strndup(entries[j]->d_name, strlen(entries[j]->d_name) - 4);
            bool known = false;
            for (size_t k = 0; name && k < ret->count; k++)
                known |= strcmp(ret->texts[k], name) == 0;
            good = good && name && (known || text_list_add(ret, name));
        }
        free(entries);
    }
    if (ret->count)
        qsort(ret->texts, ret->count, sizeof *ret->texts, by_name);
    return good;
}
