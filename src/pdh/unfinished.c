/* SPDX-License-Identifier: MIT */
/* What has a door already, but nobody behind it. */
#include "pdh/capture.h"

#define UNFINISHED(name, ...)                                                                      \
    PDH_STATUS name(__VA_ARGS__)                                                                   \
    {                                                                                              \
        return (PDH_STATUS)PDH_NOT_IMPLEMENTED;                                                    \
    }

UNFINISHED(capture_open, const struct capture_wish *wish, DWORD *type, PDH_HLOG *ret)
UNFINISHED(capture_bind, const char *files, size_t size, PDH_HLOG *ret)
UNFINISHED(capture_update, PDH_HLOG log, const char *user_string)
UNFINISHED(capture_close, PDH_HLOG log, DWORD flags)
UNFINISHED(capture_catalog, PDH_HLOG log)
UNFINISHED(capture_size, PDH_HLOG log, LONGLONG *ret)
UNFINISHED(capture_record, PDH_HLOG log, FILETIME time, PDH_RAW_LOG_RECORD *ret, DWORD *size)
UNFINISHED(capture_time_range, struct pdh_from from, PDH_TIME_INFO *ret)
UNFINISHED(capture_set_default, DWORD source)
UNFINISHED(capture_resolve, struct counter *counter)
UNFINISHED(collect_capture, struct query *query, LONGLONG *ret_time)
UNFINISHED(capture_limit, struct reading *reading, const PDH_TIME_INFO *range)
UNFINISHED(reading_open, struct pdh_from from, struct reading **ret)
UNFINISHED(capture_offers, struct pdh_from from, const char *machine, struct offers *ret)
UNFINISHED(capture_offer, struct pdh_from from, const char *machine, const char *object,
           struct offer **ret)
UNFINISHED(capture_label, struct pdh_from from, const char *machine, struct buffer *ret)
UNFINISHED(capture_machines, struct pdh_from from, struct buffer *ret)

PDH_STATUS capture_resolve_from(struct pdh_from *from)
{
    return 0;
}

void reading_close(struct reading *reading)
{
}

const char *capture_machine(struct counter *counter)
{
    return NULL;
}
