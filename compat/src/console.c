/* SPDX-License-Identifier: MIT */
/* Reads keys without waiting for Enter, and runs commands given as wide text. */
#include "shims.h"
#include <conio.h>

#include <poll.h>
#include <stdlib.h>
#include <termios.h>
#include <unistd.h>

/* Sets the terminal to return each byte at once, without echo; false: standard input is not a
 * terminal. */
static bool take_terminal(struct termios *before)
{
    if (tcgetattr(STDIN_FILENO, before) != 0)
        return false;
    struct termios raw = *before;
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    return tcsetattr(STDIN_FILENO, TCSANOW, &raw) == 0;
}

int opl_kbhit(void)
{
    struct termios before;
    struct pollfd look = {.fd = STDIN_FILENO, .events = POLLIN};
    bool terminal = take_terminal(&before);
    int count = poll(&look, 1, 0);
    if (terminal)
        tcsetattr(STDIN_FILENO, TCSANOW, &before);
    return count > 0;
}

int opl_getch(void)
{
    struct termios before;
    unsigned char byte;
    bool terminal = take_terminal(&before);
    ssize_t count = read(STDIN_FILENO, &byte, 1);
    if (terminal)
        tcsetattr(STDIN_FILENO, TCSANOW, &before);
    return count == 1 ? byte : EOF;
}

int opl_wsystem(const WCHAR *command)
{
    char *narrow = command ? opl_shim_narrow(command) : NULL;
    int result = command && !narrow ? -1 : system(narrow);
    free(narrow);
    return result;
}
