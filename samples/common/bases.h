/* SPDX-License-Identifier: MIT */
/*
 * Registers names without lodctr, as a Windows program does (docs/windows/articles.md, "Registering
 * without lodctr"): for each subkey of Perflib (a language), reads the base, appends pairs of
 * number and text, and writes it back; finally updates the two highest numbers.
 */
#ifndef SAMPLE_BASES_H
#define SAMPLE_BASES_H

#include "sample.h"

/* Names have even numbers, explanations odd ones; both ranges go in steps of two. */
typedef struct {
    DWORD firstName, lastName, firstHelp, lastHelp;
} Numbers;

/* Returns the text of a number in a language such as TEXT("007"). If there is no translation, it
 * returns another language's text, because every base must have every number. */
typedef LPCWSTR BaseText(void *context, LPCWSTR language, DWORD number);

/* Reserves `count` names and `count` explanations after the existing ones. */
DWORD basesNumbers(DWORD count, Numbers *numbers);
/* Writes the texts of these numbers to the base of every language, replacing existing texts. */
DWORD basesAdd(const Numbers *numbers, BaseText *text, void *context);
DWORD basesRemove(const Numbers *numbers);

/* Do the two texts mean the same language? Case is ignored: "00A" and "00a" are the same. */
BOOL basesSameLanguage(LPCWSTR left, LPCWSTR right);

#endif
