/* SPDX-License-Identifier: MIT */
/* Finds objects in a service's Object List that belong to another service. Perflib drops an answer
 * that contains such an object (event 4009). */
#ifndef OPL_TOOLS_OWNER_H
#define OPL_TOOLS_OWNER_H

#include <stdbool.h>
#include <stddef.h>

#include <windows.h>

struct owners {
    struct claims *claims;
    struct listed *listed;
    size_t count, listed_count;
};
/* Reads the lists of all services; without memory the list is empty. Free with owners_done. */
void owners_read(struct owners *ret);
void owners_done(struct owners *owners);
/* Does an object that `service` lists belong to another one? *ret_owner points into `owners`. */
bool owners_other(const struct owners *owners, const char *service, DWORD *ret_object,
                  const char **ret_owner);
/* If an object of `service` belongs to another service, writes a message into `text`: the object,
 * the two services, and what to do. `user`: " --user" for the user's layer, else "". Returns the
 * text's length; 0: no object of `service` belongs to another service. */
int owners_explain(const struct owners *owners, const char *service, const char *user, char *text,
                   size_t size);

#endif
