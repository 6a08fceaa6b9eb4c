/* SPDX-License-Identifier: MIT */
/* What Windows' header of this name has for a provider: the number of the process. Threads are the
 * C library's (pthread_create). */
#ifndef OPENPERFLIB_PROCESS_H
#define OPENPERFLIB_PROCESS_H

#include <stdlib.h>
#include <unistd.h>

#define _getpid getpid

#endif
