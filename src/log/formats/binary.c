/* SPDX-License-Identifier: MIT */
/*
 * The container format of BLG files, which is an event-trace log. It consists of buffers of the
 * same size; each has a head of 72 bytes, then records at multiples of 8 bytes. All records of
 * performance data have the same GUID; a body too long for one record is split into numbered parts.
 * docs/format.md describes the files that were examined. (docs/windows/pdh.md#f8)
 *
 * After damage, the rest of the buffer is skipped and reading continues with the next buffer. Each
 * damage is reported once.
 */
#include "log/formats/binary.h"
#include "log/inner.h"

#include <stdlib.h>

enum { SMALLEST_BUFFER = 1024 };

/* as a FILETIME */
static const LONGLONG YEAR_10000 = INT64_C(2650467744000000000);

const unsigned char binary_guid[16] = {0xb3, 0x3b, 0x3f, 0x93, 0x3e, 0x94, 0x0d, 0x49,
                                       0x9c, 0xed, 0x3c, 0xbb, 0x14, 0xc1, 0x44, 0x79};

struct buffer_place { /* the position of a buffer in the file of a circular capture */
    uint64_t sequence;
    uint32_t number;
};

struct binary {
    uint32_t buffer_size;
    bool circular;
    /* order in which the buffers are read; NULL: as they are in the file */
    struct buffer_place *order;
    size_t order_count;
    unsigned char head[BINARY_BUFFER_HEAD]; /* of a buffer, while the order is read */
    uint64_t turn;   /* the buffer that is being read: its index in order[], or in the file */
    uint32_t offset; /* position in that buffer; 0: its head was not checked yet */
    struct buffer_place newest; /* circular: the last buffer that was viewed */
    bool unchecked;             /* circular: the buffer may have been replaced while it was read */
    bool begun;                 /* circular: a buffer after the first one was read */
    uint64_t follows;   /* sequence number of the buffer that should be next; 0: not known */
    bool overwritten;   /* the gap that overwriting leaves in a circular capture was seen */
    bool rest;          /* since that gap no record began: parts are of one that was overwritten */
    uint64_t buffers;   /* number of buffers that are in the file up to the present one */
    uint64_t missing;   /* number of buffers that were counted as missing */
    uint32_t written;   /* number of buffers that the capture's head states; 0: not known */
    struct buffer body; /* the body that is being assembled from parts */
    uint32_t part, parts;
    uint64_t body_offset;
    int body_kind;
    bool in_catalogue, sampled; /* sampled: a sample was found */
    struct zone_rule zone;
    char zone_text[2][100];
    unsigned char zone_bytes[BINARY_ZONE];
};

struct record {
    int kind;
    uint64_t offset; /* offset of the record in the file */
    LONGLONG time;
    const unsigned char *body;
    size_t size;
};

/* ---- the first buffer ---- */

bool binary_size_is_sane(uint32_t size)
{
    return size >= SMALLEST_BUFFER && size <= LARGEST_BINARY_BUFFER && size % 512 == 0;
}

/* True if the file has at least two of the three signs of a BLG, so that a file with a damaged head
 * is recognised, too. */
static bool binary_matches(const unsigned char *start, size_t size)
{
    if (size < BINARY_BUFFER_HEAD)
        return size >= 4 && binary_size_is_sane(get32(start)) && start[0] == 0;
    int signs = binary_size_is_sane(get32(start));
    if (size >= BINARY_HEADER + 4)
        signs += start[BINARY_HEADER + 3] == 0xC0 &&
                 (start[BINARY_HEADER + 2] == 1 || start[BINARY_HEADER + 2] == 2);
    if (size >= BINARY_FIELDS + 4)
        signs += binary_size_is_sane(get32(start + BINARY_FIELDS));
    return signs >= 2;
}

/* True if the next buffer, at offset `size`, also begins with the number `size`. */
static bool size_holds(struct file *file, uint32_t size)
{
    size_t got;
    const unsigned char *at =
        binary_size_is_sane(size) ? stream_at(&file->stream, size, 4, &got) : NULL;
    return at && got == 4 && get32(at) == size;
}

/* The size of a buffer is stored in two places. If the two differ, chooses the size at which the
 * next buffer begins. */
static uint32_t choose_size(struct file *file, uint32_t first, uint32_t second)
{
    if (size_holds(file, first))
        return first;
    if (size_holds(file, second))
        return second;
    return binary_size_is_sane(first) ? first : second;
}

static void read_zone(struct binary *binary, const unsigned char *start)
{
    size_t at = BINARY_NAMES + 2 * (get32(start + BINARY_POINTER) == 4 ? 4 : 8);
    const unsigned char *zone = memcpy(binary->zone_bytes, start + at, BINARY_ZONE);
    binary->zone = (struct zone_rule){.bias = (LONG)get32(zone),
                                      .standard_bias = (LONG)get32(zone + 84),
                                      .daylight_bias = (LONG)get32(zone + 168)};
    memcpy(&binary->zone.standard, zone + 68, sizeof(SYSTEMTIME));
    memcpy(&binary->zone.daylight, zone + 152, sizeof(SYSTEMTIME));
    for (int i = 0; i < 2; i++) {
        const unsigned char *name = zone + (i ? 88 : 4);
        size_t units = 0;
        while (units < 32 && get16(name + 2 * units))
            units++;
        char *text = binary->zone_text[i];
        text[utf16_to_8(name, units, text, sizeof(binary->zone_text[i]) - 1)] = '\0';
    }
}

static PDH_STATUS read_header(struct file *file, struct binary *binary)
{
    size_t got, wanted = BINARY_NAMES + 16 + BINARY_ZONE;
    unsigned char start[BINARY_NAMES + 16 + BINARY_ZONE];
    const unsigned char *bytes = stream_at(&file->stream, 0, wanted, &got);
    if (!bytes)
        return status_to_pdh(file->stream.status);
    if (got < wanted)
        return file_problem(
            file, (PDH_STATUS)PDH_UNABLE_READ_LOG_HEADER, got,
            "the file ends inside its first header: it was truncated, or has nothing in it yet");
    memcpy(start, bytes, wanted);
    binary->buffer_size = choose_size(file, get32(start), get32(start + BINARY_FIELDS));
    binary->circular = get32(start + BINARY_MODE) & BINARY_CIRCULAR;
    binary->written = get32(start + BINARY_WRITTEN);
    read_zone(binary, start);
    return 0;
}

/* ---- the order of a circular capture's buffers ---- */

static int compare_places(const void *left, const void *right)
{
    const struct buffer_place *a = left, *b = right;
    if (a->sequence != b->sequence)
        return a->sequence < b->sequence ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

static bool all_zero(const unsigned char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (bytes[i])
            return false;
    return true;
}

/* True if nothing was written to this buffer: its head is zero, and all else is filler. */
static bool is_unwritten(const unsigned char *bytes, size_t size)
{
    for (size_t i = BINARY_BUFFER_HEAD + 1; i < size; i++)
        if (bytes[i] != bytes[BINARY_BUFFER_HEAD])
            return false;
    return all_zero(bytes, BINARY_BUFFER_HEAD) &&
           (size == BINARY_BUFFER_HEAD || bytes[BINARY_BUFFER_HEAD] == 0 ||
            bytes[BINARY_BUFFER_HEAD] == 0xFF);
}

/* Whether it is a circular capture to which buffers may be added. */
static bool can_change(const struct file *file, const struct binary *binary)
{
    return binary->order && !file->stream.zst && file->stream.fd >= 0;
}

/* Returns the head of a buffer, and its other bytes unless `alone`; NULL: it cannot be read. */
static const unsigned char *head_at(struct file *file, struct binary *binary, uint64_t number,
                                    bool alone, size_t *ret)
{
    uint64_t offset = number * binary->buffer_size;
    *ret = sizeof binary->head;
    if (alone && read_at(file->stream.fd, binary->head, *ret, offset) == *ret &&
        !all_zero(binary->head, *ret))
        return binary->head;
    return stream_at(&file->stream, offset, binary->buffer_size, ret);
}

/* If the order is read again only the heads are read, because that is done each time that a reader
 * looks for new samples. */
static PDH_STATUS read_order(struct file *file, struct binary *binary)
{
    uint64_t size = binary->buffer_size, count = (stream_size(&file->stream) + size - 1) / size;
    bool again = can_change(file, binary);
    if (count > LIMIT_ORDERED)
        return file_problem(file, (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE, 0,
                            "cannot be read: it is a circular capture with more than %d buffers",
                            LIMIT_ORDERED);
    struct buffer_place *order = realloc(binary->order, (count + 1) * sizeof(*order));
    if (!order)
        return (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    binary->order = order;
    binary->order_count = 0;
    stream_forget(&file->stream);
    for (uint32_t i = 0; i < count; i++) {
        size_t got;
        const unsigned char *head = head_at(file, binary, i, again, &got);
        if (head && got < BINARY_BUFFER_HEAD)
            break;
        if (i && head && is_unwritten(head, got))
            continue;
        /* buffer 0 is always read first, because it has the capture's head; buffers that cannot be
         * read come last, to be reported */
        uint64_t sequence = !i ? 0 : head ? get64(head + 24) : UINT64_MAX;
        order[binary->order_count++] = (struct buffer_place){sequence, i};
    }
    if (binary->order_count)
        qsort(order + 1, binary->order_count - 1, sizeof(*order), compare_places);
    return 0;
}

/* Goes to the first buffer after the newest one; `same`: or to that one, if it is still there.
 * Returns true if buffers are missing from there on. */
static bool find_place(struct binary *binary, bool same)
{
    const struct buffer_place *order = binary->order;
    uint64_t follows = binary->newest.sequence + 1;
    int compared = 1;
    for (binary->turn = 0; binary->turn < binary->order_count; binary->turn++) {
        compared = compare_places(&order[binary->turn], &binary->newest);
        if (compared > 0 || (same && compared == 0))
            break;
    }
    if (compared)
        binary->offset = 0;
    for (size_t i = binary->turn; i < binary->order_count; i++) {
        if (order[i].sequence > follows)
            return true;
        follows = order[i].sequence + 1;
    }
    return false;
}

/* Reads the order of the buffers again, because the capture may be being written, and goes to a
 * place in it that is never before the newest one, so that reading ends whatever the heads say. If
 * buffers are missing, the order is read once more: one may have been written after its old head
 * was read, and the one after it before its head was read. */
static PDH_STATUS order_again(struct file *file, struct binary *binary, bool same)
{
    if (!can_change(file, binary))
        return 0;
    bool missing = true;
    for (int i = 0; i < 2 && missing; i++) {
        PDH_STATUS status = read_order(file, binary);
        if (status)
            return status;
        missing = find_place(binary, same);
    }
    binary->unchecked = true;
    binary->overwritten |= binary->begun; /* what is overwritten now, this reader misses */
    return 0;
}

/* ---- buffers ---- */

static void next_buffer(struct binary *binary)
{
    binary->turn++;
    binary->offset = 0;
}

static uint64_t number_of(const struct binary *binary)
{
    return binary->order && binary->turn < binary->order_count ? binary->order[binary->turn].number
                                                               : binary->turn;
}

/* Handles a buffer that cannot be read, because the frame of a compressed file that has it is
 * damaged: continues after the frame. */
static PDH_STATUS skip_frame(struct file *file, struct binary *binary, uint64_t offset)
{
    uint64_t end, at, first = binary->turn;
    size_t size = binary->buffer_size;
    if (!file->stream.zst || !zst_damage(file->stream.zst, offset, size, &end, &at))
        return file_problem(file, status_to_pdh(file->stream.status), offset, "cannot be read: %s",
                            status_text(file->stream.status));
    next_buffer(binary);
    if (!binary->order)
        binary->turn = (end + size - 1) / size;
    while (binary->order && binary->turn < binary->order_count && number_of(binary) * size < end)
        binary->turn++;
    binary->follows = 0;
    binary->buffers = binary->turn;
    file_lose(file, LOSS_BUFFER, binary->turn - first, "at offset %llu, in a damaged frame",
              (unsigned long long)offset);
    return file_problem(file, (PDH_STATUS)PDH_BINARY_LOG_CORRUPT, offset,
                        "the frame at byte %llu of the compressed file is damaged, and is skipped",
                        (unsigned long long)at);
}

/* Returns the status at the capture's end. A compressed file that ends too early is reported. */
static PDH_STATUS at_end(struct file *file, uint64_t offset)
{
    const char *problem = file->stream.zst ? zst_problem(file->stream.zst) : NULL;
    if (problem)
        file_problem(file, (PDH_STATUS)PDH_NO_MORE_DATA, offset, "%s", problem);
    return (PDH_STATUS)PDH_NO_MORE_DATA;
}

/* Handles a buffer that was not written. It is damage if a written buffer follows, else the
 * capture's end. */
static PDH_STATUS unwritten(struct file *file, struct binary *binary, uint64_t offset)
{
    uint64_t turn = binary->turn;
    size_t got;
    for (;;) {
        turn++;
        const unsigned char *bytes =
            stream_at(&file->stream, turn * binary->buffer_size, binary->buffer_size, &got);
        if (bytes ? got < BINARY_BUFFER_HEAD : !file->stream.zst)
            return at_end(file, offset);
        if (!bytes || !is_unwritten(bytes, got))
            break;
    }
    binary->turn = turn;
    binary->follows = 0;
    return file_problem(file, (PDH_STATUS)PDH_BINARY_LOG_CORRUPT, offset,
                        "some buffers were never written; those after them are read");
}

struct byte_view { /* the bytes of the current buffer */
    const unsigned char *bytes;
    size_t got;
    uint32_t used;
    uint64_t offset;
};

static PDH_STATUS check_head(struct file *file, struct binary *binary, struct byte_view *view)
{
    const unsigned char *head = view->bytes;
    if (view->got < BINARY_BUFFER_HEAD)
        return file_problem(file, (PDH_STATUS)PDH_NO_MORE_DATA, view->offset,
                            "the file ends inside this buffer's header; all before it is read");
    if (!binary->order && is_unwritten(head, view->got))
        return unwritten(file, binary, view->offset);
    binary->buffers = binary->turn + 1;
    view->used = get32(head + 48);
    /* the first buffer's size is not checked, because choose_size may have chosen another one */
    bool bad = view->offset && get32(head) != binary->buffer_size;
    if (!bad && view->used >= BINARY_BUFFER_HEAD && view->used <= binary->buffer_size)
        return 0;
    next_buffer(binary);
    binary->follows = 0;
    return file_problem(file, (PDH_STATUS)PDH_BINARY_LOG_CORRUPT, view->offset,
                        "this is not the header of a buffer: size %u, used %u; it is skipped",
                        get32(head), view->used);
}

/* Counts the body that is being assembled as lost, because its other parts do not follow.
 * Called wherever bytes are skipped: the parts after them may be those of another body. */
static void drop_body(struct file *file, struct binary *binary)
{
    if (binary->part)
        file_lose(file, LOSS_RECORD, 1, "the one at offset %llu, of which %u of %u parts are there",
                  (unsigned long long)binary->body_offset, binary->part, binary->parts);
    binary->part = binary->parts = 0;
}

static void lose_buffers(struct file *file, struct binary *binary, uint64_t count,
                         const char *where, uint64_t offset)
{
    binary->missing += count;
    file_lose(file, LOSS_BUFFER, count, "%s offset %llu", where, (unsigned long long)offset);
}

/* Counts the buffers that are missing before this one, by its sequence number. A number that is too
 * small, as in an appended capture, is no loss, nor is the first gap of a circular capture, in
 * which old buffers were overwritten. An impossible gap counts as one buffer. */
static void follow_sequence(struct file *file, struct binary *binary, const struct byte_view *view)
{
    uint64_t sequence = get64(view->bytes + 24), follows = binary->follows;
    binary->follows = sequence + 1;
    if (!follows || sequence <= follows)
        return;
    uint64_t gap = sequence - follows;
    drop_body(file, binary);
    if (binary->circular && !binary->overwritten)
        binary->overwritten = binary->rest = true;
    else
        lose_buffers(file, binary, gap > LIMIT_ORDERED ? 1 : gap, "before", view->offset);
}

/* At the file's end, counts as lost the buffers that the capture's head states but the file
 * lacks. */
static void count_buffers(struct file *file, struct binary *binary)
{
    uint64_t known = binary->buffers + binary->missing;
    if (!binary->circular && binary->written > known)
        lose_buffers(file, binary, binary->written - known, "after the last one, at",
                     binary->buffers * binary->buffer_size);
}

/* Whether the buffer is the last one of a circular capture. */
static bool is_newest(const struct binary *binary)
{
    return binary->order && binary->turn + 1 == binary->order_count;
}

/* Returns the record's size; 0: no record begins here. A record with a full header begins with the
 * size; one with a short header has the size after its kind. */
static uint32_t record_size(const unsigned char *record)
{
    int type = record[2];
    /* bytes that fill the rest of the buffer, not a record */
    if (!(record[3] & 0x80) || get32(record) == UINT32_MAX)
        return 0;
    bool full = type == 0x0A || type == 0x14 || type == 0x12 || type == 0x13;
    return get16(record + (full ? 0 : 4));
}

static bool is_ours(const unsigned char *record, uint32_t size)
{
    return (record[2] == 0x0A || record[2] == 0x14) && size >= BINARY_RECORD_BODY &&
           memcmp(record + 24, binary_guid, sizeof(binary_guid)) == 0;
}

/* Whether the buffer of a circular capture was replaced after the order was read, or is being
 * replaced now: its writer first states that nothing of it is used, and the new number last. */
static bool is_replaced(struct file *file, struct binary *binary, const struct byte_view *view)
{
    enum { SEQUENCE = 24, USED = 48 };
    const struct stream *stream = &file->stream;
    unsigned char now[BINARY_BUFFER_HEAD];
    if (!can_change(file, binary) || !binary->turn ||
        view->got < BINARY_BUFFER_HEAD + BINARY_RECORD_BODY)
        return false;
    uint32_t used = get32(view->bytes + USED);
    const unsigned char *record = view->bytes + BINARY_BUFFER_HEAD;
    bool emptied = used == BINARY_BUFFER_HEAD && is_ours(record, record_size(record));
    if (get64(view->bytes + SEQUENCE) != binary->newest.sequence ||
        (emptied && !is_newest(binary) && !binary->written))
        return true;
    bool check = binary->unchecked || !binary->offset;
    binary->unchecked = false;
    return check && read_at(stream->fd, now, sizeof now, view->offset) == sizeof now &&
           (get64(now + SEQUENCE) != binary->newest.sequence || get32(now + USED) < used);
}

static PDH_STATUS view_buffer(struct file *file, struct binary *binary, struct byte_view *view)
{
    PDH_STATUS status = 0;
    bool ended = binary->order && binary->turn >= binary->order_count;
    do {
        if (ended)
            status = order_again(file, binary, false);
        if (!status && binary->order && binary->turn >= binary->order_count)
            status = at_end(file, stream_size(&file->stream));
        if (status)
            return status;
        if (binary->order)
            binary->newest = binary->order[binary->turn];
        view->offset = number_of(binary) * binary->buffer_size;
        view->bytes = stream_at(&file->stream, view->offset, binary->buffer_size, &view->got);
        if (!view->bytes)
            return skip_frame(file, binary, view->offset);
        if (view->got == 0)
            return at_end(file, view->offset);
        ended = is_replaced(file, binary, view);
    } while (ended);
    status = check_head(file, binary, view);
    if (!status && binary->offset == 0) {
        binary->begun |= binary->turn > 0;
        follow_sequence(file, binary, view);
        binary->offset = BINARY_BUFFER_HEAD;
    }
    return status;
}

/* ---- records ---- */

/* Handles a record that is cut off by the end of the file. In a circular capture the next buffer is
 * read; in others the rest of the record may be written later. */
static PDH_STATUS cut_off(struct file *file, struct binary *binary, const struct byte_view *view)
{
    uint64_t offset = view->offset + binary->offset;
    PDH_STATUS status = (PDH_STATUS)PDH_NO_MORE_DATA;
    if (binary->order) {
        next_buffer(binary);
        status = (PDH_STATUS)PDH_BINARY_LOG_CORRUPT;
    }
    return file_problem(
        file, status, offset,
        "the file ends inside this record, which is skipped: it was truncated, or is "
        "still being written");
}

enum record_step { STEP_RECORD, STEP_OTHER, STEP_BUFFER_ENDS, STEP_STOPS };

static enum record_step read_record(struct file *file, struct binary *binary,
                                    const struct byte_view *view, const unsigned char **ret,
                                    uint32_t *ret_size, PDH_STATUS *ret_status)
{
    uint32_t left = view->used > binary->offset ? view->used - binary->offset : 0;
    if (left < 8)
        return STEP_BUFFER_ENDS;
    const unsigned char *record = view->bytes + binary->offset;
    bool there = binary->offset + 8 <= view->got;
    uint32_t size = there ? record_size(record) : 0;
    if (there && (size < 8 || size > left)) {
        uint64_t offset = view->offset + binary->offset;
        next_buffer(binary);
        *ret_status = file_problem(
            file, (PDH_STATUS)PDH_BINARY_LOG_CORRUPT, offset,
            "this is not a record, or its size is invalid: %u; the rest of this buffer is skipped",
            size);
        return STEP_STOPS;
    }
    if (!there || binary->offset + size > view->got) {
        *ret_status = cut_off(file, binary, view);
        return STEP_STOPS;
    }
    binary->offset += (size + 7) & ~7u;
    *ret = record;
    *ret_size = size;
    return is_ours(record, size) ? STEP_RECORD : STEP_OTHER;
}

/* Whether this was, when it was read, the last buffer of a capture that its writer has not closed.
 * If so, it is read again the next time, because samples are added to it. */
static bool is_open_end(struct file *file, const struct binary *binary,
                        const struct byte_view *view)
{
    struct stream *stream = &file->stream;
    bool is = !binary->order && !stream->zst && stream->pipe < 0 &&
              binary->written <= number_of(binary) &&
              view->offset + binary->buffer_size >= (stream->fd < 0 ? stream->len : stream->seen);
    if (is)
        stream_forget(stream);
    return is;
}

/* Handles records after the last byte that the buffer's head states as used. They are lost, except
 * where a writer counts a sample after it has written it: there the capture ends before them. */
static PDH_STATUS after_used(struct file *file, struct binary *binary, const struct byte_view *view)
{
    while (binary->offset + BINARY_RECORD_BODY <= view->got) {
        const unsigned char *record = view->bytes + binary->offset;
        uint32_t size = record_size(record);
        if (!is_ours(record, size) || (is_newest(binary) && !binary->written))
            return 0;
        if (is_open_end(file, binary, view))
            return (PDH_STATUS)PDH_NO_MORE_DATA;
        drop_body(file, binary);
        file_lose(file, LOSS_RECORD, 1,
                  "the one at offset %llu, after the used bytes of its buffer",
                  (unsigned long long)(view->offset + binary->offset));
        binary->offset += (size + 7) & ~7u;
    }
    return 0;
}

/* Goes to the next buffer. If the present buffer is incomplete the file has no more buffers,
 * because buffers are written in order. In the last buffer of a capture that is being recorded the
 * reader stays, and reads the buffer again, because samples are added to it; in a circular one also
 * after it has learnt that there is a newer buffer. */
static PDH_STATUS leave_buffer(struct file *file, struct binary *binary,
                               const struct byte_view *view)
{
    if (!binary->order && view->got < binary->buffer_size)
        return at_end(file, view->offset + view->got);
    if (is_open_end(file, binary, view))
        return (PDH_STATUS)PDH_NO_MORE_DATA;
    if (!is_newest(binary)) {
        next_buffer(binary);
        return 0;
    }
    PDH_STATUS status = order_again(file, binary, true);
    if (status || !is_newest(binary))
        return status;
    stream_forget(&file->stream);
    return at_end(file, stream_size(&file->stream));
}

static PDH_STATUS next_record(struct file *file, struct binary *binary, const unsigned char **ret,
                              uint32_t *ret_size, uint64_t *ret_offset)
{
    for (;;) {
        struct byte_view view = {0};
        PDH_STATUS status = view_buffer(file, binary, &view);
        if (status)
            return status;
        uint64_t offset = view.offset + binary->offset;
        switch (read_record(file, binary, &view, ret, ret_size, &status)) {
        case STEP_RECORD:
            *ret_offset = offset;
            return 0;
        case STEP_OTHER: /* a system record, such as the capture's head: nothing of it is shown */
            if ((*ret)[2] != 1 && (*ret)[2] != 2)
                file_lose(file, LOSS_RECORD, 1, "the one at offset %llu, with an unknown GUID",
                          (unsigned long long)offset);
            break;
        case STEP_BUFFER_ENDS:
            status = after_used(file, binary, &view);
            if (!status)
                status = leave_buffer(file, binary, &view);
            break;
        case STEP_STOPS:
            break;
        }
        if (status)
            return status;
    }
}

/* ---- bodies ---- */

static PDH_STATUS add_part(struct file *file, struct binary *binary, const unsigned char *record,
                           uint32_t size, uint64_t offset)
{
    uint32_t part = get32(record + 64), parts = get32(record + 68);
    if (part == 1) {
        buffer_clear(&binary->body);
        binary->part = 0;
        binary->parts = parts;
        binary->body_kind = record[4];
        binary->body_offset = offset;
    }
    bool fits = part == binary->part + 1 && parts == binary->parts &&
                record[4] == binary->body_kind &&
                binary->body.len + size - BINARY_RECORD_BODY <= LIMIT_RECORD;
    if (!fits) {
        binary->part = binary->parts = 0;
        return file_problem(file, (PDH_STATUS)PDH_BINARY_LOG_CORRUPT, offset,
                            "part %u of %u of a record: the part before it is missing, and it is "
                            "skipped",
                            part, parts);
    }
    binary->part = part;
    if (!buffer_add(&binary->body, record + BINARY_RECORD_BODY, size - BINARY_RECORD_BODY))
        return (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    return 0;
}

static bool begins_body(const unsigned char *record)
{
    return get32(record + 64) <= 1 || get32(record + 68) <= 1;
}

/* Whether the record has all of its body. Part 0 of 0 was not written: the power failed before. */
static bool is_single(const unsigned char *record)
{
    return get32(record + 68) <= 1 && (get32(record + 64) || get32(record + 68));
}

/* Handles that no further record was read, with this status, which is returned. */
static PDH_STATUS no_record(struct file *file, struct binary *binary, PDH_STATUS status)
{
    if ((DWORD)status == PDH_BINARY_LOG_CORRUPT)
        drop_body(file, binary);
    if ((DWORD)status != PDH_NO_MORE_DATA)
        return status;
    count_buffers(file, binary);
    if (binary->part && !file->problem.len)
        file_problem(file, status, binary->body_offset,
                     "the file ends after %u of %u parts of this record, which is skipped: it "
                     "was truncated, or is still being written",
                     binary->part, binary->parts);
    return status;
}

/* Returns the next body; the parts of a body that has several are joined. */
static PDH_STATUS next_body(struct file *file, struct binary *binary, struct record *ret)
{
    for (;;) {
        const unsigned char *record;
        uint32_t size;
        uint64_t offset;
        PDH_STATUS status = next_record(file, binary, &record, &size, &offset);
        if (status)
            return no_record(file, binary, status);
        *ret = (struct record){record[4], offset, (LONGLONG)get64(record + 16),
                               record + BINARY_RECORD_BODY, size - BINARY_RECORD_BODY};
        if (begins_body(record)) {
            drop_body(file, binary);
            binary->rest = false;
        }
        if (is_single(record))
            return 0;
        if (binary->rest)
            continue;
        status = add_part(file, binary, record, size, offset);
        if (status)
            return status;
        bool enough = file->glance &&
                      sample_matches((const unsigned char *)binary->body.data, binary->body.len);
        if (binary->part < binary->parts && !enough)
            continue;
        ret->offset = binary->body_offset;
        ret->body = (const unsigned char *)binary->body.data;
        ret->size = binary->body.len;
        binary->part = binary->parts = 0;
        return 0;
    }
}

static PDH_STATUS take_catalogue(struct file *file, struct binary *binary,
                                 const struct record *record)
{
    if (!binary->in_catalogue) {
        columns_begin(&file->log->columns);
        file->mapped = 0;
        file->spot.head = record->offset;
    }
    binary->in_catalogue = true;
    return catalogue_read(file, record->body, record->size, record->offset);
}

static PDH_STATUS take_sample(struct file *file, struct binary *binary, const struct record *record)
{
    binary->in_catalogue = false;
    file->spot.at = record->offset;
    file->sample.time = record->time;
    file->sample.record = record->body;
    file->sample.record_size = record->size;
    return file->blind ? 0 : sample_read(file, record->body, record->size, record->offset);
}

/* Sets the capture's zone: name and bias of standard or daylight time, whichever was in force at
 * `time`, the time of the first sample (until there is a sample: of the first record). */
static void set_zone(struct file *file, struct binary *binary, LONGLONG time)
{
    bool summer = zone_is_daylight(&binary->zone, time);
    file->facts.zone = zone_name(binary->zone_text[summer]);
    file->facts.zone_rule = binary->zone_bytes;
    LONG more = summer ? binary->zone.daylight_bias : binary->zone.standard_bias;
    file->facts.bias = (LONG)((DWORD)binary->zone.bias + (DWORD)more);
}

/* Counts a sample as lost if its record has the kind of another record, or its time is impossible.
 * Returns false if the sample can be shown. */
static bool lose_sample(struct file *file, struct binary *binary, const struct record *record)
{
    unsigned long long offset = record->offset;
    binary->in_catalogue = false;
    if (record->kind != BINARY_SAMPLE)
        file_lose(file, LOSS_RECORD, 1, "a sample of kind %02X at offset %llu",
                  (unsigned)record->kind, offset);
    else if (record->time <= 0 || record->time >= YEAR_10000)
        file_lose(file, LOSS_TIME, 1, "%lld at offset %llu", (long long)record->time, offset);
    else
        return false;
    return true;
}

/* Reads records up to the next sample and returns it. Records before the sample, such as
 * catalogues, are processed. */
static PDH_STATUS find_sample(struct file *file, struct binary *binary, struct record *ret)
{
    for (;;) {
        PDH_STATUS status = next_body(file, binary, ret);
        if (status)
            return status;
        if (!file->facts.zone)
            set_zone(file, binary, ret->time);
        bool sample = ret->kind == BINARY_SAMPLE || sample_matches(ret->body, ret->size);
        if (sample && !lose_sample(file, binary, ret)) {
            if (!binary->sampled)
                set_zone(file, binary, ret->time);
            binary->sampled = true;
            return 0;
        }
        if (sample)
            continue;
        if (ret->kind == BINARY_CATALOGUE)
            status = take_catalogue(file, binary, ret);
        else if (ret->kind == BINARY_TITLES)
            status = names_read(file, ret->body, ret->size, ret->offset);
        else if (ret->kind != BINARY_INDEX)
            file_lose(file, LOSS_RECORD, 1, "kind %02X at offset %llu", (unsigned)ret->kind,
                      (unsigned long long)ret->offset);
        if (status)
            return status;
    }
}

static PDH_STATUS binary_next(struct file *file)
{
    struct record record;
    PDH_STATUS status = find_sample(file, file->state, &record);
    return status ? status : take_sample(file, file->state, &record);
}

static void go_to(struct binary *binary, uint64_t offset)
{
    binary->turn = offset / binary->buffer_size;
    binary->offset = (uint32_t)(offset % binary->buffer_size);
    binary->part = binary->parts = 0;
    binary->follows = 0;
    binary->in_catalogue = false;
}

static PDH_STATUS binary_jump(struct file *file, const struct spot *spot)
{
    struct binary *binary = file->state;
    struct record record;
    PDH_STATUS status = 0;
    if (spot->head != file->spot.head) {
        go_to(binary, spot->head);
        status = find_sample(file, binary, &record);
    }
    go_to(binary, spot->at);
    return status;
}

/* Buffers begin with a record, which may be a later part of a sample. */
static bool binary_go_near(struct file *file, uint64_t offset)
{
    struct binary *binary = file->state;
    if (!binary->order)
        go_to(binary,
              (offset + binary->buffer_size - 1) / binary->buffer_size * binary->buffer_size);
    return !binary->order;
}

static PDH_STATUS binary_rewind(struct file *file)
{
    struct binary *binary = file->state;
    go_to(binary, 0);
    binary->newest = (struct buffer_place){0};
    binary->buffers = binary->missing = 0;
    binary->overwritten = binary->rest = binary->begun = false;
    return 0;
}

static void binary_close(struct file *file)
{
    struct binary *binary = file->state;
    if (!binary)
        return;
    buffer_done(&binary->body);
    free(binary->order);
    free(binary);
}

static PDH_STATUS binary_open(struct file *file)
{
    struct binary *binary = file->state = calloc(1, sizeof(*binary));
    if (!binary)
        return (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    PDH_STATUS status = read_header(file, binary);
    file->unordered = binary->circular;
    if (!status && binary->circular) /* the oldest buffer may be anywhere */
        status = status_to_pdh(stream_read_pipe(&file->stream));
    if (!status && binary->circular)
        status = read_order(file, binary);
    return status;
}

const struct format format_binary = {LOG_BINARY,    BINARY_NAMES, binary_matches,
                                     binary_open,   binary_close, binary_next,
                                     binary_rewind, binary_jump,  binary_go_near};
