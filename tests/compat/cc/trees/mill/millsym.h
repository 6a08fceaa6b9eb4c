/* SPDX-License-Identifier: MIT */
#define MILL 0
#define MILL_SACKS 2
