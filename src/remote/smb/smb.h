/* SPDX-License-Identifier: MIT */
/*
 * Private to openperflib-smb: one machine's registry, read over SMB. The SMB implementation is
 * behind `struct smb_wire` (samba.c, with Samba's client libraries; tests have their own);
 * everything that checks a reply is here and independent of Samba.
 */
#ifndef OPL_REMOTE_SMB_H
#define OPL_REMOTE_SMB_H

#include "remote/proto.h"
#include "remote/rrp.h"

/* Statuses of the network. */
enum { SMB_LOCKED = 212, SMB_PIPE_BUSY = 231 };

/* ---- transport of calls to the machine ---- */
struct smb_wire {
    /* Connects anew. ERROR_FILE_NOT_FOUND and SMB_PIPE_BUSY: the machine is reachable, but its
     * registry service is not running, or not yet. */
    LSTATUS (*connect)(struct smb_wire *wire, int64_t deadline);
    /* The reply's bytes replace `ret`. RPC_S_CALL_FAILED, WAIT_TIMEOUT: the connection is lost. */
    LSTATUS(*call)
    (struct smb_wire *wire, enum rrp_call operation, const struct buffer *request, int64_t deadline,
     struct buffer *ret);
    void (*close)(struct smb_wire *wire);
    void (*pause)(struct smb_wire *wire, unsigned ms);
};

/* ---- machine.c: the machine's keys, kept open; lost connections are restored ---- */
enum { SMB_KEPT_KEYS = 16, SMB_HINTS = 16 };
struct smb_key {
    uint32_t root;
    char *path;
    struct rrp_handle handle;
    uint64_t used;
    bool open;
};
struct smb_machine {
    struct smb_wire *wire;
    bool connected;
    bool answered;  /* on this connection */
    uint64_t clock; /* for the age of the kept keys */
    struct smb_key keys[SMB_KEPT_KEYS];
    uint32_t hints[SMB_HINTS]; /* sizes of earlier answers, by the name's hash */
    unsigned failures;
    int64_t not_before;
    struct buffer request, reply, name; /* of the last call */
};
void machine_init(struct smb_machine *machine, struct smb_wire *wire);
void machine_done(struct smb_machine *machine);
/* *ret belongs to the machine. Connects if necessary. */
LSTATUS machine_key(struct smb_machine *machine, uint32_t root, const char *path, int64_t deadline,
                    struct rrp_handle *ret);
void machine_forget_key(struct smb_machine *machine, uint32_t root, const char *path);
/* Closes a root and the keys below it, also on the machine. */
void machine_close_root(struct smb_machine *machine, uint32_t root, int64_t deadline);
/* The reply points into `machine`. ERROR_INVALID_DATA: it is malformed. */
LSTATUS machine_call(struct smb_machine *machine, const struct rrp_request *request,
                     int64_t deadline, struct rrp_reply *ret);
void machine_lose(struct smb_machine *machine);

/* ---- answer.c: requests of the stream protocol ---- */
struct smb_answers {
    struct smb_machine *machine;
    struct buffer data, name;
};
/* *ret_reply points into `answers`. */
void smb_answer(struct smb_answers *answers, const struct proto_request *request,
                struct proto_reply *ret_reply);
/* Serves the process that started this one until it closes the stream or breaks the protocol. True:
 * it closed the stream. */
bool smb_serve(int in, int out, struct smb_machine *machine);

/* What machines send in practice is checked and corrected before it is passed on.
 *
 * A block that was requested with a buffer of `capacity` bytes. A total without the header's length
 * (Samba) is corrected, bytes after the block are cut off. ERROR_MORE_DATA: the buffer was too
 * small, though the machine did not report it; ERROR_INVALID_DATA: damaged or empty. Either byte
 * order. */
LSTATUS rules_block(struct buffer *block, size_t capacity);
/* A list of texts, UTF-16LE: made to end with exactly one empty text. */
bool rules_list(struct buffer *list);
bool rules_is_text(uint32_t type);

/* ---- login.c: which machine, and as which user ---- */
struct smb_address {
    char host[256]; /* without brackets */
    char user[256]; /* "": none is given */
    uint16_t port;  /* 445 by default */
    bool named_port;
};
/* [\\][smb://][USER@]HOST[:PORT] */
bool smb_address_read(const char *text, struct smb_address *ret);
/* "HOST" or "HOST:PORT", as in errors and the file. */
void smb_address_name(const struct smb_address *address, char *ret, size_t capacity);

enum smb_protection { SMB_SESSION_ONLY, SMB_RPC_SIGNED, SMB_RPC_PRIVATE };
struct smb_login {
    bool anonymous, kerberos; /* neither: by password */
    bool may_be_clear;        /* the machine need not encrypt */
    enum smb_protection rpc;
    char user[256], domain[256], password[1024];
    char from[512]; /* the file and line it comes from, for messages */
};
/* The credentials file: *ret_path lives as long as the program. */
const char *smb_credentials_path(void);
/* False: `why` states what is wrong with the file and how to repair it. For a machine without a
 * section Kerberos is used. */
bool smb_login_find(const struct smb_address *address, struct smb_login *ret, char *why,
                    size_t capacity);
/* Adds or replaces a section; the file is made with mode 0600. */
bool smb_login_keep(const char *machine, const struct smb_login *login, char *why, size_t capacity);

/* Asks at the terminal for user and password. */
bool smb_login_prompt(const struct smb_address *address, struct smb_login *login);
/* For tools: why the login there fails, and what to do. Valid until the next call. */
const char *smb_login_text(const char *machine);

/* ---- samba.c: with Samba's client libraries, which are GPL-3, as that file is ---- */
/* The step that the last attempt reached. */
enum smb_step { SMB_STEP_NAME, SMB_STEP_PORT, SMB_STEP_SETTINGS, SMB_STEP_LOGIN, SMB_STEP_CALL };
struct smb_samba {
    struct smb_wire wire;
    struct smb_address address;
    struct smb_login login;
    bool set_up; /* the members below are valid */
    void *memory;
    struct tevent_context *events;
    struct loadparm_context *settings;
    struct cli_credentials *credentials;
    struct dcerpc_pipe *pipe;
    void *pipe_memory;
    /* of the last failure */
    enum smb_step step;
    LSTATUS status;
    char reason[512];
    char peer[64]; /* the address that answered */
};
/* True: names, ports and credentials are ready; nothing is connected yet. */
void smb_samba_init(struct smb_samba *samba, const struct smb_address *address,
                    const struct smb_login *login);
void smb_samba_done(struct smb_samba *samba);

#endif
