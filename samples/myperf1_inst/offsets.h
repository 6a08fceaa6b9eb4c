/* SPDX-License-Identifier: MIT */
/* The symbol file of myperf1_inst. */
#define MYPERF1_INST_OBJECT 0
#define MYPERF1_INST_LUCK 2
