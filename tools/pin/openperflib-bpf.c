/* SPDX-License-Identifier: MIT */
/*
 * openperflib-bpf: pins the BPF program that reads all processes and threads in one pass, so that
 * the Process and Thread objects take microseconds instead of the milliseconds of /proc files. The
 * program must be pinned once after each start of the system. It runs only while its pinned file is
 * read.
 */
#include "pin.h"
#include "../common/options.h"

#include <stdio.h>
#include <stdlib.h>

enum { GROUP = 1, MOUNT, GRANT, VERBOSE, RECORD_VERSION, INDIRECT };
enum { PIN = 1, UNPIN, STATUS };

/* clang-format off */
static const struct option_row pin_rows[] = {
    {'g', "group", "GROUP", GROUP, "The group that may read besides root. Default: \"openperflib\" if there is such a group, else none.", NULL, 0},
    {0, "mount", NULL, MOUNT, "Mount a BPF file system at /sys/fs/bpf if there is none.", NULL, 0},
    {0, "grant", NULL, GRANT, "Give the group access to /sys/fs/bpf if only root has it (chgrp, mode 0710).", NULL, 0},
    {'v', "verbose", NULL, VERBOSE, "Show the messages of libbpf and of the kernel's verifier.", NULL, 0},
    {0, "record-version", "NUMBER", RECORD_VERSION, "Write this version number into the records; for tests.", NULL, true},
    {0, "indirect", NULL, INDIRECT, "Load the variant for kernels before 6.2; for tests.", NULL, true},
    {0},
};
static const struct tool commands[] = {
    {.name = "pin", .summary = "Load the BPF program and pin it; replaces a pinned program.",
     .usage = "[OPTION]...", .rows = pin_rows, .id = PIN},
    {.name = "unpin", .summary = "Remove the pinned program.", .usage = "", .id = UNPIN},
    {.name = "status", .summary = "Show whether the program is pinned, who may read it, and whether it works.",
     .usage = "", .id = STATUS},
    {0},
};
/* clang-format on */

static const char more[] =
    "pin and unpin need root. Programs that query Process or Thread use the pinned\n"
    "program automatically from their next query on, if they may read it; the others\n"
    "read /proc. Programs that may read the pinned program see the values of all\n"
    "processes, also input and output, which /proc shows to their owners only.\n"
    "\n"
    "The exit code is 0, 1 if something failed, 2 for wrong usage, 3 if nothing is\n"
    "pinned (status, unpin).\n"
    "\n"
    "\"openperflib-bpf COMMAND --help\" describes a command.\n";

static const struct tool tool = {
    .name = "openperflib-bpf",
    .summary = "Read Process and Thread data from the kernel in one pass (faster).",
    .usage = "COMMAND [OPTION]...",
    .commands = commands,
    .more = more,
};

static bool take_option(struct pin_request *request, const struct options *options, int id)
{
    char *end;
    request->mount |= id == MOUNT;
    request->grant |= id == GRANT;
    request->verbose |= id == VERBOSE;
    request->indirect |= id == INDIRECT;
    if (id == GROUP)
        request->group = options->value;
    if (id == RECORD_VERSION) {
        request->version = (uint32_t)strtoul(options->value, &end, 0);
        return *options->value && !*end;
    }
    return true;
}

static int run(int command, const struct pin_request *request)
{
    if (command == PIN)
        return bpf_pin(request);
    return command == UNPIN ? bpf_unpin() : bpf_status();
}

int main(int argc, char **argv)
{
    struct options options;
    struct pin_request request = {0};
    int id = options_begin(&options, &tool, argc, argv);
    while (id > 0 && (id = options_next(&options)) > 0) {
        if (id == OPTION_ARGUMENT)
            return options_complain(&options, "unexpected argument: \"%s\"", options.value);
        if (!take_option(&request, &options, id))
            return options_complain(&options, "not a number: \"%s\"", options.value);
    }
    if (id < 0)
        return options_status(id);
    if (!options.command)
        return options_complain(&options, "a command is missing: pin, unpin or status");
    int code = run(options.command->id, &request);
    if (fflush(stdout) != 0 || ferror(stdout))
        return bpf_complain("standard output could not be written");
    return code;
}
