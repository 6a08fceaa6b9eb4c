/* SPDX-License-Identifier: MIT */
/* The page of openperflib-serve: the paths of its server's sockets; opening it in a browser. */
#ifndef OPL_TOOLS_BROWSER_H
#define OPL_TOOLS_BROWSER_H

#include <stdbool.h>
#include <stddef.h>

/* Writes the path of a file in XDG_RUNTIME_DIR. False: there is no such folder that belongs to this
 * user alone. */
bool browser_path(const char *name, char *ret, size_t capacity);
#define BROWSER_SOCKET "openperflib-serve.sock"             /* of a user's own server */
#define BROWSER_SYSTEM_SOCKET "/run/openperflib/serve.sock" /* of openperflib-serve.socket */

/* Opens "ADDRESS#SECRET" in the user's browser, by a file that only this user may read and that is
 * deleted after 20 seconds, because all users see a command line. With `wait`, waits two seconds to
 * notice a browser that fails. `language`: LC_ALL of the browser; NULL: not set. False: there is no
 * display or no browser; no message was printed. */
bool browser_open(const char *address, const char *secret, const char *language, bool wait);

#endif
