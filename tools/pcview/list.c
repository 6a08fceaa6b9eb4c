/* SPDX-License-Identifier: MIT */
/* All objects of a block, one line each. */
#include "pcview.h"

#include <stdlib.h>
#include <string.h>

enum { TITLE_LEAST = 20 };

struct line {
    uint32_t index;
    char title[128], instances[24];
    DWORD counters, level;
};

static void instances_word(const opl_object_view *object, char out[24])
{
    LONG count = object->type.NumInstances;
    if (count >= 0)
        snprintf(out, 24, "%d", count);
    else
        snprintf(out, 24, "%s", count == PERF_NO_INSTANCES ? "single" : "metadata");
}

static struct line line_of(const struct pcview *view, const opl_object_view *object)
{
    struct line line = {.index = object->type.ObjectNameTitleIndex,
                        .counters = object->type.NumCounters,
                        .level = object->type.DetailLevel};
    const char *title = names_title(&view->names, line.index);
    text_clean(title ? title : "(no name)", line.title, sizeof line.title);
    instances_word(object, line.instances);
    return line;
}

static int title_width(struct pcview *view)
{
    int width = TITLE_LEAST;
    opl_object_view object = {0};
    while (picture_next_object(&view->now, &object)) {
        struct line line = line_of(view, &object);
        int columns = text_width(line.title);
        width = columns > width ? columns : width;
    }
    return width < view->width - 40 ? width : view->width - 40;
}

static void print_head(struct pcview *view, unsigned objects)
{
    char time[32], system[64];
    block_time(&view->now.block, time, sizeof time);
    block_system(&view->now.block, system, sizeof system);
    fprintf(view->out, "%s%s%s  %s UTC  %u object%s, %zu bytes\n\n", view->style.title, system,
            view->style.off, time, objects, objects == 1 ? "" : "s", view->now.size);
}

void list_names(struct pcview *view)
{
    opl_object_view object = {0};
    while (picture_next_object(&view->now, &object)) {
        struct line line = line_of(view, &object);
        fprintf(view->out, "%s\n", line.title);
    }
}

/* ---- what was promised and did not come ---- */

struct silence {
    struct pcview *view;
    int width;
    unsigned count; /* of those who should have answered */
};

static void print_silent(void *self, const struct registered *registered)
{
    struct silence *silence = self;
    struct pcview *view = silence->view;
    char title[128];
    opl_object_view object = {0};
    while (picture_next_object(&view->now, &object))
        if (object.type.ObjectNameTitleIndex == registered->index)
            return;
    const char *name = names_title(&view->names, registered->index);
    text_clean(name ? name : "(no name)", title, sizeof title);
    fprintf(view->out, "%7u  ", registered->index);
    text_cell(view->out, title, silence->width);
    fprintf(view->out, "  %s%9s%s  %8s  service %s\n",
            registered->enabled ? view->style.warn : view->style.weak,
            registered->enabled ? "no answer" : "disabled", view->style.off, "-",
            registered->service);
    silence->count += registered->enabled;
}

static void list_silent(struct pcview *view, int width)
{
    struct silence silence = {.view = view, .width = width};
    if (view->block_count == 0)
        registered_each(print_silent, &silence);
    if (silence.count)
        fprintf(
            view->out,
            "\n%u registered object%s gave no answer. A costly one answers when it is named, one\n"
            "that this machine has nothing for does not; 'pcview --events' tells what failed.\n",
            silence.count, silence.count == 1 ? "" : "s");
}

void list_objects(struct pcview *view)
{
    int width = title_width(view);
    unsigned count = 0;
    opl_object_view object = {0};
    while (picture_next_object(&view->now, &object))
        count++;
    print_head(view, count);
    if (count == 0) {
        fputs("There is no object. 'OPENPERFLIB_TRACE=1 pcview' shows whom the query reached.\n",
              view->out);
        return;
    }
    fprintf(view->out, "%s  INDEX  %-*s  INSTANCES  COUNTERS  LEVEL%s\n", view->style.weak, width,
            "OBJECT", view->style.off);
    object = (opl_object_view){0};
    while (picture_next_object(&view->now, &object)) {
        struct line line = line_of(view, &object);
        fprintf(view->out, "%7u  ", line.index);
        text_cell(view->out, line.title, width);
        fprintf(view->out, "  %9s  %8u  %s\n", line.instances, line.counters,
                level_word(line.level));
    }
    list_silent(view, width);
    if (view->terminal && view->block_count == 0)
        fprintf(view->out, "\n%sShow one: pcview NAME    watch: pcview --watch [NAME]%s\n",
                view->style.weak, view->style.off);
}
