/* SPDX-License-Identifier: MIT */
/*
 * Metrics under the names of another exporter, for dashboards that were made for it. A file lists
 * in each line a metric, its type, the sample from which it is taken, its labels, and a factor. The
 * samples of one answer are collected first, because several of them can become one metric, all
 * samples of which must follow each other, or even one sample. Threads take turns, an answer each.
 * docs/metrics.md describes the file.
 */
#include "metrics.h"

#include "../common/text-list.h"

#include <errno.h>
#include <limits.h>
#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

/* TEXTS_MOST, TEXTS_KEPT: bytes of all labels of an answer, and of those for the next one */
enum { COLUMNS = 5, REPORTED_MOST = 10 };
enum { ROWS_MOST = 1024, LABELS_MOST = 8, LABELS_SIZE = 256, VARIABLE_SIZE = 65 };
enum { TEXTS_MOST = 64 << 20, TEXTS_KEPT = 4 << 20 };

struct row {
    char *line;      /* the texts below are parts of it */
    unsigned number; /* of the line */
    char *source, *labels;
    char *instance; /* only this instance's samples; NULL: all */
    struct metric_family family;
    double factor;
    bool counts;               /* the value is the number of samples */
    struct row *into;          /* an earlier row, to whose samples these are added; NULL: none */
    size_t parts;              /* how many rows are added to this one */
    size_t count, first, last; /* the row's samples in this answer */
};

struct sum_part {
    struct metric_value value;
    size_t labels, next; /* labels: offset in the texts; next: of the same row, 0: none */
    size_t parts;        /* how many rows were added to it */
};

struct vocabulary {
    struct metric_sink sink; /* the first member */
    struct metric_sink *to;
    struct row *rows;
    struct row **by_source;
    size_t count;
    struct sum_part *samples; /* the first one is not used */
    size_t sample_count, sample_capacity;
    char *texts;
    size_t text_size, text_capacity;
    struct utsname machine;  /* that of the answer; "": not known */
    bool has_mounts;         /* a label is fstype or device */
    struct text_list mounts; /* of this machine: point, type and device of each */
    bool failed;
    pthread_mutex_t lock; /* held from the begin of an answer to its end */
};

/* ---- the file ---- */

static int by_source(const void *left, const void *right)
{
    return strcmp((*(struct row *const *)left)->source, (*(struct row *const *)right)->source);
}

/* What is known of a sample beside its instance; "": not known. */
struct facts {
    const struct utsname *machine;
    const char *type, *device; /* of the file system that is mounted where the name says */
};

/* The value of a label's variable: of the instance, or of the machine. NULL: there is none. */
static const char *variable(const char *name, const struct metric_labels *labels,
                            const struct facts *facts)
{
    const struct utsname *machine = facts->machine;
    const char *comma = strrchr(labels->name, ',');
    const struct {
        const char *name, *value;
    } all[] = {
        {"name",   labels->name                    },
        {"parent", labels->parent                  },
        {"number", comma ? comma + 1 : labels->name}, /* in "node,number" */
        {"drive",  strcmp(labels->name,              "/") ? labels->name : "C:"},
        {"sysname",        machine->sysname                               },
        {"nodename",        machine->nodename},
        {"domainname",        machine->domainname                             },
        {"release",        machine->release  },
        {"version",        machine->version                             },
        {"machine",        machine->machine  },
        {"fstype",        facts->type                              },
        {"device",        facts->device  },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (!strcmp(all[i].name, name))
            return all[i].value;
    return NULL;
}

/* Are the labels a list of key=variable and key="text"? */
static bool labels_valid(const char *from)
{
    const struct metric_labels nothing = {.name = "", .parent = ""};
    const struct utsname machine = {0};
    const struct facts facts = {&machine, "", ""};
    size_t count = 0;
    if (!from || strlen(from) > LABELS_SIZE)
        return !from;
    while (*from) {
        size_t key = strcspn(from, "="), length = strcspn(from + key, ",");
        char value[LABELS_SIZE + 1];
        if (++count > LABELS_MOST || key == 0 || length < 2 ||
            strspn(from, "abcdefghijklmnopqrstuvwxyz_") != key)
            return false;
        snprintf(value, sizeof value, "%.*s", (int)length - 1, from + key + 1);
        bool quoted = length > 2 && value[0] == '"' && strcspn(value + 1, "\"\\") == length - 3;
        if (!quoted && !variable(value, &nothing, &facts))
            return false;
        from += key + length + (from[key + length] == ',');
    }
    return true;
}

/* Sets the family's name and type; returns why they are wrong, or NULL. */
static const char *parse_family(const char *name, const char *type, struct metric_family *ret)
{
    size_t size = strlen(name);
    bool counter = !strcmp(type, "counter");
    bool total = size > 6 && !strcmp(name + size - 6, "_total");
    if (!counter && strcmp(type, "gauge") != 0)
        return "the type must be gauge or counter";
    if (counter && !total)
        return "a counter's name must end in _total";
    if (size >= METRIC_NAME_SIZE)
        return "the name is too long";
    *ret = (struct metric_family){
        .kind = counter ? METRIC_COUNTER : METRIC_GAUGE,
        .unit = "",
        .sample_count = 1,
        .samples = {{.suffix = counter ? "_total" : ""}},
    };
    memcpy(ret->name, name, counter ? size - 6 : size);
    return NULL;
}

/* Separates a sample's name from that of an instance in braces, if there is one. */
static bool parse_instance(struct row *row)
{
    row->instance = strchr(row->source, '{');
    size_t size = row->instance ? strlen(row->instance) : 0;
    if (!row->instance)
        return true;
    if (size < 3 || row->instance[size - 1] != '}')
        return false;
    row->instance[size - 1] = '\0';
    *row->instance++ = '\0';
    return true;
}

/* Reads the factor; false: it is none. */
static bool parse_factor(const char *text, struct row *row)
{
    char *end;
    row->counts = !strcmp(text, "count");
    if (row->counts || !*text)
        return true;
    row->factor = strtod(text, &end);
    return row->factor != 0 && !*end;
}

/* Reads a line into the row; returns why it is wrong, or NULL. */
static const char *parse(char *line, struct row *row)
{
    char *columns[COLUMNS] = {NULL}, *rest = line;
    for (size_t i = 0; i < COLUMNS && rest; i++)
        columns[i] = strsep(&rest, "\t");
    if (rest || !columns[2] || !*columns[0] || !*columns[2])
        return "expected metric, type, sample, and if needed labels and factor, with tabs between";
    *row = (struct row){.line = line, .source = columns[2], .labels = columns[3], .factor = 1};
    if (!labels_valid(columns[3]))
        return "a label must be key=name, key=parent, another variable, or key=\"text\"";
    if (!parse_instance(row))
        return "after the sample's name may stand the name of an instance in braces";
    if (columns[4] && !parse_factor(columns[4], row))
        return "the factor must be a number, or the word count";
    return parse_family(columns[0], columns[1], &row->family);
}

/* Finds the rows that are added to an earlier one: the metric and the labels are the same. */
static void join_rows(struct vocabulary *vocabulary)
{
    for (size_t i = 0; i < vocabulary->count; i++)
        for (size_t k = 0; k < i && !vocabulary->rows[i].into; k++) {
            struct row *row = &vocabulary->rows[i], *first = &vocabulary->rows[k];
            if (strcmp(row->family.name, first->family.name) != 0 ||
                strcmp(row->labels ? row->labels : "", first->labels ? first->labels : "") != 0)
                continue;
            row->into = first;
            first->parts++;
        }
}

static const char *take_line(void *self, char *line, unsigned number)
{
    struct vocabulary *vocabulary = self;
    struct row *row = &vocabulary->rows[vocabulary->count];
    const char *wrong = vocabulary->count == ROWS_MOST ? "too many lines" : parse(line, row);
    if (wrong)
        return wrong;
    vocabulary->count++;
    row->number = number;
    vocabulary->has_mounts |=
        row->labels && (strstr(row->labels, "=fstype") || strstr(row->labels, "=device"));
    return NULL;
}

struct vocabulary *vocabulary_read(const char *path, char why[static VOCABULARY_WHY])
{
    struct vocabulary *vocabulary = calloc(1, sizeof *vocabulary);
    snprintf(why, VOCABULARY_WHY, "%s", strerror(ENOMEM));
    if (!vocabulary)
        return NULL;
    pthread_mutex_init(&vocabulary->lock, NULL);
    vocabulary->rows = calloc(ROWS_MOST, sizeof *vocabulary->rows);
    vocabulary->by_source = calloc(ROWS_MOST, sizeof(struct row *));
    bool good = vocabulary->rows && vocabulary->by_source &&
                text_lines_take(path, take_line, vocabulary, why, VOCABULARY_WHY);
    if (good && !vocabulary->count)
        snprintf(why, VOCABULARY_WHY, "the file has no names");
    if (!good || !vocabulary->count) {
        vocabulary_free(vocabulary);
        return NULL;
    }
    join_rows(vocabulary);
    for (size_t i = 0; i < vocabulary->count; i++)
        vocabulary->by_source[i] = &vocabulary->rows[i];
    qsort(vocabulary->by_source, vocabulary->count, sizeof(struct row *), by_source);
    return vocabulary;
}

void vocabulary_free(struct vocabulary *vocabulary)
{
    if (!vocabulary)
        return;
    for (size_t i = 0; i < vocabulary->count; i++)
        free(vocabulary->rows[i].line);
    free(vocabulary->rows);
    free(vocabulary->by_source);
    free(vocabulary->samples);
    free(vocabulary->texts);
    pthread_mutex_destroy(&vocabulary->lock);
    free(vocabulary);
}

void vocabulary_sources(const struct vocabulary *vocabulary,
                        void (*each)(void *self, const char *source), void *self)
{
    for (size_t i = 0; i < vocabulary->count; i++)
        each(self, vocabulary->rows[i].source);
}

/* ---- samples ---- */

/* Writes core=name,mode="user" as core="0",mode="user", without those that have no value; returns
 * its size. */
static size_t write_labels(const char *from, const struct metric_labels *labels,
                           const struct facts *facts, char *out)
{
    char *to = out;
    while (from && *from) {
        size_t key = strcspn(from, "="), length = strcspn(from + key, ",");
        char value[LABELS_SIZE + 1];
        snprintf(value, sizeof value, "%.*s", (int)length - 1, from + key + 1);
        const char *found = variable(value, labels, facts);
        if (!found || *found)
            to += sprintf(to, "%s%.*s=", to > out ? "," : "", (int)key, from);
        if (found && *found) {
            *to++ = '"';
            to += metric_escape(found, to);
            *to++ = '"';
        } else if (!found) {
            to = stpcpy(to, value);
        }
        from += key + length + (from[key + length] == ',');
    }
    *to = '\0';
    return (size_t)(to - out);
}

static void *grow(struct vocabulary *vocabulary, void *array, size_t *capacity, size_t count,
                  size_t size)
{
    void *grown = count <= *capacity ? array : reallocarray(array, count * 2, size);
    vocabulary->failed |= !grown;
    if (grown && count > *capacity)
        *capacity = count * 2;
    return grown ? grown : array;
}

/* Returns the value times the factor; exactly, if that only changes the sign. */
static struct metric_value multiply(struct metric_value value, double factor)
{
    if (factor == 1)
        return value;
    if (factor != -1 || value.is_real)
        return (struct metric_value){.is_real = true, .real = metric_number(&value) * factor};
    value.negative = !value.negative && value.whole;
    return value;
}

/* Returns the sum; exactly, if it can be: a counter that falls by a rounding is a restart. */
static struct metric_value add(struct metric_value left, struct metric_value right)
{
    if (left.is_real || right.is_real || left.digits != right.digits)
        return (struct metric_value){.is_real = true,
                                     .real = metric_number(&left) + metric_number(&right)};
    uint64_t sum =
        (left.negative ? -left.whole : left.whole) + (right.negative ? -right.whole : right.whole);
    bool negative = (int64_t)sum < 0 && (left.negative || right.negative);
    return (struct metric_value){
        .whole = negative ? -sum : sum, .negative = negative, .digits = left.digits};
}

static void collect(struct vocabulary *vocabulary, struct row *row, const char *help,
                    const struct metric_labels *labels, const struct metric_value *value)
{
    struct facts facts = {&vocabulary->machine, "", ""};
    for (size_t i = 0; i + 2 < vocabulary->mounts.count; i += 3)
        if (!strcmp(vocabulary->mounts.texts[i], labels->name)) { /* a later one hides it */
            facts.type = vocabulary->mounts.texts[i + 1];
            facts.device = vocabulary->mounts.texts[i + 2];
        }
    size_t names =
        strlen(labels->name) + strlen(labels->parent) + strlen(facts.type) + strlen(facts.device);
    size_t most = LABELS_SIZE + LABELS_MOST * 2 * (VARIABLE_SIZE + names + 4);
    row->family.help = help;
    if (row->count++ && row->counts)
        return;
    vocabulary->failed |= vocabulary->text_size + most > TEXTS_MOST;
    vocabulary->samples = grow(vocabulary, vocabulary->samples, &vocabulary->sample_capacity,
                               vocabulary->sample_count + 1, sizeof *vocabulary->samples);
    vocabulary->texts = grow(vocabulary, vocabulary->texts, &vocabulary->text_capacity,
                             vocabulary->text_size + most, 1);
    if (vocabulary->failed)
        return;
    size_t at = vocabulary->sample_count++;
    struct sum_part *collected = &vocabulary->samples[at];
    *collected =
        (struct sum_part){.value = multiply(*value, row->factor), .labels = vocabulary->text_size};
    vocabulary->text_size +=
        write_labels(row->labels, labels, &facts, vocabulary->texts + vocabulary->text_size) + 1;
    if (row->first)
        vocabulary->samples[row->last].next = at;
    else
        row->first = at;
    row->last = at;
}

/* Metrics about the exporter itself and about groups of processes keep their names. */
static bool is_own(const struct metric_family *family)
{
    return !strncmp(family->name, "perf_object_", 12) ||
           !strncmp(family->name, "perf_sample_", 12) ||
           !strncmp(family->name, "perf_process_group_", 19);
}

static void take_family(struct metric_sink *sink, const struct metric_family *family)
{
    struct vocabulary *vocabulary = (struct vocabulary *)sink;
    if (is_own(family))
        vocabulary->to->family(vocabulary->to, family);
}

static void take_sample(struct metric_sink *sink, const struct metric_family *family,
                        const struct metric_sample *sample, const struct metric_labels *labels,
                        const char *text, const struct metric_value *value)
{
    struct vocabulary *vocabulary = (struct vocabulary *)sink;
    char source[METRIC_NAME_SIZE + 16];
    size_t low = 0, high = vocabulary->count;
    if (is_own(family))
        vocabulary->to->sample(vocabulary->to, family, sample, labels, text, value);
    snprintf(source, sizeof source, "%s%s", family->name, sample->suffix);
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (strcmp(vocabulary->by_source[middle]->source, source) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < vocabulary->count && !strcmp(vocabulary->by_source[low]->source, source); low++)
        if (!vocabulary->by_source[low]->instance ||
            !strcmp(vocabulary->by_source[low]->instance, labels->name))
            collect(vocabulary, vocabulary->by_source[low], family->help, labels, value);
}

/* Reads what is mounted. Without memory some file systems stay without the labels. */
static void read_mounts(struct text_list *mounts)
{
    struct mntent mount;
    char line[3 * PATH_MAX], valid[3 * PATH_MAX];
    FILE *file = setmntent("/proc/self/mounts", "re");
    for (bool good = file; good && getmntent_r(file, &mount, line, sizeof line);) {
        const char *const texts[] = {mount.mnt_dir, mount.mnt_type, mount.mnt_fsname};
        for (size_t i = 0; i < 3 && good; i++) {
            metric_utf8(texts[i], valid, sizeof valid);
            good = text_list_add(mounts, valid);
        }
    }
    if (file)
        endmntent(file);
}

struct metric_sink *vocabulary_begin(struct vocabulary *vocabulary, const struct utsname *machine,
                                     struct metric_sink *to)
{
    pthread_mutex_lock(&vocabulary->lock);
    vocabulary->machine = *machine;
    vocabulary->sink = (struct metric_sink){take_family, take_sample};
    vocabulary->to = to;
    vocabulary->sample_count = 1;
    vocabulary->text_size = 0;
    vocabulary->failed = false;
    if (vocabulary->has_mounts && *machine->sysname)
        read_mounts(&vocabulary->mounts);
    for (size_t i = 0; i < vocabulary->count; i++)
        vocabulary->rows[i].count = vocabulary->rows[i].first = 0;
    return &vocabulary->sink;
}

void vocabulary_report(const struct vocabulary *vocabulary)
{
    size_t missing = 0;
    for (size_t i = 0; i < vocabulary->count; i++) {
        const struct row *row = &vocabulary->rows[i];
        if (row->count || ++missing > REPORTED_MOST)
            continue;
        char source[METRIC_NAME_SIZE], instance[METRIC_NAME_SIZE];
        text_clean(row->source, source, sizeof source);
        text_clean(row->instance ? row->instance : "", instance, sizeof instance);
        fprintf(stderr,
                "openperflib-serve: --metrics-names: line %u: this machine has no sample "
                "%s%s%s%s; what is made from it is left out\n",
                row->number, source, row->instance ? "{" : "", instance, row->instance ? "}" : "");
    }
    if (missing > REPORTED_MOST)
        fprintf(stderr, "openperflib-serve: --metrics-names: %zu more lines have no sample\n",
                missing - REPORTED_MOST);
}

/* Adds the row's samples to those of an earlier row that have the same labels. */
static void add_row(struct vocabulary *vocabulary, const struct row *row)
{
    struct sum_part *samples = vocabulary->samples;
    size_t to = row->into->first;
    for (size_t from = row->first; from; from = samples[from].next) {
        const char *labels = vocabulary->texts + samples[from].labels;
        size_t begin = to;
        while (to && strcmp(vocabulary->texts + samples[to].labels, labels) != 0)
            to = samples[to].next;
        if (to) {
            samples[to].value = add(samples[to].value, samples[from].value);
            samples[to].parts++;
        }
        to = to ? to : begin; /* samples of both rows are in the same order */
    }
}

/* Passes a row's samples on; *last becomes the name of the family that was begun last. */
static void emit_row(struct vocabulary *vocabulary, struct row *row, const char **last)
{
    const struct metric_labels nothing = {.name = "", .parent = "", .text = ""};
    const struct metric_value one = {.whole = 1};
    if (!strcmp(row->source, "machine")) {
        collect(vocabulary, row, "What uname(2) reports.", &nothing, &one);
        if (row->labels && row->first && !vocabulary->texts[vocabulary->samples[row->first].labels])
            row->first = 0; /* nothing of it is known */
    }
    if (row->first && strcmp(row->family.name, *last) != 0)
        vocabulary->to->family(vocabulary->to, &row->family);
    *last = row->first ? row->family.name : *last;
    for (size_t at = row->first; at; at = vocabulary->samples[at].next) {
        struct sum_part *collected = &vocabulary->samples[at];
        if (collected->parts != row->parts)
            continue; /* a part of the sum is not known */
        const char *text = vocabulary->texts + collected->labels;
        const struct metric_labels labels = {"", "", text, strlen(text), false, false};
        if (row->counts)
            collected->value = (struct metric_value){.whole = row->count};
        vocabulary->to->sample(vocabulary->to, &row->family, &row->family.samples[0], &labels, NULL,
                               &collected->value);
    }
}

bool vocabulary_end(struct vocabulary *vocabulary)
{
    const char *last = "";
    for (size_t i = 0; i < vocabulary->count && !vocabulary->failed; i++)
        if (vocabulary->rows[i].into)
            add_row(vocabulary, &vocabulary->rows[i]);
    for (size_t i = 0; i < vocabulary->count && !vocabulary->failed; i++)
        if (!vocabulary->rows[i].into)
            emit_row(vocabulary, &vocabulary->rows[i], &last);
    bool good = !vocabulary->failed;
    text_list_done(&vocabulary->mounts);
    if (vocabulary->text_capacity > TEXTS_KEPT) { /* another machine may have lied */
        free(vocabulary->texts);
        vocabulary->texts = NULL;
        vocabulary->text_capacity = 0;
    }
    pthread_mutex_unlock(&vocabulary->lock);
    return good;
}
