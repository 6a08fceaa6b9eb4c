/* SPDX-License-Identifier: MIT */
/* The part of Windows' header that a provider needs: the number of the process. For threads use
 * the C library (pthread_create). */
#ifndef OPENPERFLIB_PROCESS_H
#define OPENPERFLIB_PROCESS_H

#include <stdlib.h>
#include <unistd.h>

#define _getpid getpid

#endif
