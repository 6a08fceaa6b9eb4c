/* SPDX-License-Identifier: MIT */
/* --explain: prints the provider's explanation of a counter. */
#include "typeperf.h"

#include "../view/text.h"

#include <openperflib/block.h>
#include <winperf.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 78, INDENT = 2 };

static int explain_one(const char *path, PDH_HCOUNTER counter)
{
    PDH_STATUS status;
    opl_type_info type;
    PDH_COUNTER_INFO_A *info = counters_info(counter, true, &status);
    if (!info)
        return pdh_complain(TOOL, path, status);
    opl_type_describe(info->dwType, &type);
    printf("%s\n", text_seen(path));
    printf("%*stype: %s (0x%08X)%s%s\n", INDENT, "", type.name ? type.name : "without a name",
           (unsigned)info->dwType, *type.display_text ? ", shown as " : "", type.display_text);
    text_wrap(stdout, info->szExplainText ? info->szExplainText : "There is no explanation.",
              INDENT, WIDTH);
    free(info);
    return EXIT_GOOD;
}

int explain_counters(struct counters *counters)
{
    int code = EXIT_GOOD;
    for (size_t i = 0; i < counters->paths.count; i++) {
        if (i)
            putchar('\n');
        int one = explain_one(counters->paths.texts[i], counters->handles[i]);
        code = one ? one : code;
    }
    return output_file_close(TOOL, NULL, stdout) ? code : EXIT_FAILED;
}
