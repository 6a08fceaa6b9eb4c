/* SPDX-License-Identifier: MIT */
/* ANSI sequences and termios. Signals only set a flag, which the loop that waits for keys
 * handles. The terminal is also restored after a crash. */
#include "terminal.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

static const char enter_screen[] = "\033[?1049h\033[?25l\033[?7l";
static const char leave_screen[] = "\033[0m\033[?7h\033[?25h\033[?1049l";

static struct termios before;
static volatile sig_atomic_t active, resized, ended, stopped;

/* Writes to the terminal. If it accepts nothing for a second, perhaps after Ctrl-S, the rest is
 * discarded. */
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

static void note_signal(int number)
{
    if (number == SIGWINCH)
        resized = 1;
    else if (number == SIGTSTP)
        stopped = 1;
    else
        ended = number;
}

static void crashed(int number)
{
    terminal_end();
    signal(number, SIG_DFL);
    raise(number);
}

static void handle(const int *numbers, void (*handler)(int), int flags)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
    for (; *numbers; numbers++)
        sigaction(*numbers, &action, NULL);
}

static void enter(void)
{
    struct termios raw = before;
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO | IEXTEN);
    raw.c_iflag &= ~(tcflag_t)(ICRNL | IXON);
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &raw);
    put(enter_screen, sizeof enter_screen - 1);
    active = 1;
}

bool terminal_begin(void)
{
    static const int noted[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGWINCH, SIGTSTP, 0};
    static const int fatal[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, 0};
    if (tcgetattr(STDIN_FILENO, &before) != 0)
        return false;
    handle(noted, note_signal, 0);
    handle(fatal, crashed, (int)SA_RESETHAND);
    enter();
    return true;
}

void terminal_end(void)
{
    if (!active)
        return;
    active = 0;
    put(leave_screen, sizeof leave_screen - 1);
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &before);
}

void terminal_size(int *ret_rows, int *ret_columns)
{
    struct winsize size = {0};
    ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
    *ret_rows = size.ws_row ? size.ws_row : 24;
    *ret_columns = size.ws_col ? size.ws_col : 80;
}

/* Handles Ctrl-Z: restores the terminal, stops, and sets it up again. */
static void stop(void)
{
    stopped = 0;
    terminal_end();
    raise(SIGSTOP);
    enter();
    resized = 1;
}

static bool input_waits(long milliseconds)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    return poll(&input, 1, (int)milliseconds) > 0;
}

struct sequence {
    const char *text;
    int key;
};

static int sequence_key(const char *text)
{
    static const struct sequence sequences[] = {
        {"[A",  KEY_UP       },
        {"[B",  KEY_DOWN     },
        {"[C",  KEY_RIGHT    },
        {"[D",  KEY_LEFT     },
        {"OA",  KEY_UP       },
        {"OB",  KEY_DOWN     },
        {"OC",  KEY_RIGHT    },
        {"OD",  KEY_LEFT     },
        {"[5~", KEY_PAGE_UP  },
        {"[6~", KEY_PAGE_DOWN},
        {"[H",  KEY_HOME     },
        {"[F",  KEY_END      },
        {"OH",  KEY_HOME     },
        {"OF",  KEY_END      },
        {"[1~", KEY_HOME     },
        {"[4~", KEY_END      },
    };
    for (size_t i = 0; i < sizeof sequences / sizeof *sequences; i++)
        if (strcmp(sequences[i].text, text) == 0)
            return sequences[i].key;
    return KEY_OTHER;
}

/* Reads the bytes that follow an escape at once; without them it is the Escape key. */
static int escape_key(void)
{
    char text[16] = "";
    size_t used = 0;
    while (used + 1 < sizeof text && input_waits(25) && read(STDIN_FILENO, &text[used], 1) == 1) {
        char last = text[used++];
        if (used > 1 && last >= '@' && last <= '~')
            break;
    }
    text[used] = 0;
    return used ? sequence_key(text) : KEY_ESCAPE;
}

static int pending_signal(void)
{
    if (stopped)
        stop();
    if (ended)
        return KEY_SIGNAL;
    if (resized) {
        resized = 0;
        return KEY_RESIZE;
    }
    return KEY_TIMEOUT;
}

int terminal_key(long milliseconds)
{
    unsigned char byte;
    int key = pending_signal();
    if (key != KEY_TIMEOUT)
        return key;
    if (!input_waits(milliseconds))
        return pending_signal();
    ssize_t count = read(STDIN_FILENO, &byte, 1);
    if (count < 0 && errno == EINTR)
        return pending_signal();
    if (count <= 0)
        return KEY_END_OF_INPUT;
    if (byte == '\n')
        return KEY_ENTER;
    return byte == KEY_ESCAPE ? escape_key() : byte == 8 ? KEY_BACKSPACE : byte;
}

int terminal_signal(void)
{
    return ended;
}

void terminal_draw(const char *frame, size_t size)
{
    static const char start[] = "\033[H\033[K";
    put(start, sizeof start - 1);
    put(frame, size);
}
