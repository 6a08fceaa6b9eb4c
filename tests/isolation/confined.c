/* SPDX-License-Identifier: MIT */
/*
 * Programs in which a helper process cannot be started or waited for as usual: no exec, no helper
 * program, no free descriptors, no new processes, a program that waits for all children. A query
 * returns all objects that it can. For the rest an event says why, and the third-party provider
 * never runs in the program's own process instead. (docs/isolation.md)
 */
#include "isolation.h"

#include <grp.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

/* Checks that the test's provider Visitor was not run in any process, that an event says why, and
 * that other objects are still returned. */
static void check_refused(const char *why)
{
    CHECK_IS(visitor_process(), 0);
    CHECK(event_has(1018, why));
    CHECK(answers("Global", 230));
}

/* ---- seccomp ---- */

static bool forbid(long call, long other)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)call, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)other, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = COUNT(filter), .filter = filter};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

INDEPENDENT(without_exec_the_event_is_reported)
{
    visitor_install("Visitor", "visitor_collect");
    if (!forbid(SYS_execve, SYS_execveat))
        skipped("no seccomp here");
    check_refused("perfhost");
}

INDEPENDENT(without_clone_the_event_is_reported)
{
    visitor_install("Visitor", "visitor_collect");
    if (!forbid(SYS_clone, SYS_clone3))
        skipped("no seccomp here");
    check_refused("clone");
}

INDEPENDENT(exec_forbidden_later_leaves_the_helper)
{
    visitor_install("Visitor", "visitor_collect");
    pid_t helper = visitor_process();
    if (!forbid(SYS_execve, SYS_execveat))
        skipped("no seccomp here");
    CHECK(helper > 0);
    CHECK_IS(visitor_process(), helper);
}

/* ---- chroot ---- */

static bool run(const char *format, ...) __attribute__((format(printf, 1, 2)));

static bool run(const char *format, ...)
{
    char command[2048];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(command, sizeof command, format, arguments);
    va_end(arguments);
    return system(command) == 0;
}

/* Makes a folder for chroot: with the installed providers and registry files, a copy of files of
 * /proc and /sys, and the library of the provider Visitor, but without the helper program
 * (perfhost). */
static void make_cell(const char *cell)
{
    const char *vendor = getenv("OPENPERFLIB_VENDOR"), *source = getenv("SOURCE_ROOT");
    CHECK(
        run("mkdir -p %s/v/providers %s/v/data %s/state %s%s", cell, cell, cell, cell, "/frozen"));
    CHECK(run("cp %s/providers/*.so %s/v/providers", vendor, cell));
    CHECK(run("cp -r %s/data/registry.d %s/data/names %s/v/data", vendor, vendor, cell));
    CHECK(run("cp -r %s/tests/roots/vm2/. %s/frozen", source, cell));
    CHECK(run("cp %s %s/visitor.so", getenv("VISITOR"), cell));
    CHECK(run("chmod -R go-w %s", cell));
}

INDEPENDENT(chroot_without_the_helper_is_reported)
{
    char cell[96];
    snprintf(cell, sizeof cell, "%s/cell", test_root);
    if (geteuid() != 0 && unshare(CLONE_NEWUSER) != 0)
        skipped("neither root nor user namespaces");
    make_cell(cell);
    if (chroot(cell) != 0 || chdir("/") != 0)
        skipped("no chroot here");
    setenv("OPENPERFLIB_ROOT", "/state", 1);
    setenv("OPENPERFLIB_VENDOR", "/v", 1);
    setenv("OPENPERFLIB_SYSROOT", "/frozen", 1);
    setenv("VISITOR", "/visitor.so", 1);
    strcpy(test_root, "/state");
    visitor_install("Visitor", "visitor_collect");
    check_refused("/v/helper/perfhost");
}

/* In a chroot without the registry files, the library knows no provider and no name. An event must
 * report this, because the query itself succeeds. */
INDEPENDENT(chroot_without_the_registry_is_reported)
{
    char cell[96];
    snprintf(cell, sizeof cell, "%s/cell", test_root);
    if (geteuid() != 0 && unshare(CLONE_NEWUSER) != 0)
        skipped("neither root nor user namespaces");
    CHECK(run("mkdir -p %s/state", cell));
    if (chroot(cell) != 0 || chdir("/") != 0)
        skipped("no chroot here");
    setenv("OPENPERFLIB_ROOT", "/state", 1);
    setenv("OPENPERFLIB_VENDOR", "/v", 1);
    strcpy(test_root, "/state");
    CHECK(!answers("Global", 2));
    CHECK(event_has(4005, "/v/data/registry.d cannot be read"));
}

/* ---- no descriptors, no processes ---- */

INDEPENDENT(no_descriptor_is_free_when_the_helper_starts)
{
    visitor_install("Visitor", "visitor_collect");
    struct rlimit few = {64, 64};
    CHECK(answers("2 230", 230)); /* these providers keep their descriptors open */
    CHECK_IS(setrlimit(RLIMIT_NOFILE, &few), 0);
    while (open("/dev/null", O_RDONLY | O_CLOEXEC) >= 0)
        ;
    CHECK_IS(errno, EMFILE);
    /* nevertheless a helper process can be started, with a descriptor table of its own */
    pid_t helper = visitor_process();
    CHECK(helper > 0);
    CHECK_IS(visitor_process(), helper);
    CHECK(open("/dev/null", O_RDONLY | O_CLOEXEC) < 0 && errno == EMFILE);
}

/* Gives up root's rights, because limits on processes do not apply to root. */
static bool become_nobody(void)
{
    if (geteuid() != 0)
        return true;
    return chown(test_root, 65534, 65534) == 0 && setgroups(0, NULL) == 0 &&
           setresgid(65534, 65534, 65534) == 0 && setresuid(65534, 65534, 65534) == 0 &&
           access(getenv("VISITOR"), R_OK) == 0;
}

INDEPENDENT(no_process_may_be_started)
{
    if (!become_nobody())
        skipped("the user nobody cannot reach the build folder");
    visitor_install("Visitor", "visitor_collect");
    struct rlimit none = {0, 0};
    CHECK_IS(setrlimit(RLIMIT_NPROC, &none), 0);
    check_refused("clone");
}

INDEPENDENT(rights_given_up_after_the_helper_started)
{
    if (geteuid() != 0)
        skipped("only root has rights to give up");
    visitor_install("Visitor", "visitor_collect");
    pid_t helper = visitor_process();
    CHECK(helper > 0);
    if (!become_nobody())
        skipped("the user nobody cannot reach the build folder");
    CHECK_IS(visitor_process(), helper);
    CHECK(answers("230", 230));
}

/* ---- programs that wait for all children ---- */

static void query_and_crash(void)
{
    visitor_install("Visitor", "visitor_collect");
    pid_t helper = visitor_process();
    CHECK(helper > 0);
    CHECK_IS(visitor_process(), helper);
    visitor_install("Victim", "visitor_crash");
    CHECK(answers("Global", 2));
    CHECK(event_has(1010, "Victim"));
    CHECK_IS(visitor_process(), helper);
    CHECK_IS(RegCloseKey(HKEY_PERFORMANCE_DATA), 0);
}

/* A program that adopts orphans also gets our helper process as a child. It has to do no more than
 * for any orphan: wait for it. */
INDEPENDENT(subreaper_gets_the_helper_as_an_orphan)
{
    CHECK_IS(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
    query_and_crash();
    int status = 0, reaped = 0;
    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;)
        reaped++;
    /* at most Victim's helper process, which crashed; the keeper, which starts helper processes,
     * still runs */
    CHECK(reaped <= 1);
    pid_t own = fork();
    if (own == 0)
        _exit(3);
    CHECK_IS(waitpid(own, &status, 0), own);
    CHECK_IS(WEXITSTATUS(status), 3);
}

INDEPENDENT(first_process_of_a_container)
{
    int status = -1;
    if (geteuid() != 0 && unshare(CLONE_NEWUSER) != 0)
        skipped("neither root nor user namespaces");
    if (unshare(CLONE_NEWPID) != 0)
        skipped("no PID namespaces here");
    fflush(NULL);
    pid_t first = fork();
    if (first == 0) {
        CHECK_IS(getpid(), 1);
        query_and_crash();
        fflush(NULL);
        _exit(failures ? 1 : 0); /* all processes of the namespace end with this one */
    }
    CHECK_IS(waitpid(first, &status, 0), first);
    CHECK_IS(status, 0);
}

/* ---- setuid programs ---- */

static const char *const callers_variables[] = {"OPENPERFLIB_VENDOR",
                                                "OPENPERFLIB_ROOT",
                                                "OPENPERFLIB_SYSROOT",
                                                "OPENPERFLIB_TRACE",
                                                "XDG_DATA_HOME",
                                                "XDG_CONFIG_HOME",
                                                "XDG_RUNTIME_DIR",
                                                "HOME",
                                                "USER",
                                                "LOGNAME",
                                                "PATH",
                                                "LANG",
                                                "LC_ALL",
                                                "TZ",
                                                "SSH_AUTH_SOCK",
                                                "KRB5CCNAME",
                                                "KRB5_CONFIG",
                                                "BASH_ENV",
                                                "PYTHONPATH",
                                                "VISITOR"};

static void print_callers_text(const char *value)
{
    for (size_t i = 0; i < COUNT(callers_variables); i++)
        setenv(callers_variables[i], value, 1);
}

/* Runs `program`, the test's own, as the user nobody, with `value` in each of callers_variables, or
 * in `variable` alone if that is not NULL. With `value` NULL the environment stays as it is. */
static int run_probe(const char *program, const char *word, const char *variable, const char *value)
{
    int status = -1;
    fflush(NULL);
    pid_t user = fork();
    if (user == 0) {
        char printed[96];
        snprintf(printed, sizeof printed, "%s/printed", test_root);
        bool good = become_nobody();
        if (value)
            good = good && freopen(printed, "w", stdout);
        for (size_t i = 0; value && variable && i < COUNT(callers_variables); i++)
            unsetenv(callers_variables[i]);
        if (value && variable)
            setenv(variable, value, 1);
        else if (value)
            print_callers_text(value);
        if (good)
            execl(program, program, word, (char *)NULL);
        _exit(SKIPPED);
    }
    CHECK_IS(waitpid(user, &status, 0), user);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int run_probe_as_nobody(const char *program, const char *word)
{
    return run_probe(program, word, NULL, strcmp(word, "environment") ? NULL : "/callers/word");
}

/* The user who starts a setuid program sets its environment. The library must not take from it
 * which provider to load. */
INDEPENDENT(setuid_program_takes_no_provider_from_the_environment)
{
    if (geteuid() != 0)
        skipped("only root can make a setuid program for another user");
    char program[128];
    snprintf(program, sizeof program, "%s/probe", test_root);
    visitor_install("Visitor", "visitor_collect");
    CHECK(run("cp %s %s && chown -R 65534 %s && chmod 755 %s", getenv("PROBE"), program, test_root,
              program));
    int ordinary = run_probe_as_nobody(program, "22222");
    CHECK(run("chown 0 %s && chmod 4755 %s", program, program));
    int trusted = run_probe_as_nobody(program, "22222");
    if (ordinary == SKIPPED || trusted == SKIPPED)
        skipped("the user nobody cannot reach the build folder");
    CHECK_IS(ordinary, 0);
    CHECK_IS(trusted, 1);
}

static bool printed(const char *text)
{
    return run("grep -q '%s' %s/printed", text, test_root);
}

/* A program that a setuid program starts must not get the caller's variables either, even if the
 * setuid program became root completely before. */
INDEPENDENT(f_c2_setuid_program_hands_no_word_of_its_caller_on)
{
    if (geteuid() != 0)
        skipped("only root can make a setuid program for another user");
    char program[128];
    snprintf(program, sizeof program, "%s/probe", test_root);
    CHECK(run("cp %s %s && chown -R 65534 %s && chown 0 %s && chmod 4755 %s", getenv("PROBE"),
              program, test_root, program, program));
    int status = run_probe_as_nobody(program, "environment");
    if (status == SKIPPED)
        skipped("the user nobody cannot reach the build folder");
    CHECK_IS(status, 0);
    CHECK(printed("^PATH=/usr") && printed("^HOME=/root"));
    CHECK(!printed("callers/word"));
    /* started by an ordinary program, a program gets the user's ssh agent and Kerberos tickets */
    CHECK(run("chmod 755 %s", program));
    CHECK_IS(run_probe_as_nobody(program, "environment"), 0);
    CHECK(printed("^SSH_AUTH_SOCK=/callers/word") && printed("^KRB5CCNAME=/callers/word") &&
          printed("^KRB5_CONFIG=/callers/word"));
    CHECK(!printed("^HOME=/callers") && !printed("^PATH=/callers") && !printed("^BASH_ENV"));
}

/* Each variable is set alone: those with `moves` change a path of an ordinary program, and none
 * changes a path of a setuid program. */
INDEPENDENT(f_c2_no_variable_moves_a_setuid_program)
{
    static const struct {
        const char *name;
        bool moves; /* an ordinary program uses the caller's folder */
    } ours[] = {
        {"OPENPERFLIB_VENDOR",  true },
        {"OPENPERFLIB_ROOT",    true },
        {"OPENPERFLIB_SYSROOT", true },
        {"XDG_DATA_HOME",       true },
        {"XDG_RUNTIME_DIR",     true },
        {"XDG_CONFIG_HOME",     false},
        {"HOME",                false},
        {"USER",                false},
        {"LOGNAME",             false},
        {"TMPDIR",              false},
    };
    char program[128], folder[128];
    if (geteuid() != 0)
        skipped("only root can make a setuid program for another user");
    snprintf(program, sizeof program, "%s/probe", test_root);
    snprintf(folder, sizeof folder, "%s/callers", test_root);
    CHECK(run("cp %s %s && mkdir %s && chown -R 65534 %s && chmod 755 %s %s", getenv("PROBE"),
              program, folder, test_root, program, folder));
    for (int setuid = 0; setuid < 2; setuid++) {
        if (setuid)
            CHECK(run("chown 0 %s && chmod 4755 %s", program, program));
        for (size_t i = 0; i < COUNT(ours); i++) {
            int status = run_probe(program, "places", ours[i].name, folder);
            if (status == SKIPPED)
                skipped("the user nobody cannot reach the build folder");
            CHECK_IS(status, 0);
            if (printed(folder) != (ours[i].moves && !setuid))
                fprintf(stderr, "%s, setuid %d\n", ours[i].name, setuid);
            CHECK_IS(printed(folder), ours[i].moves && !setuid);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_exec_the_event_is_reported),
        cmocka_unit_test(without_clone_the_event_is_reported),
        cmocka_unit_test(exec_forbidden_later_leaves_the_helper),
        cmocka_unit_test(chroot_without_the_helper_is_reported),
        cmocka_unit_test(chroot_without_the_registry_is_reported),
        cmocka_unit_test(no_descriptor_is_free_when_the_helper_starts),
        cmocka_unit_test(no_process_may_be_started),
        cmocka_unit_test(rights_given_up_after_the_helper_started),
        cmocka_unit_test(subreaper_gets_the_helper_as_an_orphan),
        cmocka_unit_test(first_process_of_a_container),
        cmocka_unit_test(setuid_program_takes_no_provider_from_the_environment),
        cmocka_unit_test(f_c2_setuid_program_hands_no_word_of_its_caller_on),
        cmocka_unit_test(f_c2_no_variable_moves_a_setuid_program),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
