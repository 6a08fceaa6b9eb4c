/* SPDX-License-Identifier: MIT */
/* Private to log: a stream of bytes, the columns of all files, one file of a capture. */
#ifndef OPL_LOG_INNER_H
#define OPL_LOG_INNER_H

#include "log/log.h"

#include <string.h>

enum {
    STREAM_WINDOW = 1 << 18, /* number of bytes that are read at once */
    LIMIT_RECORD = 32 << 20, /* maximum size of a sample or a line in bytes */
    LIMIT_COLUMNS = 1 << 20, /* maximum number of columns of all files together */
    LIMIT_ORDERED = 4 << 20, /* maximum number of buffers of a circular capture */
    MARK_BYTES = 1 << 18,    /* minimum distance of two marks in a file, in bytes */
    MERGE_SPAN = 5000000     /* samples that are joined differ by at most half a second */
};

/* ---- stream.c: bytes at any position. A pipe is copied to an unnamed file as it is read; bytes in
 * memory are a window of exactly their size that never moves; a compressed file has its
 * decompressed bytes ---- */
struct stream {
    int fd, pipe; /* fd is -1 if the bytes are in memory; pipe is -1 if there is no pipe */
    char *name;
    char *window;
    bool lent; /* the window is the caller's */
    size_t capacity, len;
    uint64_t start;   /* offset in the file of the first byte in the window */
    uint64_t seen;    /* size of the file when the window was read */
    uint64_t spooled; /* number of bytes that were read from the pipe */
    LSTATUS status;   /* status of the last read that failed */
    struct zst *zst;  /* NULL: the file is not compressed */
};
/* Takes ownership of fd; -1: opening it failed with errno, whose status is returned. */
LSTATUS stream_open(struct stream *stream, int fd, const char *name);
LSTATUS stream_open_bytes(struct stream *stream, const void *bytes, size_t size, const char *name);
/* Reads bytes of the caller, without a copy; they must stay until stream_done. */
LSTATUS stream_lend(struct stream *stream, char *bytes, size_t size, const char *name);
/* Reads a pipe to its end; other streams stay as they are. */
LSTATUS stream_read_pipe(struct stream *stream);
/* Opens a second stream of the same bytes, with its own position. Reads a pipe to its end first. */
LSTATUS stream_clone(const struct stream *stream, struct stream *ret);
/* From now on the stream has the decompressed bytes of the file. Reads a pipe to its end first. The
 * statuses are those of zst_open. */
struct zst_decoder;
LSTATUS stream_decompress(struct stream *stream, struct zst_decoder **decoder);
void stream_done(struct stream *stream);
/* Returns a pointer to the bytes at `offset`, valid until the next call. *ret is the number of
 * bytes there, at most `size`. NULL: no memory, or a read error; see `status`. */
const unsigned char *stream_at(struct stream *stream, uint64_t offset, size_t size, size_t *ret);
/* Makes stream_at read the file again, which may have changed. */
void stream_forget(struct stream *stream);
/* Returns how many bytes from `offset` on are in the window. */
size_t stream_have(const struct stream *stream, uint64_t offset);
/* the size of a pipe is the number of bytes read so far */
uint64_t stream_size(const struct stream *stream);
/* for a compressed file, its compressed size */
uint64_t stream_file_size(const struct stream *stream);

/* Like pread and pwrite, but repeated until all bytes are done. read_at returns fewer bytes only at
 * the end, with errno 0, or after an error. */
size_t read_at(int fd, void *out, size_t size, uint64_t offset);
bool write_at(int fd, const void *data, size_t size, uint64_t offset);

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

/* ---- zst.c: reads a compressed capture, a file of zstd frames ---- */
struct zst;
#define ZST_MISSING                                                                                \
    "a compressed capture needs libzstd.so.1, which is not there: install the package libzstd1"
bool zst_matches(const unsigned char *start, size_t size);
/* Finds the frames in the file, which must stay open. *decoder is used, or made if it is NULL; the
 * caller frees it. ERROR_MOD_NOT_FOUND: there is no libzstd. ERROR_NOT_SUPPORTED: decoding needs a
 * window of more than 8 MiB. */
LSTATUS zst_open(int fd, struct zst_decoder **decoder, struct zst **ret);
void zst_decoder_free(struct zst_decoder *decoder);
LSTATUS zst_clone(const struct zst *zst, int fd, struct zst **ret);
void zst_free(struct zst *zst);
uint64_t zst_size(const struct zst *zst); /* bytes of the capture */
/* Where the frame's data begins that has the byte at `offset`. */
uint64_t zst_frame_start(const struct zst *zst, uint64_t offset);
/* With `little`, frames are from now on decoded in parts of 64 KiB: of each only the beginning is
 * needed, and its checksum is not compared. *decoder is made if it is NULL. */
void zst_decode_little(struct zst_decoder **decoder, bool little);
/* Reads bytes of the capture, as pread does. ERROR_INVALID_DATA: the first of them is in a damaged
 * frame. */
LSTATUS zst_read(struct zst *zst, uint64_t offset, void *out, size_t size, size_t *ret);
/* Returns true if some of these bytes are in a damaged frame. *ret_end is the end of the frame's
 * data in the capture, *ret_at the offset of the frame in the file. */
bool zst_damage(const struct zst *zst, uint64_t offset, size_t size, uint64_t *ret_end,
                uint64_t *ret_at);
/* Returns why the file ends too early, as text; NULL: it does not. */
const char *zst_problem(const struct zst *zst);

/* ---- columns.c: the columns of all files, equal ones are merged ---- */
struct column {
    struct log_column info;
    uint32_t twin; /* number + 1 of the next column with the same path; 0: no other column */
    /* of several columns with the same path ("twins") only the first uses the members below */
    uint32_t stamp; /* number of the catalogue that last named the path */
    uint32_t turn;  /* number + 1 of the twin for the next time that this catalogue has the path */
    uint32_t last;  /* number + 1 of the last twin; 0: this column is not the first twin */
    uint32_t next;  /* number + 1 of the next column in the hash chain; 0: none */
    bool unwanted;
    char text[];
};
struct columns {
    struct column **list;
    size_t count, capacity;
    uint32_t *table; /* hash table: number + 1 of a chain's first column; 0: the chain is empty */
    size_t table_size;
    uint32_t stamp;
};
void columns_done(struct columns *columns);
void columns_begin(struct columns *columns); /* to be called before the columns of a new catalogue
                                              * are added */
/* Finds or adds a column by its path, which is parsed into parts. *ret is its number. */
PDH_STATUS columns_add_path(struct columns *columns, enum log_column_kind kind, const char *path,
                            size_t size, uint32_t *ret);
/* Finds or adds a column by its parts. `like` is copied, and its path is composed. */
PDH_STATUS columns_add(struct columns *columns, const struct log_column *like, uint32_t *ret);

/* ---- names.c: the names of objects and counters in the capture, for each machine ---- */
struct column_names {
    struct buffer text; /* the machine's name, then its objects' and counters' names */
    struct column_name {
        uint32_t index, offset; /* offset of the name in `text`; 0: this entry is free */
    } * table;
    size_t count, capacity; /* number of names, and of places in the table, a power of 2 */
    uint32_t index;         /* while a record is read: the index whose name follows; 0: none */
    bool waits;
};
void names_done(struct column_names *names);
/* Returns the names of a machine; the table is empty if the capture has no names for that machine.
 * NULL: no memory. */
struct column_names *names_of(struct log *log, const char *machine);
/* Adds a name, unless the index has a name already. Returns false if there is no memory or the
 * table is too long. */
bool names_add(struct column_names *names, uint32_t index, const char *name);

/* ---- seek.c: sections of a file, each with its earliest and latest time ---- */
struct spot {                 /* where a sample is in its file */
    uint64_t at, line;        /* `at`: offset of the sample; `line`: number of lines before it */
    uint64_t head, head_line; /* offset and line of the catalogue that applies to the sample */
};
struct mark {
    struct spot spot; /* position of the section's first sample */
    LONGLONG least, most;
};
struct marks {
    struct mark *list; /* sections of the file; the last section includes what is written later */
    size_t count, capacity;
    struct log_extent extent;
    uint64_t size; /* size of the file when the marks were made; 0: no marks yet */
    bool failed;   /* there was no memory for the marks */
};

/* ---- one file ---- */
struct item_array { /* the items of an array, and the bytes from which they were read */
    uint32_t column;
    uint64_t turn; /* number of samples of the file that had been read when the array was read */
    struct log_item *items;
    size_t count, capacity;
    struct buffer text, raw;
};
struct file {
    struct log *log;
    struct stream stream;
    const struct format *format;
    void *state;   /* data that only the format's functions use */
    uint32_t *map; /* for each entry of the file's catalogue: the number of its column */
    size_t mapped, map_capacity;
    struct log_value *values; /* values of the next sample, one for each column of the log */
    struct item_array *arrays;
    uint64_t turn; /* number of samples that were read since the file was opened or rewound */
    size_t values_count;
    bool values_fresh;        /* `values` already marks the columns that this file lacks */
    struct log_sample sample; /* the next sample that is returned */
    struct spot spot;         /* position of `sample`; set by the format, except in a circular
                               * capture */
    struct marks marks;
    size_t at_mark;      /* number of the section that is being read */
    bool unordered;      /* a circular capture, in which samples cannot be found by time */
    bool pending, blind; /* pending: `sample` is ready; blind: only times are read */
    bool glance;         /* blind, and only the first time is read */
    uint64_t line;       /* number of the current line, from 1; 0: the format has no lines */
    PDH_STATUS ended;    /* why there is no next sample; 0: not known yet */
    struct buffer problem;
    struct log_facts facts;
};

/* The functions that read one kind of file. */
struct format {
    enum log_kind kind;
    /* needs: how many bytes at the start of a file `matches` gets to recognise it; fewer if the
     * file is shorter */
    size_t needs;
    bool (*matches)(const unsigned char *start, size_t size);
    PDH_STATUS (*open)(struct file *file); /* reads the head and the first catalogue */
    void (*close)(struct file *file);
    PDH_STATUS (*next)(struct file *file); /* reads into file->sample and file->values */
    PDH_STATUS (*rewind)(struct file *file);
    /* continues with the sample at `spot` */
    PDH_STATUS (*jump)(struct file *file, const struct spot *spot);
    /* Continues with the first sample that begins at `offset` or after it; the catalogue stays. The
     * first reads may find the rest of a sample that began earlier, as damage. False: samples
     * cannot be found by their place. NULL: nor in any file of this format. */
    bool (*go_near)(struct file *file, uint64_t offset);
};
extern const struct format format_binary, format_text;

/* ---- set.c: the captures of a set of logman ---- */
struct log_set {
    char *name;
    bool own;         /* it is this user's, not the system's */
    bool made;        /* there is a file of the set, so it does not stand for another one */
    char *denied;     /* a folder of captures that may not be read; NULL: none */
    struct set_file { /* an entry; the file itself is at the same position in log->files */
        char *path;
        LONGLONG first; /* time of its first sample: the files are in this order */
        uint64_t size, series, catalogue; /* series, catalogue: equal ones have the same hash */
        bool passed;                      /* the file is not needed for the range */
    } * files;
    size_t count, next;        /* next: the first file that was not opened yet */
    LONGLONG newest;           /* `first` of the last file, from which the facts are */
    struct log_losses skipped; /* files that cannot be read */
    struct set_stamp {         /* folders, the set's definition, and files without a sample yet */
        char *path;
        struct timespec changed;
    } * stamps;
    size_t stamp_count;
    char zone[128];
    unsigned char zone_rule[172];
};
/* True if the name is that of a set, and not of a file. */
bool captures_are_meant(const char *name);
PDH_STATUS captures_open(const char *name, struct log **ret, struct buffer *problem);
/* Counts a file of a set as one that cannot be read. `why` begins with the path, which is shown
 * without its folder; NULL: not known. */
void captures_add_lost(struct log_losses *losses, const char *path, const char *why);
void captures_free(struct log_set *set); /* does nothing if `set` is NULL */
/* All files become closed, and those in the range will be read. */
void captures_rewind(struct log *log);
/* Opens the files that begin up to `time`, and closes those that have ended. */
void captures_advance(struct log *log, LONGLONG time);
/* Returns when the next file begins that is not open yet; INT64_MAX: there is none. */
LONGLONG captures_next_time(const struct log *log);
PDH_STATUS captures_open_file(struct log *log, size_t number);
void captures_close_file(struct log *log, size_t number);

struct log {
    struct columns columns;
    struct log_set *set; /* NULL: the files were named */
    struct file *files;
    size_t file_count;
    /* the file of the sample that was returned last; NULL: no sample yet, or a gap since then */
    struct file *last;
    LONGLONG from, until;
    bool early;
    bool merged;                /* log_merge was called */
    LONGLONG newest;            /* time of the last sample that log_next returned; 0: none */
    struct column_names *names; /* tables of names, one for each machine that has names */
    size_t name_count;
    struct log_losses losses;
    struct log_facts facts;
    struct buffer problem;
    struct zst_decoder *decoder; /* of all compressed files; NULL: not needed yet */
};

/* ---- log.c, seek.c: the files of a log ---- */
/* Sets the file's message "FILE: line N, offset N: ...", writes it to the trace too, and returns
 * `status`. */
PDH_STATUS file_problem(struct file *file, PDH_STATUS status, uint64_t offset, const char *format,
                        ...) PRINTF_LIKE(4, 5);
/* Counts something that cannot be shown, except while only times are read. */
#define file_lose(file, reason, count, ...)                                                        \
    ((file)->blind ? (void)0 : losses_add(&(file)->log->losses, reason, count, __VA_ARGS__))
void file_done(struct file *file);
/* Makes the marks of the file, unless they were made for its present size. */
PDH_STATUS file_mark(struct file *file);
/* Makes space for the files of a log. False: no memory. */
bool log_make_files(struct log *log, size_t count);
/* Opens a file of the capture. `opened` is the status with which its stream was opened. */
PDH_STATUS log_open_file(struct log *log, struct file *file, LSTATUS opened);
/* Reads the next sample, and skips sections outside of the log's range. */
PDH_STATUS file_next_wanted(struct file *file);
/* Adds an entry to the file's catalogue. */
PDH_STATUS file_map_add(struct file *file, uint32_t column);
/* Makes `values` large enough for all columns, and marks the columns that the file lacks as
 * absent. */
PDH_STATUS file_make_values(struct file *file);

/* Converts a status of opening or reading a file to a status of PDH. */
PDH_STATUS status_to_pdh(LSTATUS status);

/* ---- write.c, write-binary.c, write-zst.c ---- */
struct binary_writer;
struct log_writer {
    int fd;
    struct csv csv;      /* csv.lines: what was not written yet, in all formats */
    bool caption, plain; /* plain: the output is a file that can be truncated */
    size_t count;
    uint64_t written;
    uint64_t before; /* CSV and TSV: bytes of whole lines that the file had */
    PDH_STATUS failed;
    struct binary_writer *binary; /* NULL: CSV or TSV */
    char *compressed; /* path of the file that the BLG becomes when it is closed; NULL: none */
};
LSTATUS write_status(int error); /* converts an errno of write() */
/* Writes the head, or appends to a file of `size` bytes. After a failure *ret_problem may be a
 * message. binary_end frees writer->binary in any case. */
PDH_STATUS binary_create(struct log_writer *writer, const char *path, uint64_t size,
                         const struct log_header *header, const char **ret_problem);
PDH_STATUS binary_flush(struct log_writer *writer);
PDH_STATUS binary_end(struct log_writer *writer);
/* Opens a new unnamed file in the folder of `path`; -1: see errno. */
int zst_open_plain(const char *path);
/* Compresses the BLG in the file `from` to `to`, which appears when it is complete and on the
 * disk, with the mode and group of `from`. */
PDH_STATUS zst_write(int from, const char *to);

/* ---- zone.c: when daylight time begins and ends ---- */
struct zone_rule {
    LONG bias, standard_bias, daylight_bias;
    /* date when standard or daylight time begins; year 0: the n-th weekday of the month, in every
     * year */
    SYSTEMTIME standard, daylight;
};
bool zone_is_daylight(const struct zone_rule *rule, LONGLONG local_time);

/* ---- sample.c: the content of a binary capture's records ---- */
/* Adds the entries of a catalogue record to the file's map. In this and the next two functions
 * `offset` is for messages. */
PDH_STATUS catalogue_read(struct file *file, const unsigned char *body, size_t size,
                          uint64_t offset);
bool sample_matches(const unsigned char *body, size_t size); /* does the body begin as a sample? */
PDH_STATUS sample_read(struct file *file, const unsigned char *body, size_t size, uint64_t offset);
PDH_STATUS names_read(struct file *file, const unsigned char *body, size_t size, uint64_t offset);

#endif
