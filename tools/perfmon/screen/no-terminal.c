/* SPDX-License-Identifier: MIT */
/* Replaces terminal.c in a build without ncurses: the views cannot be shown, only printed. */
#include "screen.h"

bool terminal_begin(bool colours)
{
    (void)colours;
    fputs(
        "perfmon: this program was built without ncurses and cannot show its views; use \"perfmon "
        "snapshot\" or \"perfmon OBJECT | cat\"\n",
        stderr);
    return false;
}

void terminal_end(void)
{
}

void terminal_palette(bool colour_blind)
{
    (void)colour_blind;
}

bool terminal_slow(void)
{
    return false;
}

int terminal_signal(void)
{
    return 0;
}

void terminal_size(int *ret_rows, int *ret_columns)
{
    *ret_rows = *ret_columns = 1;
}

void terminal_redraw(void)
{
}

void terminal_copy(const char *text)
{
    (void)text;
}

void terminal_show(const struct canvas *canvas)
{
    (void)canvas;
}

void terminal_click(int *ret_row, int *ret_column)
{
    *ret_row = *ret_column = 0;
}

int terminal_key(int descriptor, int milliseconds)
{
    (void)descriptor;
    (void)milliseconds;
    return TERMINAL_END;
}
