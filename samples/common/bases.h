/* SPDX-License-Identifier: MIT */
/*
 * Registers names without lodctr, in the steps that the second article describes: for each subkey
 * of Perflib (a language), reads the base, appends pairs of number and text, and writes it back;
 * finally updates the two highest numbers.
 */
#ifndef SAMPLE_BASES_H
#define SAMPLE_BASES_H

#include "sample.h"

/* Names have even numbers, explanations odd ones; both ranges go in steps of two. */
typedef struct {
    DWORD firstName, lastName, firstHelp, lastHelp;
} Numbers;

/* The text of a number in a language such as TEXT("007"); without a translation, another
 * language's text, because every base must have every number. */
typedef LPCWSTR BaseText(void *context, LPCWSTR language, DWORD number);

/* Reserves this many names and explanations after the existing ones. */
DWORD basesNumbers(DWORD count, Numbers *numbers);
/* Writes these numbers to the base of every language, replacing existing texts. */
DWORD basesAdd(const Numbers *numbers, BaseText *text, void *context);
DWORD basesRemove(const Numbers *numbers);

/* Are these the same language? Case is ignored: "00A" and "00a" are. */
BOOL basesSameLanguage(LPCWSTR left, LPCWSTR right);

#endif
