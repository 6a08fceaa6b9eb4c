/* SPDX-License-Identifier: MIT */
/* Parses the query string, word by word: "Global", "Costly", "2 230 1848", "Foreign ...". */
#include "sample.h"

static BOOL isBlank(WCHAR c)
{
    return c == ' ' || c == '\t';
}

/* Is the text the word? Case matters: "GLOBAL" is not Global. */
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

Request sampleRequest(LPCWSTR query, DWORD object)
{
    Request request = NOT_REQUESTED;
    BOOL any = FALSE;
    for (;;) {
        int length = 0;
        while (isBlank(*query))
            query++;
        while (query[length] != 0 && !isBlank(query[length]))
            length++;
        if (length == 0)
            return any ? request : REQUEST_GLOBAL;
        if (!any && isWord(query, length, TEXT("Foreign")))
            return NOT_REQUESTED;
        any = TRUE;
        if (isNumber(query, length, object))
            request = REQUEST_BY_NUMBER;
        else if (request == NOT_REQUESTED && isWord(query, length, TEXT("Global")))
            request = REQUEST_GLOBAL;
        else if (request == NOT_REQUESTED && isWord(query, length, TEXT("Costly")))
            request = REQUEST_COSTLY;
        query += length;
    }
}
