/* SPDX-License-Identifier: MIT */
/*
 * API of remote: the keys of another machine, read through a stream. docs/remote.md lists the
 * addresses.
 */
#ifndef OPL_REMOTE_H
#define OPL_REMOTE_H

#include "registry/registry.h"

/* The settings: the values "Shell", "Smb" and "Deadline" of the client, the limits of the server;
 * below it the key "Machines" with values NAME, and "Objects" with lists of users. */
#define REMOTE_SETTINGS "HKEY_LOCAL_MACHINE\\SOFTWARE\\openperflib\\Remote"

/* The operations of the registry on keys of other machines. */
extern const struct registry_remote remote_remote;

#endif
