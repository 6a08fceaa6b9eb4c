/* SPDX-License-Identifier: MIT */
/* Samples as the protobuf message WriteRequest of Prometheus' remote write 1.0: a time series for
 * each sample, with its labels in the order of their names. */
#include "metrics.h"

#include <stdlib.h>
#include <string.h>

enum { LABELS_MOST = 48, FIRST_CAPACITY = 64 << 10 };
/* field numbers of the messages WriteRequest, TimeSeries, Label and Sample, and types of fields */
enum { REQUEST_SERIES = 1, SERIES_LABEL = 1, SERIES_SAMPLE = 2, LABEL_NAME = 1, LABEL_VALUE = 2 };
enum { SAMPLE_VALUE = 1, SAMPLE_TIME = 2 };
enum { TYPE_VARINT = 0, TYPE_64_BITS = 1, TYPE_BYTES = 2 };

/* ---- protobuf ---- */

static void put(struct remote_write *out, const void *bytes, size_t size)
{
    if (out->size + size > out->capacity) {
        size_t capacity = out->capacity ? out->capacity : FIRST_CAPACITY;
        while (capacity < out->size + size)
            capacity *= 2;
        char *grown = realloc(out->bytes, capacity);
        out->failed |= !grown;
        if (!grown)
            return;
        out->bytes = grown;
        out->capacity = capacity;
    }
    memcpy(out->bytes + out->size, bytes, size);
    out->size += size;
}

static void put_varint(struct remote_write *out, uint64_t number)
{
    for (; number >= 0x80; number >>= 7)
        put(out, &(unsigned char){(unsigned char)(number | 0x80)}, 1);
    put(out, &(unsigned char){(unsigned char)number}, 1);
}

/* Turns the bytes from `begin` on into a field of the message around them, by moving them behind
 * the field's number and size. */
static void enclose(struct remote_write *out, size_t begin, unsigned field)
{
    size_t end = out->size, size = end - begin;
    unsigned char head[16];
    put_varint(out, field << 3 | TYPE_BYTES);
    put_varint(out, size);
    if (out->failed)
        return;
    size_t head_size = out->size - end;
    memcpy(head, out->bytes + end, head_size);
    memmove(out->bytes + begin + head_size, out->bytes + begin, size);
    memcpy(out->bytes + begin, head, head_size);
}

static void put_sample(struct remote_write *out, double value, int64_t time_ms)
{
    uint64_t bits;
    unsigned char bytes[sizeof bits];
    memcpy(&bits, &value, sizeof bits);
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(bits >> (8 * i));
    size_t begin = out->size;
    put_varint(out, SAMPLE_VALUE << 3 | TYPE_64_BITS);
    put(out, bytes, sizeof bytes);
    put_varint(out, SAMPLE_TIME << 3 | TYPE_VARINT);
    put_varint(out, (uint64_t)time_ms);
    enclose(out, begin, SERIES_SAMPLE);
}

/* ---- labels ---- */

struct label {
    const char *name, *value;
    size_t name_size, value_size;
    bool escaped; /* the value is written as in the text formats: \\ \" \n */
};
struct labels {
    struct label all[LABELS_MOST];
    size_t count;
};

static int compare(const struct label *left, const struct label *right)
{
    size_t shorter = left->name_size < right->name_size ? left->name_size : right->name_size;
    int order = memcmp(left->name, right->name, shorter);
    return order ? order
                 : (left->name_size > right->name_size) - (left->name_size < right->name_size);
}

/* Adds a label in its place, unless there is one with its name. An empty value means no label. */
static void add_label(struct labels *labels, const struct label *label)
{
    size_t at = labels->count;
    while (at && compare(&labels->all[at - 1], label) > 0)
        at--;
    if (!label->value_size || labels->count == LABELS_MOST ||
        (at && !compare(&labels->all[at - 1], label)))
        return;
    memmove(&labels->all[at + 1], &labels->all[at], (labels->count++ - at) * sizeof *label);
    labels->all[at] = *label;
}

static void add_text(struct labels *labels, const char *name, const char *value)
{
    add_label(labels, &(struct label){name, value, strlen(name), strlen(value), false});
}

/* Adds labels that are written as in the text formats: name="...",parent="...". */
static void add_written(struct labels *labels, const char *text, size_t size)
{
    const char *end = text + size;
    while (text < end) {
        const char *value = memchr(text, '=', (size_t)(end - text));
        if (!value)
            return;
        const char *stop = value += 2; /* after the quotation mark */
        while (stop < end && *stop != '"')
            stop += *stop == '\\' ? 2 : 1;
        add_label(labels, &(struct label){text, value, (size_t)(value - 2 - text),
                                          (size_t)(stop - value), true});
        text = stop + 2; /* after the comma */
    }
}

static void put_label(struct remote_write *out, const struct label *label)
{
    size_t begin = out->size, value = out->size;
    put(out, label->name, label->name_size);
    enclose(out, begin, LABEL_NAME);
    value = out->size;
    for (size_t i = 0; i < label->value_size; i++) {
        bool escape = label->escaped && label->value[i] == '\\' && i + 1 < label->value_size;
        i += escape;
        put(out, escape && label->value[i] == 'n' ? "\n" : &label->value[i], 1);
    }
    enclose(out, value, LABEL_VALUE);
    enclose(out, begin, SERIES_LABEL);
}

/* ---- the sink ---- */

static void family(struct metric_sink *sink, const struct metric_family *family)
{
    (void)sink;
    (void)family;
}

static void sample(struct metric_sink *sink, const struct metric_family *family,
                   const struct metric_sample *sample, const struct metric_labels *written,
                   const char *text, const struct metric_value *value)
{
    struct remote_write *out = (struct remote_write *)sink;
    char name[METRIC_NAME_SIZE + 32];
    struct labels labels = {.count = 0};
    if (family->hidden)
        return;
    if (!out->time_ms && !strcmp(family->name, METRIC_SAMPLE_TIME))
        out->time_ms = (int64_t)(value->whole / 10000);
    stpcpy(stpcpy(name, family->name), sample->suffix);
    add_text(&labels, "__name__", name);
    add_written(&labels, written->text, written->size);
    if (text)
        add_text(&labels, "text", text);
    for (size_t i = 0; i < out->fixed_count; i++)
        add_text(&labels, out->fixed[i].name, out->fixed[i].value);
    size_t begin = out->size;
    for (size_t i = 0; i < labels.count; i++)
        put_label(out, &labels.all[i]);
    put_sample(out, metric_number(value), out->time_ms);
    enclose(out, begin, REQUEST_SERIES);
    if (++out->samples == out->most)
        out->full(out);
}

void remote_write_begin(struct remote_write *out)
{
    out->sink = (struct metric_sink){family, sample};
    out->size = out->samples = 0;
    out->failed = false;
}
