/* SPDX-License-Identifier: MIT */
/*
 * Writes BLG files, with the layout that docs/format.md describes. The records of a sample are
 * written to the file before the head of their buffer, which says how many bytes of it are used: a
 * writer that is killed leaves a file that ends with its last whole sample; with `sync` the file is
 * also complete after a power failure, except that the last samples may be missing.
 *
 * A buffer that has only the first parts of a sample is not synced, because readers leave out a
 * sample without its last part, whose buffer is counted after the sync of all of them.
 */
#include "log/formats/binary.h"
#include "log/inner.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

enum { BUFFER_BYTES = 64 << 10, PART_BYTES = 8000, ENTRY_HEAD = 52 };

struct binary_writer {
    char *bytes;          /* the buffer that is filled; FF where nothing was written */
    uint32_t size, used;  /* size of a buffer; bytes used of this one */
    uint32_t part;        /* most bytes of a body that one record has */
    uint32_t saved;       /* bytes of this buffer that the file has; 0: none */
    uint64_t number;      /* number of this buffer since the file began */
    uint64_t sequence;    /* its sequence number, which differs in an appended file */
    uint64_t most;        /* number of buffers in a circular file; 0: the file is not circular */
    unsigned char id[16]; /* GUID of the capture */
    LONGLONG time;        /* UTC, when the last buffer was saved */
    bool sync;            /* whole records are on the disk before a head counts them */
    bool whole;           /* since the last sync a record was completed */
    bool described;       /* circular: this buffer has the catalogue of the next sample */
    /* names: one body for each block, which begins with its size, a size_t */
    struct buffer catalogue, names, body;
};

/* ---- bytes ---- */

static void put16(char *at, unsigned number)
{
    memcpy(at, &(uint16_t){(uint16_t)number}, 2);
}

static void put32(char *at, uint32_t number)
{
    memcpy(at, &number, 4);
}

static void put64(char *at, uint64_t number)
{
    memcpy(at, &number, 8);
}

/* Adds zeros, so that the length becomes a multiple of 8. */
static void round_up(struct buffer *buffer)
{
    static const char zeros[8];
    buffer_add(buffer, zeros, -buffer->len & 7);
}

/* Adds `count` zeros and returns their offset. */
static size_t add_zeros(struct buffer *buffer, size_t count)
{
    size_t at = buffer->len;
    if (buffer_reserve(buffer, count)) {
        memset(buffer->data + at, 0, count);
        buffer->len += count;
    }
    return at;
}

/* Adds a text as UTF-16 with its NUL. */
static void add_wide(struct buffer *buffer, const char *text)
{
    size_t length = strlen(text);
    if (!buffer_reserve(buffer, 2 * length + 2))
        return;
    uint16_t *out = (void *)(buffer->data + buffer->len);
    size_t units = utf8_to_16(text, length, out, length);
    out[units] = 0;
    buffer->len += 2 * (units + 1);
}

/* ---- buffers ---- */

static uint64_t offset_of(const struct binary_writer *binary)
{
    uint64_t place = binary->number;
    if (binary->most && place) /* the first buffer has the capture's head and is never replaced */
        place = 1 + (place - 1) % (binary->most - 1);
    return place * binary->size;
}

static void begin_buffer(struct binary_writer *binary)
{
    memset(binary->bytes, 0, BINARY_BUFFER_HEAD);
    memset(binary->bytes + BINARY_BUFFER_HEAD, 0xFF, binary->size - BINARY_BUFFER_HEAD);
    binary->used = BINARY_BUFFER_HEAD;
    binary->saved = 0;
    binary->described = false;
}

static void put_head(struct binary_writer *binary, uint32_t used)
{
    bool first = binary->number == 0;
    char *head = binary->bytes;
    binary->time = clock_filetime();
    put32(head, binary->size);
    put32(head + 4, used);
    put32(head + 8, first ? 0 : (uint32_t)(offset_of(binary) + used));
    put64(head + 16, first ? 0 : (uint64_t)binary->time);
    put64(head + 24, binary->sequence);
    put32(head + 44, first ? 0 : 3);
    put32(head + 48, used);
    put32(head + 52, first ? 0x00040001 : 0x21);
}

static bool write_all(struct log_writer *writer, const char *bytes, size_t size, uint64_t offset)
{
    while (size) {
        ssize_t count = writer->plain ? pwrite(writer->fd, bytes, size, (off_t)offset)
                                      : write(writer->fd, bytes, size);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return false;
        bytes += count;
        offset += (uint64_t)count;
        size -= (size_t)count;
    }
    return true;
}

static bool save_head(struct log_writer *writer, uint32_t used)
{
    put_head(writer->binary, used);
    return write_all(writer, writer->binary->bytes, BINARY_BUFFER_HEAD, offset_of(writer->binary));
}

/* Syncs what the file has of records that are complete. In a circular file parts of a record are
 * synced, too, because they replace records of the same size, which would seem to complete it. */
static bool sync_whole(struct log_writer *writer)
{
    struct binary_writer *binary = writer->binary;
    if (!binary->sync || !(binary->whole || binary->most))
        return true;
    binary->whole = false;
    return fdatasync(writer->fd) == 0;
}

/* Says in the file that nothing of this buffer counts yet. In a circular file, that is on the disk
 * before new data is, because the head of a buffer that is replaced counts old records. */
static bool empty_head(struct log_writer *writer)
{
    enum { USED = 48 };
    uint64_t offset = offset_of(writer->binary);
    if (offset >= writer->written)
        return save_head(writer, BINARY_BUFFER_HEAD);
    put_head(writer->binary, BINARY_BUFFER_HEAD);
    return write_all(writer, writer->binary->bytes + USED, 4, offset + USED) && sync_whole(writer);
}

/* Writes what a file without compression lacks of the current buffer, then the buffer's head. */
static bool save_plain(struct log_writer *writer, uint64_t offset)
{
    struct binary_writer *binary = writer->binary;
    uint32_t from = binary->saved ? binary->saved : BINARY_BUFFER_HEAD;
    uint32_t to = binary->saved ? binary->used : binary->size;
    return (binary->saved || empty_head(writer)) &&
           write_all(writer, binary->bytes + from, to - from, offset + from) &&
           sync_whole(writer) && save_head(writer, binary->used);
}

static PDH_STATUS save_buffer(struct log_writer *writer)
{
    struct binary_writer *binary = writer->binary;
    uint64_t offset = offset_of(binary);
    if (binary->saved == binary->used)
        return 0;
    put_head(binary, binary->used);
    bool good = writer->plain ? save_plain(writer, offset)
                              : write_all(writer, binary->bytes, binary->size, 0);
    if (!good) {
        writer->failed = (PDH_STATUS)write_status(errno);
        if (writer->plain && !binary->saved && offset == writer->written)
            (void)!ftruncate(writer->fd, (off_t)offset);
        return writer->failed;
    }
    if (offset + binary->size > writer->written)
        writer->written = offset + binary->size;
    binary->saved = binary->used;
    return 0;
}

static PDH_STATUS next_buffer(struct log_writer *writer)
{
    PDH_STATUS status = save_buffer(writer);
    if (!status) {
        writer->binary->number++;
        writer->binary->sequence++;
        begin_buffer(writer->binary);
    }
    return status;
}

/* Adds a record, in parts if its body is long. */
static PDH_STATUS add_record(struct log_writer *writer, int kind, LONGLONG time,
                             const struct buffer *body)
{
    struct binary_writer *binary = writer->binary;
    size_t parts = (body->len + binary->part - 1) / binary->part;
    if (body->failed)
        return (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    for (size_t part = 0; part < parts; part++) {
        size_t from = part * binary->part;
        size_t size = body->len - from < binary->part ? body->len - from : binary->part;
        if (binary->used + BINARY_RECORD_BODY + size > binary->size) {
            PDH_STATUS status = next_buffer(writer);
            if (status)
                return status;
        }
        char *record = binary->bytes + binary->used;
        memset(record, 0, BINARY_RECORD_BODY);
        put16(record, (unsigned)(BINARY_RECORD_BODY + size));
        put16(record + 2, 0xC014);
        put32(record + 4, (uint32_t)kind | 0x003C0000);
        put32(record + 8, (uint32_t)gettid());
        put32(record + 12, (uint32_t)getpid());
        put64(record + 16, (uint64_t)time);
        memcpy(record + 24, binary_guid, sizeof binary_guid);
        put32(record + 44, 0x001A0200);
        memcpy(record + 48, binary->id, sizeof binary->id);
        put32(record + 64, (uint32_t)part + 1);
        put32(record + 68, (uint32_t)parts);
        memcpy(record + BINARY_RECORD_BODY, body->data + from, size);
        binary->used += (uint32_t)(BINARY_RECORD_BODY + size + 7) & ~7u;
    }
    binary->whole = true;
    return 0;
}

/* ---- columns and values ---- */

/* Adds a text to the entry that begins at `entry`, and stores its offset at `field`; NULL: none. */
static void add_entry_text(struct buffer *body, size_t entry, size_t field, const char *text)
{
    uint32_t offset = text ? (uint32_t)(body->len - entry - ENTRY_HEAD) : UINT32_MAX;
    if (text)
        add_wide(body, text);
    if (!body->failed)
        put32(body->data + entry + field, offset);
}

static void add_entry(struct buffer *body, const struct log_column *column, uint32_t number)
{
    size_t at = add_zeros(body, ENTRY_HEAD);
    add_entry_text(body, at, 28, column->machine);
    add_entry_text(body, at, 32, column->object);
    add_entry_text(body, at, 36, column->instance);
    add_entry_text(body, at, 40, column->parent);
    add_entry_text(body, at, 48, column->counter);
    round_up(body);
    if (body->failed)
        return;
    char *entry = body->data + at;
    put32(entry, (uint32_t)(body->len - at));
    put32(entry + 4, 0x20000000 | (column->kind == LOG_ARRAY));
    put32(entry + 8, number);
    put32(entry + 12, column->type);
    put64(entry + 16, (uint64_t)column->time_base);
    put32(entry + 24, (uint32_t)column->scale);
    put32(entry + 44, column->index);
}

/* Adds the names for the numbers in a column's blocks: the machine, then numbers and names. */
static void add_names(struct buffer *names, const struct log_column *column)
{
    const char *cursor = column->names, *end = cursor + column->names_size, *text;
    size_t at = add_zeros(names, sizeof at), size;
    add_wide(names, column->machine ? column->machine : "");
    while ((text = text_multi_next(&cursor, end)))
        add_wide(names, text);
    size = names->len - at - sizeof at;
    if (!names->failed)
        memcpy(names->data + at, &size, sizeof size);
}

/* Writes the catalogue, then the names for its blocks. */
static PDH_STATUS add_catalogue(struct log_writer *writer, LONGLONG time)
{
    struct buffer *names = &writer->binary->names;
    PDH_STATUS status = add_record(writer, BINARY_CATALOGUE, time, &writer->binary->catalogue);
    if (!status && names->failed)
        return (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    for (size_t at = 0, size; !status && at < names->len; at += size) {
        memcpy(&size, names->data + at, sizeof size);
        at += sizeof size;
        status = add_record(writer, BINARY_TITLES, time,
                            &(struct buffer){.data = names->data + at, .len = size});
    }
    return status;
}

PDH_STATUS log_write_columns(struct log_writer *writer, LONGLONG time,
                             const struct log_column *columns, size_t count)
{
    struct buffer *body = &writer->binary->catalogue;
    if (writer->failed)
        return writer->failed;
    buffer_clear(body);
    buffer_clear(&writer->binary->names);
    buffer_add(body, "\xFF\x06\0\0\x08\0\x02", 8);
    for (size_t i = 0; i < count; i++) {
        add_entry(body, &columns[i], (uint32_t)i);
        if (columns[i].names)
            add_names(&writer->binary->names, &columns[i]);
    }
    writer->count = count;
    writer->binary->described = false;
    return writer->binary->most ? 0 : add_catalogue(writer, time);
}

/* Adds the head of a value. end_value sets the length in it. */
static size_t begin_value(struct buffer *body, int kind)
{
    size_t at = add_zeros(body, 8);
    if (!body->failed)
        put32(body->data + at, 0x00034C42 | (uint32_t)kind << 24);
    return at;
}

static void end_value(struct buffer *body, size_t at)
{
    round_up(body);
    if (!body->failed)
        put32(body->data + at + 4, (uint32_t)(body->len - at));
}

static void add_raw(struct buffer *body, const PDH_RAW_COUNTER *raw)
{
    size_t at = add_zeros(body, 40);
    if (body->failed)
        return;
    char *out = body->data + at;
    put32(out, raw->CStatus);
    memcpy(out + 4, &raw->TimeStamp, sizeof raw->TimeStamp);
    put64(out + 16, (uint64_t)raw->FirstValue);
    put64(out + 24, (uint64_t)raw->SecondValue);
    put32(out + 32, raw->MultiCount);
}

static void add_items(struct buffer *body, const struct log_value *value)
{
    size_t at = add_zeros(body, 24 + 24 * value->count);
    for (size_t i = 0; i < value->count && !body->failed; i++) {
        char *item = body->data + at + 24 + 24 * i;
        put32(item, (uint32_t)(body->len - at));
        put32(item + 4, value->items[i].multi);
        put64(item + 8, (uint64_t)value->items[i].first);
        put64(item + 16, (uint64_t)value->items[i].second);
        add_wide(body, value->items[i].name);
    }
    if (body->failed)
        return;
    put32(body->data + at, (uint32_t)(body->len - at));
    put32(body->data + at + 4, (uint32_t)value->count);
    put32(body->data + at + 8, value->raw.CStatus);
    memcpy(body->data + at + 16, &value->raw.TimeStamp, sizeof value->raw.TimeStamp);
}

/* True if a circular file cannot have the sample and an earlier one, which is there if the power
 * fails meanwhile. */
static bool is_too_large(const struct binary_writer *binary, size_t size)
{
    size_t parts = binary->size / (BINARY_RECORD_BODY + PART_BYTES + 8);
    size_t half = binary->most ? (binary->most - 1) / 2 * parts * PART_BYTES : SIZE_MAX;
    return size + binary->catalogue.len + binary->names.len > half;
}

/* Returns the bytes that a record takes with the heads of its parts. */
static size_t record_space(size_t size)
{
    return size + (size + PART_BYTES - 1) / PART_BYTES * (BINARY_RECORD_BODY + 8);
}

/* In a circular file the first sample of a buffer gets a catalogue, because the buffers with other
 * catalogues may be overwritten, and so does the first one with other columns. The catalogue is in
 * the buffer of its sample: with another one before that sample, readers would join both. */
static PDH_STATUS prepare_circular(struct log_writer *writer, LONGLONG time, size_t size)
{
    struct binary_writer *binary = writer->binary;
    size_t space = record_space(size);
    PDH_STATUS status = 0;
    if (!binary->most)
        return 0;
    if (!binary->described)
        space += record_space(binary->catalogue.len) + record_space(binary->names.len);
    if (binary->used > BINARY_BUFFER_HEAD && binary->used + space > binary->size)
        status = next_buffer(writer);
    if (status || binary->described)
        return status;
    status = add_catalogue(writer, time);
    binary->described = !status;
    return status;
}

PDH_STATUS log_write_values(struct log_writer *writer, LONGLONG time,
                            const struct log_value *values)
{
    struct buffer *body = &writer->binary->body;
    if (writer->failed)
        return writer->failed;
    buffer_clear(body);
    size_t sample = begin_value(body, 0);
    for (size_t i = 0; i < writer->count; i++) {
        const struct log_value *value = &values[i];
        bool items = value->kind == LOG_ARRAY;
        size_t at = begin_value(body, items ? 2 : value->kind == LOG_BLOCK ? 5 : 1);
        if (items)
            add_items(body, value);
        else if (value->kind == LOG_BLOCK)
            buffer_add(body, value->block, value->size);
        else
            add_raw(body, &value->raw);
        end_value(body, at);
    }
    end_value(body, sample);
    if (body->len > LIMIT_RECORD)
        return writer->failed = (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    if (is_too_large(writer->binary, body->len))
        return (PDH_STATUS)PDH_LOG_FILE_TOO_SMALL;
    PDH_STATUS status = prepare_circular(writer, time, body->len);
    return status ? status : add_record(writer, BINARY_SAMPLE, time, body);
}

/* ---- the head of the capture ---- */

/* The time at which this machine started. */
static int64_t boot_time(void)
{
    struct timespec up;
    clock_gettime(CLOCK_BOOTTIME, &up);
    return clock_filetime() - (int64_t)up.tv_sec * 10000000 - up.tv_nsec / 100;
}

/* Adds a TIME_ZONE_INFORMATION. Without a rule it has only the difference to UTC. */
static void add_zone(struct buffer *record, const struct log_header *header)
{
    enum { NAME_UNITS = 32 };
    uint16_t name[NAME_UNITS] = {0};
    if (header->zone_rule) {
        buffer_add(record, header->zone_rule, BINARY_ZONE);
        return;
    }
    const char *zone = header->zone ? header->zone : "";
    utf8_to_16(zone, strlen(zone), name, NAME_UNITS - 1);
    size_t at = add_zeros(record, BINARY_ZONE);
    if (record->failed)
        return;
    put32(record->data + at, (uint32_t)header->bias);
    memcpy(record->data + at + 4, name, sizeof name);
    memcpy(record->data + at + 88, name, sizeof name);
}

static void add_id_text(const unsigned char *id, struct buffer *ret)
{
    BUFFER_AUTO text = {0};
    buffer_printf(&text, "%08x-%04x-%04x-%02x%02x-", get32(id), get16(id + 4), get16(id + 6), id[8],
                  id[9]);
    for (int i = 10; i < 16; i++)
        buffer_printf(&text, "%02x", id[i]);
    if (text.data)
        add_wide(ret, text.data);
}

static PDH_STATUS add_head(struct log_writer *writer, const char *path,
                           const struct log_header *header)
{
    enum { LOGFILE = 32, FIELDS = 72 }; /* offset and size of the TRACE_LOGFILE_HEADER's numbers */
    struct binary_writer *binary = writer->binary;
    BUFFER_AUTO record = {0};
    add_zeros(&record, LOGFILE + FIELDS);
    add_zone(&record, header);
    size_t rest = add_zeros(&record, 36);
    add_id_text(binary->id, &record);
    add_wide(&record, path);
    round_up(&record);
    if (record.failed || record.len > binary->size - BINARY_BUFFER_HEAD)
        return (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    char *at = record.data, *fields = at + LOGFILE;
    int64_t now = clock_filetime();
    put32(at, 0xC0020000);
    put16(at + 4, (unsigned)record.len);
    put32(at + 8, (uint32_t)gettid());
    put32(at + 12, (uint32_t)getpid());
    put64(at + 16, (uint64_t)now);
    put32(fields, binary->size);
    put32(fields + 4, 0x0501000A);
    put32(fields + 12, 1);
    put32(fields + 24, 156250);
    put32(fields + 28, (uint32_t)(binary->most * binary->size >> 20));
    put32(fields + 32, 0x30020801 | (binary->most ? BINARY_CIRCULAR : 0));
    put32(fields + 40, 1);
    put32(fields + 44, 8);
    put64(at + rest + 4, (uint64_t)boot_time());
    put64(at + rest + 12, 10000000);
    put64(at + rest + 20, (uint64_t)now);
    put32(at + rest + 28, 2);
    memcpy(binary->bytes + BINARY_BUFFER_HEAD, at, record.len);
    binary->used += (uint32_t)record.len;
    return next_buffer(writer);
}

/* ---- creating ---- */

/* Overwrites what a writer that was killed left after the used bytes of the last buffer: records
 * that its head does not count, which readers would report as lost once the file goes on. */
static bool erase_uncounted(struct log_writer *writer, uint64_t buffer)
{
    struct binary_writer *binary = writer->binary;
    unsigned char head[BINARY_BUFFER_HEAD];
    uint64_t offset = buffer * binary->size;
    if (pread(writer->fd, head, sizeof head, (off_t)offset) != sizeof head)
        return true;
    binary->sequence = get64(head + 24) + 1;
    uint32_t used = get32(head + 4);
    return get32(head) != binary->size || used < BINARY_BUFFER_HEAD || used >= binary->size ||
           write_all(writer, binary->bytes + BINARY_BUFFER_HEAD, binary->size - used,
                     offset + used);
}

/* Continues after the last buffer of the file. */
static PDH_STATUS append(struct log_writer *writer, uint64_t size, const char **ret_problem)
{
    struct binary_writer *binary = writer->binary;
    unsigned char first[512];
    if (pread(writer->fd, first, sizeof first, 0) != sizeof first ||
        !format_binary.matches(first, sizeof first)) {
        *ret_problem = zst_matches(first, sizeof first)
                           ? "it is a compressed capture: nothing was appended"
                           : "it is no BLG: nothing was appended";
        return (PDH_STATUS)PDH_UNABLE_READ_LOG_HEADER;
    }
    if (get32(first + BINARY_MODE) & BINARY_CIRCULAR) {
        *ret_problem = "it is a circular capture: nothing was appended";
        return (PDH_STATUS)PDH_INVALID_ARGUMENT;
    }
    binary->size = get32(first);
    if (!binary_size_is_sane(binary->size) || binary->size != get32(first + BINARY_FIELDS)) {
        *ret_problem = "its head is damaged, which has the size of its buffers: nothing was "
                       "appended; relog copies what it can read of it to a new file";
        return (PDH_STATUS)PDH_UNABLE_READ_LOG_HEADER;
    }
    /* a part must fit into a buffer */
    uint32_t most = (binary->size - BINARY_BUFFER_HEAD - BINARY_RECORD_BODY) & ~7u;
    binary->part = most < PART_BYTES ? most : PART_BYTES;
    binary->number = (size + binary->size - 1) / binary->size;
    binary->sequence = binary->number;
    return 0;
}

PDH_STATUS binary_create(struct log_writer *writer, const char *path, uint64_t size,
                         const struct log_header *header, const char **ret_problem)
{
    struct binary_writer *binary = writer->binary = calloc(1, sizeof *binary);
    if (!binary)
        return (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    binary->size = BUFFER_BYTES;
    binary->part = PART_BYTES;
    binary->sync = header->sync;
    if (header->most_bytes)
        binary->most =
            header->most_bytes / BUFFER_BYTES < 3 ? 3 : header->most_bytes / BUFFER_BYTES;
    if (getrandom(binary->id, sizeof binary->id, 0) != sizeof binary->id)
        return (PDH_STATUS)status_from_errno(errno);
    PDH_STATUS status = size ? append(writer, size, ret_problem) : 0;
    if (status)
        return status;
    binary->bytes = malloc(binary->size);
    if (!binary->bytes)
        return (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    begin_buffer(binary);
    writer->written = size;
    if (!size)
        return add_head(writer, path, header);
    return erase_uncounted(writer, binary->number - 1) ? 0 : (PDH_STATUS)write_status(errno);
}

/* ---- the end ---- */

PDH_STATUS binary_flush(struct log_writer *writer)
{
    if (writer->plain)
        return save_buffer(writer);
    return writer->binary->used > BINARY_BUFFER_HEAD ? next_buffer(writer) : 0;
}

/* Writes the end time and the number of buffers into the head of the file. */
static PDH_STATUS end_head(struct log_writer *writer)
{
    const struct binary_writer *binary = writer->binary;
    char count[4], time[8];
    put32(count, (uint32_t)(binary->number + (binary->saved > 0)));
    put64(time, (uint64_t)binary->time);
    if (write_all(writer, time, sizeof time, BINARY_END_TIME) &&
        write_all(writer, count, sizeof count, BINARY_WRITTEN))
        return 0;
    return (PDH_STATUS)write_status(errno);
}

PDH_STATUS binary_end(struct log_writer *writer)
{
    struct binary_writer *binary = writer->binary;
    PDH_STATUS status = writer->failed;
    if (!status && binary->bytes && binary->used > BINARY_BUFFER_HEAD)
        status = binary_flush(writer);
    if (!status && binary->bytes && writer->plain)
        status = end_head(writer);
    free(binary->bytes);
    buffer_done(&binary->catalogue);
    buffer_done(&binary->names);
    buffer_done(&binary->body);
    free(binary);
    return status;
}
