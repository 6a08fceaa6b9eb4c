/* SPDX-License-Identifier: MIT */
/*
 * API of remote: reads keys of other machines through a stream. docs/remote.md lists the addresses.
 */
#ifndef OPL_REMOTE_H
#define OPL_REMOTE_H

#include "registry/registry.h"

/* The key of the settings: the values "Shell", "Smb" and "Deadline" for the client, limits for the
 * server. Below it are the keys "Machines", which has a value for each name, and "Objects", which
 * has a list of users for each object. */
#define REMOTE_SETTINGS "HKEY_LOCAL_MACHINE\\SOFTWARE\\openperflib\\Remote"

/* The functions with which the registry reads keys of other machines. */
extern const struct registry_remote remote_remote;

#endif
