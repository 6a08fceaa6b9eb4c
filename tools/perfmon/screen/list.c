/* SPDX-License-Identifier: MIT */
/* What lists have in common: a selected row that stays in sight, and a text to search for. */
#include "screen.h"

#include "keys.h"

#include <limits.h>
#include <string.h>
#include <wchar.h>

/* Returns the row that was clicked; cursor->count: no row. */
static size_t clicked_row(const struct cursor *cursor)
{
    int row, column;
    terminal_click(&row, &column);
    size_t to = cursor->first + (size_t)(row - cursor->row);
    return row >= cursor->row && to < cursor->first + cursor->page && to < cursor->count
               ? to
               : cursor->count;
}

bool cursor_enter(const struct cursor *cursor, int key)
{
    return key == '\r' || key == '\n' || key == KEY_ENTER ||
           (key == TERMINAL_CLICK && cursor->count && clicked_row(cursor) == cursor->at);
}

bool cursor_key(struct cursor *cursor, int key)
{
    long page = (long)cursor->page, all = (long)cursor->count, by = 0;
    const struct {
        int key, other;
        long by;
    } keys[] = {
        {KEY_UP,    'k',       -1   },
        {KEY_DOWN,  'j',       1    },
        {KEY_PPAGE, KEY_PPAGE, -page},
        {KEY_NPAGE, KEY_NPAGE, page },
        {KEY_HOME,  KEY_HOME,  -all },
        {KEY_END,   KEY_END,   all  },
    };
    if (key == TERMINAL_CLICK && clicked_row(cursor) < cursor->count)
        by = (long)clicked_row(cursor) - (long)cursor->at;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (keys[i].key == key || keys[i].other == key)
            by = keys[i].by ? keys[i].by : 1;
    if (!by)
        return false;
    long to = (long)cursor->at + by;
    to = to > all - 1 ? all - 1 : to;
    cursor->at = to > 0 ? (size_t)to : 0;
    return true;
}

void cursor_fit(struct cursor *cursor, size_t count, size_t page)
{
    cursor->count = count;
    cursor->page = page ? page : 1;
    if (cursor->at >= count)
        cursor->at = count ? count - 1 : 0;
    if (cursor->first > cursor->at)
        cursor->first = cursor->at;
    if (cursor->at >= cursor->first + cursor->page)
        cursor->first = cursor->at - cursor->page + 1;
    if (cursor->first + cursor->page > count)
        cursor->first = count > cursor->page ? count - cursor->page : 0;
}

static void remove_last(struct field *field)
{
    size_t used = strlen(field->text);
    while (used && (field->text[--used] & 0xc0) == 0x80)
        ;
    field->text[used] = 0;
}

static void append(struct field *field, wchar_t character)
{
    mbstate_t state = {0};
    char bytes[MB_LEN_MAX];
    size_t used = strlen(field->text), count = wcrtomb(bytes, character, &state);
    if (count == (size_t)-1 || used + count >= sizeof field->text)
        return;
    memcpy(field->text + used, bytes, count);
    field->text[used + count] = 0;
}

bool field_key(struct field *field, int key)
{
    enum { ESCAPE = 27, BACKSPACE = 127 };
    if (!field->open)
        return false;
    if (key == ESCAPE)
        field->text[0] = 0;
    if (key == ESCAPE || key == '\r' || key == '\n' || key == KEY_ENTER)
        field->open = false;
    else if (key == KEY_BACKSPACE || key == BACKSPACE || key == '\b')
        remove_last(field);
    else if (key & TERMINAL_CHARACTER || (key >= ' ' && key < BACKSPACE))
        append(field, (wchar_t)(key & ~TERMINAL_CHARACTER));
    return true;
}

bool is_search_key(int key)
{
    return key == '/' || key == KEY_F(3) || key == KEY_F(4);
}

bool field_search_key(struct field *field, int key)
{
    bool search = is_search_key(key);
    field->open |= search;
    return search;
}
