/* SPDX-License-Identifier: MIT */
/* Prints an object: its header, and its counters with the parts of their types. */
#include "pcview.h"
#include "../common/missing.h"

#include <inttypes.h>
#include <string.h>

enum { TITLE_USUAL = 16, TITLE_LEAST = 10 };

static void print_instances(struct pcview *view, const struct view_object *object)
{
    LONG count = object->now.type.NumInstances;
    DWORD page = object->now.type.CodePage;
    if (count == PERF_NO_INSTANCES)
        fprintf(view->out, "  single: one set of values");
    else if (count < 0)
        fprintf(view->out, "  definitions only, no instances (metadata)");
    else
        fprintf(view->out, "  %d instance%s", count, count == 1 ? "" : "s");
    if (count >= 0 && page)
        fprintf(view->out, ", names in code page %u", page);
    else if (count >= 0)
        fprintf(view->out, ", names in UTF-16");
    fprintf(view->out, "\n");
}

static void print_clock(struct pcview *view, const struct view_object *object)
{
    const PERF_OBJECT_TYPE *type = &object->now.type;
    if (type->PerfFreq.QuadPart)
        fprintf(view->out, "  clock of its own: %" PRId64 " at %" PRId64 " ticks per second\n",
                (int64_t)type->PerfTime.QuadPart, (int64_t)type->PerfFreq.QuadPart);
}

static void print_default(struct pcview *view, const struct view_object *object)
{
    LONG which = object->now.type.DefaultCounter;
    if (which >= 0 && (size_t)which < object->counter_count) {
        char title[256];
        text_clean(object->counters[which].title, title, sizeof title);
        fprintf(view->out, ", shown first: %s", title);
    }
}

static void print_header(struct pcview *view, const struct view_object *object)
{
    char title[256];
    const PERF_OBJECT_TYPE *type = &object->now.type;
    const char *help = names_help(&view->names, type->ObjectHelpTitleIndex);
    text_clean(object->title, title, sizeof title);
    fprintf(view->out, "%s%s%s\n", view->style.title, title, view->style.off);
    if (help)
        text_wrap(view->out, help, 2, view->width);
    fprintf(view->out, "  index %u, help %u, level %s (%u)\n", type->ObjectNameTitleIndex,
            type->ObjectHelpTitleIndex, level_word(type->DetailLevel), type->DetailLevel);
    fprintf(view->out, "  %u counter%s", type->NumCounters, type->NumCounters == 1 ? "" : "s");
    print_default(view, object);
    fprintf(view->out, "\n");
    print_instances(view, object);
    print_clock(view, object);
}

/* Widths of the two columns of the table that have no fixed width. */
struct counter_columns {
    int title, help;
};

static void print_counter(struct pcview *view, const struct view_counter *counter,
                          const struct counter_columns *columns)
{
    const PERF_COUNTER_DEFINITION *definition = &counter->now.definition;
    const struct style *style = &view->style;
    char title[256], fields[160];
    text_clean(counter->title, title, sizeof title);
    type_fields(counter, fields, sizeof fields);
    fprintf(view->out, "%7u  %s", definition->CounterNameTitleIndex,
            counter->hidden ? style->weak : style->strong);
    text_cell(view->out, title, columns->title);
    fprintf(view->out, "%s  %*u  %4u  %4u  %5d  %s\n", style->off, columns->help,
            definition->CounterHelpTitleIndex, definition->CounterSize, definition->CounterOffset,
            definition->DefaultScale, level_word(definition->DetailLevel));
    fprintf(view->out, "         %s%s%s %s0x%08x%s\n", style->good, type_word(counter), style->off,
            style->weak, definition->CounterType, style->off);
    fprintf(view->out, "         %s= %s%s\n", style->weak, fields, style->off);
}

static void print_help(struct pcview *view, const struct view_counter *counter)
{
    const char *help = names_help(&view->names, counter->now.definition.CounterHelpTitleIndex);
    if (help)
        text_wrap(view->out, help, 9, view->width);
}

/* Computes the widths of the two columns. All other columns together take 42 characters. A help
 * index has 5 digits, or 7 in the users' layer. */
static struct counter_columns counter_columns(struct pcview *view, const struct view_object *object)
{
    struct counter_columns columns = {.title = TITLE_USUAL, .help = 5};
    for (size_t i = 0; i < object->counter_count; i++) {
        const struct view_counter *counter = &object->counters[i];
        int title = text_width(counter->title);
        int help = snprintf(NULL, 0, "%u", counter->now.definition.CounterHelpTitleIndex);
        columns.title = title > columns.title ? title : columns.title;
        columns.help = help > columns.help ? help : columns.help;
    }
    int capacity = view->width - 42 - columns.help;
    capacity = capacity > TITLE_LEAST ? capacity : TITLE_LEAST;
    columns.title = columns.title < capacity ? columns.title : capacity;
    return columns;
}

static void show_counters(struct pcview *view, const struct view_object *object)
{
    struct counter_columns columns = counter_columns(view, object);
    fprintf(view->out, "\n%s  INDEX  %-*s  %*s  SIZE    AT  SCALE  LEVEL%s\n", view->style.weak,
            columns.title, "COUNTER", columns.help, "HELP", view->style.off);
    for (size_t i = 0; i < object->counter_count; i++) {
        print_counter(view, &object->counters[i], &columns);
        if (view->explain)
            print_help(view, &object->counters[i]);
    }
}

/* Prints titles and explanations, for --explain alone. */
static void show_explanations(struct pcview *view, const struct view_object *object)
{
    for (size_t i = 0; i < object->counter_count; i++) {
        char title[256];
        const struct view_counter *counter = &object->counters[i];
        if (counter->hidden)
            continue;
        text_clean(counter->title, title, sizeof title);
        fprintf(view->out, "\n%7u  %s%s%s\n", counter->now.definition.CounterNameTitleIndex,
                view->style.strong, title, view->style.off);
        print_help(view, counter);
    }
}

static void show_object(struct pcview *view, const struct view_object *object,
                        struct requested_object *requested)
{
    bool all = !view->counters && !view->values && !view->explain;
    print_header(view, object);
    if (all || view->counters)
        show_counters(view, object);
    else if (view->explain)
        show_explanations(view, object);
    if (all || view->values)
        show_values(view, object, requested);
}

bool show_objects(struct pcview *view)
{
    char time[32], system[64];
    opl_object_view where = {0};
    block_time(&view->now.block, time, sizeof time);
    block_system(&view->now.block, system, sizeof system);
    fprintf(view->out, "%s%s  %s UTC%s\n", view->style.weak, system, time, view->style.off);
    while (snapshot_next_object(&view->now, &where)) {
        bool all;
        struct view_object object;
        struct requested_object *requested = find_requested(view, &where, &all);
        if (!requested && !all)
            continue;
        bool good = view_object_load(&object, &view->now, &where,
                                     view->has_before ? &view->before : NULL, &view->names);
        fprintf(view->out, "\n");
        if (good)
            show_object(view, &object, requested);
        const char *name = names_english(&view->names, where.type.ObjectNameTitleIndex);
        if (good && name)
            missing_rights("pcview", name);
        view_object_done(&object);
        if (!good)
            return false;
    }
    return true;
}
