/* SPDX-License-Identifier: MIT */
/* What loadperf does not do yet: says so and changes nothing. */
#include "loadperf/loadperf.h"

DWORD load_command(const char *command_line, bool quiet)
{
    return ERROR_CALL_NOT_IMPLEMENTED;
}

DWORD unload_command(const char *command_line, bool quiet)
{
    return ERROR_CALL_NOT_IMPLEMENTED;
}

DWORD opl_load_install(const char *ini_path, const opl_load_options *options, opl_load_result *ret)
{
    return ERROR_CALL_NOT_IMPLEMENTED;
}

DWORD opl_load_remove(const char *service, const opl_load_options *options, opl_load_result *ret)
{
    return ERROR_CALL_NOT_IMPLEMENTED;
}

DWORD opl_load_language(const char *language, bool remove, const opl_load_options *options)
{
    return ERROR_CALL_NOT_IMPLEMENTED;
}

DWORD opl_load_enable(const char *service, bool enable, const opl_load_options *options)
{
    return ERROR_CALL_NOT_IMPLEMENTED;
}
