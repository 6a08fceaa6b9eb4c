/* SPDX-License-Identifier: MIT */
/* The options of openperflib-serve. "perfmon serve" has the same. */
#ifndef OPL_TOOLS_SERVE_ROWS_H
#define OPL_TOOLS_SERVE_ROWS_H

#include "../common/options.h"

enum {
    SERVE_PORT = 1,
    SERVE_SOCKET,
    SERVE_HOST,
    SERVE_INTERVAL,
    SERVE_MACHINE,
    SERVE_GROUP,
    SERVE_OPEN,
    SERVE_METRICS,
    SERVE_METRICS_PROCESSES,
    SERVE_METRICS_NAMES,
    SERVE_METRICS_SERIES,
    SERVE_INSECURE
};

/* clang-format off */
static const struct option_row serve_rows[] = {
    {0, "open", NULL, SERVE_OPEN, "Open the page in the browser.", NULL, 0, NULL},
    {'p', "port", "NUMBER", SERVE_PORT, "Listen at this port of 127.0.0.1; default 8722; 0: any free port.", NULL, 0, NULL},
    {0, "socket", "PATH", SERVE_SOCKET, "The Unix socket for \"perfmon open\"; default openperflib-serve.sock in XDG_RUNTIME_DIR.", "@files", 0, NULL},
    {0, "host", "NAME", SERVE_HOST, "Also accept this host name, which a reverse proxy sends; several may be given.", NULL, 0, NULL},
    {'i', "interval", "SECONDS", SERVE_INTERVAL, "Take a sample every SECONDS; default 1.", NULL, 0, NULL},
    {'m', "machine", "MACHINE", SERVE_MACHINE, "Show another machine; several may be given.", NULL, 0, NULL},
    {0, "group", "NAME", SERVE_GROUP, "Members of this group may get links by \"perfmon open\", too.", NULL, 0, NULL},
    {0, "metrics", "ADDRESS", SERVE_METRICS, "Serve metrics for Prometheus instead of the page: at PORT, HOST:PORT or [ADDRESS]:PORT.", NULL, 0, NULL},
    {0, "metrics-processes", NULL, SERVE_METRICS_PROCESSES, "Metrics of each process, too.", NULL, 0, NULL},
    {0, "metrics-names", "NAME", SERVE_METRICS_NAMES, "Use the names of another exporter: windows_exporter, or of a file, with a slash.", "@files", 0, NULL},
    {0, "metrics-series", "NUMBER", SERVE_METRICS_SERIES, "Leave out objects with which there would be more than NUMBER series; default 50000.", NULL, 0, NULL},
    {0, "insecure", NULL, SERVE_INSECURE, "Let --metrics listen to addresses that other machines reach, without a password and unencrypted.", NULL, 0, NULL},
    {0},
};
/* clang-format on */

#endif
