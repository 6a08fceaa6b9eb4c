/* SPDX-License-Identifier: MIT */
/* The event log as a program uses it: RegisterEventSource, ReportEvent, MessageBox. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../temp.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pwd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <windows.h>

static char folder[64], log_path[128];
static char events[1 << 20];

static int set_up(void **state)
{
    remove(log_path);
    return 0;
}

/* Reads the log, without the time at the beginning of each line. */
static const char *read_events(void)
{
    char line[1 << 18];
    FILE *file = fopen(log_path, "r");
    events[0] = '\0';
    while (file && fgets(line, sizeof line, file))
        if (strlen(line) > 21 && strlen(events) + strlen(line) < sizeof events)
            strcat(events, line + 21);
    if (file)
        fclose(file);
    return events;
}

static HANDLE open_source(const char *name)
{
    HANDLE log = RegisterEventSourceA(NULL, name);
    assert_non_null(log);
    return log;
}

/* ---- sources ---- */

static void a_source_is_any_name(void **state)
{
    static const char *const names[] = {"MyPerf", "Мой счётчик", "a\\b", "tab\there"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_true(DeregisterEventSource(open_source(names[i])));
    HANDLE log = RegisterEventSourceW(NULL, u"MyPerf");
    assert_non_null(log);
    assert_true(DeregisterEventSource(log));
}

static void no_name_is_no_source(void **state)
{
    char name[300];
    memset(name, 'n', sizeof name);
    name[256] = '\0';
    static const DWORD wrong[] = {87, 87, 87, 5};
    const char *const names[] = {NULL, "", name, "security"};
    for (size_t i = 0; i < 4; i++) {
        SetLastError(0);
        assert_null(RegisterEventSourceA(NULL, names[i]));
        assert_int_equal(GetLastError(), wrong[i]);
    }
    assert_null(RegisterEventSourceW(NULL, NULL));
    name[255] = '\0';
    assert_true(DeregisterEventSource(open_source(name)));
}

static void other_machines_are_not_served(void **state)
{
    char own[64] = "\\\\";
    DWORD size = 60;
    assert_true(GetComputerNameA(own + 2, &size));
    HANDLE log = RegisterEventSourceA(own, "S");
    assert_non_null(log);
    assert_true(DeregisterEventSource(log));
    assert_true(DeregisterEventSource(RegisterEventSourceA("", "S")));
    assert_null(RegisterEventSourceA("\\\\no-such-machine", "S"));
    assert_int_equal(GetLastError(), RPC_S_SERVER_UNAVAILABLE);
    assert_null(RegisterEventSourceW(u"\\\\no-such-machine", u"S"));
    assert_int_equal(GetLastError(), RPC_S_SERVER_UNAVAILABLE);
}

static void stale_and_foreign_handles_are_refused(void **state)
{
    HKEY key;
    HANDLE log = open_source("S");
    assert_int_equal(RegOpenKeyExA(HKEY_LOCAL_MACHINE, "SOFTWARE", 0, KEY_READ, &key), 0);
    assert_true(DeregisterEventSource(log));
    const HANDLE wrong[] = {log, NULL, (HANDLE)key, HKEY_LOCAL_MACHINE, (HANDLE) ~(uintptr_t)0};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        SetLastError(0);
        assert_false(DeregisterEventSource(wrong[i]));
        assert_int_equal(GetLastError(), ERROR_INVALID_HANDLE);
        SetLastError(0);
        assert_false(ReportEventA(wrong[i], EVENTLOG_SUCCESS, 0, 1, NULL, 0, 0, NULL, NULL));
        assert_int_equal(GetLastError(), ERROR_INVALID_HANDLE);
    }
    assert_int_equal(RegCloseKey((HKEY)open_source("S")), ERROR_INVALID_HANDLE);
    assert_int_equal(RegCloseKey(key), 0);
    assert_string_equal(read_events(), "");
}

/* ---- events ---- */

static void an_event_has_its_strings_as_text(void **state)
{
    HANDLE log = open_source("MyPerf");
    LPCSTR strings[] = {"first", NULL, "se\ncond"};
    unsigned char data[] = {0x00, 0x0a, 0xff};
    assert_true(ReportEventA(log, EVENTLOG_ERROR_TYPE, 7, 0xC0000123, NULL, 3, 3, strings, data));
    assert_string_equal(read_events(), "MyPerf\t291\terror\t\tfirst: se cond [000aff]\n");
    assert_true(DeregisterEventSource(log));
}

static void wide_strings_arrive_as_utf8(void **state)
{
    HANDLE log = open_source("Источник");
    LPCWSTR strings[] = {u"Привет", u"\xd800"};
    assert_true(ReportEventW(log, EVENTLOG_WARNING_TYPE, 0, 5, NULL, 2, 0, strings, NULL));
    assert_string_equal(read_events(), "Источник\t5\twarning\t\tПривет: \xef\xbf\xbd\xef\xbf\xbd"
                                       "\xef\xbf\xbd\n");
    assert_true(DeregisterEventSource(log));
}

static void types_become_levels(void **state)
{
    static const struct {
        WORD type;
        const char *level;
    } cases[] = {
        {EVENTLOG_SUCCESS,          "information"},
        {EVENTLOG_ERROR_TYPE,       "error"      },
        {EVENTLOG_WARNING_TYPE,     "warning"    },
        {EVENTLOG_INFORMATION_TYPE, "information"},
        {EVENTLOG_AUDIT_SUCCESS,    "information"},
        {EVENTLOG_AUDIT_FAILURE,    "warning"    }
    };
    HANDLE log = open_source("S");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        set_up(NULL);
        assert_true(ReportEventA(log, cases[i].type, 0, 9, NULL, 0, 0, NULL, NULL));
        char wanted[64];
        snprintf(wanted, sizeof wanted, "S\t9\t%s\t\t\n", cases[i].level);
        assert_string_equal(read_events(), wanted);
    }
    assert_true(DeregisterEventSource(log));
}

static void nothing_of_a_program_is_held_back(void **state)
{
    HANDLE log = open_source("S");
    LPCSTR text = "again";
    for (int i = 0; i < 50; i++)
        assert_true(ReportEventA(log, EVENTLOG_ERROR_TYPE, 0, 9, NULL, 1, 0, &text, NULL));
    assert_int_equal(strlen(read_events()), 50 * strlen("S\t9\terror\t\tagain\n"));
    assert_true(DeregisterEventSource(log));
}

static DWORD fault(WORD type, WORD count, DWORD size, LPCSTR *strings, LPVOID data)
{
    HANDLE log = open_source("S");
    SetLastError(0);
    BOOL done = ReportEventA(log, type, 0, 1, NULL, count, size, strings, data);
    DWORD error = GetLastError();
    assert_true(DeregisterEventSource(log));
    assert_int_equal(!done, error != 0);
    return error;
}

static void arguments_are_checked(void **state)
{
    static LPCSTR strings[257];
    static char longest[31841], data[61441];
    memset(longest, 'l', sizeof longest - 1);
    strings[0] = longest;
    assert_int_equal(fault(3, 0, 0, NULL, NULL), ERROR_INVALID_PARAMETER);
    assert_int_equal(fault(0x20, 0, 0, NULL, NULL), ERROR_INVALID_PARAMETER);
    assert_int_equal(fault(1, 1, 0, NULL, NULL), ERROR_INVALID_PARAMETER);
    assert_int_equal(fault(1, 0, 1, NULL, NULL), ERROR_INVALID_PARAMETER);
    assert_int_equal(fault(1, 257, 0, strings, NULL), RPC_S_INVALID_BOUND);
    assert_int_equal(fault(1, 1, 0, strings, NULL), RPC_S_INVALID_BOUND);
    assert_int_equal(fault(1, 0, 61441, NULL, data), RPC_S_INVALID_BOUND);
    assert_string_equal(read_events(), "");
    longest[31839] = '\0';
    assert_int_equal(fault(1, 256, 61440, strings, data), 0);
    assert_int_equal(strlen(read_events()),
                     strlen("S\t1\terror\t\t [] \n") - 1 + 31839 + 2 * 61440);
    HANDLE log = open_source("S");
    assert_false(ReportEventW(log, 1, 0, 1, NULL, 1, 0, NULL, NULL));
    assert_int_equal(GetLastError(), ERROR_INVALID_PARAMETER);
    assert_true(DeregisterEventSource(log));
}

/* For events of the library's own sources (LoadPerf), the text comes from the library's catalog, as
 * from a message file on Windows: the program's strings are the text's fields, in order. */
static void the_catalog_words_its_own_sources(void **state)
{
    HANDLE log = open_source("LoadPerf");
    LPCSTR strings[] = {"MyPerf", "019", "more"};
    assert_true(ReportEventA(log, EVENTLOG_WARNING_TYPE, 0, 2005, NULL, 3, 0, strings, NULL));
    assert_non_null(strstr(read_events(), "LoadPerf\t2005\twarning\tMyPerf\tMyPerf has no texts "
                                          "in language 019;"));
    assert_true(DeregisterEventSource(log));
}

/* ---- message boxes ---- */

static void c45_a_box_is_an_event_and_returns_at_once(void **state)
{
    char wanted[256];
    SetLastError(4711);
    assert_int_equal(MessageBoxA(NULL, "Global", "Collect from counter.dll", MB_OK), IDOK);
    assert_int_equal(GetLastError(), 4711);
    snprintf(wanted, sizeof wanted,
             "Application Popup\t26\tinformation\t\tCollect from counter.dll: Global: %s[%d]\n",
             program_invocation_short_name, (int)getpid());
    assert_string_equal(read_events(), wanted);
    set_up(NULL);
    assert_int_equal(MessageBoxW(NULL, NULL, NULL, MB_OK | MB_ICONERROR), IDOK);
    assert_non_null(strstr(read_events(), "Application Popup\t26\terror\t\tError: "));
}

static void a_box_answers_its_default_button(void **state)
{
    static const struct {
        UINT style;
        int first, second, third;
    } rows[] = {
        {MB_OK,                IDOK,     IDOK,       IDOK      },
        {MB_OKCANCEL,          IDOK,     IDCANCEL,   IDOK      },
        {MB_ABORTRETRYIGNORE,  IDABORT,  IDRETRY,    IDIGNORE  },
        {MB_YESNOCANCEL,       IDYES,    IDNO,       IDCANCEL  },
        {MB_YESNO,             IDYES,    IDNO,       IDYES     },
        {MB_RETRYCANCEL,       IDRETRY,  IDCANCEL,   IDRETRY   },
        {MB_CANCELTRYCONTINUE, IDCANCEL, IDTRYAGAIN, IDCONTINUE}
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        UINT style = rows[i].style | MB_ICONQUESTION | MB_SERVICE_NOTIFICATION;
        assert_int_equal(MessageBoxA(NULL, "?", "t", style), rows[i].first);
        assert_int_equal(MessageBoxW(NULL, u"?", u"t", style | MB_DEFBUTTON2), rows[i].second);
        assert_int_equal(MessageBoxA(NULL, "?", "t", style | MB_DEFBUTTON3), rows[i].third);
        assert_int_equal(MessageBoxA(NULL, "?", "t", style | MB_DEFBUTTON4), rows[i].first);
    }
    set_up(NULL);
    assert_int_equal(MessageBoxA(NULL, "?", "t", 7), 0);
    assert_int_equal(GetLastError(), ERROR_INVALID_MSGBOX_STYLE);
    assert_string_equal(read_events(), "");
}

/* ---- other Win32 functions ---- */

static void modules_have_file_names(void **state)
{
    char path[PATH_MAX], program[PATH_MAX] = "";
    WCHAR wide[PATH_MAX];
    assert_true(readlink("/proc/self/exe", program, sizeof program - 1) > 0);
    assert_int_equal(GetModuleFileNameA(NULL, path, sizeof path), strlen(program));
    assert_string_equal(path, program);
    assert_int_equal(GetModuleFileNameW(NULL, wide, PATH_MAX), strlen(program));
    assert_int_equal(wide[0], '/');
    assert_int_equal(wide[strlen(program)], 0);
    SetLastError(0);
    memset(path, 'x', sizeof path);
    assert_int_equal(GetModuleFileNameA(NULL, path, 3), 3);
    assert_int_equal(GetLastError(), ERROR_INSUFFICIENT_BUFFER);
    assert_int_equal(strlen(path), 2);
    assert_int_equal(path[3], 'x');
    SetLastError(0);
    assert_int_equal(GetModuleFileNameW(NULL, wide, 2), 2);
    assert_int_equal(GetLastError(), ERROR_INSUFFICIENT_BUFFER);
    assert_int_equal(wide[1], 0);
    SetLastError(0);
    assert_int_equal(GetModuleFileNameA((HMODULE)16, path, sizeof path), 0);
    assert_int_equal(GetLastError(), ERROR_MOD_NOT_FOUND);
    assert_true(DisableThreadLibraryCalls(NULL));
}

static void a_loaded_library_has_its_own_name(void **state)
{
    char path[PATH_MAX], wanted[PATH_MAX];
    snprintf(wanted, sizeof wanted, "%s/providers/perfos.so", getenv("BUILD_ROOT"));
    void *library = dlopen(wanted, RTLD_NOW);
    assert_non_null(library);
    assert_int_equal(GetModuleFileNameA(library, path, sizeof path), strlen(wanted));
    assert_string_equal(path, wanted);
    dlclose(library);
}

static void processes_threads_and_users(void **state)
{
    char name[256];
    WCHAR wide[256];
    DWORD size = sizeof name;
    assert_int_equal(GetCurrentProcessId(), getpid());
    assert_int_equal(GetCurrentThreadId(), syscall(SYS_gettid));
    assert_true(GetUserNameA(name, &size));
    assert_int_equal(size, strlen(name) + 1);
    const struct passwd *entry = getpwuid(geteuid());
    if (entry)
        assert_string_equal(name, entry->pw_name);
    DWORD needed = size;
    size = 1;
    assert_false(GetUserNameA(name, &size));
    assert_int_equal(GetLastError(), ERROR_INSUFFICIENT_BUFFER);
    assert_int_equal(size, needed);
    assert_true(GetUserNameW(wide, &size));
    assert_false(GetUserNameW(NULL, &size));
    assert_int_equal(GetLastError(), ERROR_INVALID_PARAMETER);
    assert_false(GetUserNameA(name, NULL));
}

/* With OPENPERFLIB_TRACE=1, OutputDebugString and MessageBox write to standard error, which is a
 * pipe here. */
static void debug_strings_are_traced(void **state)
{
    char seen[512] = "";
    int ends[2], error = dup(STDERR_FILENO);
    assert_int_equal(pipe(ends), 0);
    dup2(ends[1], STDERR_FILENO);
    OutputDebugStringA("not asked for\n");
    setenv("OPENPERFLIB_TRACE", "1", 1);
    OutputDebugStringA("one\r\n");
    OutputDebugStringW(u"two");
    OutputDebugStringA(NULL);
    MessageBoxA(NULL, "text", "title", MB_OK);
    unsetenv("OPENPERFLIB_TRACE");
    dup2(error, STDERR_FILENO);
    close(ends[1]);
    ssize_t length = read(ends[0], seen, sizeof seen - 1);
    close(ends[0]);
    close(error);
    assert_true(length > 0);
    assert_string_equal(seen, "openperflib: debug: one\nopenperflib: debug: two\n"
                              "openperflib: debug: \nopenperflib: MessageBox: title: text\n");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, set_up)
    const struct CMUnitTest tests[] = {
        TEST(a_source_is_any_name),
        TEST(no_name_is_no_source),
        TEST(other_machines_are_not_served),
        TEST(stale_and_foreign_handles_are_refused),
        TEST(an_event_has_its_strings_as_text),
        TEST(wide_strings_arrive_as_utf8),
        TEST(types_become_levels),
        TEST(nothing_of_a_program_is_held_back),
        TEST(arguments_are_checked),
        TEST(the_catalog_words_its_own_sources),
        TEST(c45_a_box_is_an_event_and_returns_at_once),
        TEST(a_box_answers_its_default_button),
        TEST(modules_have_file_names),
        TEST(a_loaded_library_has_its_own_name),
        TEST(processes_threads_and_users),
        TEST(debug_strings_are_traced),
    };
    unsetenv("OPENPERFLIB_TRACE");
    temp_make(folder);
    setenv("OPENPERFLIB_ROOT", folder, 1);
    snprintf(log_path, sizeof log_path, "%s/events", folder);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    temp_remove(folder);
    return failed;
}
