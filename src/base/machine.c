/* SPDX-License-Identifier: MIT */
/* The computer's name in performance data: first label of the host name, upper case, at most 15
 * UTF-16 units. */
#include "base/base.h"

#include <string.h>
#include <unistd.h>

enum { MOST_UNITS = 15 };

void machine_name_from(const char *host, char name[static 16 * 4])
{
    uint16_t units[MOST_UNITS];
    size_t count = utf8_to_16(host, strcspn(host, "."), units, MOST_UNITS);
    count = count < MOST_UNITS ? count : MOST_UNITS;
    /* a surrogate pair that the limit would split is dropped */
    if (count && (units[count - 1] & 0xfc00) == 0xd800)
        count--;
    for (size_t i = 0; i < count; i++) {
        uint32_t upper = unicode_upper(units[i]);
        units[i] = upper > 0xffff ? units[i] : (uint16_t)upper;
    }
    size_t length = utf16_to_8(units, count, name, 16 * 4 - 1);
    name[length] = '\0';
    if (!length)
        strcpy(name, "LOCALHOST");
}

void machine_name(char name[static 16 * 4])
{
    char host[256];
    if (gethostname(host, sizeof host) != 0)
        host[0] = '\0';
    host[sizeof host - 1] = '\0';
    machine_name_from(host, name);
}

bool machine_is_own(const char *name)
{
    char host[256] = "", label[16 * 4];
    if (!name)
        return true;
    if (!strncmp(name, "\\\\", 2))
        name += 2;
    gethostname(host, sizeof host - 1);
    machine_name(label);
    size_t first = strcspn(host, ".");
    return !*name || !strcmp(name, ".") || !strcmp(name, "127.0.0.1") || !strcmp(name, "::1") ||
           text_equal_fold(name, "localhost") || text_equal_fold(name, host) ||
           text_equal_fold(name, label) || !text_compare_fold_n(name, strlen(name), host, first);
}
