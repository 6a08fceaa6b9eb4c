/* SPDX-License-Identifier: MIT */
/* The herd in a line or two, with the titles of the name bases, and the age of the data. */
#include "text.h"
#include "view.h"

#include <string.h>

enum { ITEM = 200 };

const char *const view_names[VIEW_KINDS] = {"field", "tree", "list"};

struct look look_of(bool utf8, bool colours)
{
    if (!colours)
        return (struct look){utf8, "", "", "", "", "", "", "", ""};
    return (struct look){.utf8 = utf8,
                         .off = "\033[0m",
                         .strong = "\033[1m",
                         .weak = "\033[2m",
                         .title = "\033[1;36m",
                         .male = "\033[34m",
                         .female = "\033[35m",
                         .both = "\033[1;33m",
                         .bad = "\033[1;31m"};
}

struct item {
    unsigned symbol;
    const char *unit;
    int digits;
};

static const struct item items[] = {
    {BEHEMOTHS_SUMMARY_BEHEMOTHS,    "",   0},
    {BEHEMOTHS_SUMMARY_TOTAL_WEIGHT, "kg", 0},
    {BEHEMOTHS_SUMMARY_BIRTHS_SEC,   "",   2},
    {BEHEMOTHS_SUMMARY_DEATHS_SEC,   "",   2},
    {BEHEMOTHS_SUMMARY_MEAN_AGE,     "",   1},
    {BEHEMOTHS_SUMMARY_STATUS,       "",   0},
    {BEHEMOTHS_SUMMARY_DATA_AGE,     "s",  1},
};

static bool is_rate(unsigned symbol)
{
    return symbol == BEHEMOTHS_SUMMARY_BIRTHS_SEC || symbol == BEHEMOTHS_SUMMARY_DEATHS_SEC;
}

/* Rates are unknown while the server does not answer, and without a first answer there is no
 * age. */
static bool value_of(const struct view *view, unsigned symbol, double *ret)
{
    const struct shown *shown = view->shown;
    if (is_rate(symbol) && !shown_server_there(shown))
        return false;
    if (symbol == BEHEMOTHS_SUMMARY_DATA_AGE && !shown_server_heard(shown))
        return false;
    return shown_summary(shown, symbol, ret);
}

static void number_text(const struct view *view, const struct item *item, char out[ITEM])
{
    double value;
    snprintf(out, ITEM, "-");
    if (value_of(view, item->symbol, &value))
        snprintf(out, ITEM, "%.*f%s%s", item->digits, value, *item->unit ? " " : "",
                 titles_unit(view->titles, item->unit));
}

static void duration(double seconds, char out[ITEM])
{
    if (seconds < 120)
        snprintf(out, ITEM, "%.0f seconds", seconds);
    else if (seconds < 7200)
        snprintf(out, ITEM, "%.0f minutes", seconds / 60);
    else
        snprintf(out, ITEM, "%.0f hours", seconds / 3600);
}

int trouble_draw(FILE *out, const struct view *view)
{
    char text[ITEM] = "", age[ITEM] = "some time";
    double seconds;
    if (!view->failed && shown_server_there(view->shown))
        return 0;
    if (shown_server_heard(view->shown) &&
        shown_summary(view->shown, BEHEMOTHS_SUMMARY_DATA_AGE, &seconds))
        duration(seconds, age);
    if (view->failed)
        snprintf(text, ITEM, "no answer (error %ld): this is what was shown before",
                 (long)view->failed);
    else if (!shown_server_heard(view->shown))
        snprintf(text, ITEM, "the server is away, and nothing was heard of it yet");
    else
        snprintf(text, ITEM, "the server is away: this is what it said %.60s ago", age);
    fprintf(out, "%s%s%s\n", view->look.bad, text, view->look.off);
    return 1;
}

/* Side by side as long as they fit; at most a quarter of a low window. */
int summary_draw(FILE *out, const struct view *view)
{
    const struct look *look = &view->look;
    int lines = 1, used = 0, most = view->rows > 0 && view->rows < 8 ? 1 : view->rows / 4;
    for (size_t i = 0; i < sizeof items / sizeof *items; i++) {
        char number[ITEM];
        const char *title = titles_get(view->titles, items[i].symbol);
        if (is_rate(items[i].symbol) && !view->rates)
            continue;
        number_text(view, &items[i], number);
        int width = text_width(title) + 1 + text_width(number);
        bool fits = used == 0 || view->columns == 0 || used + 3 + width <= view->columns;
        if (!fits && lines == most)
            break;
        fprintf(out, "%s%s%s%s %s%s%s",
                used == 0 ? ""
                : fits    ? "   "
                          : "\n",
                look->weak, title, look->off, look->strong, number, look->off);
        used = fits && used > 0 ? used + 3 + width : width;
        lines += !fits;
    }
    fputc('\n', out);
    return lines;
}
