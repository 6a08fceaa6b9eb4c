/* SPDX-License-Identifier: MIT */
/* The chosen language first, then English for missing titles. */
#include "titles.h"

#include "base.h"
#include "text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PERFLIB "SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion\\Perflib"

enum { TITLE_SIZE = 128 };

static void keep(struct titles *titles, uint32_t symbol, const char *text)
{
    char clean[TITLE_SIZE];
    if (symbol >= SHOWN_SYMBOLS || symbol % 2 != 0 || titles->of[symbol / 2])
        return;
    text_clean(text, clean, sizeof clean);
    titles->of[symbol / 2] = strdup(clean);
}

static LSTATUS add(struct titles *titles, const struct shown *shown, const char *language)
{
    struct base base;
    struct base_title title = {0};
    LSTATUS status = base_read(&base, shown->data, language);
    if (status)
        return status;
    while (base_next(&base, &title))
        keep(titles, title.index - shown->first, title.text);
    free(base.text);
    return ERROR_SUCCESS;
}

LSTATUS titles_load(struct titles *titles, const struct shown *shown, const char *language)
{
    *titles = (struct titles){0};
    snprintf(titles->language, sizeof titles->language, "%s", language);
    LSTATUS status = add(titles, shown, language);
    return status ? status : add(titles, shown, "009"); /* fills the gaps */
}

void titles_free(struct titles *titles)
{
    for (size_t i = 0; i < SHOWN_SYMBOLS / 2; i++)
        free(titles->of[i]);
    *titles = (struct titles){0};
}

const char *titles_unit(const struct titles *titles, const char *english)
{
    static const char *const russian[][2] = {
        {"kg", "кг"},
        {"l",  "л"  },
        {"m",  "м"  },
        {"s",  "с"  }
    };
    for (size_t i = 0; strcmp(titles->language, "019") == 0 && i < 4; i++)
        if (strcmp(russian[i][0], english) == 0)
            return russian[i][1];
    return english;
}

const char *titles_get(const struct titles *titles, unsigned symbol)
{
    static char number[16];
    if (titles->of[symbol / 2])
        return titles->of[symbol / 2];
    snprintf(number, sizeof number, "+%u", symbol);
    return number;
}

/* ---- which languages there are ---- */

static void list_languages(HKEY registry, char out[TITLES_LANGUAGES])
{
    HKEY perflib;
    char name[TITLES_ID];
    DWORD size = sizeof name;
    size_t used = 0;
    if (RegOpenKeyExA(registry, PERFLIB, 0, KEY_READ, &perflib))
        return;
    for (DWORD i = 0; RegEnumKeyExA(perflib, i, name, &size, NULL, NULL, NULL, NULL) == 0; i++) {
        if (strspn(name, "0123456789abcdefABCDEF") == strlen(name) &&
            used + size + 2 < TITLES_LANGUAGES)
            used += (size_t)snprintf(out + used, TITLES_LANGUAGES - used, "%s%s",
                                     used > 0 ? " " : "", name);
        size = sizeof name;
    }
    RegCloseKey(perflib);
}

void titles_languages(const char *machine, char out[TITLES_LANGUAGES])
{
    HKEY registry = HKEY_LOCAL_MACHINE;
    out[0] = 0;
    if (machine && RegConnectRegistryA(machine, HKEY_LOCAL_MACHINE, &registry))
        return;
    list_languages(registry, out);
    if (machine)
        RegCloseKey(registry);
}
