/* SPDX-License-Identifier: MIT */
/* The options, and the default paths. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1 /* secure_getenv */
#endif
#include "service.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { OPTION_SINCE = 1000, OPTION_FORWARD, OPTION_SAVE, OPTION_PARAMETER };

int64_t service_time(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (now.tv_sec + 11644473600) * BEHEMOTH_SECOND + now.tv_nsec / 100;
}

static void help(void)
{
    puts("usage: behemoth-server [OPTION]...\n"
         "Lets a herd of behemoths live, breed and die, and tells about it on a socket.\n"
         "It runs in the foreground until SIGTERM, SIGINT or `behemoth-manager stop`, and keeps\n"
         "the herd in a file: the next start goes on from there.\n\n"
         "  --socket=PATH     where to listen ($BEHEMOTH_SOCKET, $OPENPERFLIB_ROOT/herd.sock,\n"
         "                    $XDG_RUNTIME_DIR/behemoth/herd.sock, for root "
         "/run/behemoth/herd.sock)\n"
         "  --state=PATH      the herd's file ($STATE_DIRECTORY/herd, "
         "~/.local/state/behemoth/herd,\n"
         "                    for root /var/lib/behemoth/herd)\n"
         "  --save-every=N    save every N seconds (30); 0: only at the end\n"
         "Of a new herd:\n"
         "  --seed=N          the same seed, the same herd (1)\n"
         "  --count=N         how many there are at first (50)\n"
         "  --since=SECONDS   its first moment, since 1970 (now)\n"
         "Of any:\n"
         "  --forward=N       let N seconds of its life pass first\n"
         "  --capacity=N      how many the field can bear (100)\n"
         "  --lifetime=N      mean, in seconds (600)\n"
         "  --children=N      of each mother in a life, if there were space for all (20)\n"
         "  --speed=N         thousandths of its seconds in one of ours (1000); 0: time stands "
         "still\n"
         "  --width=N, --height=N   of the field, in metres (1000, 500)\n"
         "  --help, --version\n\n"
         "Exit status: 0 stopped and saved, 1 it could not go on, 2 a wrong option, 3 another one\n"
         "has this herd or this socket.");
}

static int64_t number(const char *option, const char *text, int64_t least, int64_t most)
{
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (errno || end == text || *end || value < least || value > most) {
        fprintf(stderr, "behemoth-server: --%s takes a number from %lld to %lld, not %s\n", option,
                (long long)least, (long long)most, text);
        exit(EXIT_USAGE);
    }
    return value;
}

static void copy_path(char *to, size_t bytes, const char *folder, const char *name)
{
    if ((size_t)snprintf(to, bytes, "%s%s", folder, name) >= bytes) {
        fprintf(stderr, "behemoth-server: %s%s: too long\n", folder, name);
        exit(EXIT_USAGE);
    }
}

static void find_paths(struct settings *settings)
{
    const char *runtime = secure_getenv("XDG_RUNTIME_DIR"), *home = secure_getenv("HOME");
    const char *state = secure_getenv("STATE_DIRECTORY"), *own = secure_getenv("XDG_STATE_HOME");
    const char *named = secure_getenv("BEHEMOTH_SOCKET");
    const char *root = secure_getenv("OPENPERFLIB_ROOT");
    if (!settings->socket[0] && named && *named)
        copy_path(settings->socket, sizeof settings->socket, named, "");
    else if (!settings->socket[0] && root && *root == '/')
        copy_path(settings->socket, sizeof settings->socket, root, "/herd.sock");
    else if (!settings->socket[0] && geteuid() != 0 && runtime && *runtime == '/')
        copy_path(settings->socket, sizeof settings->socket, runtime, "/behemoth/herd.sock");
    else if (!settings->socket[0])
        copy_path(settings->socket, sizeof settings->socket, "/run/behemoth/herd.sock", "");
    if (settings->state[0])
        return;
    if (state && *state == '/')
        copy_path(settings->state, sizeof settings->state, state, "/herd");
    else if (geteuid() != 0 && own && *own == '/')
        copy_path(settings->state, sizeof settings->state, own, "/behemoth/herd");
    else if (geteuid() != 0 && home && *home == '/')
        copy_path(settings->state, sizeof settings->state, home, "/.local/state/behemoth/herd");
    else
        copy_path(settings->state, sizeof settings->state, "/var/lib/behemoth/herd", "");
}

static void take_option(struct settings *settings, int option, const char *name)
{
    struct herd_beginning *beginning = &settings->beginning;
    int i = option - OPTION_PARAMETER;
    switch (option) {
    case 's':
        copy_path(settings->socket, sizeof settings->socket, optarg, "");
        break;
    case 'f':
        copy_path(settings->state, sizeof settings->state, optarg, "");
        break;
    case 'r':
        beginning->seed = (uint64_t)number(name, optarg, 0, INT64_MAX);
        break;
    case 'c':
        beginning->count = (uint64_t)number(name, optarg, 0, BEHEMOTH_HERD_MAX);
        break;
    case OPTION_SINCE:
        settings->since = true;
        beginning->start = (number(name, optarg, 0, 100000000000) + 11644473600) * BEHEMOTH_SECOND;
        break;
    case OPTION_FORWARD:
        settings->forward = (uint64_t)number(name, optarg, 0, 100000000);
        break;
    case OPTION_SAVE:
        settings->save_every = number(name, optarg, 0, 1000000);
        break;
    default:
        beginning->parameters[i] =
            number(name, optarg, herd_parameters[i].least, herd_parameters[i].most);
        settings->has_parameters[i] = true;
    }
}

void settings_read(struct settings *settings, int argc, char **argv)
{
    static const struct option options[] = {
        {"socket",           required_argument, NULL, 's'},
        {"state",              required_argument, NULL, 'f'},
        {"seed",                  required_argument, NULL, 'r'},
        {"count",required_argument, NULL, 'c'},
        {"since",               required_argument, NULL, OPTION_SINCE},
        {"forward",             required_argument, NULL, OPTION_FORWARD},
        {"save-every",              required_argument, NULL, OPTION_SAVE},
        {"capacity",                  required_argument, NULL, OPTION_PARAMETER + HERD_CAPACITY},
        {"lifetime",              required_argument, NULL, OPTION_PARAMETER + HERD_LIFETIME},
        {"children",               required_argument, NULL, OPTION_PARAMETER + HERD_CHILDREN},
        {"speed",            required_argument, NULL, OPTION_PARAMETER + HERD_SPEED},
        {"width",              required_argument, NULL, OPTION_PARAMETER + HERD_WIDTH},
        {"height",                  required_argument, NULL, OPTION_PARAMETER + HERD_HEIGHT},
        {"help",no_argument, NULL, 'h'},
        {"version",    no_argument, NULL, 'v'},
        {0      },
    };
    int option, which = 0;
    *settings = (struct settings){
        .beginning = {.seed = 1, .count = 50},
          .save_every = 30
    };
    settings->beginning.start = service_time();
    for (int i = 0; i < HERD_PARAMETERS; i++)
        settings->beginning.parameters[i] = herd_parameters[i].value;
    while ((option = getopt_long(argc, argv, "", options, &which)) != -1) {
        if (option == 'h' || option == 'v') {
            option == 'h' ? help() : (void)puts("behemoth-server (openperflib) " BEHEMOTH_VERSION);
            exit(0);
        }
        if (option == '?')
            exit(EXIT_USAGE); /* getopt_long said it */
        take_option(settings, option, options[which].name);
    }
    if (optind < argc) {
        fprintf(stderr, "behemoth-server: %s: no such option; --help lists them\n", argv[optind]);
        exit(EXIT_USAGE);
    }
    find_paths(settings);
}
