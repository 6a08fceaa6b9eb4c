/* SPDX-License-Identifier: MIT */
/* Shared by the files of openperflib-bpf. */
#ifndef OPL_TOOLS_PIN_H
#define OPL_TOOLS_PIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BPF_PLACE "/sys/fs/bpf"
#define BPF_NAME "openperflib"
#define BPF_FOLDER BPF_PLACE "/" BPF_NAME
#define BPF_GROUP "openperflib"
#define BPF_TYPES "/sys/kernel/btf/vmlinux"

struct pin_request {
    /* group that may read the pinned files; NULL: BPF_GROUP if it exists, else root only */
    const char *group;
    bool mount;       /* mount a BPF file system where none is mounted */
    bool grant;       /* give the group access to BPF_PLACE */
    bool verbose;     /* show libbpf's messages */
    bool indirect;    /* load the variant for kernels before 6.2 */
    uint32_t version; /* version of the records to write; 0: RECORD_VERSION */
};

/* The compiled BPF program; providers/perfproc/meson.build makes it. */
extern const unsigned char bpf_tasks[];
extern const size_t bpf_tasks_bytes;
struct bpf_object;

/* Each function returns the exit code; errors are on stderr, with what to do. */
int bpf_pin(const struct pin_request *request);
int bpf_unpin(void);
int bpf_status(void);

/* The names under which the programs are pinned, ended by NULL. */
extern const char *const bpf_names[];
#define bpf_complain(...) tool_failed("openperflib-bpf", __VA_ARGS__)
/* Finds the cause in a warning of libbpf and keeps it for bpf_cause. If the warning contains the
 * verifier's log, the cause is the log's last line that is not statistics. NULL: clears the
 * cause. */
void bpf_cause_take(const char *warning);
const char *bpf_cause(void); /* "": there was no warning */
/* Is a BPF file system mounted at BPF_PLACE? */
bool bpf_is_mounted(void);
/* Opens the embedded program; NULL after a message. */
struct bpf_object *bpf_open(bool verbose);
/* The constants of the embedded program, in the order of its `settings`. */
enum { SETTING_VERSION, SETTING_PROCESSORS, SETTING_DIRECT, SETTINGS };
bool bpf_settings(const struct bpf_object *object, uint32_t settings[SETTINGS]);

#endif
