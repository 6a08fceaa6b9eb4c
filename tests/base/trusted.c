/* SPDX-License-Identifier: MIT */
/* Which environment variables the library trusts (those that name a folder which no other user can
 * replace), and which ones it passes to programs that it starts. */
#include "../skip.h"
#include "../temp.h"
#include "test.h"

#include <pwd.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

static char root[64], folder[96], link_path[96], why[TRUST_TEXT];

static int set_up(void **state)
{
    temp_make(root);
    snprintf(folder, sizeof folder, "%s/folder", root);
    snprintf(link_path, sizeof link_path, "%s/link", root);
    setenv("OPENPERFLIB_ROOT", root, 1);
    place_forget();
    event_forget();
    return mkdir(folder, 0755) || symlink(folder, link_path);
}

static int tear_down(void **state)
{
    temp_remove(root);
    unsetenv("OPENPERFLIB_VENDOR");
    return 0;
}

static bool event_names(const char *text)
{
    char path[96], line[2048];
    bool found = false;
    snprintf(path, sizeof path, "%s/events", root);
    FILE *file = fopen(path, "r");
    while (file && !found && fgets(line, sizeof line, file))
        found = strstr(line, "\t4013\t") && strstr(line, text);
    if (file)
        fclose(file);
    return found;
}

/* The vendor's folder is refused: an event says why, and the installation's own folder is used. */
static void expect_vendor_refused(const char *value, const char *reason)
{
    setenv("OPENPERFLIB_VENDOR", value, 1);
    place_forget();
    event_forget();
    assert_string_not_equal(place_vendor(), value);
    assert_null(strstr(place_vendor(), root));
    assert_true(event_names(reason));
}

static void expect_vendor(const char *value)
{
    setenv("OPENPERFLIB_VENDOR", value, 1);
    place_forget();
    assert_string_equal(place_vendor(), value);
}

static void f_c3_ones_own_folder_is_used(void **state)
{
    char deep[128];
    expect_vendor(folder);
    snprintf(deep, sizeof deep, "%s/not/there", folder);
    expect_vendor(deep);
    /* a folder that was made with umask 002 is trusted, if its group is the user's own */
    assert_int_equal(chmod(folder, 0775), 0);
    assert_int_equal(chown(folder, (uid_t)-1, getegid()), 0);
    expect_vendor(folder);
}

static void f_c3_links_and_relative_paths_are_not_followed(void **state)
{
    char below[128];
    expect_vendor_refused(link_path, "symbolic link");
    snprintf(below, sizeof below, "%s/", link_path);
    expect_vendor_refused(below, "symbolic link");
    snprintf(below, sizeof below, "%s/more", link_path);
    expect_vendor_refused(below, "symbolic link");
    expect_vendor_refused("build", "not an absolute path");
    expect_vendor_refused("./build", "not an absolute path");
}

/* A path with ".." after a missing folder is refused: the check would see a place below `folder`,
 * but as soon as "new" exists, the path leads to the link. */
static void f_c3_up_from_what_is_missing_is_refused(void **state)
{
    char path[256];
    snprintf(path, sizeof path, "%s/new/../..%s", folder, strrchr(link_path, '/'));
    expect_vendor_refused(path, "after a folder that does not exist");
    snprintf(path, sizeof path, "%s/new/..", folder);
    expect_vendor_refused(path, "after a folder that does not exist");
    snprintf(path, sizeof path, "%s/../..dots", folder);
    expect_vendor(path);
}

static void f_c3_what_others_may_write_is_not_used(void **state)
{
    char deep[128];
    snprintf(deep, sizeof deep, "%s/deep", folder);
    assert_int_equal(mkdir(deep, 0755), 0);
    assert_int_equal(chmod(folder, 0777), 0);
    expect_vendor_refused(folder, "others may write");
    expect_vendor_refused(deep, "others may write");
    /* the event names the variable's value, and the folder above it that others may write */
    char both[256];
    snprintf(both, sizeof both, "%s: others may write %s (", deep, folder);
    expect_vendor_refused(deep, both);
    assert_int_equal(chmod(folder, 01777), 0); /* sticky: only root's folder in it is trusted */
    expect_vendor_refused(folder, "others may write");
    if (geteuid() == 0)
        expect_vendor(deep);
}

static void f_c3_another_users_folder_is_not_used(void **state)
{
    char deep[128];
    if (geteuid() != 0) {
        report_skipped("only root gives folders away");
        return;
    }
    snprintf(deep, sizeof deep, "%s/deep", folder);
    assert_int_equal(mkdir(deep, 0755), 0);
    assert_int_equal(chown(folder, 12345, 12345), 0);
    expect_vendor_refused(folder, "belongs to user 12345");
    expect_vendor_refused(deep, "belongs to user 12345");
    assert_int_equal(chown(folder, 0, 12345), 0);
    /* the group 12345 may write, and it has other members */
    assert_int_equal(chmod(folder, 0775), 0);
    expect_vendor_refused(deep, "others may write");
}

/* If the folder that OPENPERFLIB_ROOT names is refused, the library uses no folder at all, not the
 * system's usual ones: the caller wanted to keep its data separate from the system's. */
static void f_c3_a_refused_root_is_no_root_at_all(void **state)
{
    setenv("OPENPERFLIB_ROOT", link_path, 1);
    place_forget();
    event_forget();
    assert_null(place_machine());
    assert_null(place_user());
    assert_null(place_events());
    assert_null(place_answers());
}

/* OPENPERFLIB_VENDOR and OPENPERFLIB_ROOT are refused; an event about each goes to the journal,
 * because the folder for the event file is refused, too. */
static void both_refused_variables_are_named(void **state)
{
    static struct sockaddr_un address = {.sun_family = AF_UNIX};
    const char *before = event_journal_path;
    char text[2][4096] = {"", ""};
    int journal = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
    snprintf(address.sun_path, sizeof address.sun_path, "%s/journal", root);
    assert_int_equal(bind(journal, (struct sockaddr *)&address, sizeof address), 0);
    setenv("OPENPERFLIB_ROOT", link_path, 1);
    setenv("OPENPERFLIB_VENDOR", link_path, 1);
    place_forget();
    event_forget();
    event_journal_path = address.sun_path;
    place_vendor();
    event_journal_path = before;
    for (int i = 0; i < 2; i++)
        (void)!recv(journal, text[i], sizeof text[i] - 1, 0);
    close(journal);
    assert_non_null(strstr(text[0], "OPENPERFLIB_VENDOR"));
    assert_non_null(strstr(text[1], "OPENPERFLIB_ROOT"));
}

/* The root folder does not exist yet, and its parent is like /tmp, where every user could create
 * it. So the library creates it at once, before another user does. */
static void f_c3_a_root_in_tmp_is_made(void **state)
{
    char path[128];
    struct stat st;
    assert_int_equal(chmod(folder, 01777), 0);
    if (geteuid() != 0)
        return; /* only root has such folders */
    snprintf(path, sizeof path, "%s/new", folder);
    setenv("OPENPERFLIB_ROOT", path, 1);
    place_forget();
    assert_non_null(strstr(place_machine(), path));
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_uid, geteuid());
    assert_int_equal(st.st_mode & 07777, 0755);
}

/* In a chroot, "/" may belong to an ordinary user. This must not make that user as trusted as
 * root. */
static void f_c11_the_owner_of_a_chroot_is_not_root(void **state)
{
    if (geteuid() != 0) {
        report_skipped("only root may chroot");
        return;
    }
    assert_int_equal(chown(folder, 12345, 12345), 0);
    pid_t child = fork();
    if (child == 0) {
        struct stat st;
        if (chroot(folder) || chdir("/") || stat("/", &st))
            _exit(2);
        _exit(file_trusted(&st, true) ? 1 : 0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void f_c9_a_fifo_or_a_device_is_no_library(void **state)
{
    char path[128];
    snprintf(path, sizeof path, "%s/fifo.so", folder);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(trust_check(path, why), ERROR_ACCESS_DENIED);
    assert_non_null(strstr(why, "not a regular file"));
    assert_int_equal(trust_check("/dev/zero", why), ERROR_ACCESS_DENIED);
    assert_int_equal(trust_check(folder, why), ERROR_ACCESS_DENIED);
}

/* ---- the environment of started programs ---- */

static const char *found(char *const *list, const char *name)
{
    size_t length = strlen(name);
    for (; *list; list++)
        if (!strncmp(*list, name, length) && (*list)[length] == '=')
            return *list + length + 1;
    return NULL;
}

static bool is_allowed(const char *entry)
{
    static const char *const names[] = {"PATH",
                                        "LANG",
                                        "TZ",
                                        "HOME",
                                        "USER",
                                        "LOGNAME",
                                        "XDG_RUNTIME_DIR",
                                        "OPENPERFLIB_ROOT",
                                        "OPENPERFLIB_VENDOR",
                                        "OPENPERFLIB_SYSROOT",
                                        "OPENPERFLIB_TRACE",
                                        "XDG_DATA_HOME",
                                        "XDG_CONFIG_HOME",
                                        "SSH_AUTH_SOCK",
                                        "KRB5CCNAME",
                                        "KRB5_CONFIG",
                                        "ASAN_OPTIONS",
                                        "LSAN_OPTIONS",
                                        "UBSAN_OPTIONS"};
    size_t length = strcspn(entry, "=");
    if (strncmp(entry, "LC_", 3) == 0)
        return true;
    for (size_t i = 0; i < COUNT(names); i++)
        if (strlen(names[i]) == length && !strncmp(entry, names[i], length))
            return true;
    return false;
}

static void check_list(enum environment_for purpose)
{
    static const char *const evil[] = {
        "LD_PRELOAD",  "LD_AUDIT", "GLIBC_TUNABLES", "BASH_ENV",       "ENV",     "IFS",
        "PYTHONPATH",  "PERL5LIB", "LOCPATH",        "GCONV_PATH",     "NLSPATH", "MALLOC_PERTURB_",
        "SSH_ASKPASS", "DISPLAY",  "HTTP_PROXY",     "BEHEMOTH_SOCKET"};
    struct passwd *user = getpwuid(geteuid());
    FREE_AUTO char **list = environment_new(purpose);
    assert_non_null(list);
    for (size_t i = 0; i < COUNT(evil); i++)
        assert_null(found(list, evil[i]));
    for (char **entry = list; *entry; entry++)
        assert_true(is_allowed(*entry));
    assert_null(strstr(found(list, "PATH"), "bent"));
    assert_true(!user || !strcmp(found(list, "HOME"), user->pw_dir));
    assert_true(!user || !strcmp(found(list, "USER"), user->pw_name));
    assert_true(!user || !strcmp(found(list, "LOGNAME"), user->pw_name));
    const char *runtime = found(list, "XDG_RUNTIME_DIR");
    assert_true(!runtime || !strncmp(runtime, "/run/user/", 10));
    assert_string_equal(found(list, "LC_TIME"), "de_DE.UTF-8");
    assert_string_equal(found(list, "TZ"), "Europe/Berlin");
    assert_string_equal(found(list, "OPENPERFLIB_ROOT"), root);
    bool login = purpose == ENVIRONMENT_FOR_LOGIN;
    assert_int_equal(found(list, "SSH_AUTH_SOCK") != NULL, login);
    assert_int_equal(found(list, "KRB5CCNAME") != NULL, login);
    assert_int_equal(found(list, "KRB5_CONFIG") != NULL, login);
}

static void check_lists(void)
{
    static const char *const bent[] = {"LD_PRELOAD",      "LD_AUDIT",   "GLIBC_TUNABLES",
                                       "BASH_ENV",        "ENV",        "IFS",
                                       "PYTHONPATH",      "PERL5LIB",   "LOCPATH",
                                       "GCONV_PATH",      "NLSPATH",    "MALLOC_PERTURB_",
                                       "SSH_ASKPASS",     "DISPLAY",    "HTTP_PROXY",
                                       "BEHEMOTH_SOCKET", "HOME",       "USER",
                                       "LOGNAME",         "PATH",       "XDG_RUNTIME_DIR",
                                       "SSH_AUTH_SOCK",   "KRB5CCNAME", "KRB5_CONFIG"};
    for (size_t i = 0; i < COUNT(bent); i++)
        setenv(bent[i], "/bent", 1);
    setenv("LC_TIME", "de_DE.UTF-8", 1);
    setenv("TZ", "Europe/Berlin", 1);
    check_list(ENVIRONMENT_FOR_HELPER);
    check_list(ENVIRONMENT_FOR_LOGIN);
}

static void f_c2_the_environment_is_made_anew(void **state)
{
    pid_t child = fork();
    if (child == 0) {
        check_lists();
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(f_c3_ones_own_folder_is_used),
        CASE(f_c3_links_and_relative_paths_are_not_followed),
        CASE(f_c3_up_from_what_is_missing_is_refused),
        CASE(f_c3_what_others_may_write_is_not_used),
        CASE(f_c3_another_users_folder_is_not_used),
        CASE(f_c3_a_refused_root_is_no_root_at_all),
        CASE(both_refused_variables_are_named),
        CASE(f_c3_a_root_in_tmp_is_made),
        CASE(f_c11_the_owner_of_a_chroot_is_not_root),
        CASE(f_c9_a_fifo_or_a_device_is_no_library),
        CASE(f_c2_the_environment_is_made_anew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
