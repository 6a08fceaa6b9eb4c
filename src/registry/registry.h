/* SPDX-License-Identifier: MIT */
/*
 * API of registry: keys and values, text files in layers, and mounts for keys whose content other
 * modules compute.
 *
 * Paths are UTF-8, begin with the root's long name ("HKEY_LOCAL_MACHINE\\SYSTEM\\...") and are
 * compared without regard to case. Data of REG_SZ, REG_EXPAND_SZ and REG_MULTI_SZ is stored as
 * UTF-8 with the terminators that its writer supplied; other types are bytes. The layers are
 * vendor, machine and user; a later one overrides earlier ones. In each layer all
 * registry.d/NAME.reg are merged first, then manual.reg.
 */
#ifndef OPL_REGISTRY_H
#define OPL_REGISTRY_H

#include "base/base.h"
#include <sys/stat.h>
#include <winreg.h>

#define REGISTRY_SERVICES "HKEY_LOCAL_MACHINE\\SYSTEM\\CurrentControlSet\\Services"
#define REGISTRY_PERFLIB                                                                           \
    "HKEY_LOCAL_MACHINE\\SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion\\Perflib"

/* Each architecture has a vendor's folder of its own, so each has indexes of its own: with one name
 * for both, 32-bit and 64-bit programs would replace each other's index again and again. */
#if UINTPTR_MAX > UINT32_MAX
#define REGISTRY_INDEX_ENDING ".index"
#else
#define REGISTRY_INDEX_ENDING ".32.index"
#endif

enum registry_layer { LAYER_VENDOR, LAYER_MACHINE, LAYER_USER };

struct registry_value {
    const char *name;
    uint32_t type;
    const void *data; /* the value's data, valid only during the callback */
    size_t size;
};

/* ---- reading, for other modules: the content of the files; never takes a file lock ---- */
/* Virtual keys, computed values and mounts are not visible here, so modules that compute them can
 * call these functions without recursion. The functions key_... below show them. */
/* Reads a value and replaces the content of `ret`. ERROR_FILE_NOT_FOUND: key or value is absent. */
LSTATUS registry_get(const char *path, const char *value, uint32_t *ret_type, struct buffer *ret);
/* Reads a REG_SZ or REG_EXPAND_SZ (expanded) as text with a NUL; ERROR_INVALID_DATA for other
 * types. */
LSTATUS registry_get_text(const char *path, const char *value, struct buffer *ret);
LSTATUS registry_get_dword(const char *path, const char *value, uint32_t *ret);
/* Calls `each` for every subkey's name, in registry order (by name, case folded), until `each`
 * returns false. The list is made before the first call. `each` may use the registry; the files are
 * not checked again for changes by others before this function returns, so that reading a thousand
 * services checks the files once. Changes by this process are visible at once. */
LSTATUS registry_each_key(const char *path, bool (*each)(void *self, const char *name), void *self);
LSTATUS registry_each_value(const char *path,
                            bool (*each)(void *self, const struct registry_value *value),
                            void *self);
/* The same with the subkey itself, valid during the call, for a caller that reads values of all
 * subkeys: it finds none of them by its path again. Changes by this process may not be visible. */
struct registry_subkey;
LSTATUS registry_each_subkey(const char *path,
                             bool (*each)(void *self, const char *name,
                                          const struct registry_subkey *subkey),
                             void *self);
/* Like registry_each_value, for the key `below` the subkey. */
LSTATUS registry_each_value_below(const struct registry_subkey *subkey, const char *below,
                                  bool (*each)(void *self, const struct registry_value *value),
                                  void *self);
/* Returns a number that changes when the content of the files has changed. Each call checks the
 * layers' folders; once a second a call also checks 64 files of each layer, in turn, to detect
 * files that were edited in place. Allocates nothing unless something changed. */
uint64_t registry_generation(void);
/* Returns the FILETIME of the newest file or folder of all layers; the time changes whenever their
 * content does. */
int64_t registry_last_write(void);
/* Appends the text with %NAME% replaced by the environment's value. %NAME% stays as it is if the
 * variable is not set, or if the program is setuid. False: no memory. */
bool registry_expand(const char *text, struct buffer *ret);

/* ---- writing, for other modules (loadperf, host's quarantine) and the functions key_... ---- */
/* Writes one value into manual.reg of `layer`; creates the key. Durable on return.
 * ERROR_ACCESS_DENIED without the rights, and if a higher layer would hide the value. */
LSTATUS registry_set(enum registry_layer layer, const char *path, const char *value, uint32_t type,
                     const void *data, size_t size);
LSTATUS registry_delete_value(enum registry_layer layer, const char *path, const char *value);
/* Deletes the value; then deletes the key and its parents upwards while they are empty, at most
 * `empty_keys` keys. */
LSTATUS registry_delete_last_value(enum registry_layer layer, const char *path, const char *value,
                                   unsigned empty_keys);
/* True if the user's layer contains or deletes the value, whatever the other layers contain. Uses
 * the files as they were last read. */
bool registry_is_users(const char *path, const char *value);
/* Deletes the key and all below it, in one step. */
LSTATUS registry_delete_tree(enum registry_layer layer, const char *path);

/* ---- the files themselves, for callers that must not parse thousands of them ---- */
struct registry_file {
    enum registry_layer layer;
    const char *name; /* the file's name in the layer's folder */
    /* When the file is replaced, at least one of these numbers changes; when the file is edited in
     * place, a number changes if the clock's resolution allows that */
    uint64_t device, inode, size, changed_ns, modified_ns;
};
/* Calls `each` for every file in merging order, until `each` returns false. `name` is valid during
 * the call. A folder that is not trusted counts as empty. */
LSTATUS registry_each_file(bool (*each)(void *self, const struct registry_file *file), void *self);
enum { REGISTRY_FILE_MOST = 256 << 20 }; /* the largest size of a file of registrations, in bytes */
/* Sets *ret to the file's content. ERROR_ACCESS_DENIED: the file is not trusted. */
LSTATUS registry_read_file(enum registry_layer layer, const char *name, struct buffer *ret);
/* Returns the path .../registry.d of a layer, whose folder may not exist. NULL: the layer has no
 * path. */
const char *registry_folder(enum registry_layer layer);

/* ---- what a module computed from the files, kept beside the compiled index (index.c) ---- */
struct registry_derived {
    const char *name;    /* name of the file; its temporary file is .NAME.tmp */
    uint64_t generation; /* generation of the registry from which the content was computed */
    /* states of other files from which the content was computed, taken before those files were
     * read */
    const struct stat *sources;
    size_t source_count;
};
/* Opens what another process wrote, if that process computed it from exactly the same files. NULL:
 * this process must compute the content. */
struct registry_content;
struct registry_content *registry_derived_open(const struct registry_derived *derived,
                                               size_t *ret_size);
enum { REGISTRY_BLOCK = 4096 };
/* Reads one block of the content; the last may be shorter. False: the file is damaged, so this
 * process must compute all of the content. */
bool registry_derived_block(const struct registry_content *content, size_t block, void *ret);
void registry_derived_close(struct registry_content *content); /* may be NULL */
/* Writes the content for other processes; does nothing if this process may not or cannot write. */
void registry_derived_write(const struct registry_derived *derived, const struct buffer *bytes);

/* ---- a package's file: everything about one service in registry.d/NAME.reg of a layer ---- */
/* An edit holds the layer's writers' lock from begin to end, so no other process changes what was
 * read. A thread may have one edit at a time, and must not call registry_set or key_... during the
 * edit. */
struct registry_edit;
LSTATUS registry_edit_begin(enum registry_layer layer, struct registry_edit **ret);
/* Returns a descriptor of the layer's folder, for private files whose names begin with a dot; the
 * edit closes the descriptor. */
int registry_edit_folder(const struct registry_edit *edit);
/* Replaces the file `name` ("NAME.reg") by `text`, durably and in one step; *ret_file, which may be
 * NULL, gets what registry_each_file would return for the file. */
LSTATUS registry_edit_replace(struct registry_edit *edit, const char *name, const char *text,
                              size_t size, struct registry_file *ret_file);
/* Removes the file, durably; ERROR_FILE_NOT_FOUND: the file does not exist. */
LSTATUS registry_edit_remove(struct registry_edit *edit, const char *name);
void registry_edit_end(struct registry_edit *edit);

/* ---- mounts: keys that belong to other modules; one constant table in win32/tables.c ---- */
struct mount {
    const char *path; /* "HKEY_PERFORMANCE_DATA", or a key's path; "*" as last part: any subkey */
    HKEY predefined;  /* the handle value of a predefined key, or NULL */
    /* called by RegQueryValueEx; implements all rules for sizes. `wide`: text in the answer is
     * UTF-16. */
    LSTATUS(*query)
    (const char *path, const char *name, bool wide, DWORD *type, void *data, DWORD *size);
    /* called by RegSetValueEx if the key was opened with KEY_SET_VALUE; NULL: the result is
     * `set_status` */
    LSTATUS(*set)
    (const char *path, const char *name, uint32_t type, const void *data, size_t size);
    LSTATUS set_status;      /* what RegSetValueEx returns if `set` is NULL */
    LSTATUS open_status;     /* what RegOpenKeyEx returns for subkeys of `predefined` */
    LSTATUS enum_key_status; /* what RegEnumKeyEx returns */
    /* for RegEnumValue and RegQueryInfoKey: the values' names, terminated by NULL */
    const char *const *names;
    LSTATUS (*close)(void); /* called by RegCloseKey; NULL: nothing to do */
    /* this path is another name of a key: it can be opened, but is not listed or counted */
    bool alias;
    /* the FILETIME for RegQueryInfoKey; NULL: the time of the files is used */
    int64_t (*last_write)(void);
    HKEY opens_as; /* not NULL: the handle that RegOpenKeyEx without KEY_SET_VALUE
                                  * returns */
};
/* Computed values, such as Last Counter; without under_files they override values of the files. */
struct registry_computed {
    const char *path, *name;
    uint32_t type; /* type of the value: REG_DWORD or REG_SZ */
    LSTATUS (*get)(uint32_t *ret_number, struct buffer *ret_text);
    bool under_files; /* a value of the files overrides the computed value */
};
/* Keys that exist because a module lists them, such as the languages below Perflib. */
struct registry_virtual_keys {
    const char *path;
    LSTATUS (*each)(bool (*each)(void *self, const char *name), void *self);
};
/* Keys of other machines, which can only be read. The registry keeps the handles; the functions of
 * registry_remote do everything else. */
struct remote_key;
struct key_info;
struct remote_request {
    struct remote_key *key;
    const char *name;
    struct buffer *data; /* receives the whole value, whatever its size; texts are UTF-8 */
    LSTATUS status;
};
struct pending_remote {
    const char *machine;
    HKEY root;
    struct remote_key *key; /* the opened key; NULL unless `status` is 0 */
    LSTATUS status;
};
struct registry_remote {
    LSTATUS (*open)(struct remote_key *above, const char *sub, struct remote_key **ret);
    void (*close)(struct remote_key *key);
    LSTATUS(*query)
    (struct remote_key *key, const char *name, bool wide, DWORD *type, void *data, DWORD *size);
    LSTATUS(*enum_key)
    (struct remote_key *key, DWORD index, struct buffer *ret_name, FILETIME *ret_time);
    LSTATUS(*enum_value)
    (struct remote_key *key, DWORD index, bool wide, struct buffer *ret_name, DWORD *type,
     void *data, DWORD *size);
    LSTATUS (*info)(struct remote_key *key, bool wide, struct key_info *ret);
    /* Connects to all machines at once. ERROR_BAD_NETPATH: no machine has this name;
     * ERROR_INVALID_HANDLE: the root cannot be opened on other machines. */
    void (*connect_all)(struct pending_remote *pendings, size_t count);
    /* Queries all machines at once; `meanwhile` is called once while the machines work. */
    void (*query_all)(struct remote_request *requests, size_t count, void (*meanwhile)(void *self),
                      void *self);
};
struct registry_tables {
    const struct mount *mounts; /* this and the next two are ended by a row whose path is NULL */
    const struct registry_computed *computed;
    const struct registry_virtual_keys *virtual_keys;
    /* functions for other machines; NULL: other machines cannot be reached */
    const struct registry_remote *remote;
};
/* Called once, before any thread uses the registry: by win32/tables.c when the library is loaded
 * (tests: with their own tables). `tables` must stay valid. Before that the registry has only the
 * files' content. */
void registry_init(const struct registry_tables *tables);

/* ---- keys: the operations behind the Reg functions; names and texts in UTF-8 ---- */
/* Opens a subkey; `sub` NULL: opens the key itself again. *ret may be a predefined key (member
 * opens_as of a mount). */
LSTATUS key_open(HKEY key, const char *sub, REGSAM access, HKEY *ret);
LSTATUS key_create(HKEY key, const char *sub, REGSAM access, HKEY *ret, bool *ret_existed);
LSTATUS key_connect(const char *machine, HKEY root, HKEY *ret);
LSTATUS key_close(HKEY key);
/* One machine for key_connect_all, which connects to all machines at once, so the call takes only
 * as long as the slowest machine. `key` is NULL unless status is 0. */
struct pending_connect {
    const char *machine;
    HKEY root, key;
    LSTATUS status;
};
void key_connect_all(struct pending_connect *pendings, size_t count);
LSTATUS key_flush(HKEY key);
/* deletes the key; ERROR_ACCESS_DENIED if it has subkeys */
LSTATUS key_delete(HKEY key, const char *sub);
/* deletes the subkey and all below it; `sub` NULL: only all below `key` */
LSTATUS key_delete_tree(HKEY key, const char *sub);
/* Reads a value. `wide`: texts in `data` are UTF-16; else UTF-8. Sizes are bytes in that
 * encoding. */
LSTATUS key_query(HKEY key, const char *name, bool wide, DWORD *type, void *data, DWORD *size);
/* One value for key_query_all: values of performance keys, of any size; values of other machines
 * are read in parallel. */
struct key_request {
    HKEY key;
    const char *name;
    /* receives the value, with texts in UTF-8; the memory of the buffer is reused */
    struct buffer *data;
    LSTATUS status;
};
void key_query_all(struct key_request *requests, size_t count);
LSTATUS key_set(HKEY key, const char *name, bool wide, DWORD type, const void *data, DWORD size);
LSTATUS key_delete_value(HKEY key, const char *name);
LSTATUS key_get_value(HKEY key, const char *sub, const char *name, bool wide, DWORD flags,
                      DWORD *type, void *data, DWORD *size);
/* Gets the name of a subkey by its position. *name_size is in UTF-16 units if `wide`, else in
 * bytes: on entry the capacity, with the terminator; on return the length without the
 * terminator. */
LSTATUS key_enum_key(HKEY key, DWORD index, bool wide, void *name, DWORD *name_size,
                     FILETIME *ret_time);
LSTATUS key_enum_value(HKEY key, DWORD index, bool wide, void *name, DWORD *name_size, DWORD *type,
                       void *data, DWORD *size);
struct key_info {
    DWORD keys, longest_key, values, longest_name, largest_data; /* lengths in UTF-16 units or in
                                                                  * bytes, as `wide` says */
    FILETIME last_write;
};
LSTATUS key_info(HKEY key, bool wide, struct key_info *ret);

#endif
