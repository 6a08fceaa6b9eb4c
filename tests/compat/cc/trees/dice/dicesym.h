/* SPDX-License-Identifier: MIT */
#define DICE_OBJECT 0
#define DICE_STATUS 2
#define DICE_THROWS 4
#define DICE_SUM 6
