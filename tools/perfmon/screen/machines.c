/* SPDX-License-Identifier: MIT */
/* Several machines: a list with a line for each, and the choice of the machine that is shown. */
#include "screen.h"

#include "keys.h"

#include "../../common/pdh-message.h"

#include <limits.h>
#include <math.h>
#include <openperflib/unstable.h>
#include <stdio.h>
#include <unistd.h>

enum { NAME = 24, SHARE = 8 };

bool machine_begin(struct machine *machine, struct model *model, const char *name,
                   const struct window_options *options, bool views)
{
    const char *files = options->files;
    int source = options->at ? model_add_set(model, files, options->at)
                 : files     ? model_add_capture(model, files, name)
                             : model_add_machine(model, name);
    if (source < 0)
        return false;
    *machine = (struct machine){
        .source = (size_t)source, .name = name, .files = files, .at = options->at != 0};
    char folder[PATH_MAX];
    machine->own = options->at &&
                   opl_captures_folder(files, folder, sizeof folder, &machine->own) && machine->own;
    if (!views)
        return true;
    machine->overview = overview_new(model, machine->source);
    if (machine->overview)
        machine->processes = processes_new(model, machine->source, machine->overview);
    return machine->processes != NULL;
}

void machine_forget(struct machine *machine)
{
    if (machine->object)
        object_free(machine->object);
    if (machine->tree)
        tree_free(machine->tree);
    machine->object = NULL;
    machine->tree = NULL;
}

void machine_end(struct machine *machine)
{
    if (machine->overview)
        overview_free(machine->overview);
    if (machine->processes)
        processes_free(machine->processes);
    machine_forget(machine);
}

const char *machine_title(const struct machine *machine)
{
    static char host[256], own[256];
    if (machine->own) {
        snprintf(own, sizeof own, local("%s (yours)"), machine->files);
        return own;
    }
    if (machine->files || machine->name)
        return machine->name ? machine->name : machine->files;
    if (!*host)
        gethostname(host, sizeof host - 1);
    return host;
}

/* Writes what the machine's tasks wait for, or why that is unknown. Returns the text's style. */
static enum style describe(const struct machine *machine, const struct model *model, char *ret,
                           size_t capacity)
{
    struct model_source source;
    model_source(model, machine->source, &source);
    if (source.state == MODEL_AWAY)
        snprintf(ret, capacity, local("away, tried again: %s"),
                 pdh_message(overview_problem(machine->overview)));
    else if (source.state == MODEL_SILENT)
        snprintf(ret, capacity, "%s", local("no answer"));
    else
        return overview_verdict(machine->overview, ret, capacity), STYLE_PLAIN;
    return STYLE_BAD;
}

void machines_draw(struct window *window, struct canvas *canvas, int row, int last)
{
    char text[256];
    struct cursor *cursor = &window->machine_cursor;
    canvas_text(canvas, row, 0, NAME, STYLE_TITLE, local("MACHINE"));
    canvas_right(canvas, row, NAME, SHARE, STYLE_TITLE, local("CPU %"));
    canvas_right(canvas, row, NAME + SHARE, SHARE, STYLE_TITLE, local("MEM %"));
    canvas_text(canvas, row, NAME + 2 * SHARE + 2, canvas->columns, STYLE_TITLE,
                local("HELD UP BY"));
    cursor_fit(cursor, window->machine_count, (size_t)(last - row - 1));
    cursor->row = row + 1;
    for (size_t i = cursor->first; i < window->machine_count && ++row < last; i++) {
        const struct machine *machine = &window->machines[i];
        double shares[2];
        enum style style = describe(machine, window->model, text, sizeof text);
        canvas_text(canvas, row, 0, NAME - 1, STYLE_PLAIN, machine_title(machine));
        canvas_text(canvas, row, NAME + 2 * SHARE + 2, canvas->columns - NAME - 2 * SHARE - 2,
                    style, text);
        overview_shares(machine->overview, &shares[0], &shares[1]);
        for (int s = 0; s < 2; s++) {
            text_percent(style == STYLE_BAD ? NAN : shares[s], text);
            canvas_right(canvas, row, NAME + s * SHARE, SHARE, style_of_percent(shares[s]), text);
        }
        if (i == cursor->at)
            canvas_style(canvas, row, 0, canvas->columns, STYLE_SELECTED);
    }
}

bool machines_key(struct window *window, int key)
{
    if (cursor_key(&window->machine_cursor, key))
        return true;
    if (!cursor_enter(&window->machine_cursor, key))
        return false;
    window->now = &window->machines[window->machine_cursor.at];
    window->view = VIEW_OVERVIEW;
    return true;
}
