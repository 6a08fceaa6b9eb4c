/* SPDX-License-Identifier: MIT */
/* ANSI sequences and termios. Everything a handler does here is allowed in one: write, tcsetattr,
 * sigaction, raise. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1 /* open_memstream, SIGWINCH */
#endif
#include "terminal.h"

#include "text.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

enum { LINES = 512 };

static struct termios before;
static volatile sig_atomic_t active, resized;
static char *shown[LINES]; /* the screen's lines, as they were drawn last */

/* If the terminal accepts nothing for a second, perhaps after Ctrl-S, the rest is discarded. */
static void put(const char *text, size_t size)
{
    struct pollfd terminal = {.fd = STDOUT_FILENO, .events = POLLOUT};
    while (size > 0) {
        ssize_t count = write(STDOUT_FILENO, text, size);
        if (count < 0 && errno != EINTR && (errno != EAGAIN || poll(&terminal, 1, 1000) < 1))
            return;
        if (count > 0) {
            text += count;
            size -= (size_t)count;
        }
    }
}

/* Another screen, no cursor, no wrapping; keys one by one, without an echo. */
static void enter(void)
{
    static const char sequence[] = "\033[?1049h\033[?25l\033[?7l\033[2J";
    struct termios raw = before;
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO | IEXTEN);
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    put(sequence, sizeof sequence - 1);
    active = 1;
}

void terminal_end(void)
{
    static const char sequence[] = "\033[0m\033[?7h\033[?25h\033[?1049l";
    if (!active)
        return;
    active = 0;
    put(sequence, sizeof sequence - 1);
    tcsetattr(STDIN_FILENO, TCSANOW, &before);
}

/* ---- signals ---- */

/* Ends at once, even while the program waits for another machine's answer, and by the signal
 * itself, so that the parent sees it. */
static void end_by(int number)
{
    struct sigaction usual = {.sa_handler = SIG_DFL};
    terminal_end();
    sigaction(number, &usual, NULL);
    raise(number);
}

static void stop(int number)
{
    int kept = errno;
    (void)number;
    terminal_end();
    raise(SIGSTOP);
    enter();
    resized = 1;
    errno = kept;
}

static void resize(int number)
{
    (void)number;
    resized = 1;
}

static void handle_signals(void)
{
    static const int ends[] = {SIGINT,  SIGTERM, SIGHUP, SIGQUIT, SIGPIPE,
                               SIGSEGV, SIGBUS,  SIGFPE, SIGILL,  SIGABRT};
    struct sigaction action = {.sa_handler = end_by};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        sigaction(ends[i], &action, NULL);
    action.sa_handler = stop;
    sigaction(SIGTSTP, &action, NULL);
    action.sa_handler = resize;
    sigaction(SIGWINCH, &action, NULL);
}

bool terminal_begin(void)
{
    if (!isatty(STDOUT_FILENO) || tcgetattr(STDIN_FILENO, &before) != 0)
        return false;
    handle_signals();
    enter();
    return true;
}

/* ---- drawing ---- */

void terminal_size(int *ret_columns, int *ret_rows)
{
    struct winsize size = {0};
    ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
    *ret_columns = size.ws_col > 0 ? size.ws_col : 80;
    *ret_rows = size.ws_row > 0 ? size.ws_row : 24;
}

static bool is_shown(int row, const char *line, size_t bytes)
{
    return shown[row] && strlen(shown[row]) == bytes && memcmp(shown[row], line, bytes) == 0;
}

static void forget_all(void)
{
    for (int row = 0; row < LINES; row++) {
        free(shown[row]);
        shown[row] = NULL;
    }
}

static void draw_lines(FILE *out, const char *text, int columns, int rows)
{
    for (int row = 0; row < rows && row < LINES; row++) {
        size_t bytes = strcspn(text, "\n");
        if (!is_shown(row, text, bytes)) {
            fprintf(out, "\033[%d;1H\033[0m\033[K", row + 1);
            text_line(out, text, bytes, columns);
            free(shown[row]);
            shown[row] = strndup(text, bytes);
        }
        text += bytes + (text[bytes] == '\n');
    }
}

void terminal_draw(const char *text, bool whole)
{
    int columns, rows;
    char *frame = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&frame, &size);
    if (!out)
        return;
    if (whole) {
        forget_all();
        fputs("\033[2J", out);
    }
    terminal_size(&columns, &rows);
    draw_lines(out, text, columns, rows);
    if (fclose(out) == 0)
        put(frame, size);
    free(frame);
}

/* ---- keys ---- */

static int sequence_key(const char *text)
{
    static const struct {
        const char *text;
        int key;
    } sequences[] = {
        {"[A",  KEY_UP       },
        {"OA",  KEY_UP       },
        {"[B",  KEY_DOWN     },
        {"OB",  KEY_DOWN     },
        {"[C",  KEY_RIGHT    },
        {"OC",  KEY_RIGHT    },
        {"[D",  KEY_LEFT     },
        {"OD",  KEY_LEFT     },
        {"[5~", KEY_PAGE_UP  },
        {"[6~", KEY_PAGE_DOWN},
        {"[H",  KEY_FIRST    },
        {"OH",  KEY_FIRST    },
        {"[1~", KEY_FIRST    },
        {"[F",  KEY_LAST     },
        {"OF",  KEY_LAST     },
        {"[4~", KEY_LAST     },
    };
    for (size_t i = 0; i < sizeof sequences / sizeof *sequences; i++) {
        if (strcmp(sequences[i].text, text) == 0)
            return sequences[i].key;
    }
    return KEY_NONE;
}

static bool input_within(int milliseconds)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    return poll(&input, 1, milliseconds) > 0;
}

/* What follows an escape at once belongs to it. */
static int escape_key(void)
{
    char text[16] = "";
    size_t used = 0;
    while (used + 1 < sizeof text && input_within(25) && read(STDIN_FILENO, &text[used], 1) == 1) {
        char last = text[used++];
        if (used > 1 && last >= '@' && last <= '~')
            break;
    }
    text[used] = 0;
    return sequence_key(text);
}

int terminal_key(int milliseconds)
{
    unsigned char byte;
    bool pressed = !resized && input_within(milliseconds);
    if (resized) {
        resized = 0;
        return KEY_RESIZE;
    }
    if (!pressed)
        return KEY_NONE;
    ssize_t count = read(STDIN_FILENO, &byte, 1);
    if (count < 0 && errno == EINTR)
        return KEY_NONE;
    if (count <= 0)
        return KEY_END;
    return byte == '\033' ? escape_key() : byte;
}
