/* SPDX-License-Identifier: MIT */
/*
 * The Win32 functions with which sources of Windows providers use the operating system: libraries,
 * priorities, locks, messages, ini files, processes and network statistics. Their results are
 * compared with /proc, the dynamic loader and the C library.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../skip.h"
#include "../temp.h"
#include <iphlpapi.h>
#include <ntstatus.h>
#include <process.h>
#include <regstr.h>
#include <tchar.h>
#include <tlhelp32.h>
#include <windows.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- headers ---- */

#define SPELL(text) #text
#define SPELLED(macro) SPELL(macro)

static void f_d7_types_and_constants_as_sources_use_them(void **state)
{
    PZZWSTR list = (WCHAR[]){'a', 0, 0};
    PZZSTR narrow = (char[]){'a', 0, 0};
    PWCH end = list + 1;
    char moved[] = "abc";
    assert_string_equal(SPELLED(PERF_NO_INSTANCES), "-1");
    assert_true(_Generic((LONGLONG)0, long long : true, default : false));
    assert_true(_Generic((ULONGLONG)0, unsigned long long : true, default : false));
    assert_int_equal(_Alignof(struct {
                         char before;
                         LONGLONG value;
                     }),
                     8);
    RtlMoveMemory(moved + 1, moved, 2);
    assert_string_equal(moved, "aab");
    assert_int_equal(list[0], 'a');
    assert_int_equal(narrow[0], 'a');
    assert_int_equal(*end, 0);
    assert_false(NT_SUCCESS(STATUS_ACCESS_DENIED));
    assert_int_equal(GetUserDefaultLangID(), GetUserDefaultUILanguage());
    assert_int_equal(GetUserDefaultLCID(), GetUserDefaultUILanguage());
    assert_int_equal(LOCALE_INVARIANT, 0x7f);
}

static void f_d7_a_command_is_run(void **state)
{
    static const WCHAR good[] = {'t', 'r', 'u', 'e', 0}, bad[] = {'f', 'a', 'l', 's', 'e', 0};
    assert_int_equal(_wsystem(good), 0);
    assert_int_not_equal(_wsystem(bad), 0);
    assert_int_equal(_tsystem(_T("true")), 0);
    assert_int_not_equal(_tsystem(_T("false")), 0);
}

static void f_d7_the_version_is_that_of_the_behaviour(void **state)
{
    OSVERSIONINFOA narrow = {.dwOSVersionInfoSize = sizeof narrow};
    OSVERSIONINFOW wide = {.dwOSVersionInfoSize = 4};
    assert_true(GetVersionExA(&narrow));
    assert_int_equal(narrow.dwMajorVersion, 10);
    assert_int_equal(narrow.dwPlatformId, VER_PLATFORM_WIN32_NT);
    assert_int_equal(LOBYTE(LOWORD(GetVersion())), narrow.dwMajorVersion);
    assert_int_equal(HIWORD(GetVersion()), narrow.dwBuildNumber);
    assert_false(GetVersionExW(&wide));
    assert_int_equal(GetLastError(), ERROR_INSUFFICIENT_BUFFER);
}

/* ---- libraries ---- */

static void f_d5_c140_a_library_is_loaded_by_its_windows_name(void **state)
{
    typedef DWORD close_it(void);
    char path[PATH_MAX], found[PATH_MAX];
    close_it *close_procedure;
    snprintf(path, sizeof path, "%s", getenv("ODD_NAMES"));
    char *ending = strstr(path, "odd_names.so");
    assert_non_null(ending);
    strcpy(ending, "ODD_Names.DLL");
    for (char *at = path; *at; at++)
        *at = *at == '/' ? '\\' : *at;
    HMODULE module = LoadLibraryA(path);
    assert_non_null(module);
    assert_true(GetModuleFileNameA(module, found, sizeof found) > 0);
    assert_string_equal(strrchr(found, '/'), "/odd_names.so");
    *(FARPROC *)&close_procedure = GetProcAddress(module, "Close");
    assert_non_null(close_procedure);
    assert_int_equal(close_procedure(), ERROR_SUCCESS);
    assert_null(GetProcAddress(module, "NoSuchProcedure"));
    assert_int_equal(GetLastError(), ERROR_PROC_NOT_FOUND);
    assert_null(GetProcAddress(module, (LPCSTR)(uintptr_t)1));
    assert_true(FreeLibrary(module));
    assert_null(GetModuleHandleA("odd_names.dll"));
    assert_false(FreeLibrary(&path));
    assert_null(LoadLibraryW(u"no such library.dll"));
    assert_int_equal(GetLastError(), ERROR_MOD_NOT_FOUND);
    assert_null(LoadLibraryA(NULL));
}

static void f_d5_windows_own_libraries_are_this_one(void **state)
{
    typedef DWORD WINAPI version(LPDWORD);
    version *procedure;
    DWORD number = 0;
    HMODULE pdh = LoadLibraryA("PDH.DLL");
    assert_non_null(pdh);
    *(FARPROC *)&procedure = GetProcAddress(pdh, "PdhGetDllVersion");
    assert_non_null(procedure);
    assert_int_equal(procedure(&number), 0);
    assert_int_equal(number, 0x0503);
    assert_true(FreeLibrary(pdh));
}

/* ---- threads ---- */

struct lowering {
    int before, during, priority;
    bool back;
    DWORD why;
};

static void *lower(void *self)
{
    struct lowering *lowering = self;
    lowering->before = getpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid));
    if (!SetThreadPriority(GetCurrentThread(), THREAD_PRIORITY_BELOW_NORMAL))
        return NULL;
    lowering->during = getpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid));
    lowering->priority = GetThreadPriority(GetCurrentThread());
    lowering->back = SetThreadPriority(GetCurrentThread(), THREAD_PRIORITY_NORMAL);
    lowering->why = GetLastError();
    return lowering;
}

static void f_d5_c144_a_thread_lowers_its_own_priority(void **state)
{
    struct lowering lowering = {0};
    pthread_t thread;
    void *result;
    int own = getpriority(PRIO_PROCESS, 0);
    if (own > 14) {
        report_skipped("this process has a low priority already");
        return;
    }
    assert_int_equal(pthread_create(&thread, NULL, lower, &lowering), 0);
    pthread_join(thread, &result);
    assert_non_null(result);
    assert_int_equal(lowering.during, lowering.before + 5);
    assert_int_equal(lowering.priority, THREAD_PRIORITY_BELOW_NORMAL);
    assert_true(lowering.back || lowering.why == ERROR_ACCESS_DENIED);
    /* no other thread's priority has changed */
    assert_int_equal(getpriority(PRIO_PROCESS, 0), own);
    assert_false(SetThreadPriority(GetCurrentThread(), 7));
    assert_int_equal(GetLastError(), ERROR_INVALID_PARAMETER);
    assert_false(SetThreadPriority(NULL, THREAD_PRIORITY_NORMAL));
    assert_int_equal(GetLastError(), ERROR_INVALID_HANDLE);
}

static CRITICAL_SECTION section;
static int both;

static void *count_up(void *self)
{
    for (int i = 0; i < 20000; i++) {
        EnterCriticalSection(&section);
        EnterCriticalSection(&section);
        both++;
        LeaveCriticalSection(&section);
        LeaveCriticalSection(&section);
    }
    return NULL;
}

static void *try_it(void *self)
{
    return TryEnterCriticalSection(&section) ? self : NULL;
}

static void f_d5_a_critical_section_excludes(void **state)
{
    pthread_t thread;
    void *entered = state;
    InitializeCriticalSection(&section);
    assert_int_equal(pthread_create(&thread, NULL, count_up, NULL), 0);
    count_up(NULL);
    pthread_join(thread, NULL);
    assert_int_equal(both, 40000);
    assert_true(TryEnterCriticalSection(&section));
    assert_int_equal(pthread_create(&thread, NULL, try_it, state), 0);
    pthread_join(thread, &entered);
    assert_null(entered);
    LeaveCriticalSection(&section);
    DeleteCriticalSection(&section);
}

static void f_d7_an_event_is_reset(void **state)
{
    for (BOOL stays = FALSE; stays <= TRUE; stays++) {
        HANDLE event = CreateEventA(NULL, stays, TRUE, NULL);
        assert_true(ResetEvent(event));
        assert_int_equal(WaitForSingleObject(event, 0), WAIT_TIMEOUT);
        assert_true(ResetEvent(event));
        assert_true(SetEvent(event));
        assert_int_equal(WaitForSingleObject(event, 0), WAIT_OBJECT_0);
        assert_true(CloseHandle(event));
    }
}

/* ---- messages ---- */

static DWORD from_string(LPCSTR source, LPSTR to, DWORD capacity, ...)
{
    va_list arguments;
    va_start(arguments, capacity);
    DWORD count =
        FormatMessageA(FORMAT_MESSAGE_FROM_STRING, source, 0, 0, to, capacity, &arguments);
    va_end(arguments);
    return count;
}

static void f_d7_messages(void **state)
{
    char text[128], *made = NULL;
    WCHAR wide[128];
    const DWORD flags = FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS;
    DWORD_PTR array[] = {(DWORD_PTR)u"wide", 0x2a};
    DWORD count = FormatMessageA(flags, NULL, ERROR_FILE_NOT_FOUND, 0, text, sizeof text, NULL);
    assert_int_equal(count, strlen(text));
    assert_string_equal(text, "not found.\r\n");
    assert_int_equal(FormatMessageA(flags | FORMAT_MESSAGE_ALLOCATE_BUFFER, NULL, 0x80070005, 0,
                                    (LPSTR)&made, 0, NULL),
                     strlen("access denied.\r\n"));
    assert_string_equal(made, "access denied.\r\n");
    assert_null(LocalFree(made));
    assert_int_equal(FormatMessageA(flags, NULL, 987654, 0, text, sizeof text, NULL), 0);
    assert_int_equal(GetLastError(), ERROR_MR_MID_NOT_FOUND);
    assert_int_equal(FormatMessageA(flags, NULL, ERROR_FILE_NOT_FOUND, 0, text, 4, NULL), 0);
    assert_int_equal(GetLastError(), ERROR_INSUFFICIENT_BUFFER);
    count = from_string("%2 of %1!04d!%% and %2!.3s!%n%0never", text, sizeof text, 7, "many");
    assert_int_equal(count, strlen(text));
    assert_string_equal(text, "many of 0007% and man\r\n");
    assert_int_equal(FormatMessageW(FORMAT_MESSAGE_FROM_STRING | FORMAT_MESSAGE_ARGUMENT_ARRAY,
                                    u"%1=%2!x!", 0, 0, wide, 128, (va_list *)array),
                     7);
    assert_memory_equal(wide, u"wide=2a", sizeof u"wide=2a");
    assert_int_equal(FormatMessageA(FORMAT_MESSAGE_FROM_STRING | FORMAT_MESSAGE_IGNORE_INSERTS,
                                    "%1 x", 0, 0, text, sizeof text, NULL),
                     4);
    assert_string_equal(text, "%1 x");
}

/* ---- ini files ---- */

static char root[64];

static void c142_ini_files(void **state)
{
    static const char latin[] =
        "[One]\r\n; no key=1\r\nKey = \"a b\" \r\nkey=second\r\nN=0x10 x\r\n"
        "[two]\r\nu=\344\200\r\n[one]\r\nLate=1\r\n\032junk=1\r\n";
    char path[128], text[64];
    WCHAR wide[64];
    snprintf(path, sizeof path, "%s/old.ini", root);
    FILE *file = fopen(path, "w");
    assert_int_equal(fwrite(latin, 1, sizeof latin - 1, file), sizeof latin - 1);
    fclose(file);
    assert_int_equal(GetPrivateProfileStringA("ONE", "key", "", text, sizeof text, path), 3);
    assert_string_equal(text, "a b");
    assert_int_equal(GetPrivateProfileStringA("one", "late", "none  ", text, sizeof text, path), 4);
    assert_string_equal(text, "none");
    assert_int_equal(GetPrivateProfileStringA("two", "u", "", text, sizeof text, path), 5);
    assert_string_equal(text, "ä€");
    assert_int_equal(GetPrivateProfileStringA("two", "u", "", text, 4, path),
                     /* 4 bytes have space for "ä" (2 bytes), but not for "€" (3), of which no part
                      * is copied */
                     2);
    assert_int_equal(GetPrivateProfileStringA("One", NULL, "", text, sizeof text, path), 10);
    assert_memory_equal(text, "Key\0key\0N\0", 11);
    assert_int_equal(GetPrivateProfileStringA(NULL, NULL, "", text, sizeof text, path), 12);
    assert_memory_equal(text, "One\0two\0one\0", 13);
    assert_int_equal(GetPrivateProfileStringA(NULL, NULL, "", text, 7, path), 5);
    assert_memory_equal(text, "One\0t\0\0", 7);
    assert_int_equal(GetPrivateProfileIntA("One", "n", 5, path), 16);
    assert_int_equal(GetPrivateProfileIntA("One", "m", 5, path), 5);
    char *slash = strrchr(path, '/');
    *slash = '\\'; /* Windows sources join folder and file with a backslash */
    assert_int_equal(GetPrivateProfileStringA("one", "key", "", text, sizeof text, path), 3);
    assert_int_equal(GetPrivateProfileStringW(u"a", u"b", u"c", wide, 64, u"no such.ini"), 1);
    assert_int_equal(GetLastError(), ERROR_FILE_NOT_FOUND);
}

/* Reads the ini files of counters, as lodctr does. (docs/windows/articles.md#c142) */
static void c142_counters_ini_files(void **state)
{
    char path[PATH_MAX], keys[4096], text[256];
    snprintf(path, sizeof path, "%s/samples/myperf1/myperf1.ini", getenv("SOURCE_ROOT"));
    assert_true(GetPrivateProfileStringA("info", "drivername", "", text, sizeof text, path) > 0);
    assert_string_equal(text, "MyPerf1");
    assert_true(GetPrivateProfileStringA("info", "symbolfile", "", text, sizeof text, path) > 0);
    assert_true(GetPrivateProfileStringA("text", NULL, "", keys, sizeof keys, path) > 0);
    size_t count = 0;
    for (const char *key = keys; *key; key += strlen(key) + 1, count++)
        assert_true(GetPrivateProfileStringA("text", key, "", text, sizeof text, path) > 0);
    assert_true(count >= 4);
}

/* ---- processes, threads, modules ---- */

static bool is_process(DWORD wanted, PROCESSENTRY32 *ret)
{
    PROCESSENTRY32 entry = {.dwSize = sizeof entry};
    HANDLE snapshot = CreateToolhelp32Snapshot(TH32CS_SNAPPROCESS, 0);
    assert_true(snapshot != INVALID_HANDLE_VALUE);
    BOOL more = Process32First(snapshot, &entry);
    assert_true(more);
    for (; more && entry.th32ProcessID != wanted; more = Process32Next(snapshot, &entry))
        continue;
    if (!more)
        assert_int_equal(GetLastError(), ERROR_NO_MORE_FILES);
    assert_true(CloseHandle(snapshot));
    *ret = entry;
    return more;
}

static void *stay(void *barrier)
{
    pthread_barrier_wait(barrier);
    pthread_barrier_wait(barrier);
    return NULL;
}

static void c132_processes_and_threads(void **state)
{
    PROCESSENTRY32 entry;
    THREADENTRY32 thread = {.dwSize = sizeof thread};
    pthread_barrier_t barrier;
    pthread_t other;
    DWORD there = 0, listed = 0;
    assert_int_equal(pthread_barrier_init(&barrier, NULL, 2), 0);
    assert_int_equal(pthread_create(&other, NULL, stay, &barrier), 0);
    pthread_barrier_wait(&barrier);
    /* the data in an answer may be this old (300 ms); the new thread must be in it */
    usleep(300000);
    assert_true(is_process((DWORD)getpid(), &entry));
    HANDLE snapshot = CreateToolhelp32Snapshot(TH32CS_SNAPTHREAD, 0);
    assert_true(snapshot != INVALID_HANDLE_VALUE);
    assert_false(Process32First(snapshot, &entry)); /* the snapshot was taken without processes */
    assert_int_equal(GetLastError(), ERROR_NO_MORE_FILES);
    for (BOOL more = Thread32First(snapshot, &thread); more;
         more = Thread32Next(snapshot, &thread)) {
        char path[64];
        snprintf(path, sizeof path, "/proc/self/task/%u", (unsigned)thread.th32ThreadID);
        there += thread.th32OwnerProcessID == (DWORD)getpid();
        listed += thread.th32OwnerProcessID == (DWORD)getpid() && access(path, F_OK) == 0;
    }
    assert_true(is_process((DWORD)getpid(), &entry));
    pthread_barrier_wait(&barrier);
    pthread_join(other, NULL);
    pthread_barrier_destroy(&barrier);
    assert_true(CloseHandle(snapshot));
    assert_int_equal(entry.th32ParentProcessID, getppid());
    assert_true(entry.cntThreads >= 2 && entry.szExeFile[0]);
    assert_int_equal(there, entry.cntThreads);
    assert_int_equal(listed, there);
    assert_false(is_process(0x7ffffff0, &entry));
}

static void c132_all_of_proc(void **state)
{
    PROCESSENTRY32W entry = {.dwSize = sizeof entry};
    static bool seen[1 << 22];
    HANDLE snapshot = CreateToolhelp32Snapshot(TH32CS_SNAPALL & ~TH32CS_SNAPMODULE, 0);
    assert_true(snapshot != INVALID_HANDLE_VALUE);
    for (BOOL more = Process32FirstW(snapshot, &entry); more;
         more = Process32NextW(snapshot, &entry))
        if (entry.th32ProcessID < COUNT(seen))
            seen[entry.th32ProcessID] = true;
    assert_true(CloseHandle(snapshot));
    size_t missing = 0, count = 0;
    DIR *proc = opendir("/proc");
    for (const struct dirent *item; (item = readdir(proc));) {
        char path[64], line[512] = "";
        unsigned long number = strtoul(item->d_name, NULL, 10);
        snprintf(path, sizeof path, "/proc/%lu/stat", number);
        FILE *file = number ? fopen(path, "re") : NULL;
        const char *name = file && fgets(line, sizeof line, file) ? strrchr(line, ')') : NULL;
        unsigned long long started = 0;
        double up = 0;
        FILE *uptime = fopen("/proc/uptime", "re");
        assert_int_equal(fscanf(uptime, "%lf", &up), 1);
        fclose(uptime);
        if (name)
            sscanf(name,
                   ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d "
                   "%llu",
                   &started);
        if (file)
            fclose(file);
        if (!name || up - (double)started / (double)sysconf(_SC_CLK_TCK) < 30)
            /* the process has ended, or is younger than 30 s, so it may be missing in the
             * snapshot */
            continue;
        count++;
        missing += number < COUNT(seen) && !seen[number];
    }
    closedir(proc);
    assert_true(count > 0);
    assert_int_equal(missing, 0);
}

static void c132_priority_classes(void **state)
{
    static const struct {
        int nice;
        DWORD wanted;
    } cases[] = {
        {0,  NORMAL_PRIORITY_CLASS      },
        {5,  BELOW_NORMAL_PRIORITY_CLASS},
        {19, IDLE_PRIORITY_CLASS        }
    };
    if (getpriority(PRIO_PROCESS, 0) > 0) {
        report_skipped("this process has a low priority already");
        return;
    }
    for (size_t i = 0; i < COUNT(cases); i++) {
        pid_t child = fork();
        if (child == 0) {
            setpriority(PRIO_PROCESS, 0, cases[i].nice);
            pause();
        }
        while (getpriority(PRIO_PROCESS, (id_t)child) < cases[i].nice)
            usleep(1000);
        HANDLE process = OpenProcess(0, FALSE, (DWORD)child);
        DWORD now = GetPriorityClass(process);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        assert_int_equal(now, cases[i].wanted);
        assert_int_equal(GetPriorityClass(process), 0);
        assert_int_equal(GetLastError(), ERROR_INVALID_HANDLE);
        assert_true(CloseHandle(process));
    }
    assert_int_equal(GetPriorityClass(NULL), 0);
}

static void c132_modules(void **state)
{
    MODULEENTRY32 module = {.dwSize = sizeof module};
    char own[PATH_MAX] = "", libc[PATH_MAX] = "";
    static const char of_this_program;
    bool program = false;
    Dl_info loaded;
    assert_true(readlink("/proc/self/exe", own, sizeof own - 1) > 0);
    assert_int_not_equal(dladdr(&of_this_program, &loaded), 0);
    HANDLE snapshot = CreateToolhelp32Snapshot(TH32CS_SNAPMODULE, 0);
    assert_true(snapshot != INVALID_HANDLE_VALUE);
    for (BOOL more = Module32First(snapshot, &module); more;
         more = Module32Next(snapshot, &module)) {
        assert_int_equal(module.th32ProcessID, getpid());
        assert_true(module.modBaseSize >= 4096);
        assert_ptr_equal(module.hModule, module.modBaseAddr);
        if (!strcmp(module.szExePath, own)) {
            assert_ptr_equal(module.modBaseAddr, loaded.dli_fbase);
            program = true;
        }
        if (!strncmp(module.szModule, "libc.so", 7) || !strncmp(module.szModule, "libc-", 5))
            strcpy(libc, module.szExePath);
    }
    assert_int_equal(GetLastError(), ERROR_NO_MORE_FILES);
    assert_true(CloseHandle(snapshot));
    assert_true(program);
    assert_int_equal(access(libc, R_OK), 0);
    assert_true(CreateToolhelp32Snapshot(TH32CS_SNAPMODULE, 0x7ffffff0) == INVALID_HANDLE_VALUE);
    assert_int_equal(GetLastError(), ERROR_INVALID_PARAMETER);
    assert_true(CreateToolhelp32Snapshot(0, 0) == INVALID_HANDLE_VALUE);
    module.dwSize = 4;
    snapshot = CreateToolhelp32Snapshot(TH32CS_SNAPMODULE, 0);
    assert_false(Module32First(snapshot, &module));
    assert_int_equal(GetLastError(), ERROR_INSUFFICIENT_BUFFER);
    assert_false(Module32First(NULL, &module));
    assert_true(CloseHandle(snapshot));
    assert_false(Thread32First(INVALID_HANDLE_VALUE, NULL));
}

/* ---- the network ---- */

/* The number of `protocol` with this `name` in /proc/net/snmp. */
static DWORD kernel(const char *protocol, const char *name)
{
    static char names[4096], values[4096];
    char *rest, *other;
    DWORD found = OPL_STATISTIC_UNKNOWN;
    FILE *file = fopen("/proc/net/snmp", "re");
    size_t length = strlen(protocol);
    while (fgets(names, sizeof names, file) && fgets(values, sizeof values, file)) {
        if (strncmp(names, protocol, length) || names[length] != ':')
            continue;
        const char *value = strtok_r(values, " \n", &other);
        for (const char *word = strtok_r(names, " \n", &rest); word && value;
             word = strtok_r(NULL, " \n", &rest), value = strtok_r(NULL, " \n", &other))
            if (!strcmp(word, name))
                found = (DWORD)strtoull(value, NULL, 10);
    }
    fclose(file);
    return found;
}

static void c132_statistics_are_the_kernels(void **state)
{
    MIB_TCPSTATS tcp = {0};
    MIB_UDPSTATS udp = {0};
    MIB_IPSTATS ip = {0};
    MIB_ICMP icmp = {0};
    const struct {
        const char *protocol, *name;
        const DWORD *value;
    } rows[] = {
        {"Tcp",  "ActiveOpens",     &tcp.dwActiveOpens                     },
        {"Tcp",  "PassiveOpens",    &tcp.dwPassiveOpens                    },
        {"Tcp",  "AttemptFails",    &tcp.dwAttemptFails                    },
        {"Tcp",  "EstabResets",     &tcp.dwEstabResets                     },
        {"Tcp",  "InSegs",          &tcp.dwInSegs                          },
        {"Tcp",  "OutSegs",         &tcp.dwOutSegs                         },
        {"Tcp",  "RetransSegs",     &tcp.dwRetransSegs                     },
        {"Udp",  "InDatagrams",     &udp.dwInDatagrams                     },
        {"Udp",  "OutDatagrams",    &udp.dwOutDatagrams                    },
        {"Udp",  "NoPorts",         &udp.dwNoPorts                         },
        {"Udp",  "InErrors",        &udp.dwInErrors                        },
        {"Ip",   "InReceives",      &ip.dwInReceives                       },
        {"Ip",   "InDelivers",      &ip.dwInDelivers                       },
        {"Ip",   "OutRequests",     &ip.dwOutRequests                      },
        {"Ip",   "OutNoRoutes",     &ip.dwOutNoRoutes                      },
        {"Ip",   "FragCreates",     &ip.dwFragCreates                      },
        {"Icmp", "InMsgs",          &icmp.stats.icmpInStats.dwMsgs         },
        {"Icmp", "OutMsgs",         &icmp.stats.icmpOutStats.dwMsgs        },
        {"Icmp", "OutDestUnreachs", &icmp.stats.icmpOutStats.dwDestUnreachs},
        {"Icmp", "InEchoReps",      &icmp.stats.icmpInStats.dwEchoReps     },
    };
    DWORD before[COUNT(rows)];
    for (size_t i = 0; i < COUNT(rows); i++)
        before[i] = kernel(rows[i].protocol, rows[i].name);
    usleep(300000);
    assert_int_equal(GetTcpStatistics(&tcp), NO_ERROR);
    assert_int_equal(GetUdpStatistics(&udp), NO_ERROR);
    assert_int_equal(GetIpStatistics(&ip), NO_ERROR);
    assert_int_equal(GetIcmpStatistics(&icmp), NO_ERROR);
    for (size_t i = 0; i < COUNT(rows); i++) {
        DWORD after = kernel(rows[i].protocol, rows[i].name);
        if (*rows[i].value - before[i] > after - before[i])
            fail_msg("%s.%s: %u is not between %u and %u", rows[i].protocol, rows[i].name,
                     *rows[i].value, before[i], after);
    }
    /* the library has no counters for these two settings of the kernel, so the fields say
     * "unknown" */
    assert_int_equal(tcp.dwRtoAlgorithm, OPL_STATISTIC_UNKNOWN);
    assert_int_equal(ip.dwDefaultTTL, OPL_STATISTIC_UNKNOWN);
    assert_int_equal(GetTcpStatistics(NULL), ERROR_INVALID_PARAMETER);
}

static int begin(void **state)
{
    temp_make(root);
    return 0;
}

static int end(void **state)
{
    temp_remove(root);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(f_d7_types_and_constants_as_sources_use_them),
        cmocka_unit_test(f_d7_a_command_is_run),
        cmocka_unit_test(f_d7_the_version_is_that_of_the_behaviour),
        cmocka_unit_test(f_d5_c140_a_library_is_loaded_by_its_windows_name),
        cmocka_unit_test(f_d5_windows_own_libraries_are_this_one),
        cmocka_unit_test(f_d5_c144_a_thread_lowers_its_own_priority),
        cmocka_unit_test(f_d5_a_critical_section_excludes),
        cmocka_unit_test(f_d7_an_event_is_reset),
        cmocka_unit_test(f_d7_messages),
        cmocka_unit_test(c142_ini_files),
        cmocka_unit_test(c142_counters_ini_files),
        cmocka_unit_test(c132_processes_and_threads),
        cmocka_unit_test(c132_all_of_proc),
        cmocka_unit_test(c132_priority_classes),
        cmocka_unit_test(c132_modules),
        cmocka_unit_test(c132_statistics_are_the_kernels),
    };
    return cmocka_run_group_tests_name("api-shim-system", tests, begin, end);
}
