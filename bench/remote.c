/* SPDX-License-Identifier: MIT */
/*
 * Other machines, simulated on loopback: the time to read a block by each transport, the number of
 * small queries that a server answers, and the cost of a thousand machines for a monitoring
 * program. All are measured in one run, so that ratios are right.
 */
#include "remote.h"

#include <pdh.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char help[] =
    "usage: bench-remote [PART...]\n\n"
    "parts (all, if none is named):\n"
    "  block     a block of 58 KB and one of 6 MB: local, by a socket, through a program as ssh\n"
    "            starts it, and over SMB if scripts/demo-samba can start a server\n"
    "  clients   small queries of 8 programs at once, by a socket and over SMB\n"
    "  crowd     a query of 1,000 machines with 8 objects each, by sockets\n"
    "  samba     the same with 100 machines over SMB, one smbd each (3 GB of memory)\n\n"
    "Run it in a release build: meson devenv -C build-bench bench/bench-remote\n";

enum { DATA_SIZE = 64 << 20, CLIENTS = 8, CLIENT_SECONDS = 2, SERVER_SECONDS = 5 };
char remote_folder[64];
static unsigned char data[DATA_SIZE];
static pid_t server;

/* ---- a server ---- */

static void set_text(const char *path, const char *name, const char *text)
{
    HKEY key;
    if (RegCreateKeyExA(HKEY_LOCAL_MACHINE, path, 0, NULL, 0, KEY_WRITE, NULL, &key, NULL) ||
        RegSetValueExA(key, name, 0, REG_SZ, (const BYTE *)text, (DWORD)strlen(text) + 1))
        exit(1);
    RegCloseKey(key);
}

void remote_list(const char *name, const char *url)
{
    set_text("SOFTWARE\\openperflib\\Remote\\Machines", name, url);
}

static void register_source(void)
{
    static const char path[] = "SYSTEM\\CurrentControlSet\\Services\\BenchSource\\Performance";
    DWORD inside = 0;
    HKEY key;
    set_text(path, "Library", BENCH_SOURCE);
    set_text(path, "Open", "source_open");
    set_text(path, "Collect", "source_collect");
    set_text(path, "Close", "source_close");
    set_text(path, "Object List", "22221 22222 22223");
    if (RegOpenKeyExA(HKEY_LOCAL_MACHINE, path, 0, KEY_WRITE, &key) ||
        RegSetValueExA(key, "Isolation", 0, REG_DWORD, (BYTE *)&inside, sizeof inside))
        exit(1);
    RegCloseKey(key);
}

/* Writes a program that is started in place of ssh and becomes the server. */
static void write_shell(void)
{
    char path[128];
    snprintf(path, sizeof path, "%s/shell", remote_folder);
    FILE *file = fopen(path, "w");
    if (!file)
        exit(1);
    fprintf(file, "#!/bin/sh\nexec '%s' --stdio\n", BENCH_WINREGD);
    fclose(file);
    chmod(path, 0755);
    set_text("SOFTWARE\\openperflib\\Remote", "Shell", path);
    set_text("SOFTWARE\\openperflib\\Remote", "Smb", BENCH_SMB);
}

static void server_start(void)
{
    char path[128], url[160];
    struct stat st;
    snprintf(path, sizeof path, "%s/socket", remote_folder);
    snprintf(url, sizeof url, "unix:%s", path);
    remote_list("SOCKET", url);
    server = fork();
    if (!server) {
        execl(BENCH_WINREGD, "openperflib-winregd", "--socket", path, (char *)NULL);
        _exit(1);
    }
    for (int i = 0; i < SERVER_SECONDS * 100 && stat(path, &st); i++)
        usleep(10000);
    usleep(100000);
}

static void server_stop(void)
{
    kill(server, SIGTERM);
    waitpid(server, NULL, 0);
}

static void end(int code)
{
    samba_stop();
    if (server > 0)
        server_stop();
    bench_root_remove();
    exit(code);
}

static HKEY connect_to(const char *name)
{
    HKEY key;
    LSTATUS status = RegConnectRegistryA(name, HKEY_PERFORMANCE_DATA, &key);
    if (status) {
        printf("bench: %s cannot be reached: %d\n", name, (int)status);
        end(1);
    }
    return key;
}

static DWORD run_query(HKEY key, const char *query)
{
    DWORD size = DATA_SIZE;
    LSTATUS status = RegQueryValueExA(key, query, NULL, NULL, data, &size);
    if (status) {
        printf("bench: the query %s failed with %d\n", query, (int)status);
        end(1);
    }
    return size;
}

/* ---- blocks ---- */

struct way {
    const char *name, *machine; /* machine NULL: this one */
    HKEY key;
    double times[BENCH_ROUNDS];
};

static double measure(struct way *ways, size_t count, const char *query, int rounds, double target)
{
    double here = 0;
    printf("\n%u bytes, wall time of a query:\n", (unsigned)run_query(ways[0].key, query));
    for (int round = -2; round < rounds; round++)
        for (size_t i = 0; i < count; i++) {
            double began = bench_wall_us();
            run_query(ways[i].key, query);
            if (round >= 0)
                ways[i].times[round] = bench_wall_us() - began;
        }
    for (size_t i = 0; i < count; i++) {
        double median = bench_median(ways[i].times, rounds);
        here = i ? here : median;
        printf("  %-28s %10.1f us  %6.2f x here\n", ways[i].name, median, median / here);
        if (i)
            bench_verdict("", median / 1000, target, "ms");
    }
    return here;
}

static void part_block(const char *samba)
{
    struct way ways[] = {
        {.name = "here"          },
        { .name = "socket",     .machine = "SOCKET"},
        { .name = "a program, as through ssh", .machine = "ssh://here"},
        { .name = "SMB, encrypted",        .machine = samba},
    };
    size_t count = samba ? 4 : 3;
    ways[0].key = HKEY_PERFORMANCE_DATA;
    for (size_t i = 1; i < count; i++)
        ways[i].key = connect_to(ways[i].machine);
    measure(ways, count, "22222", 101, 3);
    measure(ways, count, "22223", 11, 500);
    for (size_t i = 0; i < count; i++)
        RegCloseKey(ways[i].key);
}

/* ---- clients ---- */

static void be_a_client(const char *machine, int fd)
{
    HKEY key = connect_to(machine);
    run_query(key, "22221");
    double until = bench_wall_us() + CLIENT_SECONDS * 1e6;
    long count = 0;
    for (; bench_wall_us() < until; count++)
        run_query(key, "22221");
    if (write(fd, &count, sizeof count) != sizeof count)
        _exit(1);
    _exit(0);
}

static void print_load(void)
{
    double load;
    if (getloadavg(&load, 1) == 1)
        printf("  load %.1f\n", load);
}

static void measure_clients(const char *machine, const char *how)
{
    int ends[2];
    long all = 0, one;
    if (pipe(ends))
        end(1);
    fflush(NULL);
    for (int i = 0; i < CLIENTS; i++)
        if (!fork())
            be_a_client(machine, ends[1]);
    for (int i = 0; i < CLIENTS; i++)
        if (read(ends[0], &one, sizeof one) == sizeof one)
            all += one;
    while (waitpid(-1, NULL, WNOHANG) > 0)
        ;
    close(ends[0]);
    close(ends[1]);
    puts("");
    printf("%d programs %s, %ld queries of one instance in a second, with their servers on this "
           "machine\n",
           CLIENTS, how, all / CLIENT_SECONDS);
    print_load();
    bench_verdict("microseconds for each (5,000 a second)", CLIENT_SECONDS * 1e6 / (double)all, 200,
                  "us");
}

static void part_clients(const char *samba)
{
    measure_clients("SOCKET", "by a socket");
    if (samba)
        measure_clients(samba, "over SMB, encrypted");
}

/* ---- many machines ---- */

enum { OBJECTS = 8 };
static const struct {
    unsigned number;
    const char *path;
} candidates[] = {
    {2,   "System\\Processes"                     },
    {4,   "Memory\\Available Bytes"               },
    {238, "Processor(_Total)\\% Processor Time"   },
    {510, "Network Interface(lo)\\Bytes Total/sec"},
    {86,  "Cache\\Copy Reads/sec"                 },
    {260, "Objects\\Threads"                      },
    {638, "TCPv4\\Segments/sec"                   },
    {658, "UDPv4\\Datagrams/sec"                  },
    {546, "IPv4\\Datagrams/sec"                   },
    {700, "Paging File(_Total)\\% Usage"          },
    {236, "LogicalDisk(_Total)\\% Free Space"     },
    {234, "PhysicalDisk(_Total)\\Disk Reads/sec"  },
};

static const char *chosen[OBJECTS];

/* Chooses the first eight counters that this machine has, and writes the query for their
 * objects. */
static void choose(char *query, size_t capacity)
{
    PDH_HQUERY trial;
    PDH_HCOUNTER counter;
    size_t count = 0, used = 0;
    if (PdhOpenQueryA(NULL, 0, &trial))
        end(1);
    for (size_t i = 0; i < COUNT(candidates) && count < OBJECTS; i++) {
        char path[128];
        snprintf(path, sizeof path, "\\%s", candidates[i].path);
        if (PdhAddEnglishCounterA(trial, path, 0, &counter))
            continue;
        chosen[count++] = candidates[i].path;
        used += (size_t)snprintf(query + used, capacity - used, "%s%u", used ? " " : "",
                                 candidates[i].number);
    }
    PdhCloseQuery(trial);
    if (count < OBJECTS)
        end(1);
}

static double own_mb(void)
{
    char line[256];
    unsigned long kib = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "VmRSS: %lu", &kib) == 1)
            break;
    if (file)
        fclose(file);
    return (double)kib / 1024;
}

static size_t add_all(PDH_HQUERY query, PDH_HCOUNTER *counters, int machines,
                      void (*name)(int number, char *ret, size_t capacity))
{
    size_t count = 0;
    for (int i = 0; i < machines; i++) {
        char path[256], machine[64];
        name(i, machine, sizeof machine);
        for (int k = 0; k < OBJECTS; k++) {
            snprintf(path, sizeof path, "\\\\%s\\%s", machine, chosen[k]);
            if (!PdhAddEnglishCounterA(query, path, 0, &counters[count]))
                count++;
            else if (k == 0)
                break;
        }
    }
    return count;
}

static size_t cook(const PDH_HCOUNTER *counters, size_t count)
{
    size_t good = 0;
    PDH_FMT_COUNTERVALUE value;
    for (size_t i = 0; i < count; i++)
        good += !PdhGetFormattedCounterValue(counters[i], PDH_FMT_DOUBLE, NULL, &value);
    return good;
}

/* Measures many machines. CPU time and memory include those of the openperflib-smb programs that
 * this process started. */
static void measure_crowd(int machines, int stand_for,
                          void (*name)(int number, char *ret, size_t capacity))
{
    enum { ROUNDS = 11, PERIOD_SECONDS = 15 };
    PDH_HCOUNTER *counters = calloc((size_t)machines * OBJECTS, sizeof *counters);
    double cpu[ROUNDS], wall[ROUNDS], others, others_before, mb, before_mb = own_mb();
    PDH_HQUERY query = NULL;
    size_t good = 0;
    if (!counters || PdhOpenQueryA(NULL, 0, &query))
        end(1);
    double began = bench_wall_us(), began_cpu = bench_own_us();
    size_t count = add_all(query, counters, machines, name);
    printf("  %zu counters added in %.2f s, %.2f s of CPU\n", count,
           (bench_wall_us() - began) / 1e6, (bench_own_us() - began_cpu) / 1e6);
    PdhCollectQueryData(query);
    samba_clients(&others_before, &mb);
    for (int round = 0; round < ROUNDS; round++) {
        usleep(100000);
        cpu[round] = bench_own_us();
        wall[round] = bench_wall_us();
        PdhCollectQueryData(query);
        wall[round] = bench_wall_us() - wall[round];
        good = cook(counters, count);
        cpu[round] = bench_own_us() - cpu[round];
    }
    samba_clients(&others, &mb);
    double median = bench_median(cpu, ROUNDS) + (others - others_before) / ROUNDS;
    double times = (double)stand_for / machines;
    printf("  %zu good values; a collection takes %.1f ms, of CPU %.1f ms with the values made\n",
           good, bench_median(wall, ROUNDS) / 1000, median / 1000);
    bench_verdict("every 15 seconds, of one core", times * median / (PERIOD_SECONDS * 1e4), 60,
                  "%");
    bench_verdict("memory", times * (own_mb() - before_mb + mb), 500, "MB");
    PdhCloseQuery(query);
    free(counters);
}

static void name_of_crowd(int number, char *ret, size_t capacity)
{
    snprintf(ret, capacity, "M%d", number);
}

static void part_crowd(void)
{
    char objects[128];
    puts("\n1,000 machines of 8 objects, by sockets:");
    choose(objects, sizeof objects);
    pid_t crowd = crowd_start(1000, objects);
    measure_crowd(1000, 1000, name_of_crowd);
    crowd_stop(crowd);
}

static void name_of_samba(int number, char *ret, size_t capacity)
{
    snprintf(ret, capacity, "%s", samba_name(number));
}

static void part_samba(void)
{
    char objects[128];
    int count = samba_start(SAMBA_MOST);
    if (!count)
        return;
    printf("\n100 machines of 8 objects, over SMB, measured with %d of an smbd each:\n", count);
    choose(objects, sizeof objects);
    measure_crowd(count, SAMBA_MOST, name_of_samba);
    print_load();
}

/* ---- selection ---- */

static bool wanted(int argc, char **argv, const char *part)
{
    for (int i = 1; i < argc; i++)
        if (!strcmp(argv[i], part))
            return true;
    return argc == 1;
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (!strcmp(argv[i], "--help") || argv[i][0] == '-') {
            fputs(help, argv[i][2] == 'h' ? stdout : stderr);
            return argv[i][2] == 'h' ? 0 : 2;
        }
    bench_root_make();
    snprintf(remote_folder, sizeof remote_folder, "%s", getenv("OPENPERFLIB_ROOT"));
    chmod(remote_folder, 0755);
    register_source();
    write_shell();
    server_start();
    bool smb = wanted(argc, argv, "block") || wanted(argc, argv, "clients");
    const char *samba = smb && samba_start(1) ? samba_name(0) : NULL;
    if (wanted(argc, argv, "block"))
        part_block(samba);
    if (wanted(argc, argv, "clients"))
        part_clients(samba);
    if (wanted(argc, argv, "crowd"))
        part_crowd();
    if (wanted(argc, argv, "samba"))
        part_samba();
    end(0);
}
