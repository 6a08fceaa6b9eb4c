/* SPDX-License-Identifier: MIT */
/*
 * Finds machine and user: the address [\\][smb://][USER@]HOST[:PORT], and the credentials file
 * ~/.config/openperflib/credentials, with a section for each machine. A file that other users can
 * read or write is not used. Passwords are read only from this file. The tools check the file with
 * this code, too.
 */
#include "remote/smb/smb.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

/* ---- addresses ---- */

static const char *after(const char *text, const char *prefix)
{
    return text_starts_fold(text, prefix) ? text + strlen(prefix) : text;
}

static bool copy(char *ret, size_t capacity, const char *text, size_t count)
{
    if (!count || count >= capacity)
        return false;
    memcpy(ret, text, count);
    ret[count] = '\0';
    return true;
}

static bool read_port(const char *text, struct smb_address *ret)
{
    uint32_t port;
    if (!text_decimal(text, strlen(text), &port) || !port || port > UINT16_MAX)
        return false;
    ret->port = (uint16_t)port;
    ret->named_port = true;
    return true;
}

bool smb_address_read(const char *text, struct smb_address *ret)
{
    *ret = (struct smb_address){.port = SMB_PORT};
    text = after(after(text, "\\\\"), "smb://");
    const char *at = strrchr(text, '@');
    if (at && !copy(ret->user, sizeof ret->user, text, (size_t)(at - text)))
        return false;
    text = at ? at + 1 : text;
    size_t count;
    const char *rest;
    if (*text == '[') {
        count = strcspn(++text, "]");
        rest = text[count] ? text + count + 1 : NULL;
    } else {
        const char *colon = strchr(text, ':');
        bool several = colon && strchr(colon + 1, ':'); /* several colons: an IPv6 address without
                                                         * brackets */
        count = several || !colon ? strlen(text) : (size_t)(colon - text);
        rest = text + count;
    }
    if (!rest || *text == '-' || !copy(ret->host, sizeof ret->host, text, count))
        return false;
    return !*rest || (*rest == ':' && read_port(rest + 1, ret));
}

void smb_address_name(const struct smb_address *address, char *ret, size_t capacity)
{
    if (address->named_port)
        snprintf(ret, capacity, strchr(address->host, ':') ? "[%s]:%u" : "%s:%u", address->host,
                 address->port);
    else
        snprintf(ret, capacity, "%s", address->host);
}

/* ---- the file's path ---- */

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
    if (st.st_size > SMB_CREDENTIALS_BYTES) {
        snprintf(why, capacity, "%s is too large", path);
        return false;
    }
    return true;
}

/* Reads the file, if only its owner can access the file. If the file does not exist, returns true
 * and an empty `ret`. */
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
    /* all at once, because a buffer that grows leaves passwords in the memory that it frees */
    buffer_reserve(ret, SMB_CREDENTIALS_BYTES);
    LSTATUS status = good ? file_read_fd(fd, ret) : ERROR_SUCCESS;
    close(fd);
    if (status)
        snprintf(why, capacity, "%s: %s", path, status_text(status));
    if (!good || status)
        return false;
    /* refused, because text after a NUL would be ignored, and lost when the file is written */
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

/* Splits DOMAIN\USER. The form USER@REALM is not split. */
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

/* Returns NAME if the line is "[NAME]"; the line is modified. NULL: any other line. */
static char *section_name(char *line)
{
    size_t count = strlen(line);
    if (*line != '[' || line[count - 1] != ']')
        return NULL;
    line[count - 1] = '\0';
    return line + 1;
}

/* Returns how exactly the section names the address: 3: host and port; 2: host only; 1: "*"; 0: the
 * section does not name the address. */
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
    /* result of is_meant for the best section so far, and for the current section */
    int rank, inside;
    unsigned line;
    bool is_begun; /* the line is inside a section */
};

/* Called at the end of a section: keeps the section's login if the section names the address more
 * exactly than earlier sections and has the address's user. */
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
    bool good = put_setting(search->inside ? &search->now : &other, trim(line), trim(equal + 1));
    explicit_bzero(&other, sizeof other);
    return good;
}

bool smb_login_find(const struct smb_address *address, struct smb_login *ret, char *why,
                    size_t capacity)
{
    BUFFER_AUTO text = {0};
    const char *path = smb_credentials_path();
    struct credential_search search = {.address = address};
    bool good = true;
    if (!read_private(path, &text, why, capacity))
        return false;
    for (char *at = text.data, *end; good && at && *at; at = end) {
        end = at + strcspn(at, "\n");
        end += *end ? (*end = '\0', 1) : 0;
        good = take_line(&search, at);
    }
    if (good)
        end_section(&search);
    else
        snprintf(why, capacity, "%s, line %u is not valid: see openperflib-smb(1)", path,
                 search.line);
    explicit_bzero(text.data ? text.data : "", text.len);
    if (good)
        *ret = search.found;
    bool any = search.rank;
    explicit_bzero(&search, sizeof search);
    if (good && !any) {
        *ret = (struct smb_login){.kerberos = true};
        put_user(ret, address->user);
        snprintf(ret->from, sizeof ret->from, "%.460s has no section for this machine", path);
    }
    return good;
}

/* ---- storing ---- */

/* Copies all lines except those of section [machine]. */
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
        snprintf(why, capacity,
                 "%s cannot store a user name or password that begins or ends with a space or tab",
                 path);
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

/* ---- prompts ---- */

static bool read_line(const char *prompt, char *ret, size_t capacity)
{
    fputs(prompt, stderr);
    if (!fgets(ret, (int)capacity, stdin))
        return false;
    ret[strcspn(ret, "\n")] = '\0';
    return true;
}

static bool read_secret(const char *prompt, char *ret, size_t capacity)
{
    struct termios before, now;
    bool terminal = !tcgetattr(STDIN_FILENO, &before);
    now = before;
    now.c_lflag &= ~(tcflag_t)ECHO;
    if (terminal)
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &now);
    bool good = read_line(prompt, ret, capacity);
    if (terminal)
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &before);
    fputc('\n', stderr);
    return good;
}

bool smb_login_prompt(const struct smb_address *address, struct smb_login *login)
{
    char user[512], domain[256];
    if (*address->user)
        snprintf(user, sizeof user, "%s", address->user);
    else if (!read_line("User (DOMAIN\\USER, USER@REALM or USER): ", user, sizeof user))
        return false;
    if (!read_secret("Password: ", login->password, sizeof login->password))
        return false;
    char *slash = strchr(user, '\\');
    snprintf(domain, sizeof domain, "%.*s", slash ? (int)(slash - user) : 0, user);
    snprintf(login->domain, sizeof login->domain, "%s", domain);
    snprintf(login->user, sizeof login->user, "%.255s", slash ? slash + 1 : user);
    snprintf(login->from, sizeof login->from, "as you typed");
    login->kerberos = login->anonymous = false;
    return *login->user != '\0';
}

/* ---- messages ---- */

/* Writes which file and user were used, because status 1326 does not say so. */
static void put_login(const struct smb_login *login, const char *machine, char *ret,
                      size_t capacity)
{
    if (login->kerberos)
        snprintf(ret, capacity,
                 "there is no Kerberos ticket, and no password: %s;  openperflib-smb --login %s  "
                 "stores user and password",
                 login->from, machine);
    else
        snprintf(ret, capacity,
                 "wrong user or password: %s, %s;  openperflib-smb --login %s  stores "
                 "better ones",
                 login->anonymous ? "anonymous" : login->user, login->from, machine);
}

const char *smb_login_text(const char *machine)
{
    static char text[6000];
    struct smb_address address;
    struct smb_login login = {0};
    char name[300];
    if (!smb_address_read(machine, &address))
        return "wrong user or password";
    smb_address_name(&address, name, sizeof name);
    if (smb_login_find(&address, &login, text, sizeof text))
        put_login(&login, name, text, sizeof text);
    explicit_bzero(&login, sizeof login);
    return text;
}
