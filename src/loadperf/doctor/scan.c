/* SPDX-License-Identifier: MIT */
/* Finds and explains files that are incomplete or not trusted, and libraries that are missing or
 * were replaced. */
#include "loadperf/doctor/doctor.h"

#include <openperflib/regfile.h>
#include <winreg.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct looking {
    struct doctor *doctor;
    const char *file;
    size_t damaged, good;
    unsigned line;
};

static bool count_damage(void *self, const opl_reg_entry *entry)
{
    struct looking *looking = self;
    if (entry->kind == OPL_REG_DAMAGED && !looking->damaged++)
        looking->line = entry->line;
    looking->good += entry->kind != OPL_REG_DAMAGED && entry->kind != OPL_REG_COMMENT;
    return true;
}

#define COME_BACK                                                                                  \
    "load its provider again (lodctr --library=LIBRARY FILE.ini), or put a backup back "           \
    "(lodctr /R:FILE); otherwise delete it"

/* Reports a file in which no line is valid; false: some lines are valid. Such a file is not
 * repaired, because turning all lines into comments would only hide the loss. */
static bool is_lost(const struct looking *looking, const struct buffer *text)
{
    const opl_load_finding finding = {.kind = "torn-file", .file = looking->file};
    if (!looking->damaged || looking->good)
        return false;
    doctor_report(looking->doctor, false, &finding,
                  text->len ? "nothing in it can be read: " COME_BACK : "is empty: " COME_BACK);
    return true;
}

static const char *lines_are(size_t count)
{
    return count == 1 ? "line is" : "lines are";
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
        doctor_report(doctor, false, &finding, "cannot be read: %s", status_text(status));
    else if (is_lost(looking, &text))
        return;
    else if (looking->damaged && !repair_is_possible(&text))
        doctor_report(doctor, false, &finding,
                      "%zu %s damaged, the first is line %u, and the file is in UTF-16: save it in "
                      "UTF-8",
                      looking->damaged, lines_are(looking->damaged), looking->line);
    else if (looking->damaged) {
        doctor_report(doctor, true, &finding,
                      "%zu %s damaged, the first is line %u: they become comments; what they "
                      "contained is restored, if the provider's ini file is known",
                      looking->damaged, lines_are(looking->damaged), looking->line);
        buffer_add(&doctor->torn, name, strlen(name) + 1);
    }
}

/* Adds the path, quoted for the shell. */
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

/* Reports a file that another user may have written. Only a person can decide whether its content
 * is right, so this function prints the commands for both cases. */
static void report_foreign(struct doctor *doctor, const char *path, const struct stat *st)
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
        doctor_report(doctor, false, &finding,
                      "%s%s, so it is not used: read it; if its content is right: chown %u %s && "
                      "chmod go-w %s; if not: rm %s",
                      whose, st->st_mode & (S_IWGRP | S_IWOTH) ? "others may write it" : "",
                      (unsigned)owner, name.data, name.data, name.data);
    else
        doctor_report(doctor, false, &finding,
                      "others may write it, so it is not used: read it; if its content is right: "
                      "chmod go-w %s; if not: rm %s",
                      name.data, name.data);
}

/* ---- files that are not used at all ---- */

static void report_unused(struct doctor *doctor, const char *path, const char *why, off_t most,
                          const char *advice)
{
    char size[48] = "";
    const opl_load_finding finding = {.kind = "state-file", .file = path};
    if (most)
        snprintf(size, sizeof size, ", more than %lld MiB", (long long)most >> 20);
    doctor_report(doctor, false, &finding, "%s%s, so openperflib cannot rely on it: %s", why, size,
                  advice);
}

/* Reports the file `name`, which has events or answers or was made from other files, if it cannot
 * be used. `in_place`: the file is overwritten in place, so it must have no second name. */
static void look_at_state(struct doctor *doctor, const char *folder, const char *name, off_t most,
                          bool in_place)
{
    struct stat st;
    FREE_AUTO char *path = text_format("%s/%s", folder, name);
    if (!path || lstat(path, &st) != 0)
        return;
    if (!in_place)
        st.st_nlink = 1;
    const char *why = file_fault(&st, most);
    if (why)
        report_unused(doctor, path, why, S_ISREG(st.st_mode) && st.st_size > most ? most : 0,
                      "move it away or delete it; a new file is written when it is needed");
}

/* Returns why a file of registrations cannot be read; its owner does not matter. NULL: it can. */
static const char *registry_fault(const struct stat *st)
{
    const char *kind = file_kind_of(st);
    return !kind && st->st_size > REGISTRY_FILE_MOST ? "it is too large" : kind;
}

static void look_at_registrations(struct doctor *doctor, const char *folder, const char *name)
{
    struct stat st;
    FREE_AUTO char *path = text_format("%s/%s", folder, name);
    const char *why = path && !stat(path, &st) ? registry_fault(&st) : NULL;
    if (why)
        report_unused(doctor, path, why, S_ISREG(st.st_mode) ? REGISTRY_FILE_MOST : 0, COME_BACK);
}

static bool ends_with(const char *name, const char *ending)
{
    size_t count = strlen(name), length = strlen(ending);
    return count > length && !strcmp(name + count - length, ending);
}

static void look_at_entries(struct doctor *doctor, const char *folder)
{
    DIR *listing = folder ? opendir(folder) : NULL;
    for (struct dirent *entry; listing && (entry = readdir(listing));)
        if (ends_with(entry->d_name, ".index"))
            look_at_state(doctor, folder, entry->d_name, STATE_LISTS_MOST, false);
        else if (*entry->d_name != '.' && ends_with(entry->d_name, ".reg"))
            look_at_registrations(doctor, folder, entry->d_name);
    if (listing)
        closedir(listing);
}

void scan_state(struct doctor *doctor)
{
    const char *answers = place_answers(), *slash = answers ? strrchr(answers, '/') : NULL;
    FREE_AUTO char *folder = slash ? text_format("%.*s", (int)(slash - answers), answers) : NULL;
    const char *machine = registry_folder(LAYER_MACHINE), *user = registry_folder(LAYER_USER);
    const struct {
        const char *folder, *name;
        off_t most; /* the largest size, in bytes */
        bool in_place;
    } files[] = {
        {folder,  "events",      STATE_EVENTS_MOST,  true },
        {folder,  "events.old",  STATE_EVENTS_MOST,  false},
        {folder,  "answers",     STATE_RECORDS_MOST, true },
        {folder,  "last-events", STATE_RECORDS_MOST, true },
        {machine, ".ranges",     STATE_LISTS_MOST,   true },
        {machine, ".lock",       STATE_LISTS_MOST,   false},
        {user,    ".ranges",     STATE_LISTS_MOST,   true },
        {user,    ".lock",       STATE_LISTS_MOST,   false},
    };
    for (size_t i = 0; i < COUNT(files); i++)
        if (files[i].folder)
            look_at_state(doctor, files[i].folder, files[i].name, files[i].most, files[i].in_place);
    look_at_entries(doctor, place_machine());
    look_at_entries(doctor, machine);
    look_at_entries(doctor, user);
}

/* ---- files of registrations ---- */

static void look_at_file(struct doctor *doctor, const char *folder, const char *name)
{
    struct stat st;
    FREE_AUTO char *path = text_format("%s/%s", folder, name);
    struct looking looking = {.doctor = doctor, .file = path};
    const opl_load_finding lost = {.kind = "torn-file", .file = path};
    if (!path)
        return;
    if (stat(path, &st) != 0)
        doctor_report(doctor, false, &lost, "is a link to a file that does not exist: " COME_BACK);
    else if (!file_trusted(&st, false))
        report_foreign(doctor, path, &st);
    else if (!registry_fault(&st)) /* scan_state has reported such a fault */
        look_into(&looking, name);
}

/* Reports a folder that another user owns or may write, and returns false, because then no file in
 * it is trusted. */
static bool look_at_folder(struct doctor *doctor, const char *folder)
{
    struct stat st;
    const opl_load_finding finding = {.kind = "foreign-owner", .file = folder};
    if (!folder || stat(folder, &st) != 0 || file_trusted(&st, false))
        return true;
    if (st.st_mode & (S_IWGRP | S_IWOTH))
        doctor_report(doctor, false, &finding,
                      "others may write this folder, so the files in it are not used: check what "
                      "its files contain, then run chmod go-w on it");
    else
        doctor_report(doctor, false, &finding,
                      "this folder belongs to user %u, so the files in it are not used: check what "
                      "its files contain, then run chown on it",
                      (unsigned)st.st_uid);
    return false;
}

bool scan_files(struct doctor *doctor)
{
    const char *folder = registry_folder(doctor->load->layer);
    if (!look_at_folder(doctor, folder))
        return false;
    DIR *listing = folder ? opendir(folder) : NULL;
    for (struct dirent *entry; listing && (entry = readdir(listing));) {
        if (*entry->d_name != '.' && ends_with(entry->d_name, ".reg"))
            look_at_file(doctor, folder, entry->d_name);
    }
    if (listing)
        closedir(listing);
    return true;
}

/* ---- libraries ---- */

static void look_at_owner(struct doctor *doctor, const char *service, const char *path)
{
    char why[TRUST_TEXT];
    const opl_load_finding finding = {.kind = "foreign-owner", .service = service};
    if (load_check_file(path, why))
        doctor_report(doctor, false, &finding, "its library is not loaded: %s", why);
}

static void look_at_functions(struct doctor *doctor, const char *service,
                              const struct exports *exports)
{
    static const char *const functions[] = {"Open", "Collect", "Close"};
    const opl_load_finding finding = {.kind = "library-broken", .service = service};
    for (size_t i = 0; i < COUNT(functions); i++) {
        FREE_AUTO char *name = here_text(service, functions[i]);
        if (!name && !strcmp(functions[i], "Collect"))
            doctor_report(doctor, false, &finding,
                          "the name of the collect function is not registered: add it as "
                          "the value Collect of the service's Performance key, with reg add");
        else if (name && exports_lack(exports, name))
            doctor_report(doctor, false, &finding,
                          "the library has no function \"%s\", which the value %s names: install "
                          "the right version of the library, or correct the value %s",
                          name, functions[i], functions[i]);
    }
}

static void look_inside(struct doctor *doctor, const char *service, const char *path)
{
    struct exports exports;
    const opl_load_finding finding = {.kind = "library-broken", .service = service};
    if (exports_read(path, &exports))
        look_at_functions(doctor, service, &exports);
    else
        doctor_report(doctor, false, &finding,
                      "\"%s\" is not a library for this machine: install it again", path);
    exports_done(&exports);
}

static void look_at_validation(struct doctor *doctor, const char *service, const char *key,
                               const char *library)
{
    unsigned char now[VALIDATION_BYTES];
    BUFFER_AUTO code = {0};
    uint32_t type;
    const opl_load_finding finding = {.kind = "library-replaced", .service = service};
    if (!registry_get(key, "Library Validation Code", &type, &code) &&
        load_validation(library, now) &&
        (code.len != sizeof now || memcmp(code.data, now, sizeof now) != 0))
        doctor_report(
            doctor, false, &finding,
            "the library was replaced since it was trusted, so it runs in a process of its "
            "own: lodctr /T:%s trusts it again",
            service);
}

void scan_library(struct doctor *doctor, const char *service)
{
    FREE_AUTO char *key = here_key(service), *library = here_text(service, "Library");
    const opl_load_finding gone = {.kind = "library-gone", .service = service};
    FREE_AUTO char *path = library ? trust_path(library) : NULL;
    if (!key || here_is_reserved(service))
        return;
    if (!library) {
        doctor_report(doctor, false, &gone,
                      "no library is registered: run lodctr --library with its ini file, or remove "
                      "the service with unlodctr");
        return;
    }
    if (!path || access(path, F_OK) != 0) {
        doctor_report(doctor, false, &gone,
                      "the library \"%s\" does not exist: install it again, or run unlodctr "
                      "--library for the service",
                      library);
        return;
    }
    look_at_owner(doctor, service, path);
    look_inside(doctor, service, path);
    look_at_validation(doctor, service, key, library);
}
