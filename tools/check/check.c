/* SPDX-License-Identifier: MIT */
/*
 * openperflib-check: loads a provider's library into a separate process, calls it in every way that
 * programs do, and reports mistakes in its answers and in what it leaves behind (memory, threads,
 * descriptors, process state).
 */
#include "check.h"

#include <stdlib.h>
#include <string.h>

static const struct tool tool = {
    .name = "openperflib-check",
    .summary = "Check a provider's library: its answers, its speed, and what it leaves behind.",
    .usage = "[OPTION]... LIBRARY",
    .rows = check_rows,
    .more =
        "The library is registered in a temporary registry, by its ini file or its\n"
        "DllRegisterServer, and loaded into a separate process, with the sanitizer that it was\n"
        "built with. The system is not changed. The check takes two seconds at most (longer only\n"
        "on a busy machine): with a slow library it makes fewer calls, a call that has not ended\n"
        "by then is ended, and what was left out is printed.\n"
        "\n"
        "Exit status: 0 no mistakes (perhaps warnings), 1 mistakes, 2 wrong usage, 3 no such\n"
        "file or service.\n"
        "\n"
        "Examples:\n"
        "  openperflib-check ./demo.so\n"
        "  openperflib-check --ini=demo.ini --json build/demo.so\n",
    .complete_args = "@files",
};

static int take_option(struct wanted *wanted, const struct options *options, int id)
{
    if (id == OPTION_SET)
        return options_set(options, wanted);
    if (wanted->library)
        return options_complain(options, "only one library can be checked at a time; remove %s",
                                options->value);
    wanted->library = options->value;
    return 0;
}

static int run(const struct wanted *wanted)
{
    struct registration registration;
    struct timing timing = {.begin_ms = now_ms()};
    struct report *report = calloc(1, sizeof *report);
    int code = EXIT_FAILED;
    if (!report)
        return code;
    report->library = wanted->library;
    if (registration_make(wanted, &registration, report, &code)) {
        names_load(&report->names, "009");
        trial_run(&registration, report, &timing);
        if (wanted->json)
            report_json(report, &registration, &timing);
        else
            report_print(report, &timing, wanted->quiet);
        code = report_mistakes(report) ? EXIT_FAILED : EXIT_GOOD;
        names_done(&report->names);
    }
    registration_done(&registration);
    free(report);
    if (fflush(stdout) != 0) {
        fprintf(stderr, "openperflib-check: standard output cannot be written\n");
        return EXIT_FAILED;
    }
    return code;
}

/* openperflib-check --worker SANITIZED LIBRARY OPEN COLLECT CLOSE: the command line of the child
 * process that this program starts. */
static void be_worker(char **args)
{
    const char *names[] = {args[2], args[3], args[4]};
    for (int i = 0; i < 3; i += 2)
        names[i] = *names[i] ? names[i] : NULL;
    worker_main(args[1], names, NULL, *args[0] == '1');
}

int main(int argc, char **argv)
{
    struct wanted wanted = {0};
    struct options options;
    if (argc == 7 && strcmp(argv[1], "--worker") == 0)
        be_worker(argv + 2);
    int wrong = 0, id = options_begin(&options, &tool, argc, argv);
    while (id > 0 && !wrong && (id = options_next(&options)) > 0)
        wrong = take_option(&wanted, &options, id);
    if (id < 0)
        return options_status(id);
    if (!wrong && !wanted.library)
        wrong = options_complain(&options, "LIBRARY is missing");
    if (!wrong && wanted.ini && wanted.service)
        wrong = options_complain(&options,
                                 "--ini and --service cannot be used together; give one of them");
    return wrong ? wrong : run(&wanted);
}

#ifdef __SANITIZE_ADDRESS__
/* Turns LeakSanitizer off: it needs ptrace, which the worker's system call filter refuses. */
__attribute__((visibility("default"))) int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void)
{
    return 1;
}
#endif
