/* SPDX-License-Identifier: GPL-3.0-or-later */
/* openperflib-smb: reads another machine's counters over SMB, for the program that started it. */
#include "remote/smb_samba.h"

#include <options.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { STDIO = 1, CHECK, LOGIN };

/* clang-format off */
static const struct option_row rows[] = {
    {0, "check", "MACHINE", CHECK, "Try to read the machine, step by step, and print what to do when a step fails."},
    {0, "login", "MACHINE", LOGIN, "Ask for user and password, try them, and store them in the credentials file if they are accepted."},
    {0, "stdio", "MACHINE", STDIO, "Answer requests on standard input and output, as the library starts it."},
    {0},
};
/* clang-format on */

static const char more[] =
    "A machine is [USER@]HOST[:PORT]. Passwords are read from the credentials file,\n"
    "~/.config/openperflib/credentials, or are typed; never on a command line.\n"
    "openperflib-smb(1) describes the file.\n"
    "\n"
    "Exit codes: 0 the machine can be read, or the client closed the stream;\n"
    "1 it cannot be read, or the client broke the protocol; 2 usage.\n"
    "\n"
    "This program uses Samba's libraries and is free software under the GNU General\n"
    "Public License, version 3 or later.\n";

static const struct tool tool = {
    .name = "openperflib-smb",
    .summary = "Read another machine's performance counters over SMB.",
    .usage = "--check MACHINE\n--login MACHINE\n--stdio MACHINE",
    .rows = rows,
    .more = more,
};

/* A machine that answers without end exhausts this process only. */
static void bound_memory(void)
{
#ifndef __SANITIZE_ADDRESS__
    enum { MOST_DATA = 512 << 20 };
    setrlimit(RLIMIT_DATA, &(struct rlimit){MOST_DATA, MOST_DATA});
#endif
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0}); /* its memory may contain a password */
}

/* The credentials file may not be used: each request gets the status of the reason. */
static LSTATUS refuse_connect(struct smb_wire *wire, int64_t deadline)
{
    return ERROR_LOGON_FAILURE;
}

static void close_nothing(struct smb_wire *wire)
{
}

static int serve_stdio(const struct smb_address *address)
{
    char why[5000];
    struct smb_login login;
    struct smb_samba samba;
    struct smb_machine machine;
    struct smb_wire refusing = {.connect = refuse_connect, .close = close_nothing};
    bool usable = smb_login_find(address, &login, why, sizeof why);
    if (usable)
        smb_samba_init(&samba, address, &login);
    else
        fprintf(stderr, "openperflib-smb: %s\n", why);
    machine_init(&machine, usable ? &samba.wire : &refusing);
    bool good = smb_serve(0, 1, &machine);
    machine_done(&machine);
    if (usable)
        smb_samba_done(&samba);
    return good ? EXIT_GOOD : EXIT_FAILED;
}

int main(int argc, char **argv)
{
    struct options options;
    struct smb_address address;
    int way = 0, id = options_begin(&options, &tool, argc, argv);
    const char *machine = NULL;
    while (id > 0 && (id = options_next(&options)) > 0) {
        if (id == OPTION_WORD || way)
            return options_complain(&options, "unexpected argument \"%s\"", options.value);
        way = id;
        machine = options.value;
    }
    if (id < 0)
        return options_status(id);
    if (!way)
        return options_complain(&options, "one of --check, --login and --stdio is required");
    if (!smb_address_read(machine, &address))
        return options_complain(&options, "\"%s\" is not a machine; use [USER@]HOST[:PORT]",
                                machine);
    signal(SIGPIPE, SIG_IGN);
    bound_memory();
    return way == STDIO ? serve_stdio(&address) : smb_check(&address, way == LOGIN);
}
