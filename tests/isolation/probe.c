/* SPDX-License-Identifier: MIT */
/* Queries one object: exit code 0 if it is in the answer, 1 if not, 2 if the query fails. For the
 * word "environment" it instead sets all its user numbers to the effective one and prints the
 * environment of a program that it starts; for "places" it prints where it looks for code,
 * registry, events and the system. It is linked statically with our library, so that it runs from
 * any folder, and as a setuid program, which ignores LD_LIBRARY_PATH. */
#include "remote/client/internal.h"

#include <openperflib/block.h>
#include <windows.h>

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int print_environment(void)
{
    char *const arguments[] = {"env", NULL};
    struct link link;
    BUFFER_AUTO text = {0};
    LSTATUS status;
    if (setuid(geteuid()) || link_open_program("/usr/bin/env", arguments, SOCK_STREAM, &link))
        return 2;
    while ((status = link_receive(&link, 64 << 10, &text)) == WAIT_TIMEOUT)
        poll(&(struct pollfd){.fd = link.fd, .events = POLLIN}, 1, 10000);
    fwrite(text.data, 1, text.len, stdout);
    return text.len ? 0 : 2;
}

static int print_places(void)
{
    const char *(*const places[])(void) = {place_vendor, place_machine, place_user,
                                           place_events, place_answers, place_sysroot};
    if (setuid(geteuid()))
        return 2;
    for (size_t i = 0; i < COUNT(places); i++)
        printf("%s\n", places[i]() ? places[i]() : "none");
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 2 && !strcmp(argv[1], "places"))
        return print_places();
    if (argc == 2 && !strcmp(argv[1], "environment"))
        return print_environment();
    static unsigned char data[4 << 20];
    DWORD size = sizeof data;
    opl_block block;
    opl_object_view object;
    if (argc != 2 ||
        RegQueryValueExA(HKEY_PERFORMANCE_DATA, argv[1], NULL, NULL, data, &size) != 0 ||
        opl_block_init(&block, data, size) != OPL_BLOCK_GOOD)
        return 2;
    return !opl_block_find_object(&block, (DWORD)atoi(argv[1]), &object);
}
