/* SPDX-License-Identifier: MIT */
/* Finds the reason why the kernel refused a BPF program: libbpf and the verifier print hundreds of
 * lines, of which one has the reason. */
#include "pin.h"

#include <stdio.h>
#include <string.h>

static char cause[256];

static void keep(const char *line, size_t length)
{
    static const char prefix[] = "libbpf: ";
    if (length > sizeof prefix - 1 && strncmp(line, prefix, sizeof prefix - 1) == 0) {
        line += sizeof prefix - 1;
        length -= sizeof prefix - 1;
    }
    snprintf(cause, sizeof cause, "%.*s", (int)(length < sizeof cause ? length : sizeof cause),
             line);
}

static bool is_informative(const char *line, size_t length)
{
    static const char *const others[] = {"processed ", "verification time", "stack depth",
                                         "-- END"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strncmp(line, others[i], strlen(others[i])) == 0)
            return false;
    return length > 0;
}

void bpf_cause_take(const char *warning)
{
    const char *log = warning ? strstr(warning, "LOAD LOG --\n") : NULL;
    if (!warning)
        cause[0] = '\0';
    for (const char *line = log ? strchr(log, '\n') + 1 : ""; *line;) {
        size_t length = strcspn(line, "\n");
        if (is_informative(line, length))
            keep(line, length);
        line += length + (line[length] == '\n');
    }
    if (warning && !log && !cause[0])
        keep(warning, strcspn(warning, "\n"));
}

const char *bpf_cause(void)
{
    return cause;
}
