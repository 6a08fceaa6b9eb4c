/* SPDX-License-Identifier: MIT */
/*
 * Counters as metrics of Prometheus and OpenMetrics. docs/metrics.md describes names, types and
 * units. Nothing here knows HTTP.
 *
 * name.c        from titles and a counter type to a metric's name and type
 *
 * carry.c       continues 32-bit counters in 64 bits
 *
 * walk.c        a block, object by object, as families of samples
 *
 * exposition.c  families and samples as text, in both formats
 *
 * remote-write.c  samples as messages of Prometheus' remote write
 *
 * titles.c      the titles of a machine, shared by those with the same
 *
 * vocabulary.c  the metrics under the names of another exporter
 *
 * groups.h      processes as groups
 *
 * collect.c     one answer: the query, the objects, and what the exporter says of itself
 */
#ifndef OPL_TOOLS_METRICS_H
#define OPL_TOOLS_METRICS_H

#include "../view/view.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/utsname.h>

/* ---- name.c ---- */

enum metric_kind { METRIC_GAUGE, METRIC_COUNTER, METRIC_SUMMARY, METRIC_INFO };
/* Where a sample's number is found: the counter's own, the base that follows it, their quotient,
 * and so on. */
enum metric_source {
    SOURCE_VALUE,
    SOURCE_BASE,
    SOURCE_MULTI,   /* the number of timers, which follows the value of a multi timer */
    SOURCE_RATIO,   /* value / base */
    SOURCE_PERCENT, /* 100 * value / base, for a number that is no share: a load average */
    SOURCE_START,   /* the time at which an elapsed time began */
    SOURCE_TEXT     /* always 1; the text is a label */
};
/* What a number is divided by to become seconds: nothing, or the frequency of a clock. */
enum metric_clock { CLOCK_NONE, CLOCK_TICKS, CLOCK_100NS, CLOCK_OBJECT, CLOCK_HUNDRED };

enum { METRIC_NAME_SIZE = 256, METRIC_SAMPLES = 2, METRIC_FAMILIES = 2 };
struct metric_sample {
    enum metric_source source;
    enum metric_clock clock;
    const char *suffix; /* added to the family's name: "", "_total", "_sum", "_count", ... */
};
struct metric_family {
    enum metric_kind kind;
    char name[METRIC_NAME_SIZE]; /* the name without a sample's suffix */
    const char *unit;            /* the name's ending: "seconds", "bytes", "ratio"; "": none */
    const char *help;            /* NULL: none */
    struct metric_sample samples[METRIC_SAMPLES];
    unsigned sample_count;
    bool hidden; /* not part of the exposition; only vocabularies can use it */
};
/* Describes the families of one counter: 0, 1 or 2. Titles are English; `index` is that of the
 * counter's title. The help of the families is not set. */
unsigned metric_describe(const char *object, const char *counter, uint32_t index, uint32_t type,
                         struct metric_family ret[METRIC_FAMILIES]);
/* Writes a title as lower-case words with "_" between them: "PhysicalDisk" is physical_disk. */
void metric_snake(const char *title, char *out, size_t capacity);

/* ---- carry.c ---- */

struct carry;
struct carry *carry_new(void);
void carry_free(struct carry *carry);
/* Returns a 32-bit counter in 64 bits: from its second value on, with the wraps since the first
 * one. `key` is the counter's identity; `now` seconds of any clock that does not go back. */
uint64_t carry_on(struct carry *carry, uint64_t key, uint32_t value, int64_t now);

/* ---- walk.c ---- */

/* `whole` / 10^digits exactly, or `real`. */
struct metric_value {
    bool is_real, negative;
    unsigned digits;
    uint64_t whole;
    double real;
};
/* The labels of an instance: name and parent as valid UTF-8 ("": none), and both as they are
 * exposed: name="...",parent="...". */
struct metric_labels {
    const char *name, *parent, *text;
    size_t size; /* of `text` */
    bool has_name, has_parent;
};
/* Takes what a walk finds, in order: a family, then all its samples. `text` is the value of the
 * label text of an info metric, else NULL. */
struct metric_sink {
    void (*family)(struct metric_sink *sink, const struct metric_family *family);
    void (*sample)(struct metric_sink *sink, const struct metric_family *family,
                   const struct metric_sample *sample, const struct metric_labels *labels,
                   const char *text, const struct metric_value *value);
    /* whether the samples of a family are needed; NULL: all are */
    bool (*wants)(struct metric_sink *sink, const struct metric_family *family);
};
struct walk; /* buffers and descriptions of counters, kept from one block to the next */
/* `names` has the English titles and explanations; it must outlive the walk. */
struct walk *walk_new(struct view_names *names);
void walk_free(struct walk *walk);
/* Continues the counters of the next objects with `carry` instead of the walk's own, and adds the
 * steps of searches to *steps: objects of an answer with too many are damaged. */
void walk_use(struct walk *walk, struct carry *carry, size_t *steps);
enum { METRIC_100NS = 10000000 };
#define METRIC_EPOCH_100NS 116444736000000000 /* 1970 as a FILETIME */
enum walk_result { WALK_GOOD, WALK_DAMAGED, WALK_TOO_MANY, WALK_NO_MEMORY };
/* Divides by a frequency: exactly, if that is a power of ten. False: it is no frequency. */
bool metric_divide(uint64_t number, int64_t frequency, struct metric_value *ret);
/* Gives one object of a block to the sink. If it has more than `most` samples, or is damaged, the
 * sink gets nothing of it. *ret_count becomes the number of its samples. */
enum walk_result walk_object(struct walk *walk, opl_block *block, const opl_object_view *object,
                             size_t most, struct metric_sink *sink, size_t *ret_count);

/* ---- exposition.c ---- */

enum metric_format { FORMAT_TEXT, FORMAT_OPENMETRICS, FORMAT_COUNT };
struct exposition {
    struct metric_sink sink; /* the first member */
    enum metric_format format;
    char *bytes;
    size_t size, capacity;
    size_t most; /* a longer text fails; 0: no limit */
    bool failed; /* no memory, or too long */
};
void exposition_begin(struct exposition *text, enum metric_format format);
void exposition_end(struct exposition *text);
/* Returns the format for a request's header Accept (NULL: none). */
enum metric_format exposition_format(const char *accept);
const char *exposition_type(enum metric_format format); /* for Content-Type */
/* Copies text, and makes it valid UTF-8: each wrong byte becomes U+FFFD. Returns the size of the
 * result without its NUL; writes at most `capacity` bytes, 3 times the text's size suffice. */
size_t metric_utf8(const char *text, char *out, size_t capacity);
/* Writes text as it stands in a label, at most twice its size, and a NUL. Returns its size. */
size_t metric_escape(const char *text, char *out);
double metric_number(const struct metric_value *value);

/* ---- remote-write.c ---- */

struct fixed_label {
    const char *name, *value;
};
/* The owner sets the members up to `full`, and `time_ms` to 0 for each answer: the time of the
 * samples is that of the sample METRIC_SAMPLE_TIME, which is the first one of an answer. */
struct remote_write {
    struct metric_sink sink;         /* the first member */
    const struct fixed_label *fixed; /* labels of every sample, unless the sample has the name */
    size_t fixed_count, most;
    void (*full)(struct remote_write *out); /* called at `most` samples, to empty the message */
    int64_t time_ms;                        /* since 1970; 0: the samples have no time */
    char *bytes;                            /* a WriteRequest */
    size_t size, capacity, samples;
    bool failed; /* no memory */
};
void remote_write_begin(struct remote_write *out); /* begins a message */

/* ---- vocabulary.c ---- */

enum { VOCABULARY_WHY = 256 };
struct vocabulary;
/* Reads a file of names; NULL: `why` has the reason. */
struct vocabulary *vocabulary_read(const char *path, char why[static VOCABULARY_WHY]);
void vocabulary_free(struct vocabulary *vocabulary);
/* Calls `each` with the name of each sample that the file uses. */
void vocabulary_sources(const struct vocabulary *vocabulary,
                        void (*each)(void *self, const char *source), void *self);
/* Returns a sink for the samples of one answer of the machine; vocabulary_end passes them to `to`,
 * and must be called. False: no memory. A member "" of `machine` is not known. */
struct metric_sink *vocabulary_begin(struct vocabulary *vocabulary, const struct utsname *machine,
                                     struct metric_sink *to);
bool vocabulary_end(struct vocabulary *vocabulary);
/* Reports on stderr which lines of the file had no sample in the last answer. */
void vocabulary_report(const struct vocabulary *vocabulary);

/* ---- titles.c ---- */

struct titles {
    struct titles *next;
    unsigned users;
    bool shared;
    struct view_names names;
    struct walk *walk;
    pthread_mutex_t lock; /* held while `walk` is used */
};
/* Reads the titles of the thread's machine (view_use). `shared`: other threads may get them, too,
 * and explanations are read at once; without it, titles that cannot be read are no error. */
LSTATUS titles_take(bool shared, struct titles **ret);
void titles_drop(struct titles *titles);

/* ---- collect.c ---- */

#define METRIC_SAMPLE_TIME "perf_sample_time_seconds" /* in units of 100 ns since 1970 */
struct metrics_settings {
    bool processes; /* each process, too */
    size_t series_most;
    /* another machine, a name or address: only metrics_collect_titles may be used, by one thread at
     * a time; NULL: this machine */
    const char *machine;
    /* both are now the metrics'; NULL: none */
    struct groups *groups;    /* of processes (groups.h) */
    struct vocabulary *names; /* for answers with the objects that are exposed by default */
    bool report_names;        /* report those without a sample in the first answer */
};
struct metrics;
struct metrics *metrics_new(const struct metrics_settings *settings); /* NULL: no memory */
void metrics_free(struct metrics *metrics);
/* Finds the object that collect[] names, by title or by the prefix of its metrics; 0: none. */
uint32_t metrics_find(struct metrics *metrics, const char *word);
/* Calls `each` with the title and the prefix of every object that can be collected. */
void metrics_each(struct metrics *metrics,
                  void (*each)(void *self, const char *title, const char *prefix), void *self);
/* Queries the objects (count 0: those that are exposed by default) once and gives everything to the
 * sink. On an error what the sink got is not complete. */
LSTATUS metrics_collect(struct metrics *metrics, const uint32_t *objects, size_t count,
                        struct metric_sink *sink);
/* The same for objects by their titles, under these names; NULL: our own. Waits for another machine
 * as long as the library does. */
LSTATUS metrics_collect_titles(struct metrics *metrics, char *const *titles, size_t count,
                               struct vocabulary *names, struct metric_sink *sink);
/* Gives a gauge to the sink, with labels as they are exposed, or NULL; `begin`: it is the first
 * sample of its family. */
void metrics_emit(struct metric_sink *sink, const char *name, const char *help, const char *labels,
                  const struct metric_value *value, bool begin);

#endif
