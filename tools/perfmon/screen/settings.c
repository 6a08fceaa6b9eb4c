/* SPDX-License-Identifier: MIT */
/*
 * What perfmon's keys have set, in $XDG_CONFIG_HOME/openperflib/perfmon.conf: lines "name = value".
 * When perfmon ends, it writes the lines of the settings that have changed since its start. It
 * keeps all other lines, also comments and lines that it does not understand.
 */
#include "screen.h"

#include "keys.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ESCAPE = 27, FILE_MOST = 64 << 10, WIDTH = 24, CHOICES = 16 };
/* clang-format off */
static const char *const columns[CHOICES] = {
    "pid", "cpu", "time", "memory", "read", "write", "threads", "age", "parent", "mem_max", "cpu_max", "throttle",
    "cpu_wait", "mem_wait", "io_wait"};
static const char *const orders[CHOICES] = {"largest_first", "smallest_first"};
static const char *const no_yes[CHOICES] = {"no", "yes"};
static const char *const groups[CHOICES] = {"process", "program", "user", "unit", "container",
                                            "control_group"};
/* in the order of language.c */
static const char *const names_of_languages[CHOICES] = {"environment", "en", "de",
                                                       "es",          "fr", "ru"};
static const char *const palettes[CHOICES] = {"usual", "colour_blind"};
/* `choices`: the values; NULL: a number from `least` to `most` */
static const struct {
    const char *name, *key;
    const char *const *choices;
    double least, most;
} rows[SETTINGS] = {
    [SET_PALETTE]    = {"palette", "C", palettes, 0, 0},
    [SET_LANGUAGE]   = {"language", "L", names_of_languages, 0, 0},
    [SET_INTERVAL]   = {"interval", "s S", NULL, 0.05, 3600},
    [SET_SORT]       = {"sort", "left right", columns, 0, 0},
    [SET_ORDER]      = {"order", "i", orders, 0, 0},
    [SET_TREE]       = {"tree", "t", no_yes, 0, 0},
    [SET_TREE_SORT]  = {"tree_sort", "left right", columns, 0, 0},
    [SET_TREE_ORDER] = {"tree_order", "i", orders, 0, 0},
    [SET_GROUPS]     = {"group_by", "G", groups, 0, 0},
    [SET_KERNEL]     = {"kernel_threads", "K", no_yes, 0, 0},
};
/* clang-format on */

/* ---- lines ---- */

/* Reads a value; false: this setting cannot have it. */
static bool read_value(int row, const char *text, double *ret)
{
    char *end;
    for (int i = 0; rows[row].choices && rows[row].choices[i]; i++)
        if (!strcasecmp(rows[row].choices[i], text)) {
            *ret = i;
            return true;
        }
    double number = strtod(text, &end);
    if (rows[row].choices || end == text || *end || !(number >= rows[row].least) ||
        !(number <= rows[row].most))
        return false;
    *ret = number;
    return true;
}

static void value_text(int row, double value, char *ret, size_t capacity)
{
    if (rows[row].choices)
        snprintf(ret, capacity, "%s", rows[row].choices[(int)value]);
    else
        snprintf(ret, capacity, "%g", value);
}

/* Finds the setting of a line of `length` bytes, and writes its value's text. Returns SETTINGS if
 * there is no such setting; -1: the line is empty or a comment. */
static int read_line(const char *line, size_t length, char *ret, size_t capacity)
{
    char copy[256], *rest, *value;
    snprintf(copy, sizeof copy, "%.*s", (int)length, line);
    char *name = strtok_r(copy, " \t\r=", &rest);
    *ret = 0;
    if (!name || *name == '#')
        return -1;
    value = rest + strspn(rest, " \t=");
    value[strcspn(value, " \t\r#")] = 0;
    snprintf(ret, capacity, "%s", value);
    int row = 0;
    while (row < SETTINGS && strcasecmp(rows[row].name, name) != 0)
        row++;
    return row;
}

/* ---- the file ---- */

/* Reads the whole file; NULL: errno is the reason. */
static char *read_file(const char *path)
{
    struct stat info;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    char *text = fd < 0 || fstat(fd, &info) ? NULL : calloc(1, FILE_MOST + 1);
    if (text && (!S_ISREG(info.st_mode) || info.st_size > FILE_MOST)) {
        free(text);
        text = NULL;
        errno = EINVAL;
    }
    ssize_t count = text ? read(fd, text, FILE_MOST) : 0;
    if (count >= 0 && text && strlen(text) != (size_t)count) {
        count = -1;
        errno = EINVAL; /* no text */
    }
    int error = errno;
    if (count < 0) {
        free(text);
        text = NULL;
    }
    if (fd >= 0)
        close(fd);
    errno = error;
    return text;
}

static bool settings_path(char ret[CONFIG_PATH_SIZE])
{
    return config_path("perfmon.conf", ret);
}

void settings_read(struct settings *settings, char *problem, size_t capacity)
{
    char path[CONFIG_PATH_SIZE], value[128];
    char *text = settings_path(path) ? read_file(path) : NULL;
    size_t used = 0, number = 1, length;
    *problem = 0;
    if (!text && errno != ENOENT && errno != ENOTDIR)
        snprintf(problem, capacity, local("the settings are neither read nor saved: %s: %s"), path,
                 strerror(errno));
    for (const char *line = text; line && *line;
         line += length + (line[length] == '\n'), number++) {
        length = strcspn(line, "\n");
        int row = read_line(line, length, value, sizeof value);
        if (row < 0 || (row < SETTINGS && read_value(row, value, &settings->values[row])))
            continue;
        if (used < capacity)
            used += (size_t)snprintf(problem + used, capacity - used, "%s%s:%zu: %s: %.*s",
                                     used ? "; " : "", path, number,
                                     local(row == SETTINGS ? "there is no such setting"
                                                           : "this is no value of the setting"),
                                     (int)length, line);
    }
    free(text);
}

/* Writes the text of the old file, with new lines for the settings that have changed. */
static void write_lines(FILE *file, const char *text, const struct settings *before,
                        const struct settings *now)
{
    bool written[SETTINGS] = {false};
    char value[128];
    size_t length;
    for (const char *line = text; *line; line += length + (line[length] == '\n')) {
        length = strcspn(line, "\n");
        int row = read_line(line, length, value, sizeof value);
        if (row < 0 || row == SETTINGS || before->values[row] == now->values[row]) {
            fprintf(file, "%.*s\n", (int)length, line);
            continue;
        }
        value_text(row, now->values[row], value, sizeof value);
        fprintf(file, "%s = %s\n", rows[row].name, value);
        written[row] = true;
    }
    for (int row = 0; row < SETTINGS; row++) {
        value_text(row, now->values[row], value, sizeof value);
        if (!written[row] && before->values[row] != now->values[row])
            fprintf(file, "%s = %s\n", rows[row].name, value);
    }
}

int settings_write(const struct settings *before, const struct settings *now)
{
    static const char first[] =
        "# Settings of perfmon. It rewrites the line of a setting that its keys have changed.\n";
    char path[CONFIG_PATH_SIZE], real[PATH_MAX];
    if (!memcmp(before, now, sizeof *now))
        return 0;
    bool good = settings_path(path);
    /* if the file is a link, the file to which it leads is replaced, not the link */
    if (good && realpath(path, real) && strlen(real) < sizeof path)
        strcpy(path, real);
    char *text = good ? read_file(path) : NULL;
    if (good && !text && (errno == ENOENT || errno == ENOTDIR))
        text = strdup(first);
    struct config_file file;
    good = text && config_begin(&file, path);
    if (good) {
        write_lines(file.file, text, before, now);
        good = config_end(&file);
    }
    int problem = good ? 0 : errno;
    free(text);
    return problem;
}

/* ---- the view ---- */

void settings_draw(struct settings_view *view, const struct settings *settings,
                   struct canvas *canvas, int row, int last)
{
    char value[128];
    cursor_fit(&view->cursor, SETTINGS, (size_t)(last - row - 1));
    canvas_text(canvas, row, 0, canvas->columns, STYLE_TITLE,
                local("Settings   Enter: the next value   Escape: back"));
    view->cursor.row = row + 1;
    for (int i = (int)view->cursor.first; i < SETTINGS && ++row < last; i++) {
        value_text(i, settings->values[i], value, sizeof value);
        canvas_print(canvas, row, 0, canvas->columns, STYLE_PLAIN, "  %-15s = %-15s  %s",
                     rows[i].name, value, rows[i].key);
        if (i == (int)view->cursor.at)
            canvas_style(canvas, row, 0, canvas->columns, STYLE_SELECTED);
    }
}

bool settings_key(struct settings_view *view, struct settings *settings, int key)
{
    int row = (int)view->cursor.at;
    double *value = &settings->values[row];
    if (cursor_key(&view->cursor, key))
        return false;
    if (!cursor_enter(&view->cursor, key) && key != ' ' && key != KEY_RIGHT) {
        view->open = false;
        return false;
    }
    if (rows[row].choices)
        *value = rows[row].choices[(int)*value + 1] ? *value + 1 : 0;
    else
        *value = *value < 60 ? window_seconds(*value, false) : window_seconds(0, false);
    return true;
}
