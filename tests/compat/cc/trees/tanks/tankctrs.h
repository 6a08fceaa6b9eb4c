/* SPDX-License-Identifier: MIT */
#define TANKOBJ 0
#define TANK_LEVEL 2
#define TANK_PUMPED 4
