/* SPDX-License-Identifier: MIT */
/*
 * ~/.config/openperflib/credentials: a section for each machine. A file that others could read or
 * write is not used at all; passwords are read from nowhere else.
 */
#include "remote/smb.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LARGEST_FILE = 1 << 20 };

/* ---- its path ---- */

const char *smb_credentials_path(void)
{
    static char path[4096];
    const char *folder = secure_getenv("XDG_CONFIG_HOME");
    if (folder && *folder == '/') {
        snprintf(path, sizeof path, "%s/openperflib/credentials", folder);
        return path;
    }
    const struct passwd *user = getpwuid(geteuid());
    snprintf(path, sizeof path, "%s/.config/openperflib/credentials",
             user && user->pw_dir ? user->pw_dir : "");
    return path;
}

/* ---- checks of owner and mode ---- */

static bool is_private(int fd, const char *path, char *why, size_t capacity)
{
    struct stat st;
    if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
        snprintf(why, capacity, "%s is not a regular file", path);
        return false;
    }
    if (st.st_uid != geteuid()) {
        snprintf(why, capacity, "%s belongs to user %u: run  chown %u %s", path, st.st_uid,
                 geteuid(), path);
        return false;
    }
    if (st.st_mode & (S_IRWXG | S_IRWXO)) {
        snprintf(why, capacity,
                 "other users may access %s (mode %03o): run  chmod 600 %s  and change the "
                 "passwords in it",
                 path, (unsigned)st.st_mode & 0777, path);
        return false;
    }
    if (st.st_size > LARGEST_FILE) {
        snprintf(why, capacity, "%s is too large", path);
        return false;
    }
    return true;
}

/* True with an empty `ret`: there is no file. */
static bool read_private(const char *path, struct buffer *ret, char *why, size_t capacity)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
        return true;
    if (fd < 0 && errno == ELOOP) {
        snprintf(why, capacity, "%s is a symbolic link: replace it by the file itself", path);
        return false;
    }
    if (fd < 0) {
        snprintf(why, capacity, "%s: %s", path, strerror(errno));
        return false;
    }
    bool good = is_private(fd, path, why, capacity);
    LSTATUS status = good ? file_read_fd(fd, ret) : ERROR_SUCCESS;
    close(fd);
    if (status)
        snprintf(why, capacity, "%s: %s", path, status_text(status));
    if (!good || status)
        return false;
    /* text behind a NUL would be neither read nor kept */
    bool text = !ret->len || !memchr(ret->data, '\0', ret->len);
    if (!text)
        snprintf(why, capacity, "%s is not a text file: it contains a NUL byte; write it again",
                 path);
    return text;
}

/* ---- lines ---- */

static char *trim(char *text)
{
    text += strspn(text, " \t");
    size_t count = strlen(text);
    while (count && strchr(" \t\r", text[count - 1]))
        text[--count] = '\0';
    return text;
}

static bool put_text(char *ret, size_t capacity, const char *value)
{
    if (strlen(value) >= capacity)
        return false;
    strcpy(ret, value);
    return true;
}

/* DOMAIN\USER; USER@REALM stays whole. */
static bool put_user(struct smb_login *login, const char *value)
{
    const char *slash = strchr(value, '\\');
    if (slash && (size_t)(slash - value) < sizeof login->domain) {
        memcpy(login->domain, value, (size_t)(slash - value));
        login->domain[slash - value] = '\0';
        value = slash + 1;
    }
    return put_text(login->user, sizeof login->user, value);
}

static bool put_choice(const char *value, const char *const text[], int *ret)
{
    for (int i = 0; text[i]; i++)
        if (text_equal_fold(value, text[i])) {
            *ret = i;
            return true;
        }
    return false;
}

static bool put_setting(struct smb_login *login, const char *name, const char *value)
{
    static const char *const answers[] = {"no", "yes", NULL};
    static const char *const clear[] = {"required", "offered", NULL};
    static const char *const levels[] = {"session", "signed", "private", NULL};
    int choice = 0;
    if (text_equal_fold(name, "user"))
        return put_user(login, value);
    if (text_equal_fold(name, "domain"))
        return put_text(login->domain, sizeof login->domain, value);
    if (text_equal_fold(name, "password"))
        return put_text(login->password, sizeof login->password, value);
    if (text_equal_fold(name, "anonymous")) {
        bool good = put_choice(value, answers, &choice);
        login->anonymous = choice;
        return good;
    }
    if (text_equal_fold(name, "encryption")) {
        bool good = put_choice(value, clear, &choice);
        login->may_be_clear = choice;
        return good;
    }
    if (text_equal_fold(name, "rpc")) {
        bool good = put_choice(value, levels, &choice);
        login->rpc = (enum smb_protection)choice;
        return good;
    }
    return false;
}

/* "[NAME]": its name, in place; NULL: the line does not begin a section. */
static char *section_name(char *line)
{
    size_t count = strlen(line);
    if (*line != '[' || line[count - 1] != ']')
        return NULL;
    line[count - 1] = '\0';
    return line + 1;
}

/* 0: the section is for another machine; larger for a more exact name. */
static int is_meant(const char *section, const struct smb_address *address)
{
    char name[300];
    smb_address_name(address, name, sizeof name);
    return text_equal_fold(section, name)            ? 3
           : text_equal_fold(section, address->host) ? 2
                                                     : !strcmp(section, "*");
}

/* ---- search ---- */

struct credential_search {
    const struct smb_address *address;
    struct smb_login found, now;
    int rank, inside; /* rank of the best section, and of the one being read */
    unsigned line;
    bool is_begun; /* a section was found */
};

/* Its user must be the one in the address. */
static void end_section(struct credential_search *search)
{
    const char *wanted = search->address->user;
    struct smb_login *now = &search->now;
    if (search->inside <= search->rank)
        return;
    if (*wanted && *now->user && !text_equal_fold(wanted, now->user))
        return;
    if (*wanted && !*now->user)
        put_user(now, wanted);
    now->kerberos = !now->anonymous && !*now->password;
    search->found = *now;
    search->rank = search->inside;
}

static bool take_line(struct credential_search *search, char *line)
{
    line = trim(line);
    search->line++;
    if (!*line || *line == '#' || *line == ';')
        return true;
    char *section = section_name(line);
    if (section) {
        end_section(search);
        search->is_begun = true;
        search->inside = is_meant(section, search->address);
        search->now = (struct smb_login){0};
        snprintf(search->now.from, sizeof search->now.from, "section [%.300s], line %u", section,
                 search->line);
        return true;
    }
    struct smb_login other = {0};
    char *equal = strchr(line, '=');
    if (!equal || !search->is_begun)
        return false;
    *equal = '\0';
    return put_setting(search->inside ? &search->now : &other, trim(line), trim(equal + 1));
}

bool smb_login_find(const struct smb_address *address, struct smb_login *ret, char *why,
                    size_t capacity)
{
    BUFFER_AUTO text = {0};
    const char *path = smb_credentials_path();
    struct credential_search search = {.address = address};
    if (!read_private(path, &text, why, capacity))
        return false;
    for (char *at = text.data, *end; at && *at; at = end) {
        end = at + strcspn(at, "\n");
        end += *end ? (*end = '\0', 1) : 0;
        if (!take_line(&search, at)) {
            snprintf(why, capacity, "%s, line %u is not valid: see openperflib-smb(1)", path,
                     search.line);
            return false;
        }
    }
    end_section(&search);
    explicit_bzero(text.data ? text.data : "", text.len);
    *ret = search.found;
    if (!search.rank) {
        *ret = (struct smb_login){.kerberos = true};
        put_user(ret, address->user);
        snprintf(ret->from, sizeof ret->from, "no section of %.460s is for this machine", path);
    }
    return true;
}

/* ---- storing ---- */

/* Copies all lines but those of the section [machine]. */
static bool copy_others(const struct buffer *text, const char *machine, struct buffer *ret)
{
    bool inside = false;
    for (const char *at = text->data, *end; at && *at; at = end) {
        end = at + strcspn(at, "\n");
        BUFFER_AUTO line = {0};
        if (!buffer_add(&line, at, (size_t)(end - at)))
            return false;
        char *section = section_name(trim(line.data));
        inside = section ? text_equal_fold(section, machine) : inside;
        end += *end == '\n';
        if (!inside)
            buffer_add(ret, at, (size_t)(end - at));
    }
    if (ret->len && ret->data[ret->len - 1] != '\n')
        buffer_add_byte(ret, '\n');
    return !ret->failed;
}

static void add_section(const char *machine, const struct smb_login *login, struct buffer *ret)
{
    static const char *const levels[] = {"session", "signed", "private"};
    buffer_printf(ret, "[%s]\nuser = %s%s%s\npassword = %s\n", machine, login->domain,
                  *login->domain ? "\\" : "", login->user, login->password);
    if (login->may_be_clear)
        buffer_add_text(ret, "encryption = offered\n");
    if (login->rpc != SMB_SESSION_ONLY)
        buffer_printf(ret, "rpc = %s\n", levels[login->rpc]);
}

static bool can_be_kept(const char *text)
{
    size_t count = strlen(text);
    return !count || (!strchr(" \t", text[0]) && !strchr(" \t\r", text[count - 1]));
}

bool smb_login_keep(const char *machine, const struct smb_login *login, char *why, size_t capacity)
{
    BUFFER_AUTO old = {0}, text = {0}, folder = {0};
    const char *path = smb_credentials_path();
    if (!can_be_kept(login->password) || !can_be_kept(login->user)) {
        snprintf(why, capacity, "%s cannot store a text that begins or ends with a blank", path);
        return false;
    }
    if (!read_private(path, &old, why, capacity))
        return false;
    buffer_add(&folder, path, (size_t)(strrchr(path, '/') - path));
    bool made = copy_others(&old, machine, &text);
    add_section(machine, login, &text);
    LSTATUS status = !made || text.failed || folder.failed ? ERROR_NOT_ENOUGH_MEMORY
                                                           : file_make_folders(folder.data, 0700);
    status = status ? status : file_replace(AT_FDCWD, path, 0600, text.data, text.len, NULL, NULL);
    explicit_bzero(old.data ? old.data : "", old.len);
    explicit_bzero(text.data ? text.data : "", text.len);
    if (status)
        snprintf(why, capacity, "%s: %s", path, status_text(status));
    return !status;
}
