/* SPDX-License-Identifier: MIT */
/*
 * Registering counters: the functions behind lodctr and unlodctr.
 *
 * openperflib/load.h has the functions behind the tools, which report problems with file and line.
 * (docs/windows/registration.md, docs/windows/articles.md#c62)
 */
#ifndef OPENPERFLIB_LOADPERF_H
#define OPENPERFLIB_LOADPERF_H

#include "windef.h"
#include "winerror.h"

OPL_BEGIN_DECLS

/* Loads an ini file. The command line is "lodctr file.ini"; its first word is ignored, but without
 * that word the result is error 87 (docs/windows/articles.md#c68). `quiet`: prints nothing. Returns
 * ERROR_SUCCESS, also if the file is already loaded; 2: no such file or service; 5: no rights; 13:
 * the files are damaged; 87: the command line is wrong. */
DWORD WINAPI LoadPerfCounterTextStringsA(LPSTR command_line, BOOL quiet)
    OPL_SYMBOL(LoadPerfCounterTextStringsA);
DWORD WINAPI LoadPerfCounterTextStringsW(LPWSTR command_line, BOOL quiet)
    OPL_SYMBOL(LoadPerfCounterTextStringsW);
/* Removes the names and explanations that were loaded for a service. The command line is "unlodctr
 * service", whose first word is ignored. 2: the service has no names or explanations. */
DWORD WINAPI UnloadPerfCounterTextStringsA(LPSTR command_line, BOOL quiet)
    OPL_SYMBOL(UnloadPerfCounterTextStringsA);
DWORD WINAPI UnloadPerfCounterTextStringsW(LPWSTR command_line, BOOL quiet)
    OPL_SYMBOL(UnloadPerfCounterTextStringsW);

/* Loads an ini file on this machine: `computer` is NULL or this machine's name, else the result is
 * 50 (ERROR_NOT_SUPPORTED). `flags`: LOADPERF_FLAGS_*; there is no WMI to notify, so 1 and 2 have
 * no effect, and with 4 (only write files for WMI) the call does nothing. 8: prints its steps. */
DWORD WINAPI InstallPerfDllA(LPCSTR computer, LPCSTR ini_path, ULONG_PTR flags)
    OPL_SYMBOL(InstallPerfDllA);
DWORD WINAPI InstallPerfDllW(LPCWSTR computer, LPCWSTR ini_path, ULONG_PTR flags)
    OPL_SYMBOL(InstallPerfDllW);
/* Replaces texts of an installed language, such as "009". The files have pairs of index and text,
 * like Windows' perfc009.dat, in UTF-16 or UTF-8; each index and each text ends with a NUL or a
 * line break. One of the two paths may be NULL. Texts that are not in the files are unchanged. */
DWORD WINAPI UpdatePerfNameFilesA(LPCSTR counter_path, LPCSTR help_path, LPSTR language,
                                  ULONG_PTR flags) OPL_SYMBOL(UpdatePerfNameFilesA);
DWORD WINAPI UpdatePerfNameFilesW(LPCWSTR counter_path, LPCWSTR help_path, LPWSTR language,
                                  ULONG_PTR flags) OPL_SYMBOL(UpdatePerfNameFilesW);
/* Records the time and size of the service's library. If the file later has another time or size,
 * the library is not trusted (docs/registry.md, Library Validation Code). */
DWORD WINAPI SetServiceAsTrustedA(LPCSTR reserved, LPCSTR service) OPL_SYMBOL(SetServiceAsTrustedA);
DWORD WINAPI SetServiceAsTrustedW(LPCWSTR reserved, LPCWSTR service)
    OPL_SYMBOL(SetServiceAsTrustedW);
/* Saves the numbers and settings of the machine's providers and all texts
 * (docs/windows/registration.md#e5); `comment`, which may be NULL, is written at the beginning. */
DWORD BackupPerfRegistryToFileW(LPCWSTR path, LPCWSTR comment)
    OPL_SYMBOL(BackupPerfRegistryToFileW);
/* Restores a file that BackupPerfRegistryToFile wrote; `language`: only texts of this language,
 * NULL: of all languages. Registrations that are not in the file are unchanged. 13: the file is not
 * a backup, or is incomplete. */
DWORD RestorePerfRegistryFromFileW(LPCWSTR path, LPCWSTR language)
    OPL_SYMBOL(RestorePerfRegistryFromFileW);

#define LOADPERF_FLAGS_DELETE_MOF_ON_EXIT ((ULONG_PTR)1)
#define LOADPERF_FLAGS_LOAD_REGISTRY_ONLY ((ULONG_PTR)2)
#define LOADPERF_FLAGS_CREATE_MOF_ONLY ((ULONG_PTR)4)
#define LOADPERF_FLAGS_DISPLAY_USER_MSGS ((ULONG_PTR)8)

OPL_END_DECLS

#ifdef UNICODE
#define InstallPerfDll InstallPerfDllW
#define LoadPerfCounterTextStrings LoadPerfCounterTextStringsW
#define SetServiceAsTrusted SetServiceAsTrustedW
#define UnloadPerfCounterTextStrings UnloadPerfCounterTextStringsW
#define UpdatePerfNameFiles UpdatePerfNameFilesW
#else
#define InstallPerfDll InstallPerfDllA
#define LoadPerfCounterTextStrings LoadPerfCounterTextStringsA
#define SetServiceAsTrusted SetServiceAsTrustedA
#define UnloadPerfCounterTextStrings UnloadPerfCounterTextStringsA
#define UpdatePerfNameFiles UpdatePerfNameFilesA
#endif

#endif
