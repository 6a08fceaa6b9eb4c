/* SPDX-License-Identifier: MIT */
/* Keys by name, and error messages. */
#include "reg.h"
#include "../common/machine-message.h"

#include "../view/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

static const struct root {
    const char *name, *short_name;
    HKEY key;
} * root_find(const char *name, size_t count)
{
    static const struct root roots[] = {
        {"HKEY_LOCAL_MACHINE",       "HKLM", HKEY_LOCAL_MACHINE      },
        {"HKEY_CURRENT_USER",        "HKCU", HKEY_CURRENT_USER       },
        {"HKEY_USERS",               "HKU",  HKEY_USERS              },
        {"HKEY_CLASSES_ROOT",        "HKCR", HKEY_CLASSES_ROOT       },
        {"HKEY_CURRENT_CONFIG",      "HKCC", HKEY_CURRENT_CONFIG     },
        {"HKEY_PERFORMANCE_DATA",    "HKPD", HKEY_PERFORMANCE_DATA   },
        {"HKEY_PERFORMANCE_TEXT",    "HKPT", HKEY_PERFORMANCE_TEXT   },
        {"HKEY_PERFORMANCE_NLSTEXT", "HKPN", HKEY_PERFORMANCE_NLSTEXT},
    };
    for (size_t i = 0; i < sizeof roots / sizeof *roots; i++) {
        const char *names[] = {roots[i].name, roots[i].short_name};
        for (size_t j = 0; j < 2; j++)
            if (strlen(names[j]) == count && !strncasecmp(names[j], name, count))
                return &roots[i];
    }
    return NULL;
}

/* Splits "\\MACHINE\KEY" and connects to the machine: *name becomes KEY, and *ret_machine becomes
 * MACHINE, which the caller frees. *ret_machine NULL: the name has no machine. */
static LSTATUS connect_machine(const char **name, char **ret_machine)
{
    *ret_machine = NULL;
    if (strncmp(*name, "\\\\", 2))
        return ERROR_SUCCESS;
    const char *begin = *name + 2, *end = begin + strcspn(begin, "\\");
    if (!*end)
        return ERROR_BAD_PATHNAME;
    *ret_machine = strndup(begin, (size_t)(end - begin));
    *name = end + 1;
    return *ret_machine ? ERROR_SUCCESS : ERROR_OUTOFMEMORY;
}

static bool is_performance_key(HKEY key)
{
    return key == HKEY_PERFORMANCE_DATA || key == HKEY_PERFORMANCE_TEXT ||
           key == HKEY_PERFORMANCE_NLSTEXT;
}

static LSTATUS fill(const struct root *root, const char *rest, const char *machine,
                    struct named_key *ret)
{
    size_t count = strlen(rest), capacity = strlen(root->name) + count + 2;
    while (count && rest[count - 1] == '\\')
        count--;
    ret->root = root->key;
    ret->path = strndup(rest, count);
    ret->full = malloc(capacity);
    if (!ret->path || !ret->full)
        return ERROR_OUTOFMEMORY;
    snprintf(ret->full, capacity, "%s%s%s", root->name, count ? "\\" : "", ret->path);
    if (!machine)
        return ERROR_SUCCESS;
    LSTATUS status = RegConnectRegistryA(machine, root->key, &ret->root);
    ret->connected = !status && !is_performance_key(ret->root);
    ret->is_elsewhere = ret->connected && ret->root != root->key;
    return status;
}

LSTATUS key_parse(const char *name, struct named_key *ret)
{
    char *machine;
    *ret = (struct named_key){0};
    LSTATUS status = connect_machine(&name, &machine);
    if (status)
        return status;
    size_t count = strcspn(name, "\\");
    const struct root *root = root_find(name, count);
    status =
        root ? fill(root, name + count + (name[count] == '\\'), machine, ret) : ERROR_INVALID_NAME;
    free(machine);
    return status;
}

void key_done(struct named_key *key)
{
    if (key->connected)
        RegCloseKey(key->root);
    free(key->path);
    free(key->full);
}

LSTATUS key_open(const struct named_key *key, REGSAM access, HKEY *ret)
{
    *ret = key->root;
    if (is_performance_key(key->root))
        return *key->path ? ERROR_INVALID_HANDLE : ERROR_SUCCESS;
    return RegOpenKeyExA(key->root, key->path, 0, access, ret);
}

void key_close(HKEY key)
{
    if (key)
        RegCloseKey(key);
}

/* ---- messages ---- */

static const char *text_of(LSTATUS status)
{
    static const struct {
        LSTATUS status;
        const char *text;
    } rows[] = {
        {ERROR_FILE_NOT_FOUND,
         "no such key or value; \"reg query\" on the parent key shows what exists"                    },
        {ERROR_ACCESS_DENIED,
         "access denied; run reg as root; what your own .reg files set must be changed in them"       },
        {ERROR_INVALID_HANDLE,    "the performance keys have no subkeys; query values with /v"        },
        {ERROR_BADKEY,            "the performance keys cannot be written; edit texts in Perflib\\009"},
        {ERROR_NOT_ENOUGH_MEMORY, "not enough memory"                                                 },
        {ERROR_OUTOFMEMORY,       "not enough memory"                                                 },
        {ERROR_INVALID_DATA,      "some lines were damaged and skipped; correct them and import again"},
        {ERROR_WRITE_PROTECT,     "read-only file system; set OPENPERFLIB_ROOT to a writable folder"  },
        {ERROR_WRITE_FAULT,       "cannot be written"                                                 },
        {ERROR_DISK_FULL,         "the disk is full; nothing was changed"                             },
        {ERROR_HANDLE_DISK_FULL,  "the disk is full; nothing was changed"                             },
        {ERROR_INVALID_PARAMETER, "a name is too long, or contains control characters"                },
        {ERROR_INVALID_NAME,
         "a key begins with its root, such as HKLM\\SOFTWARE; put it in single quotes"                },
        {ERROR_BAD_PATHNAME,      "a part of the path is empty; put the key in single quotes"         },
        {ERROR_ALREADY_EXISTS,    "already exists; add /f to overwrite it"                            },
        {ERROR_NOT_REGISTRY_FILE,
         "not a registry file: the first line is neither REGEDIT4 nor Windows Registry Editor ..."    },
        {ERROR_UNSUPPORTED_TYPE,  "the data does not fit the type; see \"reg add --help\""            },
        {ERROR_KEY_DELETED,       "the key was deleted meanwhile; try again"                          },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].status == status)
            return rows[i].text;
    return NULL;
}

/* Explains why a key of another machine cannot be read. */
static const char *text_of_machine(const char *about, LSTATUS status)
{
    char machine[600];
    if (strncmp(about, "\\\\", 2) != 0)
        return NULL;
    if (status == ERROR_BAD_PATHNAME)
        return "a key of another machine is \\\\MACHINE\\ROOT\\KEY; put it in single quotes";
    if (status == ERROR_INVALID_HANDLE)
        return "another machine has only HKLM, HKU and the performance keys, which have no "
               "subkeys";
    snprintf(machine, sizeof machine, "%.*s", (int)strcspn(about + 2, "\\"), about + 2);
    return machine_message(machine, status);
}

LSTATUS complain(const char *about, LSTATUS status)
{
    const char *text = text_of_machine(about, status);
    if (!text)
        text = text_of(status);
    fflush(stdout);
    if (text)
        fprintf(stderr, "reg: %s: %s (error %ld)\n", text_seen(about), text_seen(text),
                (long)status);
    else
        fprintf(stderr, "reg: %s: failed with error %ld; OPENPERFLIB_TRACE=1 shows more\n",
                text_seen(about), (long)status);
    return status;
}

LSTATUS complain_elsewhere(const char *about)
{
    fflush(stdout);
    fprintf(stderr,
            "reg: %s: another machine's registry is read-only here; run reg there (error %ld)\n",
            text_seen(about), (long)ERROR_ACCESS_DENIED);
    return ERROR_ACCESS_DENIED;
}

bool confirmed(const char *question, const char *about, const char *option)
{
    char answer[16] = "";
    if (!isatty(STDIN_FILENO)) {
        fprintf(stderr, "reg: %s: refused without confirmation; add %s\n", text_seen(about),
                option);
        return false;
    }
    fprintf(stderr, "%s %s (Yes/No)? ", question, text_seen(about));
    return fgets(answer, sizeof answer, stdin) && (*answer == 'y' || *answer == 'Y');
}
