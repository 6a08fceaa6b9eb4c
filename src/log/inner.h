/* SPDX-License-Identifier: MIT */
/* What the files of log share: a stream of bytes, the merged catalogue, one file of a capture. */
#ifndef OPL_LOG_INNER_H
#define OPL_LOG_INNER_H

#include "log/log.h"

#include <string.h>

enum {
    STREAM_WINDOW = 1 << 18, /* bytes read at once */
    LIMIT_RECORD = 32 << 20, /* bytes of a sample or a line */
    LIMIT_COLUMNS = 1 << 20, /* columns of all files together */
    LIMIT_ORDERED = 4 << 20, /* buffers of a circular capture: 256 GiB of them */
    MARK_BYTES = 1 << 18     /* minimum distance of two marks in a file */
};

/* ---- stream.c: bytes at a position; a pipe is copied to an unnamed file as it is read; bytes in
 * memory are a window that never moves, of exactly their size ---- */
struct stream {
    int fd, pipe; /* fd -1: in memory; pipe: -1 for a plain file; else the source of the rest */
    char *name;
    char *window;
    size_t capacity, len;
    uint64_t start;   /* offset of the window's first byte */
    uint64_t spooled; /* bytes that came from the pipe */
    LSTATUS status;   /* status of the last read that failed */
};
LSTATUS stream_open(struct stream *stream, int fd, const char *name); /* takes ownership of fd */
LSTATUS stream_open_bytes(struct stream *stream, const void *bytes, size_t size, const char *name);
/* The same bytes with a window of its own. */
LSTATUS stream_clone(const struct stream *stream, struct stream *ret);
void stream_done(struct stream *stream);
/* The bytes at `offset`, as many as exist, at most `size`; valid until the next call. NULL: no
 * memory, or a read error (status). */
const unsigned char *stream_at(struct stream *stream, uint64_t offset, size_t size, size_t *ret);
/* Bytes from `offset` on that are in the window. */
size_t stream_have(const struct stream *stream, uint64_t offset);
uint64_t stream_size(struct stream *stream); /* as far as the size is known */

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

/* ---- columns.c: the columns of all files, equal ones merged ---- */
struct column {
    struct log_column info;
    uint32_t twin; /* the next one with the same path, plus one */
    /* For the first one with a path; two with one path in a catalogue are two columns. */
    uint32_t stamp; /* the catalogue that named it last */
    uint32_t turn;  /* the twin to use when this catalogue names it again, plus one */
    uint32_t last;  /* the column's last twin, plus one; 0: this column is a twin itself */
    uint32_t next;  /* the next in its chain, plus one */
    bool unwanted;
    char text[];
};
struct columns {
    struct column **list;
    size_t count, capacity;
    uint32_t *table; /* heads of the chains, plus one */
    size_t table_size;
    uint32_t stamp;
};
void columns_done(struct columns *columns);
void columns_begin(struct columns *columns); /* a new catalogue */
/* A column by its path; its parts are parsed from the path. */
PDH_STATUS columns_add_path(struct columns *columns, enum log_column_kind kind, const char *path,
                            size_t size, uint32_t *ret);
/* A column by its parts; `like` is copied, its path is composed. */
PDH_STATUS columns_add(struct columns *columns, const struct log_column *like, uint32_t *ret);

/* ---- names.c: name tables that the capture contains for its machines ---- */
struct column_names {
    struct buffer text; /* the machine's name, then the names */
    struct column_name {
        uint32_t index, offset; /* offset 0: free */
    } * table;
    size_t count, capacity; /* capacity: a power of 2 */
    uint32_t index;         /* the index whose name comes next; 0: none */
    bool waits;
};
void names_done(struct column_names *names);
/* A machine's names, an empty table if it has none yet. NULL: no memory. */
struct column_names *names_of(struct log *log, const char *machine);
/* The first name of a number is kept. False: no memory, or the table is too long. */
bool names_add(struct column_names *names, uint32_t index, const char *name);

/* ---- seek.c: sections of a file, each with the range of its times ---- */
struct spot {                 /* the place of a sample */
    uint64_t at, line;        /* `line`: how many lines are before it */
    uint64_t head, head_line; /* the catalogue that applies to it */
};
struct mark {
    struct spot spot; /* place of the section's first sample */
    LONGLONG least, most;
};
struct marks {
    struct mark *list; /* the last one also covers what is written later */
    size_t count, capacity;
    struct log_extent extent;
    uint64_t size; /* size of the file when the marks were made; 0: there are no marks */
    bool failed;   /* no memory */
};

/* ---- one file ---- */
struct item_array { /* the items of an entry and what they were made from */
    uint32_t column;
    uint64_t turn; /* `turn` of the sample */
    struct log_item *items;
    size_t count, capacity;
    struct buffer text, raw;
};
struct file {
    struct log *log;
    struct stream stream;
    const struct format *format;
    void *state;   /* private to the format */
    uint32_t *map; /* entry of the file's catalogue -> column */
    size_t mapped, map_capacity;
    struct log_value *values; /* one for each column */
    struct item_array *arrays;
    uint64_t turn; /* counts samples that were read; starts again with the file */
    size_t values_count;
    bool values_fresh;        /* the columns of other files are marked as absent */
    struct log_sample sample; /* the next to be returned */
    struct spot spot; /* place of that sample: set by the format, except in a circular capture */
    struct marks marks;
    size_t at_mark;      /* the section being read */
    bool unordered;      /* a circular capture: no search by time, see seek.c */
    bool pending, blind; /* blind: only times are read */
    uint64_t line;       /* number of the line being read, from 1; 0: the format has no lines */
    PDH_STATUS ended;    /* why there is no next sample; 0: not tried */
    struct buffer problem;
    struct log_facts facts;
};

/* A format reads one kind of files. */
struct format {
    enum log_kind kind;
    /* Is it this kind? Decided by the first bytes of the file, `needs` or fewer if it is
     * shorter. */
    size_t needs;
    bool (*matches)(const unsigned char *start, size_t size);
    PDH_STATUS (*open)(struct file *file); /* facts and catalogue */
    void (*close)(struct file *file);
    PDH_STATUS (*next)(struct file *file); /* fills file->sample and file->values */
    PDH_STATUS (*rewind)(struct file *file);
    /* makes that sample the next one */
    PDH_STATUS (*jump)(struct file *file, const struct spot *spot);
};
extern const struct format format_binary, format_text;

struct log {
    struct columns columns;
    struct file *files;
    size_t file_count;
    struct file *last; /* the file of the last returned sample */
    LONGLONG from, until;
    bool early;
    struct column_names *names; /* one for each machine that has a table */
    size_t name_count;
    struct log_losses losses;
    struct log_facts facts;
    struct buffer problem;
};

/* Sets the message "FILE: line N, offset N: ...", which also goes to the trace. Returns
 * `status`. */
PDH_STATUS file_problem(struct file *file, PDH_STATUS status, uint64_t offset, const char *format,
                        ...) PRINTF_LIKE(4, 5);
/* Counts something that cannot be shown, unless only times are read. */
#define file_lose(file, reason, count, ...)                                                        \
    ((file)->blind ? (void)0 : losses_add(&(file)->log->losses, reason, count, __VA_ARGS__))
void file_done(struct file *file);
/* The next sample, without sections outside of the log's range. */
PDH_STATUS file_next_wanted(struct file *file);
/* Space for one more entry of the file's catalogue. */
PDH_STATUS file_map_add(struct file *file, uint32_t column);
/* All columns have values and arrays; those that the file lacks are marked as absent. */
PDH_STATUS file_make_values(struct file *file);

/* turns a status of opening or reading a file into one of PDH */
PDH_STATUS status_to_pdh(LSTATUS status);

/* ---- zone.c: the rules of a time zone ---- */
struct zone_rule {
    LONG bias, standard_bias, daylight_bias;
    SYSTEMTIME standard, daylight; /* when they begin: with year 0 the n-th weekday of the month */
};
bool zone_is_daylight(const struct zone_rule *rule, LONGLONG local_time);

/* ---- sample.c: the content of a binary capture's records ---- */
/* Adds the entries of a catalogue record to the file's map; `offset` is for messages. */
PDH_STATUS catalogue_read(struct file *file, const unsigned char *body, size_t size,
                          uint64_t offset);
PDH_STATUS sample_read(struct file *file, const unsigned char *body, size_t size, uint64_t offset);
PDH_STATUS names_read(struct file *file, const unsigned char *body, size_t size, uint64_t offset);

#endif
