/* SPDX-License-Identifier: MIT */
/* Functions that parse numbers in texts of the kernel, for several objects. */
#include <string.h>

#include "perflinux.h"

uint64_t perflinux_number(const char **at)
{
    uint64_t number = 0;
    for (; **at >= '0' && **at <= '9'; ++*at)
        number = number * 10 + (uint64_t)(**at - '0');
    return number;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool perflinux_hex(const char **at, uint64_t *ret)
{
    *at += strspn(*at, " ");
    if (hex_digit(**at) < 0)
        return false;
    for (*ret = 0; hex_digit(**at) >= 0; ++*at)
        *ret = *ret << 4 | (uint64_t)hex_digit(**at);
    return true;
}

bool perflinux_range(const char **at, uint64_t *ret_first, uint64_t *ret_last)
{
    *at += strspn(*at, ", ");
    if (**at < '0' || **at > '9')
        return false;
    *ret_first = *ret_last = perflinux_number(at);
    if (**at == '-') {
        ++*at;
        *ret_last = perflinux_number(at);
    }
    return true;
}
