/* SPDX-License-Identifier: MIT */
/* The symbol file of myperf2_inst. */
#define MYPERF2_INST_OBJECT 0
#define MYPERF2_INST_LUCK 2
