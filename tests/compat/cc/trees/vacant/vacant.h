/* SPDX-License-Identifier: MIT */
#define VACANT 0
#define VACANT_SEATS 2
