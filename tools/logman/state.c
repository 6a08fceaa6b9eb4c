/* SPDX-License-Identifier: MIT */
/* The state of a running set, for `logman query` and `logman stop`. */
#include "runner.h"

#include "../common/options.h"
#include "../view/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char *path_of(const char *name, bool user, const char *file)
{
    FREE_AUTO char *folder = set_path(user, name, PLACE_RUN);
    return folder ? text_format("%s/%s", folder, file) : NULL;
}

static bool lock_file(int fd, int command, struct flock *ret)
{
    *ret = (struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET};
    return fcntl(fd, command, ret) == 0;
}

/* Returns the process that holds the lock; 0: none. With fcntl, unlike flock, the kernel knows this
 * process, and the lock ends with it even if children have copies of the descriptor. */
pid_t state_holder(const char *name, bool user)
{
    struct flock lock;
    FREE_AUTO char *path = path_of(name, user, "lock");
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    bool known = fd >= 0 && lock_file(fd, F_GETLK, &lock);
    if (fd < 0 && errno == EACCES)
        return HOLDER_HIDDEN;
    if (fd >= 0)
        close(fd);
    return known && lock.l_type != F_UNLCK ? lock.l_pid : 0;
}

void state_remove(const char *name, bool user)
{
    FREE_AUTO char *path = path_of(name, user, "state");
    if (path)
        unlink(path);
}

int state_lock(struct runner *runner)
{
    const char *name = runner->set->name;
    struct flock lock;
    FREE_AUTO char *folder = set_path(runner->user, name, PLACE_RUN);
    FREE_AUTO char *path = path_of(name, runner->user, "lock");
    if (folder)
        file_make_folders(folder, 0755);
    runner->lock = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
    if (runner->lock >= 0 && lock_file(runner->lock, F_SETLK, &lock)) {
        /* a user who may read the file could also lock it, and then the set would never start */
        fchmod(runner->lock, 0600);
        runner->since = time(NULL);
        state_remove(name, runner->user);
        return 0;
    }
    if (runner->lock < 0)
        fprintf(stderr, "logman: %s: %s\n", path ? path : name, strerror(errno));
    else
        fprintf(stderr, "logman: %s runs already, pid %d\n", text_seen(name),
                (int)state_holder(name, runner->user));
    return EXIT_FAILED;
}

static void print_active(const struct active *active, FILE *out)
{
    if (active->file)
        fprintf(out, "file %s\n", active->file);
    if (*active->problem)
        fprintf(out, "problem %s\n", active->problem);
    for (size_t i = 0; i < active->count; i++)
        if (!active->sources[i].seen && *active->sources[i].reason)
            fprintf(out, "missing %s: %s\n", active->sources[i].path, active->sources[i].reason);
}

static void print_state(const struct runner *runner, FILE *out)
{
    const char *unit = getenv("SYSTEMD_EXEC_PID");
    unsigned long long samples = 0;
    for (size_t i = 0; i < runner->set->count; i++)
        samples += runner->active[i].samples;
    fprintf(out, "pid %d\nsince %lld\nunit %d\nsamples %llu\nlost %llu\nalerts %llu\n",
            (int)getpid(), (long long)runner->since, unit && atoi(unit) == (int)getpid(), samples,
            (unsigned long long)runner->lost, (unsigned long long)runner->alerts);
    if (runner->until)
        fprintf(out, "until %lld\n", (long long)runner->until);
    for (size_t i = 0; i < runner->set->count; i++)
        print_active(&runner->active[i], out);
}

void state_write(struct runner *runner, bool now)
{
    if (!now && run_clock() - runner->written < 1)
        return;
    runner->written = run_clock();
    FREE_AUTO char *path = path_of(runner->set->name, runner->user, "state");
    FREE_AUTO char *new = path ? text_format("%s.new", path) : NULL;
    FILE *out = new ? fopen(new, "we") : NULL;
    if (!out)
        return;
    print_state(runner, out);
    fchmod(fileno(out), 0644);
    if (fclose(out) == 0)
        rename(new, path);
}

char *state_read(const char *name, bool user)
{
    FREE_AUTO char *path = path_of(name, user, "state");
    char *text = NULL;
    size_t capacity = 0;
    FILE *file = path ? fopen(path, "re") : NULL;
    if (file && getdelim(&text, &capacity, 0, file) < 0) {
        free(text);
        text = NULL;
    }
    if (file)
        fclose(file);
    return text;
}
