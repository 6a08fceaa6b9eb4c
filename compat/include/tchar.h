/* SPDX-License-Identifier: MIT */
/* Macros for functions and types of narrow text, or with _UNICODE or UNICODE of wide text. */
#ifndef OPENPERFLIB_TCHAR_H
#define OPENPERFLIB_TCHAR_H

#if defined _UNICODE && !defined UNICODE
#define UNICODE
#endif

#include "crt.h"

#define _T(text) OPL_TEXT(text)
#define __T(text) OPL_TEXT(text)
#define _TEXT(text) OPL_TEXT(text)
typedef TCHAR _TCHAR, _TXCHAR;

#ifdef UNICODE
#define _tmain wmain
#define _tcslen opl_wcslen
#define _tcscpy opl_wcscpy
#define _tcsncpy opl_wcsncpy
#define _tcscat opl_wcscat
#define _tcsncat opl_wcsncat
#define _tcscmp opl_wcscmp
#define _tcsncmp opl_wcsncmp
#define _tcsicmp opl_wcsicmp
#define _tcsnicmp opl_wcsnicmp
#define _tcschr opl_wcschr
#define _tcsrchr opl_wcsrchr_path
#define _tsystem opl_wsystem
#define _tcsstr opl_wcsstr
#define _tcsspn opl_wcsspn
#define _tcscspn opl_wcscspn
#define _tcspbrk opl_wcspbrk
#define _tcsdup opl_wcsdup
#define _tcslwr opl_wcslwr
#define _tcsupr opl_wcsupr
#define _tcstol opl_wcstol
#define _tcstoul opl_wcstoul
#define _tcstod opl_wcstod
#define _ttoi opl_wtoi
#define _ttol opl_wtol
#define _tcscpy_s wcscpy_s
#define _tcsncpy_s wcsncpy_s
#define _tcscat_s wcscat_s
#define _tprintf opl_wprintf
#define _ftprintf opl_fwprintf
#define _stprintf opl_swprintf_old
#define _sntprintf opl_snwprintf
#define _vsntprintf opl_vsnwprintf
#define _stprintf_s opl_swprintf_s
#else
#define _tmain main
#define _tcslen strlen
#define _tcscpy strcpy
#define _tcsncpy strncpy
#define _tcscat strcat
#define _tcsncat strncat
#define _tcscmp strcmp
#define _tcsncmp strncmp
#define _tcsicmp strcasecmp
#define _tcsnicmp strncasecmp
#define _tcschr strchr
#define _tcsrchr opl_strrchr_path
#define _tsystem system
#define _tcsstr strstr
#define _tcsspn strspn
#define _tcscspn strcspn
#define _tcspbrk strpbrk
#define _tcsdup strdup
#define _tcslwr _strlwr
#define _tcsupr _strupr
#define _tcstol strtol
#define _tcstoul strtoul
#define _tcstod strtod
#define _ttoi atoi
#define _ttol atol
#define _tcscpy_s strcpy_s
#define _tcsncpy_s strncpy_s
#define _tcscat_s strcat_s
#define _tprintf opl_printf
#define _ftprintf opl_fprintf
#define _stprintf opl_sprintf
#define _sntprintf opl_snprintf_old
#define _vsntprintf opl_vsnprintf_old
#define _stprintf_s opl_sprintf_s
#endif

#endif
