/* SPDX-License-Identifier: MIT */
/* Draws the field from above: each behemoth at X and Y, by sex and size. A cell of the terminal
 * with several behemoths shows how many there are. */
#include "view.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { CALF = 700, LARGE = 1750, SIZES = 3, LEAST_COLUMNS = 12, LEAST_ROWS = 4 };
enum { ZOOM_MOST = 8, LEAST_METRES = 10 };

struct place {
    uint32_t count;
    uint32_t at; /* the position of one behemoth in the cell */
    bool sexes[2];
};

static const char *const glyphs[2][SIZES] = {
    {"▫", "▪", "■"},
    {"◦", "•", "●"}
};

static uint64_t metres(const struct reader_behemoth *one, unsigned symbol)
{
    uint64_t value = one->values[symbol / 2];
    return value < UINT32_MAX ? value : UINT32_MAX;
}

static const unsigned axes[2] = {BEHEMOTH_X, BEHEMOTH_Y};

/* How many metres are shown of the width (axis 0) or the height (1). */
static uint64_t part_of(const struct view *view, int axis)
{
    uint64_t all = view->size[axis], least = all < LEAST_METRES ? all : LEAST_METRES;
    return all >> view->zoom > least ? all >> view->zoom : least;
}

/* Moves the part that is shown, but not out of the field. */
static void shift(struct view *view, int axis, int64_t metres)
{
    int64_t last = (int64_t)(view->size[axis] - part_of(view, axis));
    int64_t from = (int64_t)view->from[axis] + metres;
    view->from[axis] = (uint64_t)(from < 0 ? 0 : from < last ? from : last);
}

void field_zoom(struct view *view, bool closer)
{
    int64_t before[2] = {(int64_t)part_of(view, 0), (int64_t)part_of(view, 1)};
    if (closer && view->zoom < ZOOM_MOST)
        view->zoom++;
    else if (!closer && view->zoom > 0)
        view->zoom--;
    for (int axis = 0; axis < 2; axis++)
        shift(view, axis, before[axis] / 2 - (int64_t)part_of(view, axis) / 2);
}

void field_move(struct view *view, int right, int down)
{
    shift(view, 0, right * ((int64_t)part_of(view, 0) / 8 + 1));
    shift(view, 1, down * ((int64_t)part_of(view, 1) / 8 + 1));
}

/* Measures the field, and counts for each cell of it the behemoths. No counter has the size of the
 * field, so it is drawn as large as needed for all behemoths seen so far, rounded up to 10, 20, 50,
 * 100, ..., and never shrinks. */
static void place_all(struct view *view, struct place *places, const int cells[2])
{
    const struct reader *reader = view->reader;
    for (size_t i = 0; i < 2 * reader->count; i++) {
        uint64_t at = metres(&reader->all[i / 2], axes[i % 2]), *size = &view->size[i % 2];
        uint64_t power = 10;
        while (at >= power * 5)
            power *= 10;
        if (at >= *size)
            *size = at < power ? power : at < power * 2 ? power * 2 : power * 5;
    }
    for (size_t i = 0; i < reader->count; i++) {
        const struct reader_behemoth *one = &reader->all[i];
        uint64_t cell[2];
        bool inside = true;
        for (int axis = 0; axis < 2; axis++) {
            uint64_t at = metres(one, axes[axis]) - view->from[axis], part = part_of(view, axis);
            inside = inside && at < part; /* also false if it is negative */
            cell[axis] = inside ? at * (uint64_t)cells[axis] / part : 0;
        }
        if (!inside)
            continue;
        struct place *place = &places[cell[1] * (uint64_t)cells[0] + cell[0]];
        place->count++;
        place->at = (uint32_t)i;
        place->sexes[one->values[BEHEMOTH_SEX / 2] == 1] = true;
    }
}

/* Draws a line of the frame, with the shown metres if they fit. */
static void draw_edge(FILE *out, const struct view *view, int columns, bool top)
{
    char text[64] = "";
    uint64_t from = view->from[!top], all = view->size[!top];
    const char *unit = reader_unit(view->reader, "m");
    if (all > 0 && view->zoom > 0)
        snprintf(text, sizeof text, " %" PRIu64 " to %" PRIu64 " of %" PRIu64 " %s ", from,
                 from + part_of(view, !top), all, unit);
    else if (all > 0)
        snprintf(text, sizeof text, " %" PRIu64 " %s ", all, unit);
    int used = text_width(text);
    fputs(top ? WEAK "┌" : WEAK "└", out);
    for (int i = used <= columns ? used : 0; i < columns; i++)
        fputs("─", out);
    fprintf(out, "%s%s" PLAIN "\n", used <= columns ? text : "", top ? "┐" : "┘");
}

void field_draw(FILE *out, struct view *view, int columns, int rows)
{
    const struct reader *reader = view->reader;
    columns -= 2; /* the frame takes two columns */
    rows -= 3;    /* frame and legend take three rows */
    if (columns < LEAST_COLUMNS || rows < LEAST_ROWS) {
        fputs("the window is too small for the field\n", out);
        return;
    }
    struct place *places = calloc((size_t)columns * (size_t)rows, sizeof *places);
    if (!places)
        return;
    place_all(view, places, (const int[2]){columns, rows});
    draw_edge(out, view, columns, true);
    for (int row = 0; row < rows; row++) {
        fputs(WEAK "│" PLAIN, out);
        for (int column = 0; column < columns; column++) {
            const struct place *place = &places[row * columns + column];
            bool female = place->sexes[1], mixed = female && place->sexes[0];
            uint64_t weight = place->count ? reader->all[place->at].values[BEHEMOTH_WEIGHT / 2] : 0;
            const char *glyph = glyphs[female][(weight >= CALF) + (weight >= LARGE)];
            char number[2] = {place->count > 9 ? '+' : (char)('0' + place->count), 0};
            if (place->count == 0)
                fputc(' ', out);
            else
                fprintf(out, "%s%s" PLAIN,
                        mixed    ? YELLOW
                        : female ? MAGENTA
                                 : BLUE,
                        place->count > 1 ? number : glyph);
        }
        fputs(WEAK "│" PLAIN "\n", out);
    }
    draw_edge(out, view, columns, false);
    free(places);
    for (int sex = 1; sex >= 0; sex--)
        fprintf(out, "%s%s %s %s" PLAIN " %s  ", sex ? MAGENTA : BLUE, glyphs[sex][0],
                glyphs[sex][1], glyphs[sex][2], sex ? "female" : "male");
    fputs("by weight; " YELLOW "2" PLAIN " to " YELLOW "9" PLAIN ", " YELLOW "+" PLAIN
          ": so many in a place\n",
          out);
}
