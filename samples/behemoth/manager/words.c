/* SPDX-License-Identifier: MIT */
/* Numbers and times as people write them. */
#include "manager.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

enum { EPOCH_DIFFERENCE = 134774 }; /* days from 1601 to 1970 */

const char *sex_word(uint32_t sex)
{
    return sex == BEHEMOTH_FEMALE ? "female" : "male";
}

const char *age_text(int64_t age, char *storage)
{
    long long seconds = age / BEHEMOTH_SECOND;
    snprintf(storage, 24, "%lld:%02d:%02d", seconds / 3600, (int)(seconds / 60 % 60),
             (int)(seconds % 60));
    return storage;
}

const char *time_words(int64_t filetime, char *storage)
{
    struct tm tm = {0};
    time_t seconds = (time_t)(filetime / BEHEMOTH_SECOND - (int64_t)EPOCH_DIFFERENCE * 86400);
    storage[0] = 0;
    if (gmtime_r(&seconds, &tm))
        strftime(storage, 24, "%Y-%m-%d %H:%M:%S", &tm);
    return storage;
}

bool number_of(const char *text, int64_t least, int64_t most, int64_t *ret)
{
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    bool plain = (text[0] >= '0' && text[0] <= '9') || (text[0] == '-' && text[1] >= '0');
    if (errno || !plain || *end || value < least || value > most)
        return false;
    *ret = value;
    return true;
}
