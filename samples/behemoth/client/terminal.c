/* SPDX-License-Identifier: MIT */
/* ANSI sequences and termios. The signal handler calls only functions that are allowed in signal
 * handlers: write, tcsetattr, sigaction, raise. */
#include "terminal.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

enum { LINES = 512, KEY_MS = 25 };

static struct termios before;
static struct text_style style;
static volatile sig_atomic_t active, resized;
static char *shown[LINES]; /* the screen's lines, as they were drawn last */
static FILE *frame;
static char *frame_text;
static size_t frame_bytes;

/* If the terminal accepts nothing for a second, perhaps after Ctrl-S, the rest of the text is
 * discarded. */
static void put(const char *text, size_t size)
{
    struct pollfd terminal = {.fd = STDOUT_FILENO, .events = POLLOUT};
    while (size > 0) {
        ssize_t count = write(STDOUT_FILENO, text, size);
        if (count < 0 && errno != EINTR && (errno != EAGAIN || poll(&terminal, 1, 1000) < 1))
            return;
        text += count > 0 ? count : 0;
        size -= count > 0 ? (size_t)count : 0;
    }
}

/* Switches to the alternate screen, without cursor and wrapping; the terminal then passes each key
 * at once, without echo. */
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

/* Restores the terminal and raises the signal again, so that the parent process sees which signal
 * ended the program. This happens at once, even while the program waits for another machine's
 * answer. */
static void handle(int number)
{
    struct sigaction usual = {.sa_handler = SIG_DFL};
    int kept = errno;
    if (number != SIGWINCH)
        terminal_end();
    if (number == SIGTSTP) {
        raise(SIGSTOP);
        enter();
    } else if (number != SIGWINCH) {
        sigaction(number, &usual, NULL);
        raise(number);
    }
    resized = 1;
    errno = kept;
}

bool terminal_begin(struct text_style of)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGSEGV,
                                  SIGBUS, SIGFPE,  SIGILL, SIGABRT, SIGTSTP, SIGWINCH};
    struct sigaction action = {.sa_handler = handle};
    if (!isatty(STDOUT_FILENO) || tcgetattr(STDIN_FILENO, &before) != 0)
        return false;
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        sigaction(signals[i], &action, NULL);
    style = of;
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

FILE *terminal_frame(void)
{
    return frame = open_memstream(&frame_text, &frame_bytes);
}

void terminal_show(const char *keys, bool whole)
{
    char *screen = NULL;
    size_t size = 0;
    int columns, rows;
    FILE *out = open_memstream(&screen, &size);
    terminal_size(&columns, &rows);
    bool good = fclose(frame) == 0 && out;
    const char *text = good ? frame_text : "";
    if (good && whole)
        fputs("\033[2J", out);
    for (int row = 0; good && row < rows && row < LINES; row++) {
        const char *line = row + 1 < rows ? text : keys;
        size_t bytes = strcspn(line, "\n");
        text += row + 1 < rows ? bytes + (text[bytes] == '\n') : 0;
        if (!whole && shown[row] && strlen(shown[row]) == bytes &&
            memcmp(shown[row], line, bytes) == 0)
            continue;
        fprintf(out, "\033[%d;1H\033[0m\033[K", row + 1);
        text_line(out, line, bytes, columns, style);
        free(shown[row]);
        shown[row] = strndup(line, bytes);
    }
    if (out && fclose(out) == 0)
        put(screen, size);
    free(screen);
    free(frame_text);
    frame_text = NULL;
}

/* ---- keys ---- */

static bool input_within(int milliseconds)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    return poll(&input, 1, milliseconds) > 0;
}

int terminal_key(int milliseconds)
{
    static const char keys[] = "ABCDHF56"; /* last bytes of the keys KEY_UP, KEY_DOWN, ... */
    unsigned char byte;
    char text[16] = "", last = 0;
    size_t used = 0;
    bool pressed = !resized && input_within(milliseconds);
    if (resized) {
        resized = 0;
        return KEY_RESIZE;
    }
    ssize_t count = pressed ? read(STDIN_FILENO, &byte, 1) : -1;
    if (!pressed || (count < 0 && errno == EINTR))
        return KEY_NONE;
    if (count <= 0)
        return KEY_END;
    if (byte != '\033')
        return byte;
    /* the rest of "[A", "OA", "[5~" follows the escape at once */
    while (used + 1 < sizeof text && input_within(KEY_MS) && read(STDIN_FILENO, &last, 1) == 1) {
        text[used++] = last;
        if (used > 1 && last >= '@' && last <= '~')
            break;
    }
    if (used > 2 && last == '~')
        last = text[1] == '1' ? 'H' : text[1] == '4' ? 'F' : text[1];
    const char *found = used > 1 ? strchr(keys, last) : NULL;
    return found ? KEY_UP + (int)(found - keys) : KEY_NONE;
}
