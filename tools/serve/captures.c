/* SPDX-License-Identifier: MIT */
/*
 * The captures that viewers upload. Each is a file without a name, which a separate process
 * (reader.c) reads for each request. That process writes its answer to a file without a name, too,
 * so killing it does not affect the server.
 */
#include "serve.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* JOB_SECONDS: the message below names this time. IDLE_SECONDS: a capture that no request has read
 * for this time may be dropped for a new one */
enum { FILES_MOST = 16, JOBS_MOST = 4, JOB_SECONDS = 30, IDLE_SECONDS = 3600 };

struct capture {
    char id[CAPTURE_ID_SIZE + 1]; /* random, so that only viewers who got it can read the capture */
    char name[128];
    int file;
    double used;
};
struct job {
    struct captures *captures;
    /* the connection that waits for the job; NULL: it is gone, or the job has ended */
    struct connection *connection;
    pid_t process; /* 0: ended */
    int process_file, answer, problem;
    int state; /* as by waitpid */
    double begun;
    bool overdue;
};
struct captures {
    struct capture files[FILES_MOST];
    struct job *jobs[JOBS_MOST]; /* jobs whose process runs */
};

struct captures *captures_new(void)
{
    struct captures *captures = calloc(1, sizeof *captures);
    for (size_t i = 0; captures && i < FILES_MOST; i++)
        captures->files[i].file = -1;
    return captures;
}

void captures_wait(const struct captures *captures, struct waits *waits)
{
    for (size_t i = 0; i < JOBS_MOST; i++)
        if (captures->jobs[i])
            waits_add(waits, captures->jobs[i]->process_file, 1000); /* for JOB_SECONDS */
}

/* ---- files ---- */

int captures_file(void)
{
    const char *folders[] = {secure_getenv("TMPDIR"), "/var/tmp", "/tmp"};
    int file = -1;
    for (size_t i = 0; file < 0 && i < sizeof folders / sizeof *folders; i++)
        if (folders[i] && *folders[i])
            file = open(folders[i], O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    return file;
}

static void forget(struct capture *capture)
{
    close(capture->file);
    *capture = (struct capture){.file = -1};
}

const char *captures_add(struct captures *captures, int file, const char *name)
{
    unsigned char bytes[CAPTURE_ID_SIZE / 2];
    struct capture *place = NULL;
    for (size_t i = 0; i < FILES_MOST; i++) {
        struct capture *capture = &captures->files[i];
        if (capture->file >= 0 && model_now() - capture->used > IDLE_SECONDS)
            forget(capture);
        if (capture->file < 0)
            place = capture;
    }
    if (!place || getrandom(bytes, sizeof bytes, 0) != sizeof bytes ||
        (place->file = fcntl(file, F_DUPFD_CLOEXEC, 0)) < 0)
        return NULL;
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(place->id + 2 * i, 3, "%02x", bytes[i]);
    snprintf(place->name, sizeof place->name, "%s", name ? name : "");
    place->used = model_now();
    return place->id;
}

static struct capture *find(struct captures *captures, const char *id)
{
    for (size_t i = 0; id && i < FILES_MOST; i++)
        if (captures->files[i].file >= 0 && !strcmp(captures->files[i].id, id))
            return &captures->files[i];
    return NULL;
}

const char *captures_name(struct captures *captures, const char *id)
{
    const struct capture *capture = find(captures, id);
    return capture ? capture->name : NULL;
}

void captures_remove(struct captures *captures, const char *id)
{
    forget(find(captures, id));
}

/* ---- jobs ---- */

/* Starts this program again as a reader, with these files as its descriptors 0 to 3. The files have
 * higher numbers, because the server's sockets and its other files that stay open were opened
 * before, so that no copy replaces a file. */
static pid_t start(const int files[4], char **arguments)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none;
    pid_t process = 0;
    sigemptyset(&none);
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    for (int i = 0; i < 4; i++)
        posix_spawn_file_actions_adddup2(&actions, files[i], i);
    if (posix_spawn(&process, "/proc/self/exe", &actions, &attributes, arguments, environ))
        process = 0;
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return process;
}

static bool run_job(struct job *job, int file, const char *list, char **arguments)
{
    int paths = memfd_create("paths", MFD_CLOEXEC);
    job->answer = captures_file();
    job->problem = memfd_create("problem", MFD_CLOEXEC);
    size_t size = strlen(list);
    if (paths >= 0 && job->answer >= 0 && job->problem >= 0 &&
        pwrite(paths, list, size, 0) == (ssize_t)size)
        job->process = start((const int[4]){file, job->answer, job->problem, paths}, arguments);
    if (paths >= 0)
        close(paths);
    job->process_file = job->process ? (int)syscall(SYS_pidfd_open, job->process, 0) : -1;
    return job->process_file >= 0;
}

struct job *captures_start(struct captures *captures, const struct request *request, int file,
                           const char *what, enum http_status *ret_status)
{
    const char *given[] = {request_word(request, "begin"), request_word(request, "end"),
                           request_word(request, "points")};
    char *arguments[7] = {(char *)"openperflib-serve", (char *)READER_OPTION, (char *)what};
    struct capture *capture = file < 0 ? find(captures, request_word(request, "capture")) : NULL;
    size_t place = 0;
    while (place < JOBS_MOST && captures->jobs[place])
        place++;
    if (capture) {
        capture->used = model_now();
        file = capture->file;
    }
    *ret_status = file < 0 ? HTTP_MISSING : HTTP_BUSY;
    struct job *job = file >= 0 && place < JOBS_MOST ? calloc(1, sizeof *job) : NULL;
    if (!job)
        return NULL;
    for (size_t i = 0; i < 3; i++)
        arguments[3 + i] = (char *)(given[i] ? given[i] : "0");
    *job = (struct job){.captures = captures,
                        .connection = request->connection,
                        .process_file = -1,
                        .answer = -1,
                        .problem = -1,
                        .begun = model_now()};
    if (!run_job(job, file, request->body, arguments)) {
        captures_end(job);
        return NULL;
    }
    captures->jobs[place] = job;
    return job;
}

static void close_file(int file)
{
    if (file >= 0)
        close(file);
}

static void stop(struct job *job)
{
    if (job->process) {
        kill(job->process, SIGKILL);
        waitpid(job->process, &job->state, 0);
    }
    job->process = 0;
    close_file(job->process_file);
    job->process_file = -1;
    for (size_t i = 0; i < JOBS_MOST; i++)
        if (job->captures->jobs[i] == job)
            job->captures->jobs[i] = NULL;
}

void captures_end(struct job *job)
{
    stop(job);
    close_file(job->answer);
    close_file(job->problem);
    free(job);
}

void captures_run(struct captures *captures)
{
    for (size_t i = 0; i < JOBS_MOST; i++) {
        struct job *job = captures->jobs[i];
        if (!job)
            continue;
        if (waitpid(job->process, &job->state, WNOHANG))
            job->process = 0;
        job->overdue = job->process && model_now() - job->begun > JOB_SECONDS;
        if (job->process && !job->overdue)
            continue;
        stop(job);
        http_resume(job->connection);
    }
}

/* Writes why the process gave no answer. */
static void write_problem(const struct job *job, FILE *out)
{
    char text[4096] = "";
    if (job->overdue)
        fputs("Reading this capture takes longer than 30 seconds, so it was ended.\n", out);
    else if (WIFSIGNALED(job->state))
        fputs("Reading this capture needs more time or memory than is allowed, or damage in the "
              "capture ended the reading process; \"relog FILE\" may say more.\n",
              out);
    else if (pread(job->problem, text, sizeof text - 1, 0) > 0)
        fputs(text, out);
    else
        fputs("This capture cannot be read, and no reason is known: \"relog FILE\" may say more.\n",
              out);
}

void captures_answer(struct job *job, struct reply *reply)
{
    struct stat about;
    bool good = !job->overdue && WIFEXITED(job->state) &&
                WEXITSTATUS(job->state) != READER_NOTHING && fstat(job->answer, &about) == 0 &&
                about.st_size > 0;
    if (good) {
        reply->file = job->answer;
        reply->file_size = (uint64_t)about.st_size;
        job->answer = -1;
        return;
    }
    reply->status = HTTP_UNREADABLE;
    reply->type = "text/plain; charset=utf-8";
    write_problem(job, reply->out);
}

void captures_free(struct captures *captures)
{
    if (!captures)
        return;
    for (size_t i = 0; i < FILES_MOST; i++)
        close_file(captures->files[i].file);
    free(captures);
}
