/* SPDX-License-Identifier: MIT */
/* The symbol file of myperf1: what lodctr adds to First Counter and First Help. */
#define MYPERF1_OBJECT 0
#define MYPERF1_GREETING 2
#define MYPERF1_DIGIT 4
