/* SPDX-License-Identifier: MIT */
/* The options of openperflib-serve. "perfmon serve" has the same. */
#ifndef OPL_TOOLS_SERVE_OPTION_ROWS_H
#define OPL_TOOLS_SERVE_OPTION_ROWS_H

#include "../common/options.h"

enum { MACHINES_MOST = 32, HOSTS_MOST = 16, PUSH_LABELS_MOST = 16, PUSH_LABEL_SIZE = 128 };

struct metrics_options {
    const char *address;
    const char *web_config;   /* a file with TLS and passwords; NULL: none */
    const char *groups;       /* of processes: rules; NULL: none */
    const char *names;        /* of another exporter: a name or a path; NULL: our own */
    const char *machines;     /* file of machines that can be probed; NULL: none */
    const char *const *hosts; /* as for access_new */
    bool insecure, processes;
    int64_t series;
    struct push *push; /* NULL: nothing is sent */
};

struct push_options {
    const char *url;
    const char *auth; /* a file; NULL: none */
    const char *buffer;
    const char *labels[PUSH_LABELS_MOST]; /* NAME=VALUE */
    size_t label_count;
    int64_t buffer_mib;
    double seconds;
    bool insecure;
};

struct serve_settings {
    int64_t port;
    const char *socket, *group;
    const char *machines[MACHINES_MOST];
    size_t machine_count;
    const char *hosts[HOSTS_MOST + 1];
    size_t host_count;
    double seconds;
    bool open;
    struct metrics_options metrics;
    struct push_options push;
    const char *language; /* LC_ALL when the program began; NULL: it was not set */
};

enum { SERVE_HOST = 1, SERVE_MACHINE, SERVE_PUSH_LABEL };

/* clang-format off */
static const struct option_row serve_rows[] = {
    {0, "open", NULL, 0, "Open the page in the browser.", NULL, 0, NULL, .sets = OPTION_FLAG(struct serve_settings, open)},
    {'p', "port", "NUMBER", 0, "Listen at this port of 127.0.0.1; default 8722; 0: any free port.", NULL, 0, NULL,
     .sets = OPTION_WHOLE(struct serve_settings, port, 0, 65535)},
    {0, "socket", "PATH", 0, "The Unix socket for \"perfmon open\"; default openperflib-serve.sock in XDG_RUNTIME_DIR.", "@files", 0, NULL,
     .sets = OPTION_TEXT(struct serve_settings, socket)},
    {0, "host", "NAME", SERVE_HOST, "Also accept this host name, which a reverse proxy sends; several may be given.", NULL, 0, NULL},
    {'i', "interval", "SECONDS", 0, "Take a sample every SECONDS; default 1.", NULL, 0, NULL,
     .sets = OPTION_SECONDS(struct serve_settings, seconds, 0.1, 3600)},
    {'m', "machine", "MACHINE", SERVE_MACHINE, "Show another machine; several may be given.", NULL, 0, NULL},
    {0, "group", "NAME", 0, "Members of this group may get links by \"perfmon open\", too.", NULL, 0, NULL, .sets = OPTION_TEXT(struct serve_settings, group)},
    {0, "metrics", "ADDRESS", 0, "Serve metrics for Prometheus instead of the page: at PORT, HOST:PORT or [ADDRESS]:PORT.", NULL, 0, NULL,
     .sets = OPTION_TEXT(struct serve_settings, metrics.address)},
    {0, "metrics-processes", NULL, 0, "Metrics of each process, too.", NULL, 0, NULL, .sets = OPTION_FLAG(struct serve_settings, metrics.processes)},
    {0, "metrics-groups", "RULES", 0, "Metrics of groups of processes: by program, unit, container, user, or by a file, with a slash.", "@files", 0, NULL,
     .sets = OPTION_TEXT(struct serve_settings, metrics.groups)},
    {0, "metrics-names", "NAME", 0, "Use another exporter's names: windows_exporter, node_exporter, or a file, given with a slash.", "@files", 0, NULL,
     .sets = OPTION_TEXT(struct serve_settings, metrics.names)},
    {0, "metrics-series", "NUMBER", 0, "Leave out objects with which there would be more than NUMBER series; default 50000.", NULL, 0, NULL,
     .sets = OPTION_WHOLE(struct serve_settings, metrics.series, 1, 100000000)},
    {0, "metrics-machines", "FILE", 0, "Answer /probe with the metrics of the machines of this file, and list them at /sd.", "@files", 0, NULL,
     .sets = OPTION_TEXT(struct serve_settings, metrics.machines)},
    {0, "web.config.file", "FILE", 0, "TLS and passwords for --metrics, in the format that Prometheus' exporters share.", "@files", 0, NULL,
     .sets = OPTION_TEXT(struct serve_settings, metrics.web_config)},
    {0, "push", "URL", 0, "Send metrics to this address by Prometheus' remote write.", NULL, 0, NULL,
     .sets = OPTION_TEXT(struct serve_settings, push.url)},
    {0, "push-interval", "SECONDS", 0, "Send a sample of every SECONDS; default 15.", NULL, 0, NULL,
     .sets = OPTION_SECONDS(struct serve_settings, push.seconds, 1, 3600)},
    {0, "push-auth", "FILE", 0, "A file that only its owner can read, with USER:PASSWORD or \"Bearer TOKEN\".", "@files", 0, NULL,
     .sets = OPTION_TEXT(struct serve_settings, push.auth)},
    {0, "push-label", "NAME=VALUE", SERVE_PUSH_LABEL, "A label of all samples that are sent; several may be given.", NULL, 0, NULL},
    {0, "push-buffer", "FOLDER", 0, "Samples wait here while they cannot be sent; default $STATE_DIRECTORY.", "@files", 0, NULL,
     .sets = OPTION_TEXT(struct serve_settings, push.buffer)},
    {0, "push-buffer-size", "MIB", 0, "The oldest samples are dropped when more than MIB mebibytes wait; default 64.", NULL, 0, NULL,
     .sets = OPTION_WHOLE(struct serve_settings, push.buffer_mib, 1, 1000000)},
    {0, "insecure", NULL, 0, "Let other machines reach --metrics without a password, and --push send one unencrypted.", NULL, 0, NULL,
     .sets = OPTION_FLAG(struct serve_settings, metrics.insecure)},
    {0},
};
/* clang-format on */

#endif
