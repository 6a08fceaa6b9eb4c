/* SPDX-License-Identifier: MIT */
/* The command line: which processes to watch, the limits, and whether to act. */
#include "options.h"

#include <errno.h>
#include <fnmatch.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { EXIT_USAGE = 2 };

static void help(void)
{
    puts(
        "usage: processor_protector [OPTION]... [NAME]...\n"
        "Watches all processes, or those with one of these names (* and ? are wildcards), and\n"
        "lowers the priority of a process that uses a processor for too long. Without --act it\n"
        "only prints what it would do. Defaults are in parentheses.\n\n"
        "  -p, --percent=N    a process is busy if it uses N percent of one processor (90)\n"
        "  -s, --seconds=N    lower its priority after N busy seconds without a break (10)\n"
        "  -l, --load=N       but only while all processors together are N percent busy: on an\n"
        "                     idle machine no process has to wait (80; 0: always)\n"
        "  -n, --nice=N       the nice value to set, 1 to 19 (10)\n"
        "  -i, --interval=N   take a sample every N seconds, 0.1 to 3600 (1)\n"
        "  -d, --duration=N   end after N seconds (at Ctrl-C)\n"
        "  -a, --act          lower priorities\n"
        "  -r, --restore      restore a priority when the process was not busy for --seconds\n"
        "                     while processors had idle time, and at the end; this needs\n"
        "                     CAP_SYS_NICE or a limit (RLIMIT_NICE)\n"
        "  -h, --help, -V, --version\n\n"
        "Never changed are this program and its parents, other users' processes (even by root),\n"
        "kernel threads, real-time processes, and processes with this nice value or a higher one.\n"
        "Changes are also written to the event log (pcview --events).\n\n"
        "Exit status: 0 success, 1 counters could not be read or a priority could not be changed,\n"
        "2 wrong usage.");
}

static _Noreturn void refuse(const char *option, const char *text, double least, double most)
{
    fprintf(stderr, "processor_protector: --%s needs a number from %g to %g, not %s\n", option,
            least, most, text);
    exit(EXIT_USAGE);
}

static double number(const char *option, const char *text, double least, double most)
{
    char *end;
    errno = 0;
    double value = strtod(text, &end);
    if (errno || end == text || *end || !isfinite(value) || value < least || value > most)
        refuse(option, text, least, most);
    return value;
}

static int whole_number(const char *option, const char *text, int least, int most)
{
    double value = number(option, text, least, most);
    if (value != floor(value))
        refuse(option, text, least, most);
    return (int)value;
}

static void take_option(struct options *options, int letter)
{
    switch (letter) {
    case 'p':
        options->limits.percent = number("percent", optarg, 0.1, 100000);
        break;
    case 's':
        options->limits.seconds = number("seconds", optarg, 0.1, 1000000);
        break;
    case 'l':
        options->limits.load = number("load", optarg, 0, 100);
        break;
    case 'n':
        options->nice = whole_number("nice", optarg, 1, 19);
        break;
    case 'i':
        options->interval = number("interval", optarg, 0.1, 3600);
        break;
    case 'd':
        options->duration = number("duration", optarg, 0.1, 1000000000);
        break;
    case 'a':
        options->act = true;
        break;
    case 'r':
        options->restore = true;
        break;
    case 'h':
        help();
        exit(EXIT_SUCCESS);
    case 'V':
        puts("processor_protector (openperflib) " PROTECTOR_VERSION);
        exit(EXIT_SUCCESS);
    default: /* getopt_long has printed the error */
        fputs("Try processor_protector --help\n", stderr);
        exit(EXIT_USAGE);
    }
}

void options_read(struct options *options, int argc, char **argv)
{
    static const struct option rows[] = {
        {"percent",          required_argument, NULL, 'p'},
        {"seconds",              required_argument, NULL, 's'},
        {"load",                  required_argument, NULL, 'l'},
        {"nice",required_argument, NULL, 'n'},
        {"interval",               required_argument, NULL, 'i'},
        {"duration",             required_argument, NULL, 'd'},
        {"act",              no_argument, NULL, 'a'},
        {"restore",                  no_argument, NULL, 'r'},
        {"help",              no_argument, NULL, 'h'},
        {"version",               no_argument, NULL, 'V'},
        {0        },
    };
    int letter;
    *options = (struct options){
        .limits = {.percent = 90, .seconds = 10, .load = 80},
          .interval = 1, .nice = 10
    };
    while ((letter = getopt_long(argc, argv, "p:s:l:n:i:d:arhV", rows, NULL)) != -1)
        take_option(options, letter);
    options->names = argv + optind;
    if (getuid() != geteuid()) {
        fputs("processor_protector: refused to run as a set-user-id program\n", stderr);
        exit(EXIT_USAGE);
    }
}

bool options_name_it(const struct options *options, const char *name)
{
    bool named = !options->names[0];
    for (char **at = options->names; *at && !named; at++)
        named = fnmatch(*at, name, 0) == 0;
    return named;
}
