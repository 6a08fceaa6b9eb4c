/* SPDX-License-Identifier: MIT */
/*
 * The terminal, by ncursesw. ncurses waits until the terminal accepts all output, so that no key
 * would be read while Ctrl+S holds a frame. Therefore it draws into a file in memory, from which
 * each frame is sent as far as the terminal accepts it; the next frame is drawn when the whole of
 * it was accepted. For the same reason signals only note that perfmon shall end or stop: ncurses'
 * own handlers write to the terminal.
 */
#include "keys.h"
#include "screen.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <termios.h>
#include <unistd.h>

extern char *tigetstr(const char *name); /* declared here, because term.h has a macro "lines" */
enum { ESCAPE_MILLISECONDS = 25 };
static volatile sig_atomic_t ending, stopping;
static attr_t attributes[STYLES];
static short pairs[STYLES];
static bool coloured;
static struct termios before;
static SCREEN *screen;
/* drawing: where ncurses writes, the terminal or the frame; frame: the file in memory, -1: none;
 * output: the terminal, without waiting */
static FILE *drawing;
static int frame = -1, output = STDOUT_FILENO;
static off_t sent; /* bytes of the frame that the terminal has accepted */
static MEVENT mouse;
/* what ncurses was given last; no cells: it must be given all cells */
static struct canvas given;

/* Discards the output that the terminal does not accept, and continues a terminal that Ctrl+S
 * stopped, so that perfmon can end. These functions are allowed in a signal handler. */
static void release_output(void)
{
    struct termios now;
    if (tcgetattr(STDIN_FILENO, &now) == 0) {
        now.c_iflag &= ~(tcflag_t)IXON;
        tcsetattr(STDIN_FILENO, TCSANOW, &now);
    }
    tcflush(STDOUT_FILENO, TCOFLUSH);
}

/* Also releases the output: ncurses may wait while it begins or ends, even after the signal. */
static void note_signal(int number)
{
    ending = number;
    release_output();
}

static void note_stop(int number)
{
    stopping = number;
}

int terminal_signal(void)
{
    return ending;
}

bool terminal_slow(void)
{
    speed_t speed = cfgetospeed(&before);
    return speed != B0 && speed <= B9600;
}

static void handle_signals(void (*handler)(int))
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    struct sigaction action = {.sa_handler = handler};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        sigaction(signals[i], &action, NULL);
}

/* A shell without jobs ignores the signal, and could not continue perfmon. */
static void handle_stop(void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler}, old;
    if (sigaction(SIGTSTP, NULL, &old) == 0 && old.sa_handler != SIG_IGN)
        sigaction(SIGTSTP, &action, NULL);
}

/* Colours alone need not distinguish the lines of a chart: each has a mark, too. */
void terminal_palette(bool colour_blind)
{
    static const struct {
        short fixed[4], few[LINE_STYLES], many[LINE_STYLES];
    } palettes[2] = {
        {{COLOR_CYAN, COLOR_GREEN, COLOR_YELLOW, COLOR_RED},
         {COLOR_CYAN, COLOR_YELLOW, COLOR_MAGENTA, COLOR_GREEN, COLOR_BLUE, COLOR_RED, COLOR_WHITE,
          COLOR_CYAN},
         {39, 214, 177, 36, 33, 203, 252, 228} },
        {{COLOR_WHITE, COLOR_CYAN, COLOR_YELLOW, COLOR_MAGENTA},
         {COLOR_CYAN, COLOR_YELLOW, COLOR_MAGENTA, COLOR_WHITE, COLOR_BLUE, COLOR_CYAN,
          COLOR_YELLOW, COLOR_MAGENTA},
         {117, 214, 36, 227, 33, 202, 175, 252}},
    };
    static const short safe[4] = {252, 75, 227, 202};
    static const enum style fixed[4] = {STYLE_TITLE, STYLE_GOOD, STYLE_WARN, STYLE_BAD};
    bool many = COLORS >= 256;
    canvas_done(&given);
    if (!coloured)
        return;
    for (short i = 0; i < 4; i++) {
        pairs[fixed[i]] = i + 1;
        init_pair(i + 1, many && colour_blind ? safe[i] : palettes[colour_blind].fixed[i], -1);
    }
    for (short i = 0; i < LINE_STYLES; i++) {
        pairs[STYLE_LINE + i] = i + 5;
        init_pair(i + 5, many ? palettes[colour_blind].many[i] : palettes[colour_blind].few[i], -1);
    }
}

static void begin_styles(bool colours)
{
    attributes[STYLE_WEAK] = colours ? A_DIM : A_NORMAL;
    attributes[STYLE_STRONG] = A_BOLD;
    attributes[STYLE_TITLE] = A_BOLD;
    attributes[STYLE_BAR] = attributes[STYLE_SELECTED] = A_REVERSE;
    attributes[STYLE_BAD] = A_BOLD;
    coloured = colours && has_colors();
    if (!coloured)
        return;
    start_color();
    use_default_colors();
    terminal_palette(false);
}

/* True if the terminal can move the cursor: newterm also accepts some that cannot, like "dumb". */
static bool can_move(void)
{
    char *cup = tigetstr("cup");
    return cup && cup != (char *)-1;
}

/* Defines Home, End and F1 to F4 as other terminals send them, because TERM may name the wrong
 * terminal. The letters of a sequence that is not defined would be taken for keys. */
static void define_others(void)
{
    static const struct {
        const char *sequence;
        int key;
    } others[] = {
        {"\033[1~", KEY_HOME},
        {"\033[H",  KEY_HOME},
        {"\033OH",  KEY_HOME},
        {"\033[4~", KEY_END },
        {"\033[F",  KEY_END },
        {"\033OF",  KEY_END },
        {"\033OP",  KEY_F(1)},
        {"\033OQ",  KEY_F(2)},
        {"\033OR",  KEY_F(3)},
        {"\033OS",  KEY_F(4)}
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (key_defined(others[i].sequence) == 0)
            define_key(others[i].sequence, others[i].key);
}

/* Opens the terminal a second time, because O_NONBLOCK on standard output would be set for the
 * shell, too. Where that is not allowed, standard output is written to, and may have to wait. */
static void begin_output(void)
{
    int own = open("/proc/self/fd/1", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    output = own >= 0 ? own : STDOUT_FILENO;
    frame = memfd_create("frame", MFD_CLOEXEC);
    drawing = fdopen(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3), "w");
}

/* From now on ncurses writes to this descriptor: the frame or the terminal. */
static void draw_to(int descriptor)
{
    if (frame >= 0)
        dup3(descriptor, fileno(drawing), O_CLOEXEC);
}

bool terminal_begin(bool colours)
{
    tcgetattr(STDIN_FILENO, &before);
    begin_output();
    screen = drawing ? newterm(NULL, drawing, stdin) : NULL;
    if (screen && !can_move()) {
        endwin();
        delscreen(screen);
        screen = NULL;
    }
    if (!screen) {
        fprintf(
            stderr,
            "perfmon: the terminal type \"%s\" is not known or cannot move its cursor; set TERM, "
            "or use \"perfmon snapshot\"\n",
            getenv("TERM") ? getenv("TERM") : "");
        return false;
    }
    handle_signals(note_signal);
    signal(SIGPIPE, SIG_IGN);
    begin_styles(colours);
    cbreak();
    noecho();
    nonl();
    curs_set(0);
    keypad(stdscr, TRUE);
    define_others();
    /* not on Linux' console, where ncurses would load gpm's library */
    if (strncmp(termname(), "linux", 5))
        mousemask(BUTTON1_PRESSED | BUTTON1_CLICKED | BUTTON1_DOUBLE_CLICKED | BUTTON4_PRESSED |
                      BUTTON5_PRESSED,
                  NULL);
    mouseinterval(0); /* a press of the button counts as a click at once */
    set_escdelay(ESCAPE_MILLISECONDS);
    nodelay(stdscr, TRUE);
    intrflush(stdscr, FALSE);
    handle_stop(note_stop);
    draw_to(frame);
    return true;
}

/* Sends as much of the frame as the terminal accepts. True: all of it was sent. */
static bool send_frame(void)
{
    char piece[4096];
    ssize_t size;
    while ((size = pread(frame, piece, sizeof piece, sent)) > 0) {
        ssize_t accepted = write(output, piece, (size_t)size);
        if (accepted < 0 && (errno == EAGAIN || errno == EINTR))
            return false;
        sent += accepted < 0 ? size : accepted; /* after other errors the terminal is gone */
    }
    if (sent && ftruncate(frame, 0) == 0)
        sent = lseek(frame, 0, SEEK_SET);
    return true;
}

/* True if a frame can be sent without waiting. */
static bool output_ready(void)
{
    struct pollfd out = {STDOUT_FILENO, POLLOUT, 0};
    int waiting = 0;
    if (ioctl(STDOUT_FILENO, TIOCOUTQ, &waiting) == 0 && waiting > 0)
        return false;
    return poll(&out, 1, 0) == 1 && (out.revents & POLLOUT);
}

/* Gives the terminal back as it was, without the rest of the frame. */
static void leave(void)
{
    if (!send_frame() || !output_ready())
        release_output();
    sent = lseek(frame, 0, SEEK_END);
    send_frame();
    draw_to(STDOUT_FILENO);
    endwin();
    tcsetattr(STDIN_FILENO, TCSANOW, &before);
}

void terminal_end(void)
{
    leave();
    delscreen(screen);
    fclose(drawing);
    canvas_done(&given);
    handle_signals(SIG_DFL); /* nothing is left to restore */
    handle_stop(SIG_DFL);
}

/* Stops perfmon, after Ctrl+Z, until it is continued. */
static void stop(void)
{
    stopping = 0;
    leave();
    handle_stop(SIG_DFL);
    raise(SIGTSTP);
    handle_stop(note_stop);
    reset_prog_mode();
    draw_to(frame);
    clearok(curscr, TRUE);
}

/* Gets the size of the screen. The terminal's size is asked for each time, because ncurses may miss
 * the signal of a change. */
void terminal_size(int *ret_rows, int *ret_columns)
{
    struct winsize size;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row && size.ws_col &&
        (size.ws_row != LINES || size.ws_col != COLS)) {
        resizeterm(size.ws_row, size.ws_col);
        canvas_done(&given);
        clearok(curscr, TRUE);
    }
    getmaxyx(stdscr, *ret_rows, *ret_columns);
}

void terminal_redraw(void)
{
    clearok(curscr, TRUE);
}

/* Writes the text in base 64 and returns the number of characters written. */
static size_t write_base64(const char *text, char *ret)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t length = strlen(text), used = 0;
    for (size_t i = 0; i < length; i += 3) {
        unsigned bits = 0;
        for (size_t b = 0; b < 3; b++)
            bits = bits << 8 | (i + b < length ? (unsigned char)text[i + b] : 0);
        for (size_t d = 0; d < 4; d++)
            ret[used++] = i + d > length ? '=' : digits[bits >> (18 - 6 * d) & 63];
    }
    return used;
}

void terminal_copy(const char *text)
{
    char sequence[4096] = "\033]52;c;";
    size_t used = strlen(sequence);
    if ((strlen(text) + 2) / 3 * 4 + used + 1 > sizeof sequence)
        return;
    used += write_base64(text, sequence + used);
    sequence[used++] = '\a';
    if (write(fileno(drawing), sequence, used) < 0)
        return; /* ignored, because the command is in the bottom line, too */
}

static bool same_cell(const struct canvas_cell *one, const struct canvas_cell *other)
{
    return one->style == other->style && !memcmp(one->text, other->text, sizeof one->text);
}

void terminal_show(const struct canvas *canvas)
{
    if (!send_frame() || !output_ready())
        return;
    bool all = !given.cells || given.rows != canvas->rows || given.columns != canvas->columns;
    for (int r = 0; r < canvas->rows; r++)
        for (int c = 0; c < canvas->columns; c++) {
            int at = r * canvas->columns + c;
            const struct canvas_cell *cell = &canvas->cells[at];
            cchar_t character;
            if (!cell->text[0] || (!all && same_cell(cell, &given.cells[at])))
                continue;
            setcchar(&character, cell->text, attributes[cell->style], pairs[cell->style], NULL);
            mvadd_wch(r, c, &character);
        }
    refresh();
    if (canvas_begin(&given, canvas->rows, canvas->columns))
        memcpy(given.cells, canvas->cells,
               (size_t)(canvas->rows * canvas->columns) * sizeof *given.cells);
    else
        canvas_done(&given);
    send_frame();
}

void terminal_click(int *ret_row, int *ret_column)
{
    *ret_row = mouse.y;
    *ret_column = mouse.x;
}

/* Returns the key for a mouse event: the wheel moves the selection like the arrow keys. */
static int mouse_key(void)
{
    if (getmouse(&mouse) != OK)
        return TERMINAL_NOTHING;
    return mouse.bstate & BUTTON4_PRESSED   ? KEY_UP
           : mouse.bstate & BUTTON5_PRESSED ? KEY_DOWN
                                            : TERMINAL_CLICK;
}

/* Waits for a key, for input of `descriptor`, or until the time is over; meanwhile sends the rest
 * of the frame. False: the input of the terminal has ended. */
static bool wait_for_input(int descriptor, int milliseconds, int *ret_kind, wint_t *ret_key)
{
    struct pollfd inputs[] = {
        {STDIN_FILENO, POLLIN,  0},
        {descriptor,   POLLIN,  0},
        {output,       POLLOUT, 0}
    };
    int bytes = 0, count;
    do {
        inputs[2].fd = send_frame() ? -1 : output;
        count = poll(inputs, 3, milliseconds);
    } while (count == 1 && inputs[2].revents);
    if ((count < 0 && errno != EINTR) || ending || (inputs[0].revents & (POLLHUP | POLLERR)))
        return false;
    *ret_kind = get_wch(ret_key);
    bool silent = *ret_kind == ERR && count > 0 && (inputs[0].revents & POLLIN);
    return !silent || ioctl(STDIN_FILENO, FIONREAD, &bytes) != 0 || bytes > 0 ||
           isatty(STDIN_FILENO);
}

int terminal_key(int descriptor, int milliseconds)
{
    wint_t key;
    if (stopping)
        stop();
    int kind = get_wch(&key);
    if (kind == ERR && !ending && !wait_for_input(descriptor, milliseconds, &kind, &key))
        ending = ending ? ending : SIGHUP; /* the terminal is gone; SIGHUP may come later */
    if (ending)
        return TERMINAL_END;
    if (kind == KEY_CODE_YES && key == KEY_MOUSE)
        return mouse_key();
    if (kind == OK && key > 0x7f)
        return TERMINAL_CHARACTER | (int)key;
    return kind == ERR ? TERMINAL_NOTHING : (int)key;
}
