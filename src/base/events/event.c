/* SPDX-License-Identifier: MIT */
/*
 * The event log's API: texts from the catalog, and a limit for floods.
 *
 * A provider that fails at every query must not flood the log: of equal events (source, id,
 * service) the first ten are written singly, later ones as one line a minute with their number.
 * Events that no log accepted count as suppressed. There is no timer: a count whose minute is over
 * is written with the next event of any kind, and when the session ends.
 */
#include "base/base.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SINGLE_EVENTS = 10, SLOTS = 512, SLOT_ROWS = 8, ROWS = SLOTS * SLOT_ROWS };
/* at most this many count lines are written together with one event */
enum { COUNTS_AT_ONCE = 16 };
static const int64_t silence = (int64_t)60 * CLOCK_TICKS_PER_SECOND;

/* A copy of the last event, for the line that reports later how many were suppressed. */
struct last_message {
    char *source, *service, *text, *advice;
    unsigned id;
    enum event_level level;
    struct buffer fields; /* for journald */
};

struct repetition {
    uint64_t what; /* hash of an event's source, id and service; 0: the row is free */
    unsigned written, held_back;
    /* clock_ticks of the last event that was written, of the last event at all, and of the last
     * count that was written at a session's end; 0: never */
    int64_t last_written, last_seen, last_closed;
    struct last_message *message; /* the last message; NULL: nothing was suppressed yet */
};

int64_t (*event_clock)(void) = clock_ticks;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct repetition repetitions[ROWS];
static _Atomic int64_t first_count_due = INT64_MAX;

/* ---- floods ---- */

static uint64_t hash_text(uint64_t hash, const char *text)
{
    do
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    while (*text++);
    return hash;
}

static uint64_t hash_event(const char *source, unsigned id, const char *service)
{
    uint64_t hash = hash_text(UINT64_C(0xcbf29ce484222325) ^ id, source);
    hash = hash_text(hash, service);
    return hash ? hash : 1;
}

static void free_message(struct last_message *message)
{
    if (!message)
        return;
    free(message->source);
    free(message->service);
    free(message->text);
    free(message->advice);
    buffer_done(&message->fields);
    free(message);
}

/* After fork(), the child clears the counts of suppressed events; the parent reports them. */
static void leave_parents_counts(void)
{
    static pid_t owner;
    lock_take(&lock);
    if (owner != getpid()) {
        for (size_t i = 0; i < ROWS; i++)
            repetitions[i].held_back = 0;
        atomic_store(&first_count_due, INT64_MAX);
        owner = getpid();
    }
    lock_release(&lock);
}

/* Returns the event's row. If it has none yet, makes one from a free row (last_seen 0) or else from
 * the row whose event was last seen longest ago. */
static struct repetition *row_of(uint64_t what)
{
    struct repetition *slot = &repetitions[what % SLOTS * SLOT_ROWS], *oldest = slot;
    for (size_t i = 0; i < SLOT_ROWS; i++) {
        if (slot[i].what == what)
            return &slot[i];
        if (slot[i].last_seen < oldest->last_seen)
            oldest = &slot[i];
    }
    free_message(oldest->message);
    *oldest = (struct repetition){.what = what};
    return oldest;
}

/* Adds `count` suppressed events to the row. If the row has a message, a line with the count
 * becomes due after the minute; else the next event of this kind states the count. */
static void hold_back(struct repetition *row, unsigned count)
{
    int64_t due = row->last_written + silence;
    row->held_back += count;
    if (row->message && due < atomic_load(&first_count_due))
        atomic_store(&first_count_due, due);
}

/* Returns true if this event must be written now; then *ret_held_back is the number of equal events
 * that were suppressed since the last line. */
static bool is_due(uint64_t what, unsigned *ret_held_back)
{
    int64_t now = event_clock();
    lock_take(&lock);
    struct repetition *row = row_of(what);
    bool due = row->written < SINGLE_EVENTS || now - row->last_written >= silence;
    row->last_seen = now;
    *ret_held_back = row->held_back;
    if (due) {
        row->written++;
        row->held_back = 0;
        row->last_written = now;
    } else {
        hold_back(row, 1);
    }
    lock_release(&lock);
    return due;
}

static void was_not_written(uint64_t what, unsigned count)
{
    lock_take(&lock);
    hold_back(row_of(what), count);
    lock_release(&lock);
}

static struct last_message *copy_message(const struct event_record *record)
{
    struct last_message *message = calloc(1, sizeof(*message));
    if (!message)
        return NULL;
    *message = (struct last_message){.source = strdup(record->source),
                                     .service = strdup(record->service),
                                     .text = strdup(record->text),
                                     .advice = strdup(record->advice),
                                     .id = record->id,
                                     .level = record->level};
    event_add_fields(&message->fields, record->fields);
    if (message->source && message->service && message->text && message->advice &&
        !message->fields.failed)
        return message;
    free_message(message);
    return NULL;
}

/* Keeps a copy of the event, for the line that reports suppressed ones. The first SINGLE_EVENTS are
 * never suppressed, so they are not copied. */
static void keep_message(const struct event_record *record, uint64_t what)
{
    lock_take(&lock);
    struct repetition *row = row_of(what);
    bool wanted = row->written >= SINGLE_EVENTS;
    struct last_message *message = wanted ? copy_message(record) : NULL;
    if (message) {
        free_message(row->message);
        row->message = message;
    }
    lock_release(&lock);
}

static LSTATUS write_record(struct event_record *record, struct buffer *text)
{
    if (record->repeated)
        buffer_printf(text, " (and %u more like this)", record->repeated);
    record->text = text->failed || !text->data ? "" : text->data;
    trace("event", "%s %u %s: %s", record->source, record->id, record->service, record->text);
    /* LoadPerf's information events (registration loaded or removed) are kept too, because they
     * show that the service's earlier events are out of date */
    if (!strcmp(record->source, "Perflib") || record->level == EVENT_INFO)
        event_last_keep(record);
    return text->failed ? ERROR_NOT_ENOUGH_MEMORY : event_write(record);
}

static void write_if_due(struct event_record *record, struct buffer *text, uint64_t what)
{
    record->text = text->failed || !text->data ? "" : text->data;
    keep_message(record, what);
    if (write_record(record, text))
        was_not_written(what, record->repeated + 1);
}

/* ---- counts without a further event ---- */

/* The number of suppressed events, taken from a row, and the last event's text. */
struct count {
    uint64_t what;
    unsigned held_back;
    struct last_message *message;
};

/* True if the row's count must be written: a minute after the event's last line. At the end of a
 * session (`closing`) the count is due at once, unless the end of another session wrote it less
 * than a minute ago. */
static bool is_count_due(const struct repetition *row, int64_t now, bool closing)
{
    return row->held_back && row->message &&
           (now - row->last_written >= silence ||
            (closing && (!row->last_closed || now - row->last_closed >= silence)));
}

static struct count take_count(struct repetition *row, int64_t now, bool closing)
{
    struct count count = {row->what, row->held_back, row->message};
    row->held_back = 0;
    row->message = NULL;
    row->last_written = now;
    row->last_closed = closing ? now : row->last_closed;
    return count;
}

/* Takes the next due count, starting with row *at; *at becomes the row after it. Returns false if
 * no count is due. first_count_due becomes the earliest time at which one of the other counts is
 * due. */
static bool next_count(size_t *at, bool closing, struct count *ret)
{
    int64_t now = event_clock();
    bool found = false;
    lock_take(&lock);
    for (; *at < ROWS && !found; ++*at) {
        struct repetition *row = &repetitions[*at];
        found = is_count_due(row, now, closing);
        if (found)
            *ret = take_count(row, now, closing);
        else if (row->held_back)
            hold_back(row, 0);
    }
    lock_release(&lock);
    return found;
}

/* Puts the message of a count that could not be written back into its row, unless the row already
 * has a newer message. */
static void return_message(const struct count *count)
{
    lock_take(&lock);
    struct repetition *row = row_of(count->what);
    bool needed = !row->message;
    if (needed)
        row->message = count->message;
    lock_release(&lock);
    if (!needed)
        free_message(count->message);
}

static void write_count(const struct count *count)
{
    const struct last_message *message = count->message;
    BUFFER_AUTO text = {0};
    struct event_record record = {.source = message->source,
                                  .id = message->id,
                                  .level = message->level,
                                  .service = message->service,
                                  .advice = message->advice,
                                  .repeated = count->held_back,
                                  .entry = &message->fields};
    buffer_add_text(&text, message->text);
    if (write_record(&record, &text))
        was_not_written(count->what, count->held_back);
    return_message(count);
}

static void write_counts(bool closing)
{
    struct count count;
    size_t at = 0, written = 0;
    atomic_store(&first_count_due, INT64_MAX);
    while (written < COUNTS_AT_ONCE && next_count(&at, closing, &count)) {
        write_count(&count);
        written++;
    }
    if (at < ROWS)
        /* the next event writes the counts that are left */
        atomic_store(&first_count_due, INT64_MIN);
}

void event_close(void)
{
    int saved = errno;
    leave_parents_counts();
    if (atomic_load(&first_count_due) != INT64_MAX)
        write_counts(true);
    errno = saved;
}

void event_forget(void)
{
    lock_take(&lock);
    for (size_t i = 0; i < ROWS; i++)
        free_message(repetitions[i].message);
    memset(repetitions, 0, sizeof(repetitions));
    lock_release(&lock);
    atomic_store(&first_count_due, INT64_MAX);
    event_last_forget();
}

/* ---- texts ---- */

static const struct event_field *find_field(const struct event_field *fields, const char *name,
                                            size_t length)
{
    for (; fields && fields->name; fields++)
        if (strlen(fields->name) == length && memcmp(fields->name, name, length) == 0)
            return fields;
    return NULL;
}

static void add_value(struct buffer *text, const struct event_field *field)
{
    unsigned long long number = field->number;
    if (field->style == EVENT_AS_TEXT)
        buffer_add_text(text, field->text ? field->text : "");
    else if (field->style == EVENT_AS_STATUS)
        buffer_printf(text, "%s (%llu)", status_text((LSTATUS)number), number);
    else
        buffer_printf(text, field->style == EVENT_AS_HEX ? "0x%llx" : "%llu", number);
}

void event_add_message(struct buffer *text, const char *message, const char *service,
                       const struct event_field *fields)
{
    const char *brace, *end;
    for (; (brace = strchr(message, '{')) && (end = strchr(brace, '}')); message = end + 1) {
        size_t length = (size_t)(end - brace) - 1;
        const struct event_field *field = find_field(fields, brace + 1, length);
        buffer_add(text, message, (size_t)(brace - message));
        if (field)
            add_value(text, field);
        else if (length == strlen("Service") && memcmp(brace + 1, "Service", length) == 0)
            buffer_add_text(text, service);
        else
            buffer_add_byte(text, '?');
    }
    buffer_add_text(text, message);
}

static const char *or_empty(const char *text)
{
    return text ? text : "";
}

void event_log(const char *source, unsigned id, const char *service,
               const struct event_field *fields, const char *more)
{
    static const struct event_message no_row = {"", 0, EVENT_ERROR, "", "", ""};
    int saved = errno;
    const struct event_message *message = event_message(source, id);
    BUFFER_AUTO text = {0};
    BUFFER_AUTO advice = {0};
    struct event_record record = {
        .source = source, .id = id, .service = or_empty(service), .fields = fields};
    uint64_t what = hash_event(source, id, record.service);
    leave_parents_counts();
    if (is_due(what, &record.repeated)) {
        message = message ? message : &no_row;
        record.level = message->level;
        event_add_message(&text, message->text, record.service, fields);
        if (more)
            buffer_printf(&text, "%s%s", text.len ? ": " : "", more);
        event_add_message(&advice, message->advice, record.service, fields);
        record.advice = advice.failed ? "" : or_empty(advice.data);
        write_if_due(&record, &text, what);
    }
    if (event_clock() >= atomic_load(&first_count_due))
        write_counts(false);
    errno = saved;
}
