/* SPDX-License-Identifier: MIT */
/* The programs with which objects are compared, and how they are measured. */
#include "peers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PYTHON(code) "/usr/bin/python3 -c \"import psutil; " code "\""
#define PSUTIL_START PYTHON("")
#define PSUTIL_NAMES                                                                               \
    "'pid','ppid','name','cpu_times','memory_info','io_counters','num_fds','num_threads','nice',"  \
    "'create_time','num_ctx_switches'"
#define PSUTIL_SYSTEM                                                                              \
    "psutil.cpu_times(True),psutil.virtual_memory(),psutil.swap_memory(),psutil.cpu_stats(),"      \
    "psutil.disk_io_counters(True),psutil.net_io_counters(True)"

#define PCP_PROCESS                                                                                \
    "proc.psinfo.{utime,stime,ppid,minflt,maj_flt,priority,nice,threads,vsize,rss,start_time} "    \
    "proc.io.{rchar,wchar,syscr,syscw} proc.fd.count"
#define PCP_SYSTEM                                                                                 \
    "kernel.all.cpu.{user,nice,sys,idle,intr} kernel.percpu.cpu.{user,nice,sys,idle,intr} "        \
    "kernel.all.{load,intr,pswitch,nprocs} mem.util.{used,free,available,cached,bufmem,slab} "     \
    "mem.vmstat.{pgfault,pgmajfault,pgpgin,pgpgout} swap.{used,free} "                             \
    "disk.dev.{read,write,read_bytes,write_bytes,avactive,aveq} "                                  \
    "network.interface.{in,out}.{bytes,packets,errors,drops}"
#define PCP(host, times, metrics) "$PEERS/bin/pcp-fetch " host " " times " " metrics
#define PCP_SOCKET "unix:$PEERS/run/socket"

struct peer {
    const char *name;
    /* run by bash. start: a command that only starts the program, or does its work once */
    const char *command, *start;
    int times; /* how many times `command` does the work more often than `start`; 0: once */
    enum server server;
    const char *scrape; /* instead of a command: the path to request from the server */
};

/* clang-format off */
static const struct peer peers[] = {
    {.name = "ps, 12 fields", .start = "ps --version",
     .command = "ps -eo pid,ppid,comm,cputimes,vsz,rss,min_flt,maj_flt,nlwp,pri,lstart,sz"},
    {.name = "ps -eL", .command = "ps -eL", .start = "ps --version"},
    {.name = "top -bn1", .command = "top -bn1", .start = "top -v"},
    {.name = "psutil, 11 attributes", .start = PSUTIL_START,
     .command = PYTHON("[p.info for p in psutil.process_iter([" PSUTIL_NAMES "])]")},
    {.name = "pidstat -urd", .command = "pidstat -urd -p ALL", .start = "pidstat -V"},
    {.name = "PCP: pminfo -L proc.psinfo proc.io", .start = "$PEERS/bin/pminfo --version",
     .command = "$PEERS/bin/pminfo -L -f proc.psinfo proc.io"},
    {.name = "PCP: libpcp alone, 16 metrics", .times = 5,
     .command = PCP("local", "6", PCP_PROCESS), .start = PCP("local", "1", PCP_PROCESS)},
    {.name = "PCP: libpcp and pmcd, 16 metrics", .times = 5, .server = SERVER_PMCD,
     .command = PCP(PCP_SOCKET, "6", PCP_PROCESS), .start = PCP(PCP_SOCKET, "1", PCP_PROCESS)},
    {.name = "node_exporter, process totals", .times = 5, .server = SERVER_NODE_EXPORTER,
     .scrape = "/metrics?collect[]=processes"},
    {.name = "vmstat", .command = "vmstat", .start = "vmstat -V"},
    {.name = "psutil, 6 calls", .times = 10, .start = PSUTIL_START,
     .command = PYTHON("[(" PSUTIL_SYSTEM ") for i in range(10)]")},
    {.name = "PCP: libpcp alone, 40 metrics", .times = 100,
     .command = PCP("local", "101", PCP_SYSTEM), .start = PCP("local", "1", PCP_SYSTEM)},
    {.name = "PCP: libpcp and pmcd, 40 metrics", .times = 100, .server = SERVER_PMCD,
     .command = PCP(PCP_SOCKET, "101", PCP_SYSTEM), .start = PCP(PCP_SOCKET, "1", PCP_SYSTEM)},
    {.name = "node_exporter, 7 collectors", .times = 20, .server = SERVER_NODE_EXPORTER,
     .scrape = "/metrics?collect[]=cpu&collect[]=stat&collect[]=loadavg&collect[]=meminfo"
               "&collect[]=vmstat&collect[]=diskstats&collect[]=netdev"},
    {.name = "node_exporter, all its collectors", .times = 5, .server = SERVER_NODE_EXPORTER,
     .scrape = "/metrics"},
};
/* clang-format on */

/* Runs the command; returns whether it succeeded. */
static bool run_command(const char *command)
{
    int status = 1;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr))
            _exit(126);
        char line[2048];
        snprintf(line, sizeof line, "exec %s", command);
        execl("/bin/bash", "bash", "-c", line, (char *)NULL);
        _exit(127);
    }
    return waitpid(child, &status, 0) == child && status == 0;
}

static bool is_there(const struct peer *peer)
{
    if (!server_start(peer->server))
        return false;
    if (peer->scrape)
        return server_scrape(peer->scrape);
    return run_command(peer->start);
}

static double cost_us(const struct peer *peer, const char *command)
{
    double before = bench_children_us() + server_us(peer->server);
    run_command(command);
    return bench_children_us() + server_us(peer->server) - before;
}

/* Returns the server's CPU time for all requests. The client is part of this program and does not
 * use the text. */
static double scrapes_us(const struct peer *peer)
{
    double before = server_us(peer->server);
    for (int i = 0; i < peer->times; i++)
        if (!server_scrape(peer->scrape)) {
            fprintf(stderr, "bench: %s does not answer\n", peer->name);
            exit(1);
        }
    return server_us(peer->server) - before;
}

static double peer_us(const struct peer *peer, const struct variant *own, int rounds)
{
    double with[BENCH_ROUNDS], without[BENCH_ROUNDS];
    for (int i = 0; i < rounds; i++) {
        own->run();
        with[i] = peer->scrape ? scrapes_us(peer) : cost_us(peer, peer->command);
        without[i] = peer->scrape ? 0 : cost_us(peer, peer->start);
    }
    double us = bench_median(with, rounds) - bench_median(without, rounds);
    return peer->times ? us / peer->times : us;
}

void peer_compare(const char *name, const struct variant *own, int rounds)
{
    setenv("PEERS", BENCH_PEERS, 1);
    for (size_t i = 0; i < COUNT(peers); i++) {
        if (strcmp(peers[i].name, name) != 0)
            continue;
        if (!is_there(&peers[i])) {
            printf("  %-34s is not installed\n", name);
            return;
        }
        double us = peer_us(&peers[i], own, rounds);
        printf("  %-34s %12.1f us   %6.2f x %s\n", name, us, us / own->median, own->name);
        return;
    }
    fprintf(stderr, "bench: no program is named \"%s\"\n", name);
    exit(1);
}
