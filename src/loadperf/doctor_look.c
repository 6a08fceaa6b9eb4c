/* SPDX-License-Identifier: MIT */
/* Files that are torn or not believed, libraries that are gone or replaced: found and explained. */
#include "loadperf/doctor.h"

#include <openperflib/regfile.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct looking {
    struct doctor *doctor;
    const char *file;
    size_t damaged;
    unsigned line;
};

static bool count_damage(void *self, const opl_reg_entry *entry)
{
    struct looking *looking = self;
    if (entry->kind == OPL_REG_DAMAGED && !looking->damaged++)
        looking->line = entry->line;
    return true;
}

static void look_into(struct looking *looking, const char *name)
{
    BUFFER_AUTO text = {0};
    struct doctor *doctor = looking->doctor;
    opl_load_finding finding = {.kind = "torn-file", .file = looking->file};
    LSTATUS status = registry_read_file(doctor->load->layer, name, &text);
    if (!status)
        status = opl_reg_read(text.data ? text.data : "", text.len, 0, count_damage, looking);
    if (status)
        doctor_say(doctor, false, &finding, "cannot be read: %s", status_text(status));
    else if (looking->damaged && !doctor_can_mend(&text))
        doctor_say(doctor, false, &finding,
                   "%zu lines are damaged, the first is line %u, and it is in UTF-16: save it in "
                   "UTF-8",
                   looking->damaged, looking->line);
    else if (looking->damaged) {
        doctor_say(doctor, true, &finding,
                   "%zu lines are damaged, the first is line %u: they become remarks; what they "
                   "said is mended below, if the provider's ini file is known",
                   looking->damaged, looking->line);
        buffer_add(&doctor->torn, name, strlen(name) + 1);
    }
}

/* As a shell takes it. */
static void quote(struct buffer *out, const char *path)
{
    buffer_add_byte(out, '\'');
    for (; *path; path++)
        if (*path == '\'')
            buffer_add_text(out, "'\\''");
        else
            buffer_add_byte(out, *path);
    buffer_add_byte(out, '\'');
}

/* That it is ours is for a person to say who has read it: so, which commands do it. */
static void say_foreign(struct doctor *doctor, const char *path, const struct stat *st)
{
    BUFFER_AUTO name = {0};
    opl_load_finding finding = {.kind = "foreign-owner", .file = path};
    const struct stat ours = {.st_uid = st->st_uid, .st_mode = S_IFREG | S_IRUSR};
    uid_t owner = doctor->load->layer == LAYER_MACHINE ? 0 : geteuid();
    bool foreign = !file_trusted(&ours, false);
    char whose[64] = "";
    quote(&name, path);
    if (foreign)
        snprintf(whose, sizeof whose, "belongs to user %u%s", (unsigned)st->st_uid,
                 st->st_mode & (S_IWGRP | S_IWOTH) ? ", and " : "");
    if (name.failed)
        return;
    if (foreign)
        doctor_say(doctor, false, &finding,
                   "%s%s, so nobody believes it: read it; if it is right: chown %u %s && "
                   "chmod go-w %s; if not: rm %s",
                   whose, st->st_mode & (S_IWGRP | S_IWOTH) ? "others may write it" : "",
                   (unsigned)owner, name.data, name.data, name.data);
    else
        doctor_say(doctor, false, &finding,
                   "others may write it, so nobody believes it: read it; if it is right: "
                   "chmod go-w %s; if not: rm %s",
                   name.data, name.data);
}

static void look_at_file(struct doctor *doctor, const char *folder, const char *name)
{
    struct stat st;
    FREE_AUTO char *path = text_format("%s/%s", folder, name);
    struct looking looking = {.doctor = doctor, .file = path};
    if (!path || stat(path, &st) != 0)
        return;
    if (file_trusted(&st, false))
        look_into(&looking, name);
    else
        say_foreign(doctor, path, &st);
}

void doctor_look_at_files(struct doctor *doctor)
{
    const char *folder = registry_folder(doctor->load->layer);
    DIR *listing = folder ? opendir(folder) : NULL;
    for (struct dirent *entry; listing && (entry = readdir(listing));) {
        size_t count = strlen(entry->d_name);
        if (*entry->d_name != '.' && count > 4 && !strcmp(entry->d_name + count - 4, ".reg"))
            look_at_file(doctor, folder, entry->d_name);
    }
    if (listing)
        closedir(listing);
}

/* ---- libraries ---- */

void doctor_look_at_library(struct doctor *doctor, const char *service)
{
    unsigned char now[VALIDATION_BYTES];
    BUFFER_AUTO code = {0};
    uint32_t type;
    FREE_AUTO char *key = here_key(service), *library = here_text(service, "Library");
    opl_load_finding finding = {.kind = "library-gone", .service = service};
    if (!key)
        return;
    if (!library) {
        doctor_say(doctor, false, &finding,
                   "no library is registered: lodctr --library with its ini file, or unlodctr it");
        return;
    }
    FREE_AUTO char *path = trust_path(library);
    if (!path || access(path, F_OK) != 0) {
        doctor_say(doctor, false, &finding,
                   "the library \"%s\" is not there: install it again, or unlodctr --library it",
                   library);
        return;
    }
    finding.kind = "library-replaced";
    if (!registry_get(key, "Library Validation Code", &type, &code) &&
        load_validation(library, now) &&
        (code.len != sizeof now || memcmp(code.data, now, sizeof now) != 0))
        doctor_say(doctor, false, &finding,
                   "the library is another one than was trusted, so it runs in a process of its "
                   "own: lodctr /T:%s trusts it again",
                   service);
}
