/* SPDX-License-Identifier: MIT */
/* Asks for one object: exit code 0 if it is there, 1 if not, 2 if the query fails. Needs no shared
 * library of ours, so that it runs from anywhere and with more rights than its user's. */
#include <openperflib/block.h>
#include <openperflib/windows.h>

#include <stdlib.h>

int main(int argc, char **argv)
{
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
