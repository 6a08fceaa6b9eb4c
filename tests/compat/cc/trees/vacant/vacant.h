/* SPDX-License-Identifier: MIT */
#define VACANT 0
#define VACANT_ROOMS 2
