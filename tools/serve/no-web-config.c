/* SPDX-License-Identifier: MIT */
/* In place of web-config.c where GnuTLS, libyaml or libcrypt were not there. */
#include "web-config.h"

#include <stdio.h>

struct web_config *web_config_read(const char *path)
{
    (void)path;
    fputs("openperflib-serve: --web.config.file needs a build with GnuTLS, libyaml and libcrypt\n",
          stderr);
    return NULL;
}

void web_config_free(struct web_config *config)
{
    (void)config;
}

const struct http_tls *web_config_tls(const struct web_config *config)
{
    (void)config;
    return NULL;
}

enum http_status web_config_check(struct web_config *config, const struct request *request,
                                  const char **ret_why)
{
    (void)config;
    (void)request;
    *ret_why = "";
    return HTTP_FORBIDDEN;
}
