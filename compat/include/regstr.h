/* SPDX-License-Identifier: MIT */
/* Keys of the registry that programs name by a macro. */
#ifndef OPENPERFLIB_REGSTR_H
#define OPENPERFLIB_REGSTR_H

#include <windef.h>

#define REGSTR_PATH_SERVICES TEXT("System\\CurrentControlSet\\Services")
#define REGSTR_PATH_CURRENT_CONTROL_SET TEXT("System\\CurrentControlSet\\Control")
#define REGSTR_PATH_SETUP TEXT("Software\\Microsoft\\Windows\\CurrentVersion")
#define REGSTR_PATH_NT_CURRENTVERSION TEXT("Software\\Microsoft\\Windows NT\\CurrentVersion")

#endif
