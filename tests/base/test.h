/* SPDX-License-Identifier: MIT */
/* What every test program of this folder includes. */
#ifndef OPL_TEST_H
#define OPL_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/base.h"

#endif
