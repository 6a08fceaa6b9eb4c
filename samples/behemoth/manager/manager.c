/* SPDX-License-Identifier: MIT */
/* behemoth-manager: starts, stops, watches and changes the herd, and shows it as its server knows
 * it. */
#include "../common/exchange.h"
#include "../common/program.h"
#include "../common/text.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* exit codes in addition to those of every tool; EXIT_MISSING: no such behemoth or parameter */
enum { EXIT_NO_SERVER = 4, EXIT_NO_RIGHT = 5 };
enum { ANSWER_MS = 10000, FORWARD_MS = 3600 * 1000 };
enum { RECHECK_MS = 20, STOP_MS = 30000, FORWARD_MOST = 100000, PARAMETERS_MOST = 32 };

static struct manager {
    struct options options;
    const char *socket; /* --socket; NULL: the usual place */
    char place[108];    /* the path of the socket that is used */
    struct behemoth_line line;
    bool json, reverse;
    const char *sort;
    /* sex, age, place and mother of the behemoth to create; x and y: -1 if not given */
    const char *sex, *mother;
    int64_t age, x, y;
    double interval;
    int64_t seconds; /* how long to watch; 0: for ever */
    bool for_server; /* there were options for the server, which `start` passes on */
    const char **args;
    size_t arg_count;
    struct text_style style;
} manager = {.x = -1, .y = -1, .interval = 0.5};

/* ---- the connection ---- */

/* Prints a message for errno; returns the exit code. */
static int complain(void)
{
    int reason = errno, code = EXIT_NO_SERVER;
    const char *text = "the server does not answer";
    if (reason == ENOENT || reason == ECONNREFUSED) {
        text = "no server listens; 'behemoth-manager start' starts one, and --socket or "
               "BEHEMOTH_SOCKET names another place";
    } else if (reason == EACCES) {
        text = "access is denied, or its server runs as another user than you, root or behemoth";
        code = EXIT_NO_RIGHT;
    } else if (reason == EPROTO || reason == ECONNRESET || reason == EPIPE) {
        text = "the server closed the connection, or is not a behemoth-server";
    } else if (reason != ETIMEDOUT && reason != EAGAIN) {
        text = strerror(reason);
        code = EXIT_FAILED;
    }
    fprintf(stderr, "behemoth-manager: %s: %s.\n", manager.place, text);
    return code;
}

/* Sends a request, reports errors, returns the exit code; 0: manager.line has the answer. */
static int request(uint32_t what, const void *body, uint32_t bytes)
{
    static const char *const refusals[] = {
        [BEHEMOTH_BAD] = "the server does not know this request",
        [BEHEMOTH_REFUSED] = "only root and the server's own user may do this",
        [BEHEMOTH_UNKNOWN] = "there is no such behemoth or parameter",
        [BEHEMOTH_FULL] = "the field is full: see --capacity of behemoth-server",
        [BEHEMOTH_TAKEN] = "another behemoth has this name",
        [BEHEMOTH_FAILED] = "the server failed; SOCKET.log has the reason",
        [BEHEMOTH_NAME_BAD] =
            "a name has ASCII characters except \\ / ( ) # *, which have a meaning "
            "in the path of a counter",
        [BEHEMOTH_NO_MOTHER] = "the mother must be female",
        [BEHEMOTH_YOUNGER] = "the mother is younger than the child would be",
    };
    int64_t until = behemoth_now() + (what == BEHEMOTH_FORWARD ? FORWARD_MS : ANSWER_MS);
    bool good = behemoth_exchange(&manager.line, manager.place, what, body, bytes, until);
    uint32_t status = manager.line.head.what;
    if (good && status > BEHEMOTH_YOUNGER)
        errno = EPROTO;
    if (!good || status > BEHEMOTH_YOUNGER)
        return complain();
    if (status == BEHEMOTH_OK)
        return EXIT_GOOD;
    warnx("%s", refusals[status]);
    return status == BEHEMOTH_REFUSED    ? EXIT_NO_RIGHT
           : status == BEHEMOTH_UNKNOWN  ? EXIT_MISSING
           : status == BEHEMOTH_NAME_BAD ? EXIT_USAGE
                                         : EXIT_FAILED;
}

/* Requests BEHEMOTH_HERD or BEHEMOTH_SUMMARY; the result is valid until the next request. NULL:
 * errno is the reason. */
static const struct behemoth_herd *look(uint32_t what)
{
    if (!behemoth_exchange(&manager.line, manager.place, what, NULL, 0, behemoth_now() + ANSWER_MS))
        return NULL;
    errno = EPROTO; /* if the answer is invalid */
    return behemoth_herd_of(&manager.line);
}

static void print_title(const char *title)
{
    printf("%s%s%s\n", manager.style.colours ? STRONG : "", title,
           manager.style.colours ? PLAIN : "");
}

static const char *sex_word(uint32_t sex)
{
    return sex == BEHEMOTH_FEMALE ? "female" : "male";
}

/* A behemoth by number, or by name in any case. NULL, after a message: no behemoth matches, or
 * several do. */
static const struct behemoth *find(const struct behemoth_herd *herd, const char *word)
{
    const struct behemoth *found = NULL;
    uint32_t counts[2] = {0}; /* [1]: `word` is the number or name; [0]: the name begins with it */
    char *lists[2];
    size_t size;
    FILE *out[2] = {open_memstream(&lists[0], &size), open_memstream(&lists[1], &size)};
    int64_t id = 0; /* no behemoth has this number */
    if (!out[0] || !out[1])
        return NULL;
    options_number(word, 1, INT64_MAX, &id);
    for (uint32_t i = 0; i < herd->count; i++) {
        const struct behemoth *is = &behemoth_all(herd)[i];
        bool whole = is->id == (uint64_t)id || strcasecmp(is->name, word) == 0;
        if (whole || strncasecmp(is->name, word, strlen(word)) == 0)
            fprintf(out[whole], "%s %s (%" PRIu64 ")", counts[whole]++ > 0 ? "," : "", is->name,
                    is->id);
        found = whole ? is : found;
    }
    fclose(out[0]);
    fclose(out[1]);
    if (counts[1] > 1)
        warnx("%u behemoths have the name '%s'; give a number:%s.", counts[1], word, lists[1]);
    if (counts[1] == 0)
        warnx("no living behemoth has the name or number '%s'; names that begin with it:%s.", word,
              counts[0] > 0 ? lists[0] : " none");
    free(lists[0]);
    free(lists[1]);
    return counts[1] == 1 ? found : NULL;
}

/* ---- status and list ---- */

static json_t *summary_json(const struct behemoth_herd *herd)
{
    return json_pack("{s:s,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I}", "socket",
                     manager.place, "process", herd->process, "moment", herd->moment, "time",
                     herd->time, "ticks", herd->ticks, "count", (json_int_t)herd->count, "founded",
                     herd->founded, "births", herd->births, "deaths", herd->deaths, "weight",
                     herd->weight, "ages", herd->ages, "left_steps", herd->left_steps,
                     "right_steps", herd->right_steps, "width", (json_int_t)herd->width, "height",
                     (json_int_t)herd->height, "lifetime", herd->lifetime);
}

static int print_json(json_t *json)
{
    bool good = json && json_dumpf(json, stdout, JSON_INDENT(1)) == 0;
    putchar('\n');
    json_decref(json);
    return good ? EXIT_GOOD : EXIT_FAILED;
}

static int command_status(void)
{
    const struct behemoth_herd *herd = look(BEHEMOTH_HERD);
    unsigned females = 0;
    if (!herd)
        return complain();
    if (manager.json)
        return print_json(summary_json(herd));
    for (uint32_t i = 0; i < herd->count; i++)
        females += behemoth_all(herd)[i].sex == BEHEMOTH_FEMALE;
    printf("Server      process %" PRIu64 ", at %s\n"
           "Herd time   %s UTC, %s since it began\n"
           "Behemoths   %u: %u female, %u male\n"
           "Life        %" PRIu64 " came, %" PRIu64 " were born, %" PRIu64 " died\n"
           "Mean age    %s of %s\n"
           "Weight      %.1f t together\n"
           "Field       %u x %u m\n",
           herd->process, manager.place, time_text((uint64_t)herd->time),
           age_text((double)herd->ticks), (unsigned)herd->count, females, herd->count - females,
           herd->founded, herd->births, herd->deaths,
           age_text(herd->count > 0 ? (double)(herd->ages / herd->count) : 0),
           age_text((double)herd->lifetime), (double)herd->weight / 1000, (unsigned)herd->width,
           (unsigned)herd->height);
    return EXIT_GOOD;
}

/* The columns to sort by: offset and size of a number; size 0: the name, which is a text. */
static const struct column {
    const char *name;
    size_t offset, bytes;
} columns[] = {
    {"id",         offsetof(struct behemoth, id),         8},
    {"name",       offsetof(struct behemoth, name),       0},
    {"sex",        offsetof(struct behemoth, sex),        4},
    {"age",        offsetof(struct behemoth, birthday),   8},
    {"x",          offsetof(struct behemoth, x),          4},
    {"y",          offsetof(struct behemoth, y),          4},
    {"weight",     offsetof(struct behemoth, weight),     4},
    {"volume",     offsetof(struct behemoth, volume),     4},
    {"generation", offsetof(struct behemoth, generation), 4},
    {"children",   offsetof(struct behemoth, children),   4},
    {"mother",     offsetof(struct behemoth, mother),     8},
};
static const struct column *sorted_by; /* qsort passes no context */

static uint64_t key_of(const struct behemoth *is)
{
    const void *at = (const char *)is + sorted_by->offset;
    return sorted_by->bytes == 4 ? *(const uint32_t *)at : *(const uint64_t *)at;
}

static int compare(const void *left, const void *right)
{
    const struct behemoth *a = *(const struct behemoth *const *)left;
    const struct behemoth *b = *(const struct behemoth *const *)right;
    uint64_t one = key_of(a), other = key_of(b);
    int order =
        sorted_by->bytes == 0 ? strcasecmp(a->name, b->name) : (one > other) - (one < other);
    if (strcmp(sorted_by->name, "age") == 0) /* the oldest behemoth was born first */
        order = -order;
    order = order ? order : (a->id > b->id) - (a->id < b->id);
    return manager.reverse ? -order : order;
}

static int command_list(void)
{
    sorted_by = manager.sort ? NULL : &columns[0];
    for (size_t i = 0; manager.sort && i < sizeof columns / sizeof *columns; i++)
        sorted_by = strcasecmp(manager.sort, columns[i].name) == 0 ? &columns[i] : sorted_by;
    if (!sorted_by)
        return options_complain(&manager.options, "unknown column '%s'", manager.sort);
    const struct behemoth_herd *herd = look(BEHEMOTH_HERD);
    if (!herd)
        return complain();
    size_t count = manager.arg_count > 0 ? manager.arg_count : herd->count;
    const struct behemoth **rows = calloc(count + 1, sizeof *rows);
    for (size_t i = 0; i < count; i++) {
        rows[i] = manager.arg_count > 0 ? find(herd, manager.args[i]) : &behemoth_all(herd)[i];
        if (!rows[i]) {
            free(rows);
            return EXIT_MISSING;
        }
    }
    qsort(rows, count, sizeof *rows, compare);
    json_t *json = manager.json ? summary_json(herd) : NULL, *array = json_array();
    if (!json)
        print_title("      ID  NAME            SEX          AGE      X      Y     KG LITRES  GEN "
                    "BIRTHS  MOTHER");
    for (size_t i = 0; i < count; i++) {
        const struct behemoth *is = rows[i], *mother = NULL;
        json_int_t age = (herd->time - is->birthday) / BEHEMOTH_SECOND;
        if (is->mother_position != BEHEMOTH_NONE)
            mother = &behemoth_all(herd)[is->mother_position];
        if (json)
            json_array_append_new(
                array,
                json_pack("{s:I,s:s,s:s,s:I,s:I,s:i,s:i,s:i,s:i,s:I,s:I,s:s?}", "id", is->id,
                          "name", is->name, "sex", sex_word(is->sex), "age", age, "birthday",
                          is->birthday, "x", is->x, "y", is->y, "weight", is->weight, "volume",
                          is->volume, "generation", (json_int_t)is->generation, "children",
                          (json_int_t)is->children, "mother", mother ? mother->name : NULL));
        else
            printf("%8" PRIu64 "  %-15s %-6s %9s %6u %6u %6u %6u %4u %6u  %s\n", is->id, is->name,
                   sex_word(is->sex), age_text((double)age), is->x, is->y, is->weight, is->volume,
                   is->generation, is->children, mother ? mother->name : "-");
    }
    free(rows);
    json_object_set_new(json, "behemoths", array);
    return json ? print_json(json) : EXIT_GOOD;
}

/* ---- create, kill ---- */

/* Creates a behemoth. Mistakes for which the server's status would have no details are found here,
 * before the request is sent. */
static int command_create(void)
{
    const char *sex = manager.sex ? manager.sex : "";
    bool female = strcmp(sex, "female") == 0, male = strcmp(sex, "male") == 0;
    struct behemoth_create wanted = {.sex = female ? BEHEMOTH_FEMALE
                                            : male ? BEHEMOTH_MALE
                                                   : BEHEMOTH_NONE,
                                     .age = (uint32_t)manager.age,
                                     .x = (uint32_t)manager.x, /* -1 becomes BEHEMOTH_NONE */
                                     .y = (uint32_t)manager.y};
    const char *name = manager.arg_count > 0 ? manager.args[0] : "";
    if (*sex && !female && !male)
        return options_complain(&manager.options, "--sex must be male or female");
    if (strlen(name) >= BEHEMOTH_NAME)
        return options_complain(&manager.options, "a name has at most 23 characters");
    strcpy(wanted.name, name);
    const struct behemoth_herd *herd = look(BEHEMOTH_HERD);
    if (!herd)
        return complain();
    const struct behemoth *mother = manager.mother ? find(herd, manager.mother) : NULL;
    if (manager.mother && !mother)
        return EXIT_MISSING;
    wanted.mother = mother ? mother->id : 0;
    if (manager.x >= herd->width || manager.y >= herd->height) {
        warnx("-x or -y is outside the field of %u x %u metres", herd->width, herd->height);
        return EXIT_FAILED;
    }
    int code = request(BEHEMOTH_CREATE, &wanted, sizeof wanted);
    const struct behemoth *born = (const void *)manager.line.body;
    if (code || manager.line.head.bytes != sizeof *born)
        return code ? code : EXIT_FAILED;
    printf("created %.*s (%" PRIu64 "), %s, %u kg\n", BEHEMOTH_NAME - 1, born->name, born->id,
           sex_word(born->sex), (unsigned)born->weight);
    return EXIT_GOOD;
}

/* Kills each named behemoth, even after an unknown name. Returns the exit code of the first
 * error. */
static int command_kill(void)
{
    int ret = EXIT_GOOD;
    if (manager.arg_count == 0)
        return options_complain(&manager.options, "BEHEMOTH is missing: a name or a number");
    for (size_t i = 0; i < manager.arg_count; i++) {
        const struct behemoth_herd *herd = look(BEHEMOTH_HERD);
        if (!herd)
            return complain();
        const struct behemoth *one = find(herd, manager.args[i]);
        struct behemoth dead = one ? *one : (struct behemoth){0};
        int code = one ? request(BEHEMOTH_KILL, &dead.id, sizeof dead.id) : EXIT_MISSING;
        if (!code)
            printf("killed %s (%" PRIu64 ")\n", dead.name, dead.id);
        ret = ret ? ret : code;
        if (code == EXIT_NO_SERVER || code == EXIT_NO_RIGHT)
            break;
    }
    return ret;
}

/* ---- parameters, time, disk ---- */

/* Parses "NAME" or "NAME=VALUE"; *ret is the parameter with the given value, or with its present
 * value. */
static int read_parameter(const struct behemoth_parameter *all, size_t count, const char *word,
                          struct behemoth_parameter *ret)
{
    size_t length = strcspn(word, "="), i = 0;
    while (i < count && (strncmp(all[i].name, word, length) != 0 || all[i].name[length]))
        i++;
    if (i == count) {
        fprintf(stderr, "behemoth-manager: unknown parameter '%s'; the parameters are", word);
        for (i = 0; i < count; i++)
            fprintf(stderr, "%s %s", i ? "," : "", all[i].name);
        fputs(".\n", stderr);
        return EXIT_MISSING;
    }
    *ret = all[i];
    if (!word[length] || options_number(word + length + 1, ret->least, ret->most, &ret->value))
        return EXIT_GOOD;
    warnx("%s needs a number from %" PRId64 " to %" PRId64 ", not %s", ret->name, ret->least,
          ret->most, word + length + 1);
    return EXIT_USAGE;
}

/* Sets the parameters that have a value, or none of them if one is invalid. Then shows the named
 * parameters, or all. */
static int command_parameters(void)
{
    struct behemoth_parameter all[PARAMETERS_MOST] = {0}, wanted[PARAMETERS_MOST], *one;
    int code = request(BEHEMOTH_PARAMETERS, NULL, 0);
    size_t count = manager.line.head.bytes / sizeof *all, args = manager.arg_count;
    json_t *json = NULL;
    if (code)
        return code;
    if (args > PARAMETERS_MOST || count > PARAMETERS_MOST)
        return options_complain(&manager.options, "too many parameters");
    memcpy(all, manager.line.body, count * sizeof *all);
    for (size_t i = 0; i < count; i++)
        all[i].name[BEHEMOTH_NAME - 1] = 0;
    for (size_t i = 0; i < args && !code; i++)
        code = read_parameter(all, count, manager.args[i], &wanted[i]);
    for (size_t i = 0; i < args && !code; i++) {
        if (strchr(manager.args[i], '='))
            code = request(BEHEMOTH_SET, &wanted[i], sizeof *wanted);
    }
    if (code)
        return code;
    if (manager.json)
        json = json_object();
    else
        print_title("NAME            VALUE  LEAST       MOST  MEANING");
    count = args > 0 ? args : count;
    for (one = args > 0 ? wanted : all; count > 0; one++, count--) {
        const struct option_row *row = behemoth_server_rows;
        while (row->name && strcmp(row->name, one->name) != 0)
            row++;
        json_object_set_new(json, one->name,
                            json_pack("{s:I,s:I,s:I}", "value", one->value, "least", one->least,
                                      "most", one->most));
        if (!json)
            printf("%-10s %10" PRId64 " %6" PRId64 " %10" PRId64 "  %s\n", one->name, one->value,
                   one->least, one->most, row->name ? row->help : "");
    }
    return json ? print_json(json) : EXIT_GOOD;
}

static int command_forward(void)
{
    int64_t seconds;
    if (manager.arg_count != 1 || !options_number(manager.args[0], 1, FORWARD_MOST, &seconds))
        return options_complain(&manager.options, "SECONDS must be a number from 1 to 100000");
    int code = request(BEHEMOTH_FORWARD, &seconds, sizeof seconds);
    if (!code)
        printf("%" PRId64 " seconds passed\n", seconds);
    return code;
}

static int command_save(void)
{
    int code = request(BEHEMOTH_SAVE, NULL, 0);
    if (!code)
        puts("saved");
    return code;
}

/* ---- start, stop, watch ---- */

/* Runs behemoth-server, of the folder of this program or else in PATH, in place of this process: in
 * its own session, with nothing open except its log, and with the options that follow `start`. */
__attribute__((noreturn)) static void become_server(const char *log)
{
    static const char name[] = "behemoth-server";
    char program[4096], socket[sizeof manager.place + 16], **argv = manager.options.argv;
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - sizeof name);
    program[length > 0 ? length : 0] = 0;
    char *slash = strrchr(program, '/');
    strcpy(slash ? slash + 1 : program, name);
    snprintf(socket, sizeof socket, "--socket=%s", manager.place);
    argv[0] = slash && access(program, X_OK) == 0 ? program : (char *)name;
    argv[1] = socket;
    unsetenv("LISTEN_PID"); /* systemd's variable for this process, not for the server */
    setsid();
    dup2(open("/dev/null", O_RDWR), 0);
    dup2(0, 1);
    dup2(open(log, O_WRONLY | O_APPEND | O_NOFOLLOW), 2);
    closefrom(3);
    execvp(argv[0], argv);
    err(EXIT_FAILED, "%s", argv[0]);
}

/* Starts the server in the background, and waits until it listens, or has ended; then prints its
 * messages, which go to a log file in the socket's folder. There is no time limit, because
 * --forward may take long. */
static int launch(void)
{
    char log[sizeof manager.place + 8], text[1024];
    behemoth_place(manager.socket, true, manager.place, sizeof manager.place);
    snprintf(log, sizeof log, "%s.log", manager.place);
    make_folders(log);
    int fd = open(log, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
    lseek(fd, 0, SEEK_END);
    pid_t pid = fd < 0 ? -1 : fork();
    if (pid < 0) {
        warn("%s", log);
        return errno == EACCES ? EXIT_NO_RIGHT : EXIT_FAILED;
    }
    if (pid == 0)
        become_server(log);
    for (; !look(BEHEMOTH_SUMMARY); poll(NULL, 0, RECHECK_MS)) {
        if (waitpid(pid, NULL, WNOHANG) != pid)
            continue;
        for (ssize_t count; (count = read(fd, text, sizeof text)) > 0;)
            fwrite(text, 1, (size_t)count, stderr);
        warnx("the server did not start");
        return EXIT_FAILED;
    }
    printf("started, process %ld, at %s\n", (long)pid, manager.place);
    return EXIT_GOOD;
}

static int command_start(void)
{
    const struct behemoth_herd *herd = look(BEHEMOTH_SUMMARY);
    if (!herd)
        return errno == ENOENT || errno == ECONNREFUSED ? launch() : complain();
    printf("already runs, process %" PRIu64 ", at %s\n", herd->process, manager.place);
    if (!manager.for_server)
        return EXIT_GOOD;
    warnx("a running server cannot take these options; stop it first, or use 'parameters'");
    return EXIT_FAILED;
}

static int command_stop(void)
{
    const struct behemoth_herd *herd = look(BEHEMOTH_SUMMARY);
    if (!herd)
        return complain();
    long pid = (long)herd->process;
    /* a pidfd, because the process may end and its number be reused */
    struct pollfd process = {.fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN};
    int code = request(BEHEMOTH_STOP, NULL, 0);
    if (!code && process.fd >= 0 && poll(&process, 1, STOP_MS) == 0) {
        fprintf(stderr, "behemoth-manager: process %ld was told to stop, but has not ended.\n",
                pid);
        code = EXIT_FAILED;
    }
    if (process.fd >= 0)
        close(process.fd);
    if (code)
        return code;
    printf("stopped, process %ld\n", pid);
    if (access(manager.place, F_OK) == 0) /* the socket belongs to systemd, which still listens */
        printf("the next query starts it again, because systemd listens at %s\n", manager.place);
    return EXIT_GOOD;
}

__attribute__((format(printf, 2, 3))) static void report(char sign, const char *format, ...)
{
    char text[16];
    time_t now = time(NULL);
    va_list list;
    strftime(text, sizeof text, "%H:%M:%S", localtime(&now));
    if (manager.style.colours)
        fputs(sign == '+' ? GREEN : sign == '-' ? RED : WEAK, stdout);
    printf("%s %c ", text, sign);
    va_start(list, format);
    vprintf(format, list);
    va_end(list);
    puts(manager.style.colours ? PLAIN : "");
}

/* Compares two lists sorted by id: a behemoth that is in only one of the lists was born or has
 * died. */
static void report_changes(const struct behemoth_herd *before, const struct behemoth_herd *herd)
{
    const struct behemoth *all = behemoth_all(herd), *is = all, *end = is + herd->count;
    const struct behemoth *was = behemoth_all(before), *was_end = was + before->count;
    uint64_t counted = herd->births + herd->founded - before->births - before->founded, came = 0;
    while (is < end || was < was_end) {
        if (was < was_end && (is == end || was->id < is->id)) {
            report('-', "%s (%" PRIu64 "), %s, at the age of %s", was->name, was->id,
                   sex_word(was->sex),
                   age_text((double)(herd->time - was->birthday) / BEHEMOTH_SECOND));
            was++;
        } else if (was == was_end || is->id < was->id) {
            bool child = is->mother_position != BEHEMOTH_NONE;
            report('+', "%s (%" PRIu64 "), %s%s%s", is->name, is->id, sex_word(is->sex),
                   child ? ", of " : "", child ? all[is->mother_position].name : "");
            came++;
            is++;
        } else {
            is++, was++;
        }
    }
    if (counted > came)
        report(' ', "%" PRIu64 " were born and died between two queries", counted - came);
}

/* Prints a line for each birth and death. If the server ends, waits for it. */
static int command_watch(void)
{
    struct behemoth_line kept = {0}, answer; /* `kept` has the last herd */
    const struct behemoth_herd *herd = look(BEHEMOTH_HERD), *before = herd;
    int64_t until = behemoth_now() + manager.seconds * 1000;
    if (!herd)
        return complain();
    setvbuf(stdout, NULL, _IOLBF, 0);
    report(' ', "%u behemoths", (unsigned)herd->count);
    for (bool there = true; manager.seconds == 0 || behemoth_now() < until; there = herd != NULL) {
        if (herd) {
            answer = manager.line;
            manager.line = kept;
            kept = answer;
            before = herd;
        }
        poll(NULL, 0, (int)(manager.interval * 1000));
        herd = look(BEHEMOTH_HERD);
        if (there && !herd)
            report(' ', "the server does not answer any more; waiting for it");
        if (herd && !there)
            report(' ', "the server is back, process %" PRIu64, herd->process);
        if (herd && herd->process != before->process &&
            (herd->ticks < before->ticks || herd->births < before->births))
            report(' ', "the server continues from a saved, earlier state");
        else if (herd)
            report_changes(before, herd);
    }
    behemoth_line_end(&kept);
    return EXIT_GOOD;
}

/* ---- options ---- */

/* clang-format off */
static const struct option_row list_rows[] = {
    {'s', "sort", "COLUMN", 0, "Sort by this column. Default: id.",
     "id name sex age x y weight volume generation children mother", 0, .sets = OPTION_TEXT(struct manager, sort)},
    {'r', "reverse", NULL, 0, "Sort in descending order.", NULL, 0, .sets = OPTION_FLAG(struct manager, reverse)},
    {'j', "json", NULL, 0, "Print JSON.", NULL, 0, .sets = OPTION_FLAG(struct manager, json)}, /* only option of status and parameters */
    {0},
};
static const struct option_row create_rows[] = {
    {0, "sex", "SEX", 0, "male or female. Default: random.", "male female", 0, .sets = OPTION_TEXT(struct manager, sex)},
    {'m', "mother", "BEHEMOTH", 0, "The mother's name or number. Default: no mother.", NULL, 0, .sets = OPTION_TEXT(struct manager, mother)},
    {'a', "age", "SECONDS", 0, "The age, in the herd's time, which determines the weight. Default: 0.", NULL, 0,
     .sets = OPTION_WHOLE(struct manager, age, 0, 100000000)},
    {'x', NULL, "METRES", 0, "Distance from the left edge. Default: beside the mother; anywhere if there is none.", NULL, 0,
     .sets = OPTION_WHOLE(struct manager, x, 0, 100000000)},
    {'y', NULL, "METRES", 0, "Distance from the upper edge.", NULL, 0, .sets = OPTION_WHOLE(struct manager, y, 0, 100000000)},
    {0},
};
static const struct option_row watch_rows[] = {
    {'i', "interval", "SECONDS", 0, "Time between two queries, at least 0.05. Default: 0.5.", NULL, 0,
     .sets = OPTION_SECONDS(struct manager, interval, 0.05, 3600)},
    {0, "seconds", "N", 0, "End after N seconds. Default: when Ctrl-C is pressed.", NULL, 0, .sets = OPTION_WHOLE(struct manager, seconds, 1, 1000000)},
    {0},
};
static const struct option_row tool_rows[] = {
    {0, "socket", "PATH", 0, "The socket on which the server listens.", "@files", 0, .sets = OPTION_TEXT(struct manager, socket)},
    {0},
};
static const struct tool commands[] = {
    {"start", "Start a server in the background, if none runs, and wait until it listens.", "[OPTION]...", behemoth_server_rows + 1,
     .more = "The server writes later messages into a file beside its socket: SOCKET.log.\n"},
    {"stop", "Stop the server, and wait until it has saved the herd and ended.", "", NULL},
    {"status", "Show numbers and sums of the whole herd.", "[--json]", list_rows + 2},
    {"list", "List all behemoths, or only those named.", "[OPTION]... [BEHEMOTH]...", list_rows},
    {"create", "Create a behemoth.", "[OPTION]... [NAME]", create_rows},
    {"kill", "Kill behemoths.", "BEHEMOTH...", NULL},
    {"parameters", "Show the parameters of the simulation, or set some.", "[--json] [NAME[=VALUE]]...", list_rows + 2,
     .complete_args = "capacity= lifetime= children= speed= width= height="},
    {"forward", "Simulate SECONDS of the herd's time now, at most 100000.", "SECONDS", NULL},
    {"save", "Make the server write the herd to the disk now.", "", NULL},
    {"watch", "Show births and deaths as they happen.", "[OPTION]...", watch_rows},
    {0},
};
/* The functions of the commands, in the same order, and how many plain words they may have. */
static const struct {
    int (*run)(void);
    size_t args;
} functions[] = {
    {command_start, 0}, {command_stop, 0}, {command_status, 0}, {command_list, SIZE_MAX},
    {command_create, 1}, {command_kill, SIZE_MAX}, {command_parameters, SIZE_MAX},
    {command_forward, 1}, {command_save, 0}, {command_watch, 0},
};
/* clang-format on */

static const struct tool tool = {
    .name = "behemoth-manager",
    .summary = "Start, stop and change a herd of behemoths, and show it as its server knows it.",
    .usage = "COMMAND [OPTION]...",
    .rows = tool_rows,
    .commands = commands,
    .more =
        "BEHEMOTH is a name (case is ignored) or a number. The default socket is the first of\n"
        "$BEHEMOTH_SOCKET, $XDG_RUNTIME_DIR/behemoth/herd.sock and /run/behemoth/herd.sock.\n"
        "All users may read; root and the server's own user may change the herd.\n"
        "\n"
        "Examples:\n"
        "  behemoth-manager start --count=30 --speed=60000\n"
        "  behemoth-manager list --sort=weight --reverse\n"
        "  behemoth-manager create Eve --sex=female --age=120\n"
        "  behemoth-manager parameters capacity=200 speed=1000\n"
        "\n"
        "Exit status: 0 success, 1 failure, 2 wrong usage, 3 no such behemoth or parameter, or\n"
        "the name is ambiguous, 4 no server answers, 5 access denied.\n",
};

static const char *take(int id, const char *value)
{
    manager.for_server |= id < SERVER_OPTIONS;
    if (id != OPTION_ARGUMENT)
        return NULL;
    if (manager.arg_count >= functions[manager.options.command - commands].args)
        return "unexpected argument";
    manager.args[manager.arg_count++] = value;
    return NULL;
}

int main(int argc, char **argv)
{
    manager.style = style_begin();
    manager.args = calloc((size_t)argc, sizeof *manager.args);
    if (!manager.args)
        return EXIT_FAILED;
    int code = options_read(&manager.options, &tool, argc, argv, &manager, take);
    if (code < 0) {
        errno = ENAMETOOLONG;
        code = behemoth_place(manager.socket, false, manager.place, sizeof manager.place)
                   ? functions[manager.options.command - commands].run()
                   : complain();
        if (fflush(stdout) != 0 || ferror(stdout)) {
            perror("behemoth-manager: standard output");
            code = code ? code : EXIT_FAILED;
        }
    }
    behemoth_line_end(&manager.line);
    free(manager.args);
    return code;
}
