// SPDX-License-Identifier: MIT
#pragma once
#define WIN32_LEAN_AND_MEAN
#include <WinNT.h>
#include <windows.h>
#include <winperf.h>
#include <tchar.h>
#include <StrSafe.h>
