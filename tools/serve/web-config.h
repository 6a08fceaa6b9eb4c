/* SPDX-License-Identifier: MIT */
/* The file of --web.config.file: TLS, and users with passwords. */
#ifndef OPL_TOOLS_SERVE_WEB_CONFIG_H
#define OPL_TOOLS_SERVE_WEB_CONFIG_H

#include "serve.h"

struct web_config;
/* Reads the file; `path` must outlive it. NULL, after a message: it is wrong. */
struct web_config *web_config_read(const char *path);
void web_config_free(struct web_config *config); /* may be NULL */
/* Returns what http_new needs; NULL: the file has no certificate. */
const struct http_tls *web_config_tls(const struct web_config *config);
/* Checks the client's certificate and password. */
enum http_status web_config_check(struct web_config *config, const struct request *request,
                                  const char **ret_why);

#endif
