/* SPDX-License-Identifier: MIT */
/*
 * The language of counters and of perfmon's own texts, which a key changes while perfmon runs.
 * Languages without own texts have them in English.
 */
#include "screen.h"

#include <stdlib.h>
#include <string.h>

#include <windows.h>

enum { GERMAN, RUSSIAN, TRANSLATED, OWN = -1, SUBKEY_SIZE = 96, PRIMARY = 0x3ff };

/* putenv uses these variables themselves; they are never freed, so other threads may read them. */
static char environment[128] = "LC_ALL=";
static char english[] = "LC_ALL=en_US.UTF-8", german[] = "LC_ALL=de_DE.UTF-8";
static char spanish[] = "LC_ALL=es_ES.UTF-8", french[] = "LC_ALL=fr_FR.UTF-8";
static char russian[] = "LC_ALL=ru_RU.UTF-8";
/* in the order of the choices of SET_LANGUAGE */
static const struct {
    char *variable;
    const char *name;
    unsigned id; /* number of the language's names */
    int own;
} languages[] = {
    {environment, "as LC_ALL says", 0,    OWN    },
    {english,     "English",        0x09, OWN    },
    {german,      "Deutsch",        0x07, GERMAN },
    {spanish,     "espa\u00f1ol",   0x0a, OWN    },
    {french,      "fran\u00e7ais",  0x0c, OWN    },
    {russian,     "русский", 0x19, RUSSIAN},
};
enum { LANGUAGES = sizeof languages / sizeof *languages };
static int own = OWN;

static const struct {
    const char *english, *texts[TRANSLATED];
} rows[] = {
#include "own-texts.inc"
};

const char *local(const char *text)
{
    for (size_t i = 0; own != OWN && i < sizeof rows / sizeof *rows; i++)
        if (!strcmp(rows[i].english, text))
            return rows[i].texts[own];
    return text;
}

/* ---- the language ---- */

static int language_of(unsigned id)
{
    int at = LANGUAGES - 1;
    while (at > 0 && languages[at].id != (id & PRIMARY))
        at--;
    return at;
}

void language_begin(bool utf8)
{
    own = utf8 ? languages[language_of(GetUserDefaultUILanguage())].own : OWN;
}

void language_prepare(void)
{
    static const char *const names[] = {"LC_ALL", "LC_MESSAGES", "LANG"};
    const char *value = NULL;
    for (size_t i = 0; i < 3 && !(value && *value); i++)
        value = getenv(names[i]);
    size_t used = strlen(environment);
    snprintf(environment + used, sizeof environment - used, "%s", value && *value ? value : "C");
    putenv(environment);
}

void language_set(int language, bool utf8)
{
    putenv(languages[language].variable);
    language_begin(utf8);
}

static bool is_installed(unsigned id)
{
    char path[SUBKEY_SIZE];
    HKEY key;
    snprintf(path, sizeof path, "SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion\\Perflib\\%03X",
             id);
    bool found = RegOpenKeyExA(HKEY_LOCAL_MACHINE, path, 0, KEY_READ, &key) == ERROR_SUCCESS;
    if (found)
        RegCloseKey(key);
    return found;
}

int language_next(void)
{
    int at = language_of(GetUserDefaultUILanguage());
    do
        at = at % (LANGUAGES - 1) + 1;
    while (languages[at].id != 0x09 && !is_installed(languages[at].id));
    return at;
}

const char *language_name(int language)
{
    return languages[language].name;
}
