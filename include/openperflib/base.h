/* SPDX-License-Identifier: MIT */
/*
 * What all public headers share: linkage and visibility of declarations, and three types that
 * <stdint.h> does not have. The headers in openperflib/ define no Windows names except those of the
 * format (format.h), and no macro without the prefix OPL_. Statuses are Win32's numbers, 0 for
 * success; their names are in <openperflib-windows/winerror.h>.
 */
#ifndef OPENPERFLIB_BASE_H
#define OPENPERFLIB_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* OPL_BEGIN_DECLS and OPL_END_DECLS enclose declarations: C linkage, and visible with any
 * -fvisibility. */
#ifdef __cplusplus
#define OPL_BEGIN_DECLS                                                                            \
    _Pragma("GCC visibility push(default)") extern "C"                                             \
    {
#define OPL_END_DECLS                                                                              \
    }                                                                                              \
    _Pragma("GCC visibility pop")
#else
#define OPL_BEGIN_DECLS _Pragma("GCC visibility push(default)")
#define OPL_END_DECLS _Pragma("GCC visibility pop")
#endif

/* A UTF-16 code unit: char16_t, or with -fshort-wchar wchar_t. */
#if __SIZEOF_WCHAR_T__ == 2
typedef wchar_t opl_char16;
#elif defined __cplusplus
typedef char16_t opl_char16;
#else
typedef __CHAR16_TYPE__ opl_char16;
#endif

/* Members of the format's structures: aligned to 8 on 32-bit machines too. */
__extension__ typedef long long opl_int64 __attribute__((aligned(8)));
__extension__ typedef unsigned long long opl_uint64 __attribute__((aligned(8)));

#endif
