// SPDX-License-Identifier: MIT
#define FERRY 0
#define FERRY_PASSENGERS 2
#define FERRY_METRES 4
