/* SPDX-License-Identifier: MIT */
/* One name and one explanation, with translations. */
#include "../common/bases.h"
#include "mycoolcounter.h"

struct translation {
    LPCWSTR language, name, help;
};
/* The first row is used for all languages that have no row. */
static const struct translation translations[] = {
    {TEXT("009"), TEXT("My Cool Counter"),
     TEXT("How often System was asked for since its library was opened.")                                                                 },
    {TEXT("007"), TEXT("Mein toller Zähler"),
     TEXT("Wie oft nach System gefragt wurde, seit seine Bibliothek geöffnet wurde.")                                                    },
    {TEXT("019"), TEXT("Мой крутой счётчик"),
     TEXT("Сколько раз спрашивали про System с тех пор, как открыли его библиотеку.")},
};

static LPCWSTR textOf(void *context, LPCWSTR language, DWORD number)
{
    const struct translation *found = &translations[0];
    size_t i;
    (void)context;
    for (i = 0; i < sizeof translations / sizeof *translations; i++)
        if (basesSameLanguage(translations[i].language, language))
            found = &translations[i];
    return number % 2 ? found->help : found->name;
}

DWORD namesNext(DWORD *counter, DWORD *help)
{
    Numbers numbers;
    DWORD result = basesNumbers(1, &numbers);
    if (result == ERROR_SUCCESS) {
        *counter = numbers.firstName;
        *help = numbers.firstHelp;
    }
    return result;
}

DWORD namesAdd(DWORD counter, DWORD help)
{
    const Numbers numbers = {counter, counter, help, help};
    return basesAdd(&numbers, textOf, NULL);
}

DWORD namesRemove(DWORD counter, DWORD help)
{
    const Numbers numbers = {counter, counter, help, help};
    return basesRemove(&numbers);
}
