/* SPDX-License-Identifier: MIT */
/*
 * Saved selections: the counters of a chart under a name, in
 * $XDG_CONFIG_HOME/openperflib/selections/NAME.txt, one path in each line, so that
 * typeperf -cf and perfmon -cf read the file, too.
 */
#include "screen.h"

#include "keys.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ESCAPE = 27 };
static const char ending[] = ".txt";

/* Writes the path of a selection's file, or of their folder if `name` is NULL; false: the user
 * has no home folder, or the path is too long. */
static bool selection_path(const char *name, char ret[CONFIG_PATH_SIZE])
{
    char below[CONFIG_PATH_SIZE];
    snprintf(below, sizeof below, "selections%s%s%s", name ? "/" : "", name ? name : "",
             name ? ending : "");
    return config_path(below, ret);
}

static bool write_selection(const char *name, const struct chart *chart)
{
    char path[CONFIG_PATH_SIZE];
    struct config_file file;
    if (!selection_path(name, path) || !config_begin(&file, path))
        return false;
    for (size_t i = 0; chart_path(chart, i, path, sizeof path); i++)
        fprintf(file.file, "%s\n", path);
    return config_end(&file);
}

static int compare_names(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

static void read_names(struct selections *selections)
{
    char folder[CONFIG_PATH_SIZE];
    struct dirent *entry;
    text_list_done(&selections->names);
    DIR *directory = selection_path(NULL, folder) ? opendir(folder) : NULL;
    while (directory && (entry = readdir(directory))) {
        size_t length = strlen(entry->d_name);
        if (*entry->d_name != '.' && length > sizeof ending &&
            !strcmp(entry->d_name + length - strlen(ending), ending))
            text_list_add_part(&selections->names, entry->d_name, length - strlen(ending));
    }
    if (directory)
        closedir(directory);
    if (selections->names.count)
        qsort(selections->names.texts, selections->names.count, sizeof(char *), compare_names);
}

bool selections_draw(struct selections *selections, struct canvas *canvas, int row, int last)
{
    if (!selections->listed)
        return false;
    cursor_fit(&selections->cursor, selections->names.count, (size_t)(last - row - 1));
    canvas_text(canvas, row, 0, canvas->columns, STYLE_TITLE,
                local("Saved selections   Enter: open   x: delete   Escape: back to the chart"));
    selections->cursor.row = row + 1;
    for (size_t i = selections->cursor.first; i < selections->names.count && ++row < last; i++) {
        canvas_text(canvas, row, 2, canvas->columns - 2, STYLE_PLAIN, selections->names.texts[i]);
        if (i == selections->cursor.at)
            canvas_style(canvas, row, 0, canvas->columns, STYLE_SELECTED);
    }
    return true;
}

static void report(struct window *window, const char *what, const char *name)
{
    window_report(window, "%s %s: %s", local(what), name, strerror(errno));
}

static void save(struct selections *selections, struct window *window)
{
    const char *name = selections->name.text;
    char path[CONFIG_PATH_SIZE];
    if (!*name)
        return;
    if (*name == '.' || strchr(name, '/'))
        window_report(window, "a name of a selection has no / and does not begin with a dot: %s",
                      name);
    else if (write_selection(name, window->chart) && selection_path(name, path))
        window_report(window, "saved in %s", path);
    else
        report(window, "not saved:", name);
}

static void open_selected(struct selections *selections, struct window *window)
{
    char path[CONFIG_PATH_SIZE];
    struct text_list paths = {0};
    const char *name = selections->names.texts[selections->cursor.at];
    if (!selection_path(name, path) || !text_list_read(&paths, path)) {
        report(window, "not read:", name);
    } else {
        chart_clear(window->chart);
        for (size_t i = 0; i < paths.count; i++)
            window_add_counter(window, paths.texts[i]);
        window_report(window, paths.count == 1 ? "%zu counter of %s" : "%zu counters of %s",
                      paths.count, name);
    }
    text_list_done(&paths);
    selections->listed = false;
}

static void delete_selected(struct selections *selections, struct window *window)
{
    char path[CONFIG_PATH_SIZE];
    const char *name = selections->names.texts[selections->cursor.at];
    if (!selection_path(name, path) || unlink(path))
        report(window, "not deleted:", name);
    else
        window_report(window, "deleted %s", path);
    read_names(selections);
}

static void list_key(struct selections *selections, int key, struct window *window)
{
    bool any = selections->cursor.at < selections->names.count;
    if (cursor_key(&selections->cursor, key))
        return;
    if (any && cursor_enter(&selections->cursor, key))
        open_selected(selections, window);
    else if (any && (key == 'x' || key == KEY_DC))
        delete_selected(selections, window);
    else
        selections->listed = key != ESCAPE && key != 'q' && key != 'o';
}

bool selections_key(struct selections *selections, int key, struct window *window)
{
    bool typing = selections->name.open;
    if (field_key(&selections->name, key)) {
        if (typing && !selections->name.open)
            save(selections, window);
        return true;
    }
    if (selections->listed) {
        list_key(selections, key, window);
        return true;
    }
    if (key == 'W') {
        selections->name.open = true;
    } else if (key == 'o') {
        read_names(selections);
        selections->cursor.at = 0;
        selections->listed = selections->names.count > 0;
        if (!selections->listed)
            window_report(window,
                          "there are no saved selections: W saves the counters of the chart");
    } else {
        return false;
    }
    return true;
}
