/* SPDX-License-Identifier: MIT */
/*
 * The header that Windows programs include.
 *
 * As on Windows, it includes winperf.h unless WIN32_LEAN_AND_MEAN is defined (the sample
 * enum_process relies on it). wide.h makes L"..." programs work when compiled with -fshort-wchar.
 */
#ifndef OPENPERFLIB_WINDOWS_H
#define OPENPERFLIB_WINDOWS_H

#include "windef.h"
#include "winerror.h"
#include "winbase.h"
#include "winreg.h"
#ifndef NOUSER
#include "winuser.h"
#endif
#include "wide.h"
#ifndef WIN32_LEAN_AND_MEAN
typedef LONG NTSTATUS; /* the codes are in ntstatus.h */
#include "winperf.h"
#endif

#endif
