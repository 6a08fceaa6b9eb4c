/* SPDX-License-Identifier: MIT */
/*
 * MessageBox without a screen: writes an event, as Windows does for the boxes of its services
 * (source "Application Popup", id 26), and returns the default button.
 */
#include "shims.h"

#include <stdio.h>
#include <stdlib.h>

enum { POPUP_EVENT = 26, MOST_BUTTONS = 3 };

/* The buttons of each style, MB_OK to MB_CANCELTRYCONTINUE, from the left. */
static const unsigned char buttons[][MOST_BUTTONS] = {
    {IDOK,     0,          0         },
    {IDOK,     IDCANCEL,   0         },
    {IDABORT,  IDRETRY,    IDIGNORE  },
    {IDYES,    IDNO,       IDCANCEL  },
    {IDYES,    IDNO,       0         },
    {IDRETRY,  IDCANCEL,   0         },
    {IDCANCEL, IDTRYAGAIN, IDCONTINUE},
};

/* The default button, or the first one if the style has no such button. */
static int default_button(UINT style)
{
    const unsigned char *row = buttons[style & MB_TYPEMASK];
    UINT number = (style & MB_DEFMASK) / MB_DEFBUTTON2;
    return number < MOST_BUTTONS && row[number] ? row[number] : row[0];
}

static WORD event_type(UINT style)
{
    UINT icon = style & MB_ICONMASK;
    return icon == MB_ICONERROR     ? EVENTLOG_ERROR_TYPE
           : icon == MB_ICONWARNING ? EVENTLOG_WARNING_TYPE
                                    : EVENTLOG_INFORMATION_TYPE;
}

/* Writes the event. A failure is ignored: with a screen, the program would continue. */
static void report(const char *text, const char *title, UINT style)
{
    char process[64], line[1024];
    DWORD error = GetLastError();
    LPCSTR strings[] = {title ? title : "Error", text ? text : "", process};
    opl_shim_process(process);
    snprintf(line, sizeof line, "%s: %s", strings[0], strings[1]);
    opl_shim_trace("MessageBox", line);
    HANDLE log = RegisterEventSourceA(NULL, "Application Popup");
    if (log) {
        ReportEventA(log, event_type(style), 0, POPUP_EVENT, NULL, 3, 0, strings, NULL);
        DeregisterEventSource(log);
    }
    SetLastError(error);
}

int WINAPI MessageBoxA(HWND owner, LPCSTR text, LPCSTR title, UINT style)
{
    if ((style & MB_TYPEMASK) >= sizeof buttons / sizeof *buttons) {
        SetLastError(ERROR_INVALID_MSGBOX_STYLE);
        return 0;
    }
    report(text, title, style);
    return default_button(style);
}

int WINAPI MessageBoxW(HWND owner, LPCWSTR text, LPCWSTR title, UINT style)
{
    char *narrow_text = text ? opl_shim_narrow(text) : NULL;
    char *narrow_title = title ? opl_shim_narrow(title) : NULL;
    int button = MessageBoxA(owner, narrow_text, narrow_title, style);
    free(narrow_text);
    free(narrow_title);
    return button;
}
