/* SPDX-License-Identifier: MIT */
/* What the files of log share: a stream of bytes, the united catalogue, one file of a capture. */
#ifndef OPL_LOG_INNER_H
#define OPL_LOG_INNER_H

#include "log/log.h"

#include <string.h>

enum {
    STREAM_WINDOW = 1 << 18, /* bytes read at once */
    LIMIT_RECORD = 32 << 20, /* bytes of a sample or a line */
    LIMIT_COLUMNS = 1 << 20, /* of all files */
    LIMIT_ORDERED = 4 << 20, /* buffers of a circular capture: 256 GiB of them */
    MARK_BYTES = 1 << 18     /* from one mark of a file to the next, at least */
};

/* ---- stream.c: bytes at a position; a pipe is kept in an unnamed file as it is read; bytes in
 * memory are a window that never moves, of no more than their size ---- */
struct stream {
    int fd, pipe; /* fd -1: in memory; pipe: -1 for a plain file; else where the rest comes from */
    char *name;
    char *window;
    size_t room, len;
    uint64_t start;   /* of the window */
    uint64_t spooled; /* bytes that came from the pipe */
    LSTATUS status;   /* of the last read that failed */
};
LSTATUS stream_open(struct stream *stream, int fd, const char *name); /* takes fd */
LSTATUS stream_open_bytes(struct stream *stream, const void *bytes, size_t size, const char *name);
/* The same bytes again with a window of its own. */
LSTATUS stream_clone(const struct stream *stream, struct stream *ret);
void stream_done(struct stream *stream);
/* The bytes at `offset`, as many as there are, at most `size`; valid until the next call. NULL: no
 * memory, or they cannot be read (status). */
const unsigned char *stream_at(struct stream *stream, uint64_t offset, size_t size, size_t *ret);
/* Bytes from `offset` on that need no reading. */
size_t stream_have(const struct stream *stream, uint64_t offset);
uint64_t stream_size(struct stream *stream); /* as far as it is known */

static inline uint16_t get16(const void *at)
{
    uint16_t value;
    memcpy(&value, at, sizeof(value));
    return value;
}
static inline uint32_t get32(const void *at)
{
    uint32_t value;
    memcpy(&value, at, sizeof(value));
    return value;
}
static inline uint64_t get64(const void *at)
{
    uint64_t value;
    memcpy(&value, at, sizeof(value));
    return value;
}

/* ---- columns.c: the columns of all files, equal ones united ---- */
struct column {
    struct log_column door;
    uint32_t twin; /* the next one of the same path, plus one */
    /* Of the first one of a path; twice in a catalogue are two columns. */
    uint32_t stamp; /* the catalogue that named it last */
    uint32_t turn;  /* the twin that comes when this catalogue names it again, plus one */
    uint32_t last;  /* its last twin, plus one; 0: this is a twin itself */
    uint32_t next;  /* in its chain of the table, plus one */
    bool unwanted;
    char text[];
};
struct columns {
    struct column **list;
    size_t count, room;
    uint32_t *table; /* heads of the chains, plus one */
    size_t table_size;
    uint32_t stamp;
};
void columns_done(struct columns *columns);
void columns_begin(struct columns *columns); /* a new catalogue */
/* A column by its path; the rest of it is read from the path. */
PDH_STATUS columns_add_path(struct columns *columns, enum log_column_kind kind, const char *path,
                            size_t size, uint32_t *ret);
/* A column by its parts; `like` is copied, its path is made. */
PDH_STATUS columns_add(struct columns *columns, const struct log_column *like, uint32_t *ret);

/* ---- names.c: the names that a machine sent along ---- */
struct names {
    struct buffer text; /* begins with the machine */
    struct name_entry {
        uint32_t index, offset; /* offset 0: there is none */
    } * table;
    size_t count, room; /* room: a power of 2 */
    uint32_t index;     /* whose name comes next, if it waits for one */
    bool waits;
};
void names_done(struct names *names);
/* A machine's names, new ones if it has none yet. NULL: no memory. */
struct names *names_of(struct log *log, const char *machine);
/* The first name of a number stays. False: no memory, or too long a table. */
bool names_add(struct names *names, uint32_t index, const char *name);

/* ---- seek.c: stretches of a file, each with the times that it has ---- */
struct spot {                 /* of a sample */
    uint64_t at, line;        /* `line`: how many lines are before it */
    uint64_t head, head_line; /* the catalogue that holds for it */
};
struct mark {
    struct spot spot; /* of the stretch's first sample */
    LONGLONG least, most;
};
struct marks {
    struct mark *list; /* the last one is also for what is written later */
    size_t count, room;
    struct log_extent extent;
    uint64_t size; /* of the file when they were made; 0: they were not */
    bool failed;   /* no memory */
};

/* ---- one file ---- */
struct array { /* the items of an entry and what they were made of */
    uint32_t column;
    uint64_t turn; /* of the sample */
    struct log_item *items;
    size_t count, room;
    struct buffer text, raw;
};
struct file {
    struct log *log;
    struct stream stream;
    const struct format *format;
    void *state;   /* the format's */
    uint32_t *map; /* entry of the file's catalogue -> column */
    size_t mapped, map_room;
    struct log_value *values; /* one for each column */
    struct array *arrays;
    uint64_t turn; /* counts samples that were read, and begins anew */
    size_t values_count;
    bool values_fresh;        /* the columns that are not the file's say so */
    struct log_sample sample; /* the next to be given out */
    struct spot spot;         /* where it stands: set by the format, but in a circular capture */
    struct marks marks;
    size_t at_mark;      /* whose stretch is read */
    bool unordered;      /* by offset: no jumps */
    bool pending, blind; /* blind: only times are wanted */
    uint64_t line;       /* that is being read, from 1; 0: the format has no lines */
    PDH_STATUS ended;    /* why there is no next one; 0: not tried */
    struct buffer problem;
    struct log_facts facts;
};

/* A format reads files of one kind. */
struct format {
    enum log_kind kind;
    /* Is it this kind? From the first bytes of the file, as many as it needs or as there are. */
    size_t needs;
    bool (*matches)(const unsigned char *start, size_t size);
    PDH_STATUS (*open)(struct file *file); /* facts and catalogue */
    void (*close)(struct file *file);
    PDH_STATUS (*next)(struct file *file); /* fills file->sample and file->values */
    PDH_STATUS (*rewind)(struct file *file);
    PDH_STATUS (*jump)(struct file *file, const struct spot *spot); /* that sample comes next */
};
extern const struct format format_binary, format_text;

struct log {
    struct columns columns;
    struct file *files;
    size_t file_count;
    struct file *last; /* whose sample was given out last */
    LONGLONG from, until;
    bool early;
    struct names *names; /* of each machine that sent some */
    size_t name_count;
    struct log_losses losses;
    struct log_facts facts;
    struct buffer problem;
};

/* The words: "FILE: line N, offset N: ...", said to the trace too. Returns `status`. */
PDH_STATUS file_problem(struct file *file, PDH_STATUS status, uint64_t offset, const char *format,
                        ...) PRINTF_LIKE(4, 5);
/* Counts something that cannot be shown, unless only times are looked for. */
#define file_lose(file, reason, count, ...)                                                        \
    ((file)->blind ? (void)0 : losses_add(&(file)->log->losses, reason, count, __VA_ARGS__))
void file_done(struct file *file);
/* The next sample, but for stretches that are not in the log's range. */
PDH_STATUS file_next_wanted(struct file *file);
/* Room for one more entry of the file's catalogue. */
PDH_STATUS file_map_add(struct file *file, uint32_t column);
/* All columns have values and arrays; those that the file lacks say so. */
PDH_STATUS file_make_values(struct file *file);

PDH_STATUS status_to_pdh(LSTATUS status); /* of opening or reading a file */

/* ---- zone.c: what a time zone says of itself ---- */
struct zone_rule {
    LONG bias, standard_bias, daylight_bias;
    SYSTEMTIME standard, daylight; /* when they begin: with year 0 the n-th weekday of the month */
};
bool zone_is_daylight(const struct zone_rule *rule, LONGLONG local_time);

/* ---- sample.c: what a binary capture's records hold ---- */
/* Adds the entries of a catalogue record to the file's map; `offset` is for messages. */
PDH_STATUS catalogue_read(struct file *file, const unsigned char *body, size_t size,
                          uint64_t offset);
PDH_STATUS sample_read(struct file *file, const unsigned char *body, size_t size, uint64_t offset);
PDH_STATUS names_read(struct file *file, const unsigned char *body, size_t size, uint64_t offset);

#endif
