/* SPDX-License-Identifier: MIT */
/*
 * API of base: wrappers around libc. Independent of counters.
 *
 * Every function that can fail returns a Win32 status (0 is success); errno is translated here, at
 * the line of the system call. All text is UTF-8 (generalized: a lone UTF-16 surrogate is encoded
 * in three bytes).
 */
#ifndef OPL_BASE_H
#define OPL_BASE_H

#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include <windef.h>
#include <winerror.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define PRINTF_LIKE(text, first) __attribute__((format(printf, text, first)))

/* ---- fixed limits: exceeding one is an error, never a truncation ---- */
enum {
    LIMIT_QUERY_OBJECTS = 1024,  /* maximum number of title indices in one query */
    LIMIT_QUERY_CHARS = 16384,   /* maximum characters of a query string */
    LIMIT_KEY_NAME = 255,        /* maximum characters of a key's name */
    LIMIT_VALUE_NAME = 16383,    /* maximum characters of a value's name */
    LIMIT_KEY_DEPTH = 512,       /* maximum levels of nested keys */
    LIMIT_VALUE_BYTES = 64 << 20 /* maximum bytes of a value's data */
};

/* ---- status.c ---- */
LSTATUS status_from_errno(int error);
/* True if `status` is a lack of memory or of descriptors: the accessed object is not at fault, and
 * a retry may succeed. */
bool status_is_passing(LSTATUS status);
/* Returns a short lower-case sentence without period that describes the status; "status N" for an
 * unknown one; never NULL. */
const char *status_text(LSTATUS status);

/* ---- text.c: a growing byte buffer; after a failed allocation `failed` stays true ---- */
struct buffer {
    char *data; /* NULL or the content, after which data[len] is a NUL */
    size_t len, capacity;
    bool failed;
};
void buffer_done(struct buffer *buffer);
void buffer_clear(struct buffer *buffer); /* empties the buffer; the memory stays allocated */
bool buffer_reserve(struct buffer *buffer, size_t more);
bool buffer_add(struct buffer *buffer, const void *bytes, size_t count);
bool buffer_add_text(struct buffer *buffer, const char *text); /* adds the text without the NUL */
bool buffer_add_byte(struct buffer *buffer, char byte);
bool buffer_printf(struct buffer *buffer, const char *format, ...) PRINTF_LIKE(2, 3);
LSTATUS buffer_status(const struct buffer *buffer); /* 0 or ERROR_NOT_ENOUGH_MEMORY */
#define BUFFER_AUTO __attribute__((cleanup(buffer_done))) struct buffer
/* Lets the kernel map all pages of the memory in one call, which is cheaper than one page fault per
 * page. */
void memory_populate(void *memory, size_t bytes);
/* Gives the pages of a large piece of memory back to the system: they become 0, and use memory
 * again when they are written. For memory that is needed only while an answer is made. */
void memory_unused(void *memory, size_t bytes);
/* Makes space for one more element of `size` bytes in an array; *array_pointer may change. */
bool list_grow(void *array_pointer, size_t count, size_t *capacity, size_t size);
void free_pointer(void *pointer_to_pointer);
#define FREE_AUTO __attribute__((cleanup(free_pointer)))

/* ---- text.c: UTF-8 and UTF-16 ---- */
/* Converts `count` units of `text`. Writes at most `capacity` units to `out` and returns how many
 * the whole text needs (capacity 0: only measures). Invalid UTF-8 bytes become U+FFFD each; lone
 * surrogates survive both conversions. */
size_t utf8_to_16(const char *text, size_t count, uint16_t *out, size_t capacity);
/* Like utf8_to_16, from UTF-16 to UTF-8. `text` may be misaligned, as in network data. */
size_t utf16_to_8(const void *text, size_t count, char *out, size_t capacity);
bool utf16_add_as_8(struct buffer *buffer, const uint16_t *text, size_t count);
bool utf8_add_as_16(struct buffer *buffer, const char *text, size_t count);
bool utf8_valid(const char *text, size_t count);
size_t utf16_length(const uint16_t *text);
/* Returns the upper-case form of one code point by Unicode's simple folding, as the registry
 * does. */
uint32_t unicode_upper(uint32_t code_point);
/* Compare two texts without regard to case: by the simple upper-case form of each code point. The
 * result orders texts as strcmp does. */
int text_compare_fold(const char *left, const char *right);
int text_compare_fold_n(const char *left, size_t left_count, const char *right, size_t right_count);
/* Compares without regard to case; in `pattern`, "*" stands for any text and "?" for any
 * character: the patterns of counter paths. */
bool text_match(const char *pattern, const char *text);
/* Returns a hash. Texts that text_compare_fold_n treats as equal have the same hash. */
uint64_t text_hash_fold(const char *text, size_t count);

/* ---- unreleased.c ---- */
/* Returns true if the library in the file was built for an openperflib from before the first
 * release, whose symbol opl_tables had no version yet. Reads the whole file. */
bool library_is_unreleased(const char *path);
#define LIBRARY_UNRELEASED                                                                         \
    "it was built for an unreleased version of openperflib and must be built again"

/* ---- text.c: words and numbers ---- */
/* Returns the start of the next word and sets *count to its length; *cursor moves after it. Words
 * are separated by spaces and tabs. NULL: no more words. */
const char *text_word(const char **cursor, size_t *count);
/* Converts [text, text+count), which must be a decimal number as a whole; returns false if the text
 * is no such number or the number exceeds 2^32-1. */
bool text_decimal(const char *text, size_t count, uint32_t *ret);
bool text_hex(const char *text, size_t count, uint32_t *ret);
bool text_equal_fold(const char *left, const char *right);
bool text_starts_fold(const char *text, const char *prefix);
/* Returns the next string of a multi-string in [*cursor, end). NULL: the end, which is an empty
 * string or one without NUL (a struct buffer has a NUL after its len: pass data + len + 1 to accept
 * a last string without a NUL). */
const char *text_multi_next(const char **cursor, const char *end);
/* returns the text, to be freed; NULL: no memory */
char *text_format(const char *format, ...) PRINTF_LIKE(1, 2);

/* ---- file.c ---- */
/* Both functions read up to the end of the file and replace the content of `ret`. They never wait
 * for a pipe's writer. */
LSTATUS file_read(int dir_fd, const char *path, struct buffer *ret);
LSTATUS file_read_fd(int fd, struct buffer *ret);
/* Like file_read. ERROR_FILE_TOO_LARGE: the file has more bytes than `most`, or never ends, like a
 * device. */
LSTATUS file_read_most(int dir_fd, const char *path, size_t most, struct buffer *ret);
/* Returns what there is at `path` instead of a regular file, for messages: "it is a folder, not a
 * file". NULL: a regular file, or nothing. */
const char *file_kind(const char *path);
const char *file_kind_of(const struct stat *st); /* like file_kind, by the stat data */
/* Writes `path` completely or not at all: temporary file ".*.tmp" in the same folder, fsync,
 * rename, fsync of the folder. The new file has `mode`, whatever the umask. Its modification time
 * becomes later than `after` (if not NULL) by at least 1 ns, so that readers always notice the
 * change; *ret_stat (may be NULL) receives its stat data. If the disk is full the old file
 * stays. */
LSTATUS file_replace(int dir_fd, const char *path, mode_t mode, const void *data, size_t size,
                     const struct timespec *after, struct stat *ret_stat);
LSTATUS file_remove(int dir_fd, const char *path); /* removes the file, then syncs the folder */
/* Like mkdir -p; each new folder has `mode` and is durable. */
LSTATUS file_make_folders(const char *path, mode_t mode);
LSTATUS file_lock(int dir_fd, const char *path, int *ret_fd); /* creates the file if it is missing;
                                                               * waits for its flock */
void file_unlock(int *fd);
/* Like pwrite, or like write if `at` is negative. But at the program's file size limit
 * (RLIMIT_FSIZE) it fails with EFBIG, without SIGXFSZ, which would end the program. */
ssize_t file_write_limited(int fd, const void *data, size_t size, off_t at);
/* The disk operations of file.c, for tests that record them, make them fail or stop between
 * them. */
struct file_steps {
    int (*open)(int dir_fd, const char *path, int flags, mode_t mode);
    ssize_t (*write)(int fd, const void *data, size_t size);
    int (*sync)(int fd);
    int (*rename)(int old_dir, const char *old_path, int new_dir, const char *new_path);
    int (*unlink)(int dir_fd, const char *path);
};
extern struct file_steps file_steps;

/* ---- trust.c ---- */
/* True if the owner of `st` is trusted (root, the effective user, in a user namespace also the root
 * user outside of it) and no other user may write the file. `folder_of_caller_entry`: `st` is the
 * folder of an entry that the caller owns; then sticky folders of root, such as /tmp, are trusted
 * too, because others cannot replace that entry. */
bool file_trusted(const struct stat *st, bool folder_of_caller_entry);
/* The largest size, in bytes, of each kind of state file: a larger file is neither read nor
 * written, and stays as it is. */
enum { STATE_RECORDS_MOST = 1 << 20, STATE_EVENTS_MOST = 8 << 20, STATE_LISTS_MOST = 64 << 20 };
/* Returns why openperflib does not use a file of its state that it writes in place, for messages:
 * it is no regular file, has a second name, is not trusted, or has more than `most` bytes. NULL: it
 * is used. */
const char *file_fault(const struct stat *st, off_t most);
/* Opens a file that is to be overwritten in place. It must belong to the effective user, and
 * file_fault must accept it; no symbolic link is followed. A missing file is created, readable by
 * all users whatever the umask; with `make_folder` also its folder, whose path must be absolute.
 * -1: it cannot be opened. */
int file_open_to_write(int dir_fd, const char *path, off_t most, bool make_folder);
/* Returns ERROR_SUCCESS if only root and the effective user may change the regular file `real_path`
 * and every folder above it. Else `why` names the path and what to do. Links are refused. */
enum { TRUST_TEXT = 512 };
LSTATUS trust_check(const char *real_path, char why[static TRUST_TEXT]);
/* Like trust_check for a file of this package: the caller's own group may have write permission, as
 * in a build folder that was made with umask 002. */
LSTATUS trust_check_shipped(const char *real_path, char why[static TRUST_TEXT]);
/* Like trust_check_shipped for a program that is about to be started; links are followed. A file
 * that is missing passes, because exec reports it. */
LSTATUS trust_check_program(const char *file, char why[static TRUST_TEXT]);
/* Like trust_check for a folder; the caller's own group may have write permission. The folder, and
 * folders above it, may be missing if no other user can create them: the topmost missing folder is
 * created if it would be in a folder like /tmp. */
LSTATUS trust_check_folder(const char *folder, char why[static TRUST_TEXT]);

/* ---- environment.c ---- */
/* Returns the variable's value. NULL: it is not set, or the program has more rights than its caller
 * (setuid), so that the environment is not trusted. */
const char *environment_get(const char *name);
/* Returns the environment for a program that is started: PATH, languages, time zone, the effective
 * user's entry in the user database, and our own variables if they are trusted; for logins to other
 * machines also the variables of ssh agents and Kerberos tickets. One block for free(); NULL: no
 * memory. */
enum environment_for { ENVIRONMENT_FOR_HELPER, ENVIRONMENT_FOR_LOGIN };
char **environment_new(enum environment_for purpose);

/* ---- place.c: paths of files and folders; the environment is read once ---- */
/* Returns OPENPERFLIB_VENDOR, if that folder is trusted; else the folder openperflib beside the
 * library; else the compiled-in folder. */
const char *place_vendor(void);
/* Returns the path of a library that is registered by its name alone: in the folder of the shipped
 * providers, else in the installation's folder, where other packages put their libraries. To be
 * freed; NULL: no memory. *ret_shipped: false if the file is in the installation's folder. */
char *place_library(const char *name, bool *ret_shipped);
bool place_honours_vendor(void);
/* Returns OPENPERFLIB_ROOT/machine or /var/lib/openperflib; NULL: OPENPERFLIB_ROOT is not
 * trusted */
const char *place_machine(void);
/* Returns OPENPERFLIB_ROOT/user, else $XDG_DATA_HOME/openperflib, else a folder below the home in
 * the user database, else NULL */
const char *place_user(void);
const char *place_events(void);  /* OPENPERFLIB_ROOT/events, or NULL: the system log */
const char *place_sysroot(void); /* OPENPERFLIB_SYSROOT, or "/" */
/* Returns the path of the file of answers (host/answers.c): OPENPERFLIB_ROOT/answers, else for root
 * PLACE_ANSWERS_OF_ROOT, else $XDG_RUNTIME_DIR/openperflib/answers, else NULL */
const char *place_answers(void);
#define PLACE_ANSWERS_OF_ROOT "/run/openperflib/answers"
void place_forget(void); /* tests only: reads the environment anew; all paths returned before become
                          * invalid */

/* ---- lock.c: locks that are free in a child of fork(); fork() waits for their holders ---- */
/* UNCANCELLED: until the end of the block the thread cannot be cancelled, because a cancelled
 * thread would never release its lock or claim. May be nested. A thread that holds a lock cannot be
 * cancelled anyway; a thread that takes a claim must be in an UNCANCELLED block. */
void cancel_forbid(void);
void cancel_permit(void *unused);
#define UNCANCELLED                                                                                \
    __attribute__((cleanup(cancel_permit), unused)) char uncancelled = (cancel_forbid(), '\0')
void lock_take(pthread_mutex_t *lock);
void lock_release(pthread_mutex_t *lock);
/* A lock that may be held for long: fork() does not wait for it. A zeroed claim is free. A thread
 * that holds a mutex of lock_take must not take a claim. */
struct claim {
    _Atomic uint32_t word;
};
void claim_take(struct claim *claim);
/* Waits for the claim until clock_ticks() is `deadline` (INT64_MAX: for ever). Returns false if the
 * claim was not taken. */
bool claim_take_until(struct claim *claim, int64_t deadline);
void claim_release(struct claim *claim);

/* ---- handle.c: numbers for objects; closed handles and those of other tables are refused ----
 * Thread-safe; the caller must protect what handle_get returned against a concurrent close. A table
 * is never freed. {.tag = 1} is an empty table; tags are 1 to 7. */
struct handle_table {
    struct handle_slot *slots;
    uint32_t count, capacity, free_head;
    uint32_t tag; /* a number that is set once and distinguishes the kinds of handles */
};
/* Makes a handle of the object: *ret receives the new handle, which is never 0 and never equals a
 * predefined registry key; `object` must not be NULL. */
LSTATUS handle_new(struct handle_table *table, void *object, uintptr_t *ret);
/* Returns the object. NULL: the handle is not of this table, or was closed. */
void *handle_get(struct handle_table *table, uintptr_t handle);
/* Closes the handle and returns its object; NULL as for handle_get. */
void *handle_take(struct handle_table *table, uintptr_t handle);

/* ---- clock.c ---- */
enum { CLOCK_TICKS_PER_SECOND = 10000000 };
int64_t clock_ticks(void);    /* CLOCK_MONOTONIC in 100 ns */
int64_t clock_filetime(void); /* CLOCK_REALTIME as 100 ns since 1601-01-01 UTC */
/* Reads both clocks at the same moment, as nearly as possible. */
void clock_both(int64_t *ret_ticks, int64_t *ret_filetime);
int64_t clock_filetime_of(const struct timespec *unix_time);
void clock_systemtime(int64_t filetime, SYSTEMTIME *ret);
int64_t clock_filetime_from(const SYSTEMTIME *time);

/* ---- place.c: this machine's name ---- */
/* Writes the first label of the host name in upper case, at most 15 characters; never empty. `host`
 * NULL: this machine's host name. */
void machine_name(const char *host, char name[static 16 * 4]);
/* True if `name` means this machine: NULL, "", ".", localhost, 127.0.0.1, ::1, the host name or its
 * first label, with or without \\ before it. */
bool machine_is_own(const char *name);

/* ---- place.c: the folders of logman's sets ---- */
/* Where a set of logman, its captures and its state are: of the system, or of the user (`user`).
 * Returns the path, to be freed: a file for PLACE_SET, else a folder, which may be missing. `name`
 * NULL: the folder of all sets. NULL: no memory, or the user has no home folder. */
enum set_place { PLACE_SET, PLACE_CAPTURES, PLACE_RUN };
char *set_path(bool user, const char *name, enum set_place place);
/* Returns the name of a set without its owner, by which *user is set: "system:base" is the system's
 * base, "user:base" this user's. */
const char *set_owner(const char *name, bool *user);

/* ---- detached.c: short-lived processes that share our memory and nothing else ---- */
/* Runs `function` on another stack in a child process that has an empty descriptor table of its own
 * and shares all memory; the program gets neither SIGCHLD nor a result of wait() for it. Returns 0
 * or an errno. */
int detached_run(void (*function)(void *argument), void *argument);
/* Like detached_run; the descriptor `kept` stays open in the child. */
int detached_run_keeping(int kept, void (*function)(void *argument), void *argument);
/* Only inside a child of detached_run: starts `function` as a process for whose exit this process
 * does not wait; returns when that process has called exec or exited. Returns its pid, or -1 with
 * errno. */
pid_t detached_spawn(int (*function)(void *argument), void *argument);
bool detached_would_be_process_1(void); /* true: a child of this process would be process 1 of a new
                                         * pid namespace, so none may be started */
/* Marks code that runs on the child's stack, which the sanitizers do not know. */
#define DETACHED __attribute__((no_sanitize("address", "undefined")))

/* ---- trace.c: OPENPERFLIB_TRACE=1 prints each step of a query to stderr ---- */
bool trace_on(void);
void trace(const char *station, const char *format, ...) PRINTF_LIKE(2, 3);

/* ---- trace.c: what was missing in this thread's last answers, for reports ---- */
struct shortage {
    size_t needed;    /* size of the whole answer in bytes; 0: unknown */
    size_t instances; /* number of instances of the object whose instances take the most bytes */
    char object[64];
};
extern _Thread_local struct shortage shortage_here;
/* The counters, such as "Process: IO Read Operations/sec, ...", that are missing in this thread's
 * last answers because this user may not read them; "": none. */
enum { DENIED_SIZE = 400 };
extern _Thread_local char denied_here[DENIED_SIZE];

/* ---- trace.c: what this thread's query needs ---- */
/* Counters by the numbers of their titles. If `list` has counters of an object, providers in this
 * process may omit that object's other counters; `list` NULL: all counters are needed. */
struct wanted_list {
    const struct wanted_counter {
        uint32_t object, counter; /* object 0: the counter of any object */
    } * list;
    size_t count;
};
extern _Thread_local struct wanted_list wanted_here;

/* ---- messages.c: the catalog, one row for each event that the library writes
 * (docs/windows/providers.md#d5, docs/windows/registration.md#e7) ---- */
enum event_level { EVENT_ERROR = 1, EVENT_WARNING = 2, EVENT_INFO = 4 };
struct event_message {
    const char *source; /* "Perflib", "LoadPerf" or "PLA" */
    unsigned id;
    enum event_level level;
    const char *fields; /* names of the fields in order, separated by blanks */
    const char *text;   /* {Field} stands for the value of that field */
    const char *advice; /* what the reader should do next; "": nothing */
};
extern const struct event_message event_messages[];
extern const size_t event_message_count;
/* returns the row; NULL: the catalog has no such row */
const struct event_message *event_message(const char *source, unsigned id);
const char *event_level_name(enum event_level level); /* "error", "warning" or "information" */
/* Writes 32 hexadecimal digits, which identify the event in journald's catalog; all events without
 * a row in our catalog share one number. */
void event_message_id(const char *source, unsigned id, char ret[static 33]);
/* Converts a field's name to its journald name: "ObjectCount" becomes OPENPERFLIB_OBJECT_COUNT. */
void event_field_name(const char *name, char ret[static 64]);

/* ---- event.c: the event log ---- */
enum event_style { EVENT_AS_TEXT, EVENT_AS_NUMBER, EVENT_AS_HEX, EVENT_AS_STATUS };
struct event_field {
    const char *name; /* a name of the row's fields; "Service" is added automatically */
    enum event_style style;
    const char *text; /* the value if `style` is EVENT_AS_TEXT; NULL is written as "" */
    uint64_t number;  /* the value in the other styles; EVENT_AS_STATUS also writes the status's
                       * text */
};
#define EVENT_TEXT(name, text) ((struct event_field){name, EVENT_AS_TEXT, text, 0})
#define EVENT_NUMBER(name, number) ((struct event_field){name, EVENT_AS_NUMBER, NULL, number})
#define EVENT_HEX(name, number) ((struct event_field){name, EVENT_AS_HEX, NULL, number})
#define EVENT_STATUS(status)                                                                       \
    ((struct event_field){"Win32Error", EVENT_AS_STATUS, NULL, (uint32_t)(status)})
#define EVENT_FIELDS(...) ((const struct event_field[]){__VA_ARGS__, {NULL}})

/* Writes an event. The catalog's row of (source, id) gives its level and text; `fields` gives the
 * values of the row's fields by name, in any order. `service` and `fields` may be NULL; `more`, if
 * not NULL, is appended to the text (such as a linker's message). Example:
 *     event_log("Perflib", 1008, service->name,
 *               EVENT_FIELDS(EVENT_TEXT("Library", path), EVENT_STATUS(status)), NULL);
 * The first ten events with the same (source, id, service) are written singly, later ones as one
 * line a minute with their count. Returns no error, waits at most as long as event_write, preserves
 * errno. */
void event_log(const char *source, unsigned id, const char *service,
               const struct event_field *fields, const char *more);
/* Appends `message` to `text`, with {Field} replaced by the field's value; a missing value becomes
 * a question mark. */
void event_add_message(struct buffer *text, const char *message, const char *service,
                       const struct event_field *fields);
/* Called at the end of a session, when HKEY_PERFORMANCE_DATA is closed: writes the counts of
 * suppressed events, at most once a minute for each event. */
void event_close(void);
/* For tests: clears all counts. */
void event_forget(void);
extern int64_t (*event_clock)(void); /* clock_ticks; tests replace the function */

/* ---- event_write.c: the logs ---- */
struct event_record {
    /* none of these members is NULL; each may contain any bytes */
    const char *source, *service, *text, *advice;
    unsigned id;
    enum event_level level;
    unsigned repeated;                /* how many equal events were suppressed before this one */
    const struct event_field *fields; /* fields, ended by one without name; NULL: none */
    const struct buffer *entry;       /* more fields, made by event_add_fields, or NULL */
};
/* Appends the fields in journald's format. */
void event_add_fields(struct buffer *entry, const struct event_field *fields);
/* Writes to the file `events` below OPENPERFLIB_ROOT, one line each: time, source, id, level,
 * service, text, separated by tabs; at 4 MiB it becomes `events.old` and a new one begins. Without
 * OPENPERFLIB_ROOT: to journald with the fields, else to the system log's socket. The only wait is
 * that for the file's lock, at most about 50 ms. ERROR_NOT_READY: there is no log. */
LSTATUS event_write(const struct event_record *record);
/* Locks an open file for writing. False if the lock is not free within 50 ms: then the event is
 * written without the lock, because a stopped process may hold the lock for ever. */
bool event_lock(int fd);
/* paths of the sockets; tests replace them */
extern const char *event_journal_path, *event_syslog_path;

/* ---- event_last.c: the last Perflib event of each service ---- */
struct event_last {
    int64_t when; /* filetime */
    unsigned id;
    char level[12];               /* "error", "warning" or "information" */
    char text[1024], advice[768]; /* truncated */
};
void event_last_keep(const struct event_record *record);
/* Returns in *ret the last event that programs of this user or of root logged about the service;
 * false: no such event since the machine started. What this process logged is known even if it may
 * not write the file of last events. */
bool event_last(const char *service, struct event_last *ret);
void event_last_forget(void); /* forgets what this process remembers */

#endif
