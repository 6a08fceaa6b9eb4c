/* SPDX-License-Identifier: MIT */
/*
 * OPENPERFLIB_ROOT and OPENPERFLIB_VENDOR name a folder below a sticky folder. Another user
 * replaces the folder's parent all the time: by a link to a trusted folder of root, by a link to a
 * folder of their own, by nothing. The library must never accept, create or change anything behind
 * such a link. The argument is how long to try, in seconds.
 */
#include "../skip.h"
#include "../temp.h"
#include "test.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

enum { ATTACKER = 12345 };
static int seconds = 4;
static char root[64], shared[80], entry[96], good[80], secret[80], named[128];

static int set_up(void **state)
{
    temp_make(root);
    snprintf(shared, sizeof shared, "%s/shared", root);
    snprintf(entry, sizeof entry, "%s/entry", shared);
    snprintf(named, sizeof named, "%s/below/deep", entry);
    snprintf(good, sizeof good, "%s/good", root);
    snprintf(secret, sizeof secret, "%s/secret", root);
    int fd = open(secret, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    close(fd);
    return chmod(root, 0755) || mkdir(shared, 0755) || chmod(shared, 01777) || mkdir(good, 0755) ||
           fd < 0;
}

static int tear_down(void **state)
{
    unsetenv("OPENPERFLIB_ROOT");
    unsetenv("OPENPERFLIB_VENDOR");
    place_forget();
    temp_remove(root);
    return 0;
}

/* Runs the attacker, for ever: replaces `entry` by a link to root's folder, or by a link to the
 * attacker's own folder. In the second case, as soon as the victim has created "below" in it, that
 * is replaced by a link to root's secret file. */
static _Noreturn void attack(void)
{
    char own[96], below[128], aside[128], link_name[128];
    snprintf(own, sizeof own, "%s/own", shared);
    snprintf(below, sizeof below, "%s/below", own);
    snprintf(aside, sizeof aside, "%s/aside", own);
    snprintf(link_name, sizeof link_name, "%s/link", own);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (setgid(ATTACKER) || setuid(ATTACKER) || mkdir(own, 0755) || symlink(secret, link_name))
        _exit(1);
    for (unsigned i = 0;; i++) {
        unlink(entry);
        for (volatile unsigned pause = i * 37 % 20000; pause; pause--)
            ;
        if (symlink(i % 4 ? own : good, entry))
            continue; /* the victim has created it first, and will remove it */
        for (int tries = 0; tries < 10; tries++)
            if (rename(below, aside) == 0) {
                rename(link_name, below);
                usleep(20);
                rename(below, link_name);
                rmdir(aside);
            }
    }
}

/* Is `path` a folder (not a link) that root owns? Then the library created it itself in the sticky
 * folder, which is correct; the caller removes it for the next round. */
static bool is_own_folder(const char *path)
{
    struct stat st;
    return !lstat(path, &st) && S_ISDIR(st.st_mode) && st.st_uid == 0;
}

static void clear_entry(void)
{
    char below[192];
    snprintf(below, sizeof below, "%s/below", entry);
    rmdir(named);
    rmdir(below);
    rmdir(entry);
}

static void race(const char *variable, const char *(*place)(void))
{
    char below_link[128];
    struct stat st;
    time_t end = time(NULL) + seconds / 2;
    unsigned accepted = 0, refused = 0;
    snprintf(below_link, sizeof below_link, "%s/below", good);
    setenv(variable, named, 1);
    while (time(NULL) < end) {
        place_forget();
        const char *found = place();
        bool taken = found && strncmp(found, named, strlen(named)) == 0;
        taken ? accepted++ : refused++;
        assert_true(!taken || is_own_folder(entry));
        assert_int_equal(lstat(secret, &st), 0);
        assert_int_equal(st.st_mode & 07777, 0600);
        assert_int_equal(lstat(below_link, &st), -1);
        if (is_own_folder(entry))
            clear_entry();
    }
    unsetenv(variable);
    printf("# %s: %u times accepted, %u times refused\n", variable, accepted, refused);
    assert_true(accepted + refused > 50);
}

static void f_c3_a_swapped_folder_wins_nothing(void **state)
{
    if (geteuid() != 0) {
        report_skipped("only root can be another user");
        return;
    }
    event_journal_path = event_syslog_path = "/nowhere";
    pid_t attacker = fork();
    if (!attacker)
        attack();
    race("OPENPERFLIB_ROOT", place_machine);
    race("OPENPERFLIB_VENDOR", place_vendor);
    kill(attacker, SIGKILL);
    waitpid(attacker, NULL, 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(f_c3_a_swapped_folder_wins_nothing, set_up, tear_down),
    };
    if (argc > 1)
        seconds = atoi(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
