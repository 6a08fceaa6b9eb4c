/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * openperflib-smb: reads another machine's counters over SMB for the program that started it. On
 * the command line it explains why a machine cannot be read: it connects step by step, with the
 * same code, and prints what to do about the first step that fails.
 */
#include "remote/smb/smb.h"

#include <openperflib/block.h>
#include <options.h>
#include <text.h>
#include <winperf.h>
#include <winreg.h>

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

struct check {
    struct smb_samba samba;
    struct smb_machine machine;
    struct smb_answers answers;
    char name[600]; /* the machine's name in the form that programs use */
};

/* ---- advice ---- */

enum { ANY = -1 };
/* clang-format off */
static const struct {
    int step; /* step that failed, or ANY */
    LSTATUS status;
    const char *advice;
} advices[] = {
    {SMB_STEP_NAME, ERROR_BAD_NETPATH,
     "Unknown host name; check the spelling, run  getent hosts NAME , or give the\n"
     "machine's address instead."},
    {SMB_STEP_PORT, RPC_S_SERVER_UNAVAILABLE,
     "\"Connection refused\": the machine is reachable, but no SMB server runs there. On Windows start the\n"
     "service Server (LanmanServer), on Linux smbd. No answer: it is switched off, or a firewall blocks\n"
     "the port; on Windows enable the rule \"File and Printer Sharing (SMB-In)\"."},
    {SMB_STEP_SETTINGS, ERROR_LOGON_FAILURE,
     "There are no credentials for it. Either get a Kerberos ticket ( kinit USER@REALM ), or store\n"
     "a user and password of that machine:  openperflib-smb --login NAME"},
    {SMB_STEP_LOGIN, ERROR_LOGON_FAILURE,
     "Wrong user or password. A user of a domain is DOMAIN\\USER, a local user of the machine\n"
     "MACHINE\\USER. Try again with  openperflib-smb --login NAME"},
    {SMB_STEP_LOGIN, ERROR_TIME_SKEW,
     "The clocks of the two machines differ by more than the five minutes that Kerberos allows: set them."},
    {SMB_STEP_LOGIN, ERROR_NOT_SUPPORTED,
     "The machine does not support encryption: it needs SMB 3 (Windows 8, Server 2012 or later). If the\n"
     "counters may be sent unencrypted, write  encryption = offered  into its section of the credentials."},
    {SMB_STEP_LOGIN, ERROR_ACCESS_DENIED,
     "The machine refuses the session: check that the user may log in over the network (\"Access this\n"
     "computer from the network\"). Few machines allow a login without a user name."},
    {SMB_STEP_LOGIN, ERROR_FILE_NOT_FOUND,
     "The machine answers, but its registry does not. On Windows start the service Remote Registry:\n"
     "  sc.exe config RemoteRegistry start= demand  and  sc.exe start RemoteRegistry"},
    {SMB_STEP_LOGIN, RPC_S_CALL_FAILED,
     "The machine closes the connection at once. It may support SMB 1 only, which is not\n"
     "supported here, or the port may not be one for SMB: check the port."},
    {ANY, ERROR_ACCESS_DENIED,
     "That user may not read performance counters there. Make it a member of the group\n"
     "Performance Monitor Users, and give it access to the key\n"
     "HKLM\\SYSTEM\\CurrentControlSet\\Control\\SecurePipeServers\\winreg (Read)."},
    {ANY, ERROR_INVALID_DATA,
     "The answer is not performance data. If the machine runs Samba: its own data is often incomplete;\n"
     "install openperflib's part for Samba there."},
    {ANY, RPC_S_CALL_FAILED,
     "The connection was lost during a request. Try again; if the error persists, check the\n"
     "machine's event log."},
};
/* clang-format on */

static void print_advice(int step, LSTATUS status)
{
    for (size_t i = 0; i < COUNT(advices); i++)
        if ((advices[i].step == ANY || advices[i].step == step) && advices[i].status == status) {
            printf("\nWhat to do:\n%s\n", advices[i].advice);
            return;
        }
}

static void print_good(const char *what, const char *text)
{
    printf("ok      %-10s %s\n", what, text_seen(text));
    fflush(stdout);
}

static int print_failed(const char *what, LSTATUS status, const char *text)
{
    printf("FAILED  %-10s error %d: %s%s%s\n", what, (int)status, status_text(status),
           *text ? ": " : "", text_seen(text));
    return EXIT_FAILED;
}

static int complain(const char *text)
{
    fprintf(stderr, "openperflib-smb: %s\n", text_seen(text));
    return EXIT_FAILED;
}

/* ---- the steps ---- */

static const char *const step_names[] = {[SMB_STEP_NAME] = "name",
                                         [SMB_STEP_PORT] = "port",
                                         [SMB_STEP_SETTINGS] = "user",
                                         [SMB_STEP_LOGIN] = "session",
                                         [SMB_STEP_CALL] = "registry"};

static void print_user(const struct smb_login *login)
{
    char text[1200];
    const char *how = login->anonymous  ? "no user (anonymous)"
                      : login->kerberos ? "with a Kerberos ticket"
                                        : "by password";
    snprintf(text, sizeof text, "%s%s%s%s%s: %s", login->domain, *login->domain ? "\\" : "",
             login->user, *login->user ? ", " : "", how, login->from);
    print_good("user", text);
}

static const char *protection_of(const struct smb_login *login)
{
    return login->anonymous
               ? "SMB 2 or 3, neither signed nor encrypted, because an anonymous user has no key"
           : login->may_be_clear ? "SMB 2 or 3, signed; encrypted if the machine supports it"
                                 : "SMB 3, signed and encrypted";
}

/* Prints the steps that succeeded before `step`. */
static void print_passed(const struct smb_samba *samba, enum smb_step step)
{
    char text[400];
    if (step > SMB_STEP_NAME) {
        snprintf(text, sizeof text, "%s is %s", samba->address.host, samba->peer);
        print_good("name", text);
    }
    if (step > SMB_STEP_PORT) {
        snprintf(text, sizeof text, "%u answers", samba->address.port);
        print_good("port", text);
    }
    if (step > SMB_STEP_SETTINGS)
        print_user(&samba->login);
    else if (step == SMB_STEP_SETTINGS)
        printf("        %-10s %s\n", "", samba->login.from);
    if (step > SMB_STEP_LOGIN)
        print_good("session", protection_of(&samba->login));
}

static LSTATUS send_request(struct check *check, HKEY root, const char *path, const char *name,
                            enum proto_operation operation, struct proto_reply *ret)
{
    struct proto_request request = {.operation = (uint16_t)operation,
                                    .root = (uint32_t)(uintptr_t)root,
                                    .capacity = PROTO_DATA_BYTES,
                                    .path = path,
                                    .name = name};
    smb_answer(&check->answers, &request, ret);
    return (LSTATUS)ret->status;
}

static int check_connection(struct check *check)
{
    struct proto_reply reply;
    struct smb_samba *samba = &check->samba;
    LSTATUS status = send_request(check, HKEY_PERFORMANCE_DATA, "", NULL, PROTO_OPEN, &reply);
    bool connected = check->machine.connected;
    enum smb_step step = connected ? SMB_STEP_CALL : samba->step;
    print_passed(samba, step);
    if (!status) {
        print_good("registry", "HKEY_PERFORMANCE_DATA is open");
        return EXIT_GOOD;
    }
    print_failed(step_names[step], status, samba->reason);
    print_advice((int)step, connected ? status : samba->status);
    return EXIT_FAILED;
}

static int check_counters(struct check *check)
{
    char text[200];
    opl_block block;
    struct proto_reply reply;
    int64_t began = clock_ticks();
    LSTATUS status = send_request(check, HKEY_PERFORMANCE_DATA, "", "Global", PROTO_QUERY, &reply);
    if (status) {
        print_failed("counters", status, status == ERROR_INVALID_DATA ? "" : check->samba.reason);
        print_advice(ANY, status);
        return EXIT_FAILED;
    }
    int64_t took = clock_ticks() - began;
    opl_block_init(&block, reply.data, reply.data_size);
    snprintf(text, sizeof text, "%u objects in %zu bytes, %.1f ms",
             (unsigned)block.header.NumObjectTypes, reply.data_size, (double)took / 1e4);
    print_good("counters", text);
    int64_t remote = clock_filetime_from(&block.header.SystemTime);
    double ahead = (double)(remote - clock_filetime()) / 1e7;
    snprintf(text, sizeof text, "its clock is %.1f s %s", ahead < 0 ? -ahead : ahead,
             ahead < 0 ? "behind" : "ahead");
    print_good("clock", text);
    return EXIT_GOOD;
}

static int check_names(struct check *check)
{
    char text[100];
    size_t count = 0;
    struct proto_reply reply;
    LSTATUS status =
        send_request(check, HKEY_PERFORMANCE_DATA, "", "Counter 009", PROTO_QUERY, &reply);
    if (status) {
        print_failed("names", status, "");
        print_advice(ANY, status);
        return EXIT_FAILED;
    }
    const char *at = reply.data, *end = at + reply.data_size;
    while (text_multi_next(&at, end))
        count++;
    snprintf(text, sizeof text, "%zu names in English", count / 2);
    print_good("names", text);
    return EXIT_GOOD;
}

static const char *volatile awaited = "";

static void time_is_up(int signal)
{
    static const char text[] = "FAILED  no answer in 30 seconds, while waiting for ";
    bool printed = write(STDOUT_FILENO, text, sizeof text - 1) > 0 &&
                   write(STDOUT_FILENO, awaited, strlen(awaited)) > 0 &&
                   write(STDOUT_FILENO, "\n", 1) > 0;
    _exit(printed ? EXIT_FAILED : EXIT_USAGE);
}

/* ---- programs ---- */

/* Tests whether programs that use the library can read the machine, which requires that the library
 * finds openperflib-smb and a password. The library is loaded at run time, because this program is
 * not linked with it. The library starts this program again, without the environment variables that
 * may have helped to find it. */
static LSTATUS connect_by_library(const char *name, bool *ret_found)
{
    typedef LSTATUS connect_function(const char *machine, HKEY root, HKEY *ret);
    typedef LSTATUS close_function(HKEY key);
    HKEY key;
    void *library = dlopen("libopenperflib.so.0", RTLD_NOW | RTLD_LOCAL);
    connect_function *connect_to = NULL;
    close_function *close_key = NULL;
    if (library) {
        *(void **)&connect_to = dlsym(library, "opl_RegConnectRegistryA");
        *(void **)&close_key = dlsym(library, "opl_RegCloseKey");
    }
    *ret_found = connect_to && close_key;
    if (!*ret_found)
        return ERROR_FILE_NOT_FOUND;
    LSTATUS status = connect_to(name, HKEY_PERFORMANCE_DATA, &key);
    if (!status)
        close_key(key);
    return status;
}

static void print_searched_places(void)
{
    char self[4096];
    ssize_t count = readlink("/proc/self/exe", self, sizeof self - 1);
    self[count < 0 ? 0 : count] = '\0';
    printf("\nWhat to do:\n"
           "The library found another openperflib-smb than this one or found none, or the list of\n"
           "machines has another address for that name:\n"
           "  reg query 'HKLM\\SOFTWARE\\openperflib\\Remote' /s\n"
           "To make it use this one:\n"
           "  reg add 'HKLM\\SOFTWARE\\openperflib\\Remote' /v Smb /t REG_SZ /d '%s' /f\n",
           self);
}

static void print_input_is_not_stored(const char *name)
{
    printf("\nWhat to do:\n"
           "Programs log in with the credentials in %s, or with a\n"
           "Kerberos ticket. To store what you typed:  openperflib-smb --login %s\n",
           smb_credentials_path(), name);
}

static int check_programs(const struct check *check)
{
    bool found;
    LSTATUS status = connect_by_library(check->name, &found);
    if (!found) {
        print_failed("programs", status,
                     "libopenperflib.so.0 cannot be loaded: it is not installed");
        return EXIT_FAILED;
    }
    if (!status) {
        print_good("programs", "they can read its counters");
        printf("\nPrograms can read this machine:  typeperf -s %s  and paths  \\\\%s\\...\n",
               check->name, check->name);
        return EXIT_GOOD;
    }
    print_failed("programs", status,
                 "this program can read the machine, but other programs cannot");
    if (status == ERROR_LOGON_FAILURE || status == ERROR_ACCESS_DENIED)
        print_input_is_not_stored(check->name);
    else
        print_searched_places();
    return EXIT_FAILED;
}

/* ---- the whole check ---- */

static int run_steps(struct check *check)
{
    awaited = "a session: the port accepts connections, but may not be one for SMB";
    int result = check_connection(check);
    awaited = "counters: its providers may hang";
    result = result ? result : check_counters(check);
    awaited = "names of counters";
    return result ? result : check_names(check);
}

/* Turns stderr off or on. `before` -1: discards stderr, because Samba's messages do not help the
 * user, and returns a copy of its descriptor. Otherwise restores stderr from the copy `before`. */
static int silence(int before)
{
    int kept = before < 0 ? dup(STDERR_FILENO) : -1, null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    dup2(before < 0 ? null : before, STDERR_FILENO);
    close(null);
    if (before >= 0)
        close(before);
    return kept;
}

static int read_machine(struct check *check)
{
    int before = silence(-1);
    signal(SIGALRM, time_is_up);
    alarm(SMB_CHECK_SECONDS);
    int result = run_steps(check);
    alarm(0);
    silence(before);
    return result;
}

/* Stores the login. Must be called before check_programs, because programs use only a stored
 * login. */
static int keep_login(const struct smb_address *address, const struct smb_login *login)
{
    char why[5000] = "", name[300];
    smb_address_name(address, name, sizeof name);
    if (!smb_login_keep(name, login, why, sizeof why))
        return complain(why);
    print_good("kept", smb_credentials_path());
    return EXIT_GOOD;
}

static int run_check(const struct smb_address *address, const struct smb_login *login, bool keep)
{
    static struct check check;
    char name[300];
    smb_samba_init(&check.samba, address, login);
    machine_init(&check.machine, &check.samba.wire);
    check.answers.machine = &check.machine;
    smb_address_name(address, name, sizeof name);
    snprintf(check.name, sizeof check.name, "%s%s%s", address->user, *address->user ? "@" : "",
             name);
    int result = read_machine(&check);
    machine_done(&check.machine);
    smb_samba_done(&check.samba);
    buffer_done(&check.answers.data);
    buffer_done(&check.answers.name);
    result = !result && keep ? keep_login(address, login) : result;
    awaited = "an answer to programs";
    alarm(SMB_CHECK_SECONDS);
    result = result ? result : check_programs(&check);
    alarm(0);
    return result;
}

/* Checks a machine step by step, and prints the results. Returns the exit code. */
static int smb_check(const struct smb_address *address, bool keep)
{
    char why[5000] = "";
    struct smb_login login;
    if (!smb_login_find(address, &login, why, sizeof why))
        return complain(why);
    /* prompt only at a terminal, and only if there is no Kerberos ticket */
    bool nothing = login.kerberos && !*login.user && !getenv("KRB5CCNAME");
    bool prompt = keep || (nothing && isatty(STDIN_FILENO) && isatty(STDERR_FILENO));
    if (prompt && !smb_login_prompt(address, &login))
        return complain("no user was given");
    return run_check(address, &login, keep);
}

/* ---- options ---- */

enum { STDIO = 1, CHECK, LOGIN, MACHINES };

/* clang-format off */
static const struct option_row rows[] = {
    {0, "check", "MACHINE", CHECK, "Try to read the machine, step by step, and print what to do when a step fails."},
    {0, "login", "MACHINE", LOGIN, "Ask for user and password, try them, and store them in the credentials file if they are accepted."},
    {0, "stdio", "MACHINE", STDIO, "Answer requests on standard input and output."},
    {0, "machines", NULL, MACHINES, "Start a process for each machine that arrives on standard input. The library starts this program with this option."},
    {0},
};
/* clang-format on */

static const char more[] =
    "A machine is [USER@]HOST[:PORT]. Passwords are read from the credentials file,\n"
    "~/.config/openperflib/credentials, or are typed; never on a command line.\n"
    "openperflib-smb(1) describes the file.\n"
    "\n"
    "Exit codes: 0 the machine can be read, or the client closed the stream;\n"
    "1 it cannot be read, or the client broke the protocol; 2 usage.\n"
    "\n"
    "This program uses Samba's libraries and is free software under the GNU General\n"
    "Public License, version 3 or later.\n";

static const struct tool tool = {
    .name = "openperflib-smb",
    .summary = "Read another machine's performance counters over SMB.",
    .usage = "--check MACHINE\n--login MACHINE\n--stdio MACHINE\n--machines",
    .rows = rows,
    .more = more,
};

/* Limits memory, so that a machine that never stops sending exhausts only this process. */
static void bound_memory(void)
{
#ifndef __SANITIZE_ADDRESS__
    setrlimit(RLIMIT_DATA, &(struct rlimit){SMB_MEMORY_BYTES, SMB_MEMORY_BYTES});
#endif
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0}); /* no core dump: it could contain a password */
}

/* The connect function if the credentials file cannot be used: every request fails with this
 * status. */
static LSTATUS refuse_connect(struct smb_wire *wire, int64_t deadline)
{
    return ERROR_LOGON_FAILURE;
}

static void close_nothing(struct smb_wire *wire)
{
}

static int serve_stream(const struct smb_address *address, int in, int out)
{
    char why[5000];
    struct smb_login login;
    struct smb_samba samba;
    struct smb_machine machine;
    struct smb_wire refusing = {.connect = refuse_connect, .close = close_nothing};
    bool usable = smb_login_find(address, &login, why, sizeof why);
    if (usable)
        smb_samba_init(&samba, address, &login);
    else
        fprintf(stderr, "openperflib-smb: %s\n", text_seen(why));
    machine_init(&machine, usable ? &samba.wire : &refusing);
    bool good = smb_serve(in, out, &machine);
    machine_done(&machine);
    if (usable)
        smb_samba_done(&samba);
    return good ? EXIT_GOOD : EXIT_FAILED;
}

static int serve_machine(const char *machine, int stream)
{
    struct smb_address address;
    return smb_address_read(machine, &address) ? serve_stream(&address, stream, stream)
                                               : EXIT_USAGE;
}

int main(int argc, char **argv)
{
    struct options options;
    struct smb_address address;
    int way = 0, id = options_begin(&options, &tool, argc, argv);
    const char *machine = NULL;
    while (id > 0 && (id = options_next(&options)) > 0) {
        if (id == OPTION_ARGUMENT || way)
            return options_complain(&options, "unexpected argument \"%s\"", options.value);
        way = id;
        machine = options.value;
    }
    if (id < 0)
        return options_status(id);
    if (!way)
        return options_complain(&options,
                                "one of --check, --login, --stdio and --machines is required");
    if (way != MACHINES && !smb_address_read(machine, &address))
        return options_complain(&options, "\"%s\" is not a machine; use [USER@]HOST[:PORT]",
                                machine);
    signal(SIGPIPE, SIG_IGN);
    bound_memory();
    if (way == MACHINES) {
        smb_samba_prepare();
        smb_start_processes(STDIN_FILENO, serve_machine);
        return EXIT_GOOD;
    }
    return way == STDIO ? serve_stream(&address, STDIN_FILENO, STDOUT_FILENO)
                        : smb_check(&address, way == LOGIN);
}
