/* SPDX-License-Identifier: MIT */
#define LAMP 0
#define LAMP_LENGTH 2
#define LAMP_CALLS 4
