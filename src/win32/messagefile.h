/* SPDX-License-Identifier: MIT */
/* Private to win32: the texts of a program's own events. */
#ifndef OPL_WIN32_MESSAGEFILE_H
#define OPL_WIN32_MESSAGEFILE_H

#include "base/base.h"
#include <windef.h>

/* Appends the text of event `id`, from the files in EventMessageFile of the source; false: no file
 * has it. */
bool message_file_text(struct buffer *text, const char *source, DWORD id, WORD count,
                       char *const *strings);

#endif
