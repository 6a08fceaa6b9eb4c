/* SPDX-License-Identifier: MIT */
/*
 * API of remote: the keys of another machine, read through a stream. "unix:PATH" is a socket on
 * this machine, "ssh://[USER@]HOST[:PORT]" the program openperflib-winregd there, started through
 * ssh.
 */
#ifndef OPL_REMOTE_H
#define OPL_REMOTE_H

#include "registry/registry.h"

/* The operations of the registry on keys of other machines. */
extern const struct registry_remote remote_remote;

#endif
