/* SPDX-License-Identifier: MIT */
/* Output files: overwritten only with permission; a full disk is reported as a failure. */
#include "output-file.h"

#include "../view/text.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FAILED = 1, NO_RIGHTS = 4 };
static bool no_rights; /* the last error was about access rights */

static bool is_standard(const char *path)
{
    return !path || strcmp(path, "-") == 0;
}

static bool confirmed(const char *path)
{
    char answer[16] = "";
    fprintf(stderr, "File %s already exists. Overwrite it? [y/n] ", text_seen(path));
    return fgets(answer, sizeof answer, stdin) && (answer[0] == 'y' || answer[0] == 'Y');
}

bool output_file_free(const char *tool, const char *path, bool yes)
{
    struct stat facts;
    if (yes || is_standard(path) || stat(path, &facts) || !S_ISREG(facts.st_mode))
        return true;
    if (isatty(STDIN_FILENO) && isatty(STDERR_FILENO))
        return confirmed(path);
    fprintf(stderr, "%s: %s: the file exists already; -y overwrites it\n", tool, text_seen(path));
    return false;
}

void output_file_complain(const char *tool, const char *path)
{
    no_rights = errno == EACCES || errno == EPERM || errno == EROFS;
    const char *reason = errno == ENOSPC ? "the disk is full" : strerror(errno);
    fprintf(stderr, "%s: %s: cannot be written: %s\n", tool,
            is_standard(path) ? "standard output" : text_seen(path), reason);
}

FILE *output_file_open(const char *tool, const char *path)
{
    FILE *file = is_standard(path) ? stdout : fopen(path, "we");
    if (!file)
        output_file_complain(tool, path);
    return file;
}

int output_file_code(void)
{
    return no_rights ? NO_RIGHTS : FAILED;
}

bool output_file_close(const char *tool, const char *path, FILE *file)
{
    bool good = !ferror(file);
    good &= file == stdout ? fflush(file) == 0 : fclose(file) == 0;
    if (!good)
        output_file_complain(tool, path);
    return good;
}
