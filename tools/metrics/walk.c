/* SPDX-License-Identifier: MIT */
/*
 * One object of a block as families of samples. All instances and counters are read before the sink
 * gets the first family, so that a damaged object leaves no half of itself. What is known of a
 * counter from its titles and type is kept, and buffers are reused: the same block again allocates
 * nothing.
 */
#include "metrics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <winperf.h>

/* Limits for blocks of machines that lie: descriptions that are kept, counters of an object, bytes
 * of an explanation, and what is passed in searches for one answer. Real ones have less than a
 * tenth of it. */
enum { DESCRIBED_MOST = 20000, COLUMNS_MOST = 4096, HELP_MOST = 4096, STEPS_MOST = 50000000 };
enum { TEXT_SIZE = 4096 };
#define DAY_100NS (INT64_C(86400) * METRIC_100NS)
/* Titles of the counters that identify a process or thread. */
enum { TITLE_PROCESS = 784, TITLE_START = 684, TITLE_THREAD = 804 };

struct described {
    uint32_t object, index, type;
    bool is_base;
    unsigned family_count;
    struct metric_family families[METRIC_FAMILIES];
    char *help;
};

struct column {
    opl_counter_view view;
    const struct described *described;
};

struct row {
    opl_instance_view view;
    size_t name, parent, text, text_size; /* offsets in the walk's texts */
    uint64_t key;                         /* the instance's identity */
    bool has_name, has_parent;
};

/* Finds how often a name came before. */
struct seen {
    uint64_t key;
    uint32_t count; /* 0: the place is free */
};

struct walk {
    struct view_names *names;
    struct carry *carry, *used;   /* its own, and the one in use */
    struct described **described; /* in the order in which they were found */
    size_t described_count, hint; /* hint: probable position of the next one */
    struct column *columns;
    size_t column_count, column_capacity;
    struct row *rows;
    size_t row_count, row_capacity;
    char *texts;
    size_t text_size, text_capacity;
    struct seen *seen;
    size_t seen_capacity, seen_used; /* seen_used: for this object, a power of two */
    /* of the object that is walked */
    opl_block *block;
    const opl_object_view *object;
    int64_t now;
    size_t *steps, own_steps; /* steps: of the answer; own_steps: of this object, without answers */
    bool no_memory;
};

struct walk *walk_new(struct view_names *names)
{
    struct walk *walk = calloc(1, sizeof *walk);
    if (!walk)
        return NULL;
    walk->names = names;
    walk->steps = &walk->own_steps;
    walk->used = walk->carry = carry_new();
    if (walk->carry)
        return walk;
    free(walk);
    return NULL;
}

void walk_use(struct walk *walk, struct carry *carry, size_t *steps)
{
    walk->used = carry;
    walk->steps = steps;
}

static void forget(struct walk *walk)
{
    for (size_t i = 0; i < walk->described_count; i++) {
        free(walk->described[i]->help);
        free(walk->described[i]);
    }
    walk->described_count = walk->hint = 0;
}

void walk_free(struct walk *walk)
{
    if (!walk)
        return;
    forget(walk);
    carry_free(walk->carry);
    free(walk->described);
    free(walk->columns);
    free(walk->rows);
    free(walk->texts);
    free(walk->seen);
    free(walk);
}

/* Returns the array with space for `count` elements; NULL: no memory, and the walk fails. */
static void *space(struct walk *walk, void *array, size_t *capacity, size_t count, size_t size)
{
    if (count <= *capacity)
        return array;
    void *grown = reallocarray(array, count * 2, size);
    if (grown)
        *capacity = count * 2;
    else
        walk->no_memory = true;
    return grown;
}

/* Counts what a search has passed. False: it is too much. */
static bool step(struct walk *walk, size_t count)
{
    *walk->steps += count;
    return *walk->steps <= STEPS_MOST;
}

/* ---- counters ---- */

/* Two titles may become one name; the second counter then has its number in it. A counter that has
 * another type than before keeps its name. */
static void make_unique(struct walk *walk, struct metric_family *family, uint32_t index)
{
    step(walk, walk->described_count);
    for (size_t i = 0; i < walk->described_count; i++)
        for (unsigned f = 0; f < walk->described[i]->family_count; f++)
            if ((walk->described[i]->index != index ||
                 walk->described[i]->object != walk->object->type.ObjectNameTitleIndex) &&
                !strcmp(walk->described[i]->families[f].name, family->name)) {
                size_t size = strlen(family->name);
                snprintf(family->name + size, METRIC_NAME_SIZE - size, "_%u", index);
                family->unit = "";
                return;
            }
}

/* Counters without an English title are not exposed, because a name could change later. */
static struct described *describe(struct walk *walk, const PERF_COUNTER_DEFINITION *counter)
{
    struct described *described = calloc(1, sizeof *described);
    void *grown = reallocarray(walk->described, walk->described_count + 1, sizeof described);
    if (grown)
        walk->described = grown;
    if (!described || !grown) {
        free(described);
        return NULL;
    }
    uint32_t index = counter->CounterNameTitleIndex;
    uint32_t object = walk->object->type.ObjectNameTitleIndex;
    const char *object_title = names_english(walk->names, object);
    const char *title = names_english(walk->names, index);
    const char *help = names_help(walk->names, counter->CounterHelpTitleIndex);
    opl_type_info type;
    opl_type_describe(counter->CounterType, &type);
    described->object = object;
    described->index = index;
    described->type = counter->CounterType;
    described->is_base = type.is_base;
    if (object_title && title && step(walk, strlen(object_title) + strlen(title)))
        described->family_count =
            metric_describe(object_title, title, index, counter->CounterType, described->families);
    size_t size = help ? strnlen(help, HELP_MOST) * 3 + 1 : 0;
    size = size < HELP_MOST ? size : HELP_MOST;
    described->help = size ? malloc(size) : NULL;
    if (described->help)
        metric_utf8(help, described->help, size);
    for (unsigned i = 0; i < described->family_count; i++) {
        described->families[i].help = described->help;
        make_unique(walk, &described->families[i], index);
    }
    return walk->described[walk->described_count++] = described;
}

static const struct described *described_of(struct walk *walk,
                                            const PERF_COUNTER_DEFINITION *counter)
{
    for (size_t i = 0; i < walk->described_count; i++) {
        size_t at = (walk->hint + i) % walk->described_count;
        const struct described *known = walk->described[at];
        if (known->index == counter->CounterNameTitleIndex && known->type == counter->CounterType &&
            known->object == walk->object->type.ObjectNameTitleIndex) {
            walk->hint = at + 1;
            return known;
        }
    }
    step(walk, walk->described_count);
    return describe(walk, counter);
}

static void read_columns(struct walk *walk)
{
    opl_counter_view view = {0};
    walk->column_count = 0;
    while (!walk->no_memory && opl_object_next_counter(walk->block, walk->object, &view)) {
        struct column *columns = space(walk, walk->columns, &walk->column_capacity,
                                       walk->column_count + 1, sizeof *columns);
        if (walk->column_count == COLUMNS_MOST || !step(walk, 1)) {
            walk->block->fault = OPL_BLOCK_DEFINITION;
            return;
        }
        const struct described *described = described_of(walk, &view.definition);
        walk->columns = columns ? columns : walk->columns;
        walk->no_memory |= !described;
        if (!walk->no_memory)
            columns[walk->column_count++] = (struct column){view, described};
    }
}

/* ---- instances ---- */

static char *text_space(struct walk *walk, size_t size)
{
    char *texts =
        space(walk, walk->texts, &walk->text_capacity, walk->text_size + size, sizeof *texts);
    walk->texts = texts ? texts : walk->texts;
    return texts ? texts + walk->text_size : NULL;
}

/* Keeps an instance's name as valid UTF-8; returns its offset in the texts. */
static size_t keep_name(struct walk *walk, const opl_object_view *object,
                        const opl_instance_view *instance)
{
    char name[TEXT_SIZE], *to = text_space(walk, sizeof name * 3);
    size_t at = walk->text_size;
    if (!to)
        return 0;
    opl_instance_name(walk->block, object, instance, name, sizeof name);
    walk->text_size += metric_utf8(name, to, sizeof name * 3) + 1;
    return at;
}

/* Adds name="..." to the texts, escaped; `copy` counts equal names, and is shown as in paths. */
static void keep_label(struct walk *walk, const char *label, size_t name, uint32_t copy)
{
    size_t most = strlen(walk->texts + name) * 2 + strlen(label) + 20;
    char *to = text_space(walk, most), *begin = to;
    if (!to)
        return;
    to = stpcpy(stpcpy(to, label), "=\"");
    to += metric_escape(walk->texts + name, to);
    if (copy)
        to += sprintf(to, "#%u", copy);
    *to++ = '"';
    walk->text_size += (size_t)(to - begin);
}

static uint64_t hash(uint64_t key, const void *data, size_t size)
{
    const unsigned char *bytes = data;
    for (size_t i = 0; i < size; i++)
        key = (key ^ bytes[i]) * UINT64_C(0x100000001b3);
    return key ^ key >> 29;
}

/* Returns how many instances before this one have the same name and parent. */
static uint32_t copy_of(struct walk *walk, uint64_t key)
{
    size_t at = key & (walk->seen_used - 1);
    while (walk->seen[at].count && walk->seen[at].key != key && step(walk, 1))
        at = (at + 1) & (walk->seen_used - 1);
    walk->seen[at].key = key;
    return walk->seen[at].count++;
}

static bool begin_seen(struct walk *walk)
{
    for (walk->seen_used = 16; walk->seen_used < walk->row_count * 2;)
        walk->seen_used *= 2;
    struct seen *seen =
        space(walk, walk->seen, &walk->seen_capacity, walk->seen_used, sizeof *seen);
    if (!seen)
        return false;
    walk->seen = seen;
    memset(seen, 0, walk->seen_used * sizeof *seen);
    return true;
}

/* Where the search for parents continues: children are mostly in their parents' order. */
struct parents {
    uint32_t index; /* 0: no search yet */
    opl_object_view object;
    opl_instance_view at;
};

static bool find_parent(struct walk *walk, struct parents *parents,
                        const PERF_INSTANCE_DEFINITION *child)
{
    if (!child->ParentObjectTitleIndex)
        return false;
    if (parents->index != child->ParentObjectTitleIndex) {
        *parents = (struct parents){.index = child->ParentObjectTitleIndex};
        if (!opl_block_find_object(walk->block, parents->index, &parents->object))
            parents->object.offset = 0;
    }
    if (!parents->object.offset || parents->object.type.NumInstances == PERF_NO_INSTANCES)
        return false;
    if (parents->at.end && parents->at.position > child->ParentObjectInstance)
        parents->at = (opl_instance_view){0};
    while (!parents->at.end || parents->at.position != child->ParentObjectInstance)
        if (!step(walk, 1) ||
            !opl_object_next_instance(walk->block, &parents->object, &parents->at))
            return false;
    return true;
}

static uint64_t number_of(struct walk *walk, const struct row *row, uint32_t title)
{
    uint64_t number = 0;
    for (size_t i = 0; i < walk->column_count; i++)
        if (walk->columns[i].view.definition.CounterNameTitleIndex == title)
            opl_counter_number(walk->block, &row->view, &walk->columns[i].view, &number);
    return number;
}

/* Sets labels and identity. A process is identified by its number and start, because its name may
 * change and others may have it. */
static void label_row(struct walk *walk, struct row *row)
{
    uint32_t object = walk->object->type.ObjectNameTitleIndex;
    uint64_t key = hash(object, walk->texts + row->name, strlen(walk->texts + row->name) + 1);
    if (row->has_parent)
        key = hash(key, walk->texts + row->parent, strlen(walk->texts + row->parent));
    uint32_t copy = row->has_name ? copy_of(walk, key) : 0;
    row->text = walk->text_size;
    if (row->has_name)
        keep_label(walk, "name", row->name, copy);
    char *comma = row->has_parent ? text_space(walk, 1) : NULL;
    if (comma) {
        *comma = ',';
        walk->text_size++;
        keep_label(walk, "parent", row->parent, 0);
    }
    row->text_size = walk->text_size - row->text;
    uint64_t ids[] = {number_of(walk, row, TITLE_PROCESS), number_of(walk, row, TITLE_START),
                      number_of(walk, row, TITLE_THREAD)};
    row->key = ids[0] && ids[1] ? hash(object, ids, sizeof ids) : hash(key, &copy, sizeof copy);
}

/* A total is not exposed, because Prometheus' queries can compute sums. A node's is "0,_Total". */
static bool is_total(const char *name)
{
    size_t size = strlen(name);
    return !strcmp(name, "_Total") || (size > 7 && !strcmp(name + size - 7, ",_Total"));
}

static void read_rows(struct walk *walk)
{
    opl_instance_view view = {0};
    struct parents parents = {0};
    size_t totals = 0;
    walk->row_count = walk->text_size = 0;
    while (!walk->no_memory && step(walk, walk->column_count) &&
           opl_object_next_instance(walk->block, walk->object, &view)) {
        struct row *rows =
            space(walk, walk->rows, &walk->row_capacity, walk->row_count + 1, sizeof *rows);
        if (!rows)
            return;
        walk->rows = rows;
        struct row *row = &rows[walk->row_count++];
        *row = (struct row){.view = view};
        row->has_name = walk->object->type.NumInstances != PERF_NO_INSTANCES;
        row->name = keep_name(walk, walk->object, &view);
        row->has_parent = find_parent(walk, &parents, &view.definition);
        if (row->has_parent)
            row->parent = keep_name(walk, &parents.object, &parents.at);
        totals += !walk->no_memory && is_total(walk->texts + row->name);
    }
    if (walk->no_memory || !begin_seen(walk))
        return;
    size_t kept = 0;
    for (size_t i = 0; i < walk->row_count && !walk->no_memory; i++)
        if (totals == walk->row_count || !is_total(walk->texts + walk->rows[i].name)) {
            walk->rows[kept] = walk->rows[i];
            label_row(walk, &walk->rows[kept++]);
        }
    walk->row_count = kept;
}

/* ---- values ---- */

bool metric_divide(uint64_t number, int64_t frequency, struct metric_value *ret)
{
    unsigned digits = 0;
    int64_t left = frequency;
    if (frequency <= 0)
        return false;
    for (; left % 10 == 0; left /= 10)
        digits++;
    if (left == 1)
        *ret = (struct metric_value){.whole = number, .digits = digits};
    else
        *ret = (struct metric_value){.is_real = true, .real = (double)number / (double)frequency};
    return true;
}

static int64_t frequency_of(const struct walk *walk, enum metric_clock clock)
{
    switch (clock) {
    case CLOCK_TICKS:
        return walk->block->header.PerfFreq.QuadPart;
    case CLOCK_100NS:
        return METRIC_100NS;
    case CLOCK_OBJECT:
        return walk->object->type.PerfFreq.QuadPart;
    case CLOCK_HUNDRED:
        return 100; /* a percentage becomes a ratio */
    default:
        return 1;
    }
}

/* The time since 1970 at which an elapsed time began. An object's clock that shows the date is
 * exact; another one is compared with the block's. False: it has not begun. */
static bool start_time(const struct walk *walk, int64_t began, struct metric_value *ret)
{
    int64_t date = walk->block->header.PerfTime100nSec.QuadPart,
            clock = walk->object->type.PerfTime.QuadPart,
            frequency = walk->object->type.PerfFreq.QuadPart;
    if (began <= 0 || frequency <= 0 || date < METRIC_EPOCH_100NS)
        return false;
    if (frequency == METRIC_100NS && began >= METRIC_EPOCH_100NS && clock >= METRIC_EPOCH_100NS &&
        llabs(date - clock) < DAY_100NS)
        return metric_divide((uint64_t)began - METRIC_EPOCH_100NS, frequency, ret);
    *ret = (struct metric_value){
        .is_real = true,
        .real = (double)(date - METRIC_EPOCH_100NS) / METRIC_100NS -
                ((double)clock - (double)began) / (double)frequency,
    };
    return true;
}

/* Reads the number of a counter or base, a 32-bit counter continued. */
static bool read_number(struct walk *walk, const struct row *row, const struct column *column,
                        enum metric_kind kind, uint64_t *ret)
{
    const PERF_COUNTER_DEFINITION *counter = &column->view.definition;
    /* the type, too, because a base often has the title of its counter */
    const uint32_t ids[] = {counter->CounterNameTitleIndex, counter->CounterType};
    if (!opl_counter_number(walk->block, &row->view, &column->view, ret))
        return false;
    if (counter->CounterSize == sizeof(uint32_t) && kind != METRIC_GAUGE)
        *ret = carry_on(walk->used, hash(row->key, ids, sizeof ids), (uint32_t)*ret, walk->now);
    return true;
}

static bool read_ratio(struct walk *walk, const struct row *row, const struct column *column,
                       const struct column *base, double times, struct metric_value *ret)
{
    uint64_t part, whole;
    if (!base || !read_number(walk, row, column, METRIC_GAUGE, &part) ||
        !read_number(walk, row, base, METRIC_GAUGE, &whole) || (int64_t)part < 0 ||
        (int64_t)whole < 0)
        return false;
    /* as in PDH, a share is 0 if the whole is 0 (docs/formulas.md) */
    *ret = (struct metric_value){.is_real = true,
                                 .real = whole ? (double)part / (double)whole * times : 0};
    return true;
}

/* Reads the DWORD after the value of a multi timer: the number of timers. */
static bool read_multi(const struct walk *walk, const struct row *row, const struct column *column,
                       struct metric_value *ret)
{
    opl_counter_view after = column->view;
    after.definition.CounterOffset += after.definition.CounterSize;
    after.definition.CounterSize = sizeof(uint32_t);
    *ret = (struct metric_value){0};
    return opl_counter_number(walk->block, &row->view, &after, &ret->whole);
}

/* Reads a sample of the counter in `column`; `base`: its base counter, or NULL. False: it has no
 * value. */
static bool read_sample(struct walk *walk, const struct metric_family *family,
                        const struct metric_sample *sample, const struct row *row,
                        const struct column *column, const struct column *base,
                        struct metric_value *ret)
{
    uint64_t number;
    if (sample->source == SOURCE_MULTI)
        return read_multi(walk, row, column, ret);
    if (sample->source == SOURCE_RATIO || sample->source == SOURCE_PERCENT)
        return read_ratio(walk, row, column, base, sample->source == SOURCE_RATIO ? 1 : 100, ret);
    if (sample->source == SOURCE_BASE)
        column = base;
    if (!column || !read_number(walk, row, column, family->kind, &number))
        return false;
    if (sample->source == SOURCE_START)
        return start_time(walk, (int64_t)number, ret);
    if (!metric_divide(number, frequency_of(walk, sample->clock), ret))
        return false;
    if (family->kind == METRIC_GAUGE && (int64_t)ret->whole < 0) {
        ret->negative = true;
        ret->whole = -ret->whole;
    }
    return true;
}

/* Returns a text counter's text as valid UTF-8, until the next one is read; NULL: none. */
static const char *read_text(struct walk *walk, const struct row *row, const struct column *column)
{
    size_t size = opl_counter_text(walk->block, walk->object, &row->view, &column->view, NULL, 0);
    char *to = size ? text_space(walk, size * 4) : NULL;
    if (!to)
        return NULL;
    opl_counter_text(walk->block, walk->object, &row->view, &column->view, to, size);
    metric_utf8(to, to + size, size * 3);
    return to + size;
}

static void emit_family(struct walk *walk, const struct metric_family *family,
                        const struct column *column, const struct column *base,
                        struct metric_sink *sink)
{
    bool emitted = false, wanted = !sink->wants || sink->wants(sink, family);
    for (size_t i = 0; wanted && i < walk->row_count; i++) {
        const struct row *row = &walk->rows[i];
        for (unsigned s = 0; s < family->sample_count; s++) {
            const struct metric_sample *sample = &family->samples[s];
            struct metric_value value = {.whole = 1};
            bool is_text = sample->source == SOURCE_TEXT;
            const char *text = is_text ? read_text(walk, row, column) : NULL;
            if (is_text ? !text : !read_sample(walk, family, sample, row, column, base, &value))
                continue;
            struct metric_labels labels = {
                .name = walk->texts + row->name,
                .parent = walk->texts + row->parent,
                .text = walk->texts + row->text,
                .size = row->text_size,
                .has_name = row->has_name,
                .has_parent = row->has_parent,
            };
            if (!emitted)
                sink->family(sink, family);
            emitted = true;
            sink->sample(sink, family, sample, &labels, text, &value);
        }
    }
}

/* Returns how many samples the columns and rows that were read have. */
static size_t count_samples(const struct walk *walk)
{
    size_t count = 0;
    for (size_t c = 0; c < walk->column_count; c++) {
        const struct described *described = walk->columns[c].described;
        for (unsigned f = 0; f < described->family_count; f++)
            if (!described->families[f].hidden)
                count += described->families[f].sample_count * walk->row_count;
    }
    return count;
}

enum walk_result walk_object(struct walk *walk, opl_block *block, const opl_object_view *object,
                             size_t most, struct metric_sink *sink, size_t *ret_count)
{
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    walk->now = now.tv_sec;
    walk->block = block;
    walk->object = object;
    walk->no_memory = false;
    walk->own_steps = 0;
    block->fault = OPL_BLOCK_GOOD;
    *ret_count = 0;
    if (walk->described_count > DESCRIBED_MOST)
        forget(walk);
    read_columns(walk);
    if (!walk->no_memory)
        read_rows(walk);
    if (walk->no_memory || block->fault != OPL_BLOCK_GOOD || !step(walk, 0))
        return walk->no_memory ? WALK_NO_MEMORY : WALK_DAMAGED;
    *ret_count = count_samples(walk);
    if (*ret_count > most)
        return WALK_TOO_MANY;
    for (size_t c = 0; c < walk->column_count; c++) {
        const struct column *column = &walk->columns[c];
        const struct described *described = column->described;
        bool has_base = c + 1 < walk->column_count && column[1].described->is_base;
        for (unsigned f = 0; f < described->family_count; f++)
            emit_family(walk, &described->families[f], column, has_base ? column + 1 : NULL, sink);
    }
    return WALK_GOOD;
}
