/* SPDX-License-Identifier: MIT */
/* Draws texts and bars into the cells of a canvas. */
#include "screen.h"

#include "../../view/view.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_SIZE = 1024, EIGHTHS = 8 };

bool canvas_begin(struct canvas *canvas, int rows, int columns)
{
    size_t count = (size_t)rows * (size_t)columns;
    if (rows != canvas->rows || columns != canvas->columns) {
        struct canvas_cell *cells = realloc(canvas->cells, (count + 1) * sizeof *cells);
        if (!cells)
            return false;
        canvas->cells = cells;
        canvas->rows = rows;
        canvas->columns = columns;
    }
    for (size_t i = 0; i < count; i++)
        canvas->cells[i] = (struct canvas_cell){{' '}, STYLE_PLAIN};
    return true;
}

void canvas_done(struct canvas *canvas)
{
    free(canvas->cells);
    *canvas = (struct canvas){0};
}

static struct canvas_cell *cell_at(struct canvas *canvas, int row, int column)
{
    if (row < 0 || row >= canvas->rows || column < 0 || column >= canvas->columns)
        return NULL;
    return &canvas->cells[row * canvas->columns + column];
}

/* Returns what stands for a character that the font of Linux' text console does not have: instead
 * of eighths of a block it has the half and the whole. */
static wchar_t console_character(wchar_t character)
{
    static const wchar_t below[] = L"__\u2584\u2584\u2584\u2588\u2588";
    static const wchar_t left[] = L"\u2588\u2588\u258c\u258c\u258c  ";
    if (character >= 0x2581 && character <= 0x2587)
        return below[character - 0x2581];
    if (character >= 0x2589 && character <= 0x258f)
        return left[character - 0x2589];
    return character == L'\u2026' ? L'~' : character;
}

void canvas_put(struct canvas *canvas, int row, int column, enum style style, wchar_t character)
{
    if (canvas->console)
        character = console_character(character);
    struct canvas_cell *cell = cell_at(canvas, row, column);
    if (cell)
        *cell = (struct canvas_cell){{character}, (unsigned char)style};
}

void canvas_style(struct canvas *canvas, int row, int column, int width, enum style style)
{
    for (int i = 0; i < width; i++) {
        struct canvas_cell *cell = cell_at(canvas, row, column + i);
        if (cell)
            cell->style = (unsigned char)style;
    }
}

/* Decodes a text from text_clean into wide characters; returns their number. */
static size_t decode(const char *text, wchar_t *ret, size_t capacity)
{
    mbstate_t state = {0};
    size_t count = 0;
    while (*text && count + 1 < capacity) {
        bool ascii = (unsigned char)*text < 0x80; /* mbrtowc is slow */
        ret[count] = *text;
        size_t length = ascii ? 1 : mbrtowc(&ret[count], text, strlen(text), &state);
        if (length == 0 || length > 8)
            break;
        text += length;
        count++;
    }
    ret[count] = 0;
    return count;
}

/* Adds a combining character to the cell. */
static void add_mark(struct canvas_cell *cell, wchar_t mark)
{
    if (cell && cell->text[0])
        cell->text[1] = mark;
}

int canvas_text(struct canvas *canvas, int row, int column, int width, enum style style,
                const char *text)
{
    char clean[LINE_SIZE];
    wchar_t wide[LINE_SIZE];
    int used = 0;
    text_clean(text, clean, sizeof clean);
    size_t count = decode(clean, wide, LINE_SIZE);
    if (width > canvas->columns - column)
        width = canvas->columns - column;
    bool cut = text_width(clean) > width;
    int ellipsis = cut ? canvas->utf8 ? 1 : 2 : 0;
    for (size_t i = 0; i < count; i++) {
        int cells = wcwidth(wide[i]);
        if (cells == 0 && used) {
            add_mark(cell_at(canvas, row, column + used - 1), wide[i]);
            continue;
        }
        if (used + cells > width - ellipsis)
            break;
        canvas_put(canvas, row, column + used, style, wide[i]);
        if (cells == 2)
            canvas_put(canvas, row, column + used + 1, style, 0);
        used += cells > 0 ? cells : 0;
    }
    for (int i = 0; i < ellipsis && used < width; i++)
        canvas_put(canvas, row, column + used++, style, canvas->utf8 ? L'\u2026' : L'.');
    return used;
}

void canvas_right(struct canvas *canvas, int row, int column, int width, enum style style,
                  const char *text)
{
    int columns = text_width(text);
    int left = columns < width ? width - columns : 0;
    canvas_text(canvas, row, column + left, width - left, style, text);
}

int canvas_print(struct canvas *canvas, int row, int column, int width, enum style style,
                 const char *format, ...)
{
    char text[LINE_SIZE];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, local(format), args);
    va_end(args);
    return canvas_text(canvas, row, column, width, style, text);
}

int canvas_wrap(struct canvas *canvas, int row, int column, int width, int lines, enum style style,
                const char *text)
{
    char *wrapped = NULL;
    size_t size = 0;
    int used = 0;
    FILE *out = open_memstream(&wrapped, &size);
    if (!out)
        return 0;
    text_wrap(out, text, 0, width);
    fclose(out);
    for (char *line = strtok(wrapped, "\n"); line && used < lines; line = strtok(NULL, "\n"))
        canvas_text(canvas, row + used++, column, width, style, line);
    free(wrapped);
    return used;
}

wchar_t canvas_mark(const struct canvas *canvas, enum style style)
{
    static const struct {
        wchar_t fancy, simple;
    } marks[STYLES] = {
        [STYLE_WARN] = {L'\u2592', L'-'},
        [STYLE_BAD] = {L'\u2593', L'='},
        [STYLE_LINE + 2] = {L'\u2591', L'.'}
    };
    wchar_t mark = canvas->utf8 ? marks[style].fancy : marks[style].simple;
    return canvas->marks && mark ? mark : canvas->utf8 ? L'\u2588' : L'#';
}

void canvas_bar(struct canvas *canvas, int row, int column, int width, double from, double to,
                enum style style)
{
    static const wchar_t parts[] = L" \u258f\u258e\u258d\u258c\u258b\u258a\u2589\u2588";
    if (isnan(from) || isnan(to))
        return;
    int first = (int)lround(fmin(fmax(from, 0), 1) * width * EIGHTHS);
    int last = (int)lround(fmin(fmax(to, 0), 1) * width * EIGHTHS);
    for (int i = first / EIGHTHS; i < width && i * EIGHTHS < last; i++) {
        int filled = last - i * EIGHTHS < EIGHTHS ? last - i * EIGHTHS : EIGHTHS;
        if (canvas->utf8 && canvas_mark(canvas, style) == parts[EIGHTHS])
            canvas_put(canvas, row, column + i, style, parts[filled]);
        else if (filled >= EIGHTHS / 2)
            canvas_put(canvas, row, column + i, style, canvas_mark(canvas, style));
    }
}

/* Returns the number of columns in the row without the blanks at the end. */
static int used_columns(const struct canvas *canvas, int row)
{
    int end = canvas->columns;
    while (end > 0 && canvas->cells[row * canvas->columns + end - 1].text[0] == L' ')
        end--;
    return end;
}

void canvas_write(const struct canvas *canvas, FILE *out)
{
    int rows = canvas->rows;
    while (rows > 0 && !used_columns(canvas, rows - 1))
        rows--;
    for (int r = 0; r < rows; r++) {
        const struct canvas_cell *row = &canvas->cells[r * canvas->columns];
        int end = used_columns(canvas, r);
        for (int c = 0; c < end; c++)
            for (const wchar_t *text = row[c].text; *text; text++)
                fprintf(out, "%lc", (wint_t)*text);
        fputc('\n', out);
    }
}
