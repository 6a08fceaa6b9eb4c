/* SPDX-License-Identifier: MIT */
/* The field from above: each behemoth at X and Y, by sex and size; several in one place as their
 * number. */
#include "text.h"
#include "view.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { CALF = 700, LARGE = 1750, SIZES = 3, LEAST_COLUMNS = 12, LEAST_ROWS = 4 };
enum { ZOOM_MOST = 8, LEAST_METRES = 10 };

struct place {
    uint32_t count;
    uint32_t at; /* one of them */
    bool sexes[2];
};

struct field {
    const struct view *view;
    int columns, rows; /* without the frame */
    struct place *places;
};

static const char *const glyphs[2][2][SIZES] = {
    {{"m", "m", "M"},                                  {"f", "f", "F"}},
    {{"\xe2\x96\xab", "\xe2\x96\xaa", "\xe2\x96\xa0"},
     {"\xe2\x97\xa6", "\xe2\x80\xa2", "\xe2\x97\x8f"}                 },
};

/* ---- how large it is ---- */

/* 10, 20, 50, 100, ...: no counter has the size of the field, so it is as large as needed for
 * all behemoths seen so far, and never shrinks. */
static uint64_t round_up(uint64_t metres)
{
    uint64_t power = 10;
    while (metres > power * 5)
        power *= 10;
    return metres <= power ? power : metres <= power * 2 ? power * 2 : power * 5;
}

static uint64_t metres(const struct shown_behemoth *one, unsigned symbol)
{
    uint64_t value = one->values[symbol / 2];
    return value < UINT32_MAX ? value : UINT32_MAX;
}

static void measure(struct view *view)
{
    const struct shown *shown = view->shown;
    for (size_t i = 0; i < shown->count; i++) {
        uint64_t x = metres(&shown->all[i], BEHEMOTH_X), y = metres(&shown->all[i], BEHEMOTH_Y);
        view->width = x < view->width ? view->width : round_up(x + 1);
        view->height = y < view->height ? view->height : round_up(y + 1);
    }
}

/* ---- which part of it is shown ---- */

static uint64_t part_of(uint64_t all, unsigned zoom)
{
    return all >> zoom > LEAST_METRES ? all >> zoom : all < LEAST_METRES ? all : LEAST_METRES;
}

static uint64_t inside(int64_t from, uint64_t all, unsigned zoom)
{
    int64_t last = (int64_t)(all - part_of(all, zoom));
    return from < 0 ? 0 : (uint64_t)(from < last ? from : last);
}

void field_zoom(struct view *view, bool closer)
{
    int64_t x = (int64_t)(view->x + part_of(view->width, view->zoom) / 2);
    int64_t y = (int64_t)(view->y + part_of(view->height, view->zoom) / 2);
    if (closer && view->zoom < ZOOM_MOST)
        view->zoom++;
    else if (!closer && view->zoom > 0)
        view->zoom--;
    x -= (int64_t)part_of(view->width, view->zoom) / 2;
    y -= (int64_t)part_of(view->height, view->zoom) / 2;
    view->x = inside(x, view->width, view->zoom);
    view->y = inside(y, view->height, view->zoom);
}

void field_move(struct view *view, int right, int down)
{
    int64_t x = (int64_t)part_of(view->width, view->zoom) / 8 + 1;
    int64_t y = (int64_t)part_of(view->height, view->zoom) / 8 + 1;
    view->x = inside((int64_t)view->x + right * x, view->width, view->zoom);
    view->y = inside((int64_t)view->y + down * y, view->height, view->zoom);
}

/* ---- positions ---- */

/* The cell of a place in metres, or -1: it is not in the part that is shown. */
static int64_t cell_of(uint64_t metres, uint64_t from, uint64_t part, int cells)
{
    if (metres < from || metres - from >= part)
        return -1;
    return (int64_t)((metres - from) * (uint64_t)cells / part);
}

static void place_all(struct field *field)
{
    const struct view *view = field->view;
    uint64_t width = part_of(view->width, view->zoom), height = part_of(view->height, view->zoom);
    for (size_t i = 0; i < view->shown->count; i++) {
        const struct shown_behemoth *one = &view->shown->all[i];
        int64_t column = cell_of(metres(one, BEHEMOTH_X), view->x, width, field->columns);
        int64_t row = cell_of(metres(one, BEHEMOTH_Y), view->y, height, field->rows);
        if (column < 0 || row < 0)
            continue;
        struct place *place = &field->places[row * field->columns + column];
        place->count++;
        place->at = (uint32_t)i;
        place->sexes[one->values[BEHEMOTH_SEX / 2] == 1] = true;
    }
}

static void draw_place(FILE *out, const struct view *view, const struct place *place)
{
    const struct look *look = &view->look;
    if (place->count == 0) {
        fputc(' ', out);
        return;
    }
    uint64_t weight = view->shown->all[place->at].values[BEHEMOTH_WEIGHT / 2];
    bool mixed = place->sexes[0] && place->sexes[1], female = place->sexes[1];
    size_t size = weight < CALF ? 0 : weight < LARGE ? 1 : 2;
    char number[2] = {place->count > 9 ? '+' : (char)('0' + place->count), 0};
    fprintf(out, "%s%s%s",
            mixed    ? look->both
            : female ? look->female
                     : look->male,
            place->count > 1 ? number : glyphs[look->utf8][female][size], look->off);
}

/* ---- the frame ---- */

static void repeat(FILE *out, const char *text, int times)
{
    while (times-- > 0)
        fputs(text, out);
}

/* A line of the frame with a text in it, if it fits. */
static void draw_edge(FILE *out, const struct field *field, bool top, const char *text)
{
    static const char *const corners[2][2][3] = {
        {{"+", "+", "-"},                                  {"+", "+", "-"}},
        {{"\xe2\x94\x94", "\xe2\x94\x98", "\xe2\x94\x80"},
         {"\xe2\x94\x8c", "\xe2\x94\x90", "\xe2\x94\x80"}                 }
    };
    const struct look *look = &field->view->look;
    const char *const *parts = corners[look->utf8][top];
    int used = text_width(text) + 2;
    fprintf(out, "%s%s", look->weak, parts[0]);
    if (used <= field->columns) {
        repeat(out, parts[2], field->columns - used);
        fprintf(out, " %s ", text);
    } else {
        repeat(out, parts[2], field->columns);
    }
    fprintf(out, "%s%s\n", parts[1], look->off);
}

static void draw_rows(FILE *out, const struct field *field)
{
    const struct look *look = &field->view->look;
    const char *side = look->utf8 ? "\xe2\x94\x82" : "|";
    for (int row = 0; row < field->rows; row++) {
        fprintf(out, "%s%s%s", look->weak, side, look->off);
        for (int column = 0; column < field->columns; column++)
            draw_place(out, field->view, &field->places[row * field->columns + column]);
        fprintf(out, "%s%s%s\n", look->weak, side, look->off);
    }
}

static void draw_legend(FILE *out, const struct view *view)
{
    static const char *const sexes[] = {"male", "female"};
    const struct look *look = &view->look;
    for (int sex = 1; sex >= 0; sex--) {
        const char *const *of = glyphs[look->utf8][sex];
        fprintf(out, "%s%s %s %s%s %s  ", sex ? look->female : look->male, of[0], of[1], of[2],
                look->off, sexes[sex]);
    }
    fprintf(out, "by weight; %s2%s to %s9%s, %s+%s: so many in a place\n", look->both, look->off,
            look->both, look->off, look->both, look->off);
}

static void edge_text(const struct view *view, uint64_t from, uint64_t all, char out[64])
{
    uint64_t part = part_of(all, view->zoom);
    const char *unit = titles_unit(view->titles, "m");
    if (view->zoom > 0)
        snprintf(out, 64, "%" PRIu64 " to %" PRIu64 " of %" PRIu64 " %s", from, from + part, all,
                 unit);
    else
        snprintf(out, 64, "%" PRIu64 " %s", all, unit);
}

void field_draw(FILE *out, struct view *view, int columns, int rows)
{
    struct field field = {view, columns - 2, rows - 3, NULL};
    char text[64];
    if (field.columns < LEAST_COLUMNS || field.rows < LEAST_ROWS) {
        fputs("the window is too small for the field\n", out);
        return;
    }
    measure(view);
    field.places = calloc((size_t)field.columns * (size_t)field.rows, sizeof *field.places);
    if (!field.places)
        return;
    if (view->width > 0)
        place_all(&field);
    edge_text(view, view->x, view->width, text);
    draw_edge(out, &field, true, view->width > 0 ? text : "");
    draw_rows(out, &field);
    edge_text(view, view->y, view->height, text);
    draw_edge(out, &field, false, view->height > 0 ? text : "");
    draw_legend(out, view);
    free(field.places);
}
