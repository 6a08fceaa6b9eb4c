/* SPDX-License-Identifier: MIT */
/*
 * Reads a compressed capture, a file of zstd frames, at any position. All files of a capture share
 * one decoder, which keeps at most 4 MiB of decompressed data. A frame that states at most this
 * size is decoded when a byte of it is needed, and its checksum is compared before its data is
 * used. A larger frame, or one without a stated size, or one that is cut off by the end of the
 * file, is decoded once when the file is opened, to find its size and to check it; later it is read
 * in parts of 4 MiB.
 *
 * The seek table at the end of the file says where each frame begins. An entry is used if a frame
 * of that size begins there and another one follows it; else the end of the frame is found by
 * reading its blocks.
 */
#include "log/formats/zst.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    MOST_FRAMES = 1 << 18,
    MOST_WINDOW_LOG = 23, /* 8 MiB */
    MOST_BLOCK = 128 << 10,
    INPUT_BYTES = 64 << 10,
    HEAD_BYTES = 18, /* the longest head of a frame */
    FOOTER_BYTES = 9,
    LITTLE_PART = 64 << 10,
    /* captures are compressed to between 1/25 and 1/100 of their size; without this limit, reading
     * a small file that decompresses to gigabytes of zeros would take minutes */
    MOST_RATIO = 2000,
    ANY_RATIO = 256 << 20 /* bytes that any file may have */
};
/* a frame head that states a larger size is not used, so that no sum of sizes overflows */
static const uint64_t MOST_SIZE = UINT64_C(1) << 56;

struct frame {
    uint64_t at, packed;  /* offset and size in the file */
    uint64_t start, size; /* offset and size of its data in the capture */
    bool cut, damaged;    /* cut: the file ends inside of the frame */
};

struct zst {
    int fd; /* belongs to the stream */
    struct zst_decoder *decoder;
    uint64_t file_size, size;
    struct frame *frames;
    size_t count, capacity;
    char problem[160];
};

/* The frame that is being decoded, and the part of its data that is in memory. */
struct zst_decoder {
    const struct zst_library *library;
    ZSTD_DCtx *context;
    const struct zst *zst; /* the file */
    struct frame *frame;   /* NULL: none */
    size_t part_most;      /* a larger frame is decoded in parts of this size */
    uint64_t part_start;   /* offset in the frame's data */
    size_t part_size;
    ZSTD_inBuffer input;
    uint64_t input_at, input_end; /* offsets in the file: of what follows `input`, and of its end */
    char input_bytes[INPUT_BYTES];
    char part[ZST_FRAME_BYTES + 1];
};

/* ---- the library ---- */

static struct zst_library loaded;
static bool is_loaded;

/* Stores the address of a function. */
static bool find_function(void *handle, const char *name, void *ret)
{
    void *function = dlsym(handle, name);
    memcpy(ret, &function, sizeof function);
    return function;
}

static void load_library(void)
{
    void *handle = dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL);
#define FIND(name) &&find_function(handle, "ZSTD_" #name, &loaded.name)
    is_loaded = handle ZST_FUNCTIONS(FIND);
}

const struct zst_library *zst_library(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load_library);
    return is_loaded ? &loaded : NULL;
}

/* ---- the head and the blocks of a frame ---- */

bool zst_matches(const unsigned char *start, size_t size)
{
    return size >= 4 && (get32(start) == ZST_FRAME || (get32(start) & ~15u) == ZST_SKIPPED);
}

struct frame_head {
    unsigned bytes;
    bool sized, checked; /* sized: `size` is known; checked: a checksum follows the data */
    uint64_t size, window;
};

static uint64_t little_endian(const unsigned char *at, unsigned size)
{
    uint64_t number = 0;
    for (unsigned i = 0; i < size; i++)
        number |= (uint64_t)at[i] << (8 * i);
    return number;
}

static bool read_frame_head(const struct zst *zst, uint64_t at, struct frame_head *ret)
{
    static const unsigned sizes_of_id[] = {0, 1, 2, 4};
    unsigned char head[HEAD_BYTES] = {0};
    size_t got = read_at(zst->fd, head, sizeof head, at);
    if (got < 5 || get32(head) != ZST_FRAME || head[4] & 8)
        return false;
    bool single = head[4] & 0x20; /* the window is the whole frame */
    unsigned bytes = 5 + !single + sizes_of_id[head[4] & 3], size_flag = head[4] >> 6;
    unsigned size_bytes = size_flag || single ? 1u << size_flag : 0;
    *ret = (struct frame_head){.bytes = bytes + size_bytes,
                               .sized = size_bytes > 0,
                               .checked = head[4] & 4,
                               .size = little_endian(head + bytes, size_bytes)};
    if (size_bytes == 2)
        ret->size += 256;
    uint64_t unit = UINT64_C(128) << (head[5] >> 3);
    ret->window = single ? ret->size : unit * (8 + (head[5] & 7));
    return got >= ret->bytes && ret->size < MOST_SIZE;
}

/* Follows the blocks of the frame at `at`. *ret is the offset of its end, or of the end of its last
 * whole block if the file ends in the frame. Returns false if these are no blocks. */
static bool find_end(const struct zst *zst, uint64_t at, const struct frame_head *head,
                     uint64_t *ret, bool *ret_cut)
{
    unsigned block = 0;
    at += head->bytes;
    *ret = at;
    while (!(block & 1) && at < zst->file_size) {
        unsigned char bytes[3];
        if (read_at(zst->fd, bytes, sizeof bytes, at) != sizeof bytes)
            break;
        block = (unsigned)little_endian(bytes, 3);
        unsigned kind = block >> 1 & 3, size = block >> 3;
        if (kind == 3 || size > MOST_BLOCK)
            return false;
        at += sizeof bytes + (kind == 1 ? 1 : size);
        if (at <= zst->file_size)
            *ret = at;
    }
    at += head->checked ? 4 : 0;
    *ret_cut = !(block & 1) || at > zst->file_size;
    if (!*ret_cut)
        *ret = at;
    return true;
}

/* ---- decoding ---- */

enum decoded { DECODED_PART, DECODED_ALL, DECODED_CUT, DECODED_DAMAGED };

static void begin_frame(struct zst_decoder *decoder, const struct zst *zst, struct frame *frame)
{
    decoder->library->DCtx_reset(decoder->context, ZSTD_reset_session_only);
    decoder->zst = zst;
    decoder->frame = frame;
    decoder->part_start = decoder->part_size = 0;
    decoder->input = (ZSTD_inBuffer){decoder->input_bytes, 0, 0};
    decoder->input_at = frame->at;
    decoder->input_end = frame->at + frame->packed;
}

/* Replaces the part in memory by the next one. One byte more than a whole part is requested, so
 * that decoding goes on to the checksum of a frame that is exactly one part. */
static enum decoded decode_part(struct zst_decoder *decoder)
{
    ZSTD_outBuffer out = {decoder->part, decoder->part_most + 1, 0};
    ZSTD_inBuffer *input = &decoder->input;
    decoder->part_start += decoder->part_size;
    decoder->part_size = 0;
    for (;;) {
        uint64_t left = decoder->input_end - decoder->input_at;
        if (input->pos == input->size && left) {
            input->size =
                read_at(decoder->zst->fd, decoder->input_bytes,
                        left < INPUT_BYTES ? (size_t)left : INPUT_BYTES, decoder->input_at);
            input->pos = 0;
            decoder->input_at += input->size;
            if (!input->size)
                return DECODED_DAMAGED;
        }
        size_t before = decoder->part_size;
        size_t more = decoder->library->decompressStream(decoder->context, &out, input);
        bool used = input->pos == input->size && decoder->input_at == decoder->input_end;
        decoder->part_size = out.pos;
        if (decoder->library->isError(more) || (more == 0 && !used))
            return DECODED_DAMAGED;
        if (more == 0)
            return DECODED_ALL;
        if (out.pos == out.size)
            return DECODED_PART;
        if (used && out.pos == before)
            return DECODED_CUT;
    }
}

/* Returns how much the file may decode to. */
static uint64_t most_of(const struct zst *zst)
{
    uint64_t most = zst->file_size * MOST_RATIO;
    return most > ANY_RATIO ? most : ANY_RATIO;
}

/* Decodes the frame to find its size and to check it. If it is damaged, none of its data is used,
 * and a stated size of more than ZST_FRAME_BYTES is not used either. */
static void measure(struct zst *zst, struct frame *frame)
{
    uint64_t size = 0;
    enum decoded decoded = DECODED_PART;
    for (begin_frame(zst->decoder, zst, frame);
         decoded == DECODED_PART && zst->size + size <= most_of(zst);
         size += zst->decoder->part_size)
        decoded = decode_part(zst->decoder);
    zst->decoder->frame = NULL;
    bool enough = decoded == DECODED_PART; /* find_frames reports that the rest is not read */
    frame->damaged = !enough && decoded != DECODED_ALL && !(decoded == DECODED_CUT && frame->cut);
    if (!frame->damaged)
        frame->size = size;
    else if (!frame->size || frame->size > ZST_FRAME_BYTES)
        /* the next frame's data begins after whole buffers of 64 KiB, the usual size */
        frame->size = (size / 65536 + 1) * 65536;
}

/* Makes the byte at `offset` of the frame's data available. Returns false if the frame is
 * damaged. */
static bool load(struct zst *zst, struct frame *frame, uint64_t offset)
{
    struct zst_decoder *decoder = zst->decoder;
    if (decoder->zst != zst || decoder->frame != frame || offset < decoder->part_start)
        begin_frame(decoder, zst, frame);
    while (!frame->damaged && offset - decoder->part_start >= decoder->part_size) {
        enum decoded decoded = decode_part(decoder);
        bool whole = decoded == DECODED_ALL || (decoded == DECODED_CUT && frame->cut);
        if (frame->size <= decoder->part_most)
            frame->damaged = !whole || decoder->part_size != frame->size;
        else
            frame->damaged = !decoder->part_size || (decoded != DECODED_PART && !whole);
    }
    if (frame->damaged)
        decoder->frame = NULL;
    return !frame->damaged;
}

/* ---- the seek table ---- */

struct table {
    uint64_t at; /* offset in the file of the table's frame */
    uint32_t count, number, entry_bytes;
    uint64_t frame_at; /* offset of the frame that entry `number` describes */
};
struct table_entry {
    uint32_t packed, size;
};

/* Finds the seek table. If there is none, or its size is wrong, the result has no entries. */
static struct table find_table(const struct zst *zst)
{
    unsigned char footer[FOOTER_BYTES], head[8];
    struct table table = {.at = zst->file_size};
    if (zst->file_size < FOOTER_BYTES ||
        read_at(zst->fd, footer, FOOTER_BYTES, zst->file_size - FOOTER_BYTES) != FOOTER_BYTES ||
        get32(footer + 5) != ZST_FOOTER)
        return table;
    uint32_t entry = footer[4] & 0x80 ? 12 : 8; /* some tables have checksums, too */
    uint64_t content = (uint64_t)get32(footer) * entry + FOOTER_BYTES;
    if (content + sizeof head > zst->file_size)
        return table;
    uint64_t at = zst->file_size - content - sizeof head;
    if (read_at(zst->fd, head, sizeof head, at) != sizeof head || get32(head) != ZST_TABLE ||
        get32(head + 4) != content)
        return table;
    return (struct table){.at = at, .count = get32(footer), .entry_bytes = entry};
}

/* Returns the entry for the frame at `at`; false: there is none. */
static bool find_entry(const struct zst *zst, struct table *table, uint64_t at,
                       struct table_entry *ret)
{
    unsigned char entry[8];
    for (; table->number < table->count && table->frame_at <= at; table->number++) {
        uint64_t place = table->at + 8 + (uint64_t)table->number * table->entry_bytes;
        if (read_at(zst->fd, entry, sizeof entry, place) != sizeof entry)
            return false;
        *ret = (struct table_entry){get32(entry), get32(entry + 4)};
        if (table->frame_at == at)
            return ret->packed > 0 && at + ret->packed <= table->at;
        table->frame_at += ret->packed;
    }
    return false;
}

/* ---- finding the frames ---- */

static bool frame_begins(const struct zst *zst, uint64_t at)
{
    unsigned char start[4];
    return at == zst->file_size || zst_matches(start, read_at(zst->fd, start, sizeof start, at));
}

static LSTATUS add_frame(struct zst *zst, struct frame *frame)
{
    if (zst->count == zst->capacity) {
        size_t capacity = zst->capacity ? 2 * zst->capacity : 16;
        struct frame *frames = reallocarray(zst->frames, capacity, sizeof *frames);
        if (!frames)
            return ERROR_NOT_ENOUGH_MEMORY;
        zst->frames = frames;
        zst->capacity = capacity;
    }
    frame->start = zst->size;
    zst->size += frame->size;
    zst->frames[zst->count++] = *frame;
    return ERROR_SUCCESS;
}

/* Finds the frame's end by its blocks. `known`: the table has an entry for the frame, but its size
 * differs from that in the frame's head. Returns false if there are no blocks, or if `known` and
 * no frame follows them: then the head is damaged, and what looks like blocks is not. */
static bool follow_blocks(struct zst *zst, struct frame *frame, const struct frame_head *head,
                          bool known)
{
    uint64_t end;
    bool cut;
    if (!find_end(zst, frame->at, head, &end, &cut) || (known && (cut || !frame_begins(zst, end))))
        return false;
    frame->packed = end - frame->at;
    frame->cut = cut;
    if (!known)
        frame->size = head->size;
    if (known || cut || !head->sized || head->size > ZST_FRAME_BYTES)
        measure(zst, frame);
    return true;
}

/* Finds the end and the size of the frame at frame->at. Returns false if neither the frame's own
 * bytes nor the table show where it ends. */
static bool find_frame(struct zst *zst, struct table *table, struct frame *frame)
{
    struct frame_head head;
    struct table_entry entry = {0};
    bool known =
        find_entry(zst, table, frame->at, &entry) && frame_begins(zst, frame->at + entry.packed);
    bool headed = read_frame_head(zst, frame->at, &head);
    bool agrees = headed && known && (!head.sized || head.size == entry.size);
    frame->packed = entry.packed;
    frame->size = known ? entry.size : 0;
    if (agrees && entry.size > ZST_FRAME_BYTES)
        measure(zst, frame);
    if (agrees || (headed && follow_blocks(zst, frame, &head, known)))
        return true;
    frame->damaged = true;
    return known;
}

/* Returns the size of the skipped frame at `at`; 0: no such frame begins there. */
static uint64_t skipped_size(const struct zst *zst, uint64_t at)
{
    unsigned char head[8] = {0};
    read_at(zst->fd, head, sizeof head, at);
    return (get32(head) & ~15u) == ZST_SKIPPED ? UINT64_C(8) + get32(head + 4) : 0;
}

static LSTATUS find_frames(struct zst *zst)
{
    struct table table = find_table(zst);
    uint64_t at = 0, skipped;
    LSTATUS status = ERROR_SUCCESS;
    for (int frames = 0; !status && at < zst->file_size; frames++) {
        struct frame frame = {.at = at};
        if (frames < MOST_FRAMES && (skipped = skipped_size(zst, at))) {
            at += skipped;
            continue;
        }
        if (frames >= MOST_FRAMES) {
            snprintf(zst->problem, sizeof zst->problem,
                     "the compressed file has more than %d frames: all before byte %llu is read",
                     MOST_FRAMES, (unsigned long long)at);
            break;
        }
        if (!find_frame(zst, &table, &frame)) {
            snprintf(zst->problem, sizeof zst->problem,
                     "no frame begins at byte %llu of the compressed file: it was truncated or "
                     "damaged there; all before it is read",
                     (unsigned long long)at);
            break;
        }
        if (frame.cut)
            snprintf(zst->problem, sizeof zst->problem,
                     "the compressed file ends inside the frame at its byte %llu: it was "
                     "truncated; all before it is read",
                     (unsigned long long)at);
        at = frame.cut ? zst->file_size : at + frame.packed;
        status = frame.size ? add_frame(zst, &frame) : ERROR_SUCCESS;
        if (zst->size <= most_of(zst))
            continue;
        snprintf(zst->problem, sizeof zst->problem,
                 "the decompressed file is more than %d times larger, which no real capture is: "
                 "only the first %llu MiB are read",
                 MOST_RATIO, (unsigned long long)zst->size >> 20);
        break;
    }
    return status;
}

/* ---- opening ---- */

static struct zst_decoder *decoder_new(void)
{
    struct zst_decoder *decoder = malloc(sizeof *decoder);
    if (!decoder)
        return NULL;
    decoder->library = zst_library();
    decoder->zst = NULL;
    decoder->frame = NULL;
    decoder->part_most = ZST_FRAME_BYTES;
    decoder->context = decoder->library->createDCtx();
    if (decoder->context && !decoder->library->isError(decoder->library->DCtx_setParameter(
                                decoder->context, ZSTD_d_windowLogMax, MOST_WINDOW_LOG)))
        return decoder;
    zst_decoder_free(decoder);
    return NULL;
}

void zst_decoder_free(struct zst_decoder *decoder)
{
    if (decoder)
        decoder->library->freeDCtx(decoder->context);
    free(decoder);
}

void zst_free(struct zst *zst)
{
    if (!zst)
        return;
    if (zst->decoder->zst == zst)
        zst->decoder->frame = NULL;
    free(zst->frames);
    free(zst);
}

LSTATUS zst_open(int fd, struct zst_decoder **decoder, struct zst **ret)
{
    struct stat st;
    struct frame_head head;
    if (!zst_library())
        return ERROR_MOD_NOT_FOUND;
    if (!*decoder)
        *decoder = decoder_new();
    struct zst *zst = *decoder ? calloc(1, sizeof *zst) : NULL;
    if (!zst)
        return ERROR_NOT_ENOUGH_MEMORY;
    zst->fd = fd;
    zst->decoder = *decoder;
    zst->file_size = fstat(fd, &st) == 0 ? (uint64_t)st.st_size : 0;
    bool large = read_frame_head(zst, 0, &head) && head.window > UINT64_C(1) << MOST_WINDOW_LOG;
    LSTATUS status = large ? ERROR_NOT_SUPPORTED : find_frames(zst);
    if (status)
        zst_free(zst);
    else
        *ret = zst;
    return status;
}

LSTATUS zst_clone(const struct zst *zst, int fd, struct zst **ret)
{
    struct zst *clone = malloc(sizeof *clone);
    struct frame *frames = calloc(zst->count + 1, sizeof *frames);
    if (!clone || !frames) {
        free(clone);
        free(frames);
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    if (zst->count)
        memcpy(frames, zst->frames, zst->count * sizeof *frames);
    *clone = *zst;
    clone->fd = fd;
    clone->frames = frames;
    clone->capacity = zst->count;
    *ret = clone;
    return ERROR_SUCCESS;
}

/* ---- reading ---- */

uint64_t zst_size(const struct zst *zst)
{
    return zst->size;
}

const char *zst_problem(const struct zst *zst)
{
    return zst->problem[0] ? zst->problem : NULL;
}

/* Returns the frame that has the byte at `offset` of the capture, which must be below its size. */
static struct frame *frame_of(const struct zst *zst, uint64_t offset)
{
    size_t low = 0, high = zst->count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (zst->frames[middle].start <= offset)
            low = middle;
        else
            high = middle;
    }
    return &zst->frames[low];
}

uint64_t zst_frame_start(const struct zst *zst, uint64_t offset)
{
    return zst->count ? frame_of(zst, offset)->start : 0;
}

void zst_decode_little(struct zst_decoder **decoder, bool little)
{
    if (!*decoder && zst_library())
        *decoder = decoder_new();
    if (!*decoder)
        return;
    (*decoder)->part_most = little ? LITTLE_PART : ZST_FRAME_BYTES;
    (*decoder)->frame = NULL;
}

LSTATUS zst_read(struct zst *zst, uint64_t offset, void *out, size_t size, size_t *ret)
{
    *ret = 0;
    if (offset >= zst->size)
        return ERROR_SUCCESS;
    struct frame *frame = frame_of(zst, offset);
    uint64_t inside = offset - frame->start;
    if (!load(zst, frame, inside))
        return ERROR_INVALID_DATA;
    const struct zst_decoder *decoder = zst->decoder;
    size_t skip = (size_t)(inside - decoder->part_start);
    *ret = decoder->part_size - skip < size ? decoder->part_size - skip : size;
    memcpy(out, decoder->part + skip, *ret);
    return ERROR_SUCCESS;
}

bool zst_damage(const struct zst *zst, uint64_t offset, size_t size, uint64_t *ret_end,
                uint64_t *ret_at)
{
    uint64_t end = offset + size < zst->size ? offset + size : zst->size;
    while (offset < end) {
        const struct frame *frame = frame_of(zst, offset);
        offset = *ret_end = frame->start + frame->size;
        *ret_at = frame->at;
        if (frame->damaged)
            return true;
    }
    return false;
}
