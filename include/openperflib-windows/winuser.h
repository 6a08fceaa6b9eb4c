/* SPDX-License-Identifier: MIT */
/*
 * Message boxes for programs without a screen, such as providers: the text goes to the event log,
 * and the function does not wait.
 *
 * The functions are in the static libopenperflib-win32.a (pkg-config openperflib-win32).
 */
#ifndef OPENPERFLIB_WINUSER_H
#define OPENPERFLIB_WINUSER_H

#include "windef.h"
#include "winerror.h"

#include <stdarg.h>

/* the buttons */
#define MB_OK 0x00000000L
#define MB_OKCANCEL 0x00000001L
#define MB_ABORTRETRYIGNORE 0x00000002L
#define MB_YESNOCANCEL 0x00000003L
#define MB_YESNO 0x00000004L
#define MB_RETRYCANCEL 0x00000005L
#define MB_CANCELTRYCONTINUE 0x00000006L
#define MB_TYPEMASK 0x0000000FL
/* the icon, which is also the severity of the event */
#define MB_ICONHAND 0x00000010L
#define MB_ICONQUESTION 0x00000020L
#define MB_ICONEXCLAMATION 0x00000030L
#define MB_ICONASTERISK 0x00000040L
#define MB_ICONERROR MB_ICONHAND
#define MB_ICONSTOP MB_ICONHAND
#define MB_ICONWARNING MB_ICONEXCLAMATION
#define MB_ICONINFORMATION MB_ICONASTERISK
#define MB_ICONMASK 0x000000F0L
/* the button that is returned */
#define MB_DEFBUTTON1 0x00000000L
#define MB_DEFBUTTON2 0x00000100L
#define MB_DEFBUTTON3 0x00000200L
#define MB_DEFBUTTON4 0x00000300L
#define MB_DEFMASK 0x00000F00L
/* no effect here */
#define MB_APPLMODAL 0x00000000L
#define MB_SYSTEMMODAL 0x00001000L
#define MB_TASKMODAL 0x00002000L
#define MB_HELP 0x00004000L
#define MB_NOFOCUS 0x00008000L
#define MB_SETFOREGROUND 0x00010000L
#define MB_DEFAULT_DESKTOP_ONLY 0x00020000L
#define MB_TOPMOST 0x00040000L
#define MB_SERVICE_NOTIFICATION 0x00200000L

#define IDOK 1
#define IDCANCEL 2
#define IDABORT 3
#define IDRETRY 4
#define IDIGNORE 5
#define IDYES 6
#define IDNO 7
#define IDTRYAGAIN 10
#define IDCONTINUE 11

OPL_BEGIN_SHIMS

/* Writes title and text to the event log (source "Application Popup", id 26, level by the icon)
 * with the process's name and number, and to the trace; returns the default button of `style` at
 * once. A title that is NULL is "Error". 0: no such style (ERROR_INVALID_MSGBOX_STYLE).
 * (docs/windows/articles.md#c45) */
int WINAPI MessageBoxA(HWND owner, LPCSTR text, LPCSTR title, UINT style) OPL_SHIM(MessageBoxA);
int WINAPI MessageBoxW(HWND owner, LPCWSTR text, LPCWSTR title, UINT style) OPL_SHIM(MessageBoxW);
/* Formats text by the rules of crt.h, truncated to 1023 units; the buffer must have 1024.
 * Returns the number of units without the terminator. */
int WINAPIV wsprintfA(LPSTR to, LPCSTR format, ...) OPL_SHIM(wsprintfA);
int WINAPIV wsprintfW(LPWSTR to, LPCWSTR format, ...) OPL_SHIM(wsprintfW);
int WINAPI wvsprintfA(LPSTR to, LPCSTR format, va_list arguments) OPL_SHIM(wvsprintfA);
int WINAPI wvsprintfW(LPWSTR to, LPCWSTR format, va_list arguments) OPL_SHIM(wvsprintfW);

OPL_END_SHIMS

#ifdef UNICODE
#define MessageBox MessageBoxW
#define wsprintf wsprintfW
#define wvsprintf wvsprintfW
#else
#define MessageBox MessageBoxA
#define wsprintf wsprintfA
#define wvsprintf wvsprintfA
#endif

#endif
