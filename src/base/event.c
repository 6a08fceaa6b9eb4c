/* SPDX-License-Identifier: MIT */
/*
 * The event log's door: words from the catalog, and a limit for floods.
 *
 * A provider that fails at every query must not flood the log: of equal events (source, id,
 * service) the first ten come singly, later ones as one line a minute that tells how many there
 * were. What no log took counts as held back.
 */
#include "base/base.h"

#include <errno.h>
#include <string.h>

enum { SINGLE_EVENTS = 10, SHELVES = 512, SHELF_ROOM = 8 };
static const int64_t silence = (int64_t)60 * CLOCK_TICKS_PER_SECOND;

struct repetition {
    uint64_t what; /* hash of source, id and service; 0: free */
    unsigned written, held_back;
    int64_t last_written, last_seen;
};

int64_t (*event_clock)(void) = clock_ticks;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct repetition repetitions[SHELVES][SHELF_ROOM];

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

/* Its row; else a free one (last_seen 0), else that of the event seen longest ago. */
static struct repetition *row_of(uint64_t what)
{
    struct repetition *shelf = repetitions[what % SHELVES], *oldest = shelf;
    for (size_t i = 0; i < SHELF_ROOM; i++) {
        if (shelf[i].what == what)
            return &shelf[i];
        if (shelf[i].last_seen < oldest->last_seen)
            oldest = &shelf[i];
    }
    *oldest = (struct repetition){.what = what};
    return oldest;
}

/* Is this one to be written? *ret_held_back: how many equal ones were not, since the last line. */
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
        row->held_back++;
    }
    lock_release(&lock);
    return due;
}

static void was_not_written(uint64_t what, unsigned count)
{
    lock_take(&lock);
    row_of(what)->held_back += count;
    lock_release(&lock);
}

static void write_if_due(struct event_record *record, struct buffer *text, uint64_t what)
{
    if (record->repeated)
        buffer_printf(text, " (and %u more like this)", record->repeated);
    record->text = text->failed || !text->data ? "" : text->data;
    trace("event", "%s %u %s: %s", record->source, record->id, record->service, record->text);
    if (text->failed || event_write(record) != ERROR_SUCCESS)
        was_not_written(what, record->repeated + 1);
}

/* ---- words ---- */

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
    if (field->form == EVENT_AS_TEXT)
        buffer_add_text(text, field->text ? field->text : "");
    else if (field->form == EVENT_AS_STATUS)
        buffer_printf(text, "%s (%llu)", status_text((LSTATUS)number), number);
    else
        buffer_printf(text, field->form == EVENT_AS_HEX ? "0x%llx" : "%llu", number);
}

void event_add_words(struct buffer *text, const char *words, const char *service,
                     const struct event_field *fields)
{
    const char *brace, *end;
    for (; (brace = strchr(words, '{')) && (end = strchr(brace, '}')); words = end + 1) {
        size_t length = (size_t)(end - brace) - 1;
        const struct event_field *field = find_field(fields, brace + 1, length);
        buffer_add(text, words, (size_t)(brace - words));
        if (field)
            add_value(text, field);
        else if (length == strlen("Service") && memcmp(brace + 1, "Service", length) == 0)
            buffer_add_text(text, service);
        else
            buffer_add_byte(text, '?');
    }
    buffer_add_text(text, words);
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
    if (is_due(what, &record.repeated)) {
        message = message ? message : &no_row;
        record.level = message->level;
        event_add_words(&text, message->text, record.service, fields);
        if (more)
            buffer_printf(&text, "%s%s", text.len ? ": " : "", more);
        event_add_words(&advice, message->advice, record.service, fields);
        record.advice = advice.failed ? "" : or_empty(advice.data);
        write_if_due(&record, &text, what);
    }
    errno = saved;
}
