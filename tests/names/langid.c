/* SPDX-License-Identifier: MIT */
/* Prints the language id of each locale in the arguments, for tests/names/langids. */
#include "names/names.h"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        setenv("LC_ALL", argv[i], 1);
        printf("%u\n", (unsigned)names_user_langid());
    }
    return 0;
}
