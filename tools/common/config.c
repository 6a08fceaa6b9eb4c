/* SPDX-License-Identifier: MIT */
/* Options in the file have the same effect as on the command line. If an option is given several
 * times, the last one counts. */
#include "config.h"

#include <errno.h>
#include <string.h>

int config_read(const struct options *options, bool nested, struct text_list *kept,
                struct options *ret)
{
    size_t first = kept->count; /* an earlier -config may have added texts */
    if (nested)
        return options_complain(
            options,
            "%s is not allowed inside a file of options, because it would read a second "
            "such file, %s; name input files on the command line",
            options->spelled, options->value);
    if (!text_list_add(kept, options->tool->name) || !text_list_read_options(kept, options->value))
        return tool_failed(options->tool->name, "%s: %s", options->value, strerror(errno));
    *ret = (struct options){.tool = options->tool,
                            .command = options->command,
                            .at = 1,
                            .argv = kept->texts + first,
                            .argc = (int)(kept->count - first)};
    return 0;
}
