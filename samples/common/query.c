/* SPDX-License-Identifier: MIT */
/* The query string, word by word: "Global", "Costly", "2 230 1848", "Foreign ...". */
#include "sample.h"

static BOOL isBlank(WCHAR c)
{
    return c == ' ' || c == '\t';
}

/* Case matters: "GLOBAL" is not Global. */
static BOOL isWord(LPCWSTR text, int length, LPCWSTR word)
{
    int i;
    if (length != lstrlenW(word))
        return FALSE;
    for (i = 0; i < length; i++)
        if (text[i] != word[i])
            return FALSE;
    return TRUE;
}

static BOOL isNumber(LPCWSTR text, int length, DWORD number)
{
    ULONGLONG value = 0;
    int i;
    for (i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9' || value > 0xFFFFFFFF)
            return FALSE;
        value = value * 10 + (ULONGLONG)(text[i] - '0');
    }
    return length > 0 && value == number;
}

Asked sampleAsked(LPCWSTR query, DWORD object)
{
    Asked asked = NOT_ASKED;
    BOOL any = FALSE;
    for (;;) {
        int length = 0;
        while (isBlank(*query))
            query++;
        while (query[length] != 0 && !isBlank(query[length]))
            length++;
        if (length == 0)
            return any ? asked : ASKED_GLOBAL;
        if (!any && isWord(query, length, TEXT("Foreign")))
            return NOT_ASKED;
        any = TRUE;
        if (isNumber(query, length, object))
            asked = ASKED_BY_NUMBER;
        else if (asked == NOT_ASKED && isWord(query, length, TEXT("Global")))
            asked = ASKED_GLOBAL;
        else if (asked == NOT_ASKED && isWord(query, length, TEXT("Costly")))
            asked = ASKED_COSTLY;
        query += length;
    }
}
