/* SPDX-License-Identifier: MIT */
/* Options in the file have the same effect as on the command line. If an option is given several
 * times, the last one counts. */
#include "config.h"

#include <errno.h>
#include <string.h>

int config_read(struct config *config, const struct options *options)
{
    size_t first = config->kept->count; /* an earlier -config may have added texts */
    if (config->nested)
        return options_complain(
            options,
            "%s is not allowed inside a file of options, because it would read a second "
            "such file, %s; name input files on the command line",
            options->spelled, options->value);
    if (!text_list_add(config->kept, options->tool->name) ||
        !text_list_read_options(config->kept, options->value))
        return options_complain(options, "%s: %s", options->value, strerror(errno));
    config->argv = config->kept->texts + first;
    config->argc = (int)(config->kept->count - first);
    return 0;
}
