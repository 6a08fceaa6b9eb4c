/* SPDX-License-Identifier: MIT */
/* What has a door already, but nobody behind it. */
#include "pdh/capture.h"

PDH_STATUS writer_open(const struct capture_wish *wish, DWORD type, struct capture_writer **ret)
{
    return (PDH_STATUS)PDH_NOT_IMPLEMENTED;
}

PDH_STATUS writer_update(struct capture_writer *writer, const char *user_string)
{
    return (PDH_STATUS)PDH_NOT_IMPLEMENTED;
}

PDH_STATUS writer_close(struct capture_writer *writer)
{
    return 0;
}

PDH_HQUERY writer_query(const struct capture_writer *writer)
{
    return NULL;
}

uint64_t writer_bytes(const struct capture_writer *writer)
{
    return 0;
}
