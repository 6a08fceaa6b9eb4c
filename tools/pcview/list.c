/* SPDX-License-Identifier: MIT */
/* All objects of a block, one line each, with the value of the default counter. */
#include "pcview.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { TITLE_LEAST = 20 };

struct list_line {
    uint32_t index;
    char title[128], instances[24], value[64], counter[128];
    DWORD counters;
};

static void instances_word(const opl_object_view *object, char out[24])
{
    LONG count = object->type.NumInstances;
    if (count >= 0)
        snprintf(out, 24, "%d", count);
    else
        snprintf(out, 24, "%s", count == PERF_NO_INSTANCES ? "single" : "metadata");
}

/* Writes the value of the object's default counter into the line; of several instances, that of
 * _Total. */
static void default_value(struct pcview *view, const opl_object_view *where, struct list_line *line)
{
    struct view_object object;
    struct view_instance *instance = NULL;
    LONG counter = where->type.DefaultCounter;
    if (!view_object_load(&object, &view->now, where, view->has_before ? &view->before : NULL,
                          &view->names))
        return;
    for (size_t i = 0; i < object.instance_count && !instance; i++)
        if (view_object_single(&object) ||
            !strcmp(view_text(&object, object.instances[i].name), "_Total"))
            instance = &object.instances[i];
    if (instance && counter >= 0 && (size_t)counter < object.counter_count) {
        struct view_value value;
        view_value_get(&object, instance, &object.counters[counter], &value);
        if (value.state == VIEW_NUMBER) {
            view_value_text(&object, instance, &object.counters[counter], line->value,
                            sizeof line->value);
            text_clean(object.counters[counter].title, line->counter, sizeof line->counter);
        }
    }
    view_object_done(&object);
}

static struct list_line line_of(struct pcview *view, const opl_object_view *object)
{
    struct list_line line = {.index = object->type.ObjectNameTitleIndex,
                             .counters = object->type.NumCounters};
    const char *title = names_title(&view->names, line.index);
    text_clean(title ? title : "(no name)", line.title, sizeof line.title);
    instances_word(object, line.instances);
    default_value(view, object, &line);
    return line;
}

static int by_title(const void *left, const void *right)
{
    const struct list_line *one = left, *other = right;
    int order = strcasecmp(one->title, other->title);
    return order ? order : (one->index > other->index) - (one->index < other->index);
}

/* Returns all objects of the block, sorted by title; to be freed. NULL: none, or no memory. */
static struct list_line *all_lines(struct pcview *view, size_t *ret_count)
{
    struct list_line *lines = NULL;
    size_t count = 0;
    opl_object_view object = {0};
    while (snapshot_next_object(&view->now, &object)) {
        struct list_line *grown = reallocarray(lines, count + 1, sizeof *lines);
        if (!grown)
            break;
        lines = grown;
        lines[count++] = line_of(view, &object);
    }
    if (count)
        qsort(lines, count, sizeof *lines, by_title);
    *ret_count = count;
    return lines;
}

static int title_width(const struct pcview *view, const struct list_line *lines, size_t count)
{
    int width = TITLE_LEAST;
    for (size_t i = 0; i < count; i++) {
        int columns = text_width(lines[i].title);
        width = columns > width ? columns : width;
    }
    return width < view->width - 52 ? width : view->width - 52;
}

static void print_head(struct pcview *view, size_t objects)
{
    char time[32], system[64];
    block_time(&view->now.block, time, sizeof time);
    block_system(&view->now.block, system, sizeof system);
    fprintf(view->out, "%s%s%s  %s UTC  %zu object%s, %zu bytes\n\n", view->style.title, system,
            view->style.off, time, objects, objects == 1 ? "" : "s", view->now.size);
}

void list_names(struct pcview *view)
{
    opl_object_view object = {0};
    while (snapshot_next_object(&view->now, &object)) {
        const char *name = names_title(&view->names, object.type.ObjectNameTitleIndex);
        char title[128];
        text_clean(name ? name : "(no name)", title, sizeof title);
        fprintf(view->out, "%s\n", title);
    }
}

/* ---- registered objects that are not in the answer ---- */

struct absent {
    struct pcview *view;
    FILE *silent, *disabled; /* titles of objects whose provider did not answer, or is disabled */
};

static void add_absent(void *self, const struct registered *registered)
{
    struct absent *absent = self;
    char title[128];
    opl_object_view object = {0};
    while (snapshot_next_object(&absent->view->now, &object))
        if (object.type.ObjectNameTitleIndex == registered->index)
            return;
    const char *name = names_title(&absent->view->names, registered->index);
    FILE *list = registered->enabled ? absent->silent : absent->disabled;
    text_clean(name ? name : "(no name)", title, sizeof title);
    fprintf(list, "%s%s (%u%s%s)", ftell(list) ? ", " : "", title, registered->index,
            registered->enabled ? "" : ", service ",
            registered->enabled ? "" : text_seen(registered->service));
}

static void print_absent(struct pcview *view, const char *head, const char *list, const char *tail)
{
    char *text = NULL;
    if (!*list || asprintf(&text, "%s: %s. %s", head, list, tail) < 0)
        return;
    fputc('\n', view->out);
    text_wrap(view->out, text, 0, view->width);
    free(text);
}

static void list_absent(struct pcview *view)
{
    char *silent = NULL, *disabled = NULL;
    size_t size;
    struct absent absent = {view, open_memstream(&silent, &size), open_memstream(&disabled, &size)};
    if (view->block_count == 0 && absent.silent && absent.disabled)
        registered_each(add_absent, &absent);
    if (absent.silent)
        fclose(absent.silent);
    if (absent.disabled)
        fclose(absent.disabled);
    if (silent && disabled) {
        print_absent(view, "Not in this answer", silent,
                     "A costly object is returned only if it is named; an object that has no data "
                     "on this machine is never returned; 'pcview --events' shows errors.");
        print_absent(view, "Disabled", disabled, "'lodctr /E:SERVICE' enables a service.");
    }
    free(silent);
    free(disabled);
}

void list_objects(struct pcview *view)
{
    size_t count;
    struct list_line *lines = all_lines(view, &count);
    int width = title_width(view, lines, count);
    print_head(view, count);
    if (count == 0) {
        fputs("There are no objects. 'OPENPERFLIB_TRACE=1 pcview' shows which services the query "
              "reached.\n",
              view->out);
        return;
    }
    fprintf(view->out, "%s  INDEX  %-*s  INSTANCES  COUNTERS         VALUE  COUNTER%s\n",
            view->style.weak, width, "OBJECT", view->style.off);
    for (size_t i = 0; i < count; i++) {
        fprintf(view->out, "%7u  ", lines[i].index);
        text_cell(view->out, lines[i].title, width);
        fprintf(view->out, "  %9s  %8u", lines[i].instances, lines[i].counters);
        if (*lines[i].value) {
            fprintf(view->out, "  %12s  ", lines[i].value);
            text_cell(view->out, lines[i].counter, view->width - width - 46);
        }
        fputc('\n', view->out);
    }
    free(lines);
    list_absent(view);
    if (view->terminal && view->block_count == 0)
        fprintf(view->out, "\n%sShow one: pcview NAME    watch: perfmon [NAME]%s\n",
                view->style.weak, view->style.off);
}
