// SPDX-License-Identifier: MIT
#ifndef DICE_H
#define DICE_H
#include "..\dice\DiceSym.H"
#define DICE_MAPPING "Global\\Dice of the tests"
#define DICE_MUTEX "Global\\Dice of the tests, guard"
struct DICE_SHARED {
    DWORD throws, sum;
};
#endif
