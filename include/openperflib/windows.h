/* SPDX-License-Identifier: MIT */
/* The umbrella that Windows programs include. */
#ifndef OPENPERFLIB_WINDOWS_H
#define OPENPERFLIB_WINDOWS_H

#include "windef.h"
#include "winerror.h"
#include "winbase.h"
#include "winreg.h"

#endif
