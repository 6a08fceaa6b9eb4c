/* SPDX-License-Identifier: MIT */
/* The symbol file of myperf2. */
#define MYPERF2_OBJECT 0
#define MYPERF2_GREETING 2
#define MYPERF2_DIGIT 4
