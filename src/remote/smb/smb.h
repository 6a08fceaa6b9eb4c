/* SPDX-License-Identifier: MIT */
/*
 * Private to openperflib-smb: one machine's registry, read over SMB. `struct smb_wire` is the
 * interface to an implementation of SMB: samba.c, which uses Samba's client libraries, or that of a
 * test. The code that checks replies does not depend on Samba.
 */
#ifndef OPL_REMOTE_SMB_H
#define OPL_REMOTE_SMB_H

#include "remote/proto.h"
#include "remote/rrp.h"

/* Error codes of Windows that our headers lack. */
enum { SMB_LOCKED = 212, SMB_PIPE_BUSY = 231 };

/* ---- the interface for calls to the machine ---- */
struct smb_wire {
    /* Makes a new connection. ERROR_FILE_NOT_FOUND or SMB_PIPE_BUSY: the machine is reachable, but
     * its registry service is not running, perhaps because the service is still starting. */
    LSTATUS (*connect)(struct smb_wire *wire, int64_t deadline);
    /* Makes a call; the reply's bytes replace the content of `ret`. RPC_S_CALL_FAILED or
     * WAIT_TIMEOUT: the connection is lost. */
    LSTATUS(*call)
    (struct smb_wire *wire, enum rrp_call operation, const struct buffer *request, int64_t deadline,
     struct buffer *ret);
    void (*close)(struct smb_wire *wire);
    void (*pause)(struct smb_wire *wire, unsigned ms);
};

/* ---- machine.c: keys of the machine stay open; lost connections are made again ---- */
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
    bool answered; /* a call was answered on this connection */
    /* counts uses of keys; a key's `used` is the value of this clock at the last use */
    uint64_t clock;
    struct smb_key keys[SMB_KEPT_KEYS];
    uint32_t hints[SMB_HINTS]; /* sizes of earlier answers; the position is a hash of the value's
                                * name */
    unsigned failures;
    int64_t not_before;
    struct buffer request, reply, name; /* memory that the last call used */
};
void machine_init(struct smb_machine *machine, struct smb_wire *wire);
void machine_done(struct smb_machine *machine);
/* Opens a key, if the key is not open yet, and connects first if necessary. *ret belongs to
 * `machine`, which keeps it open. */
LSTATUS machine_key(struct smb_machine *machine, uint32_t root, const char *path, int64_t deadline,
                    struct rrp_handle *ret);
void machine_forget_key(struct smb_machine *machine, uint32_t root, const char *path);
/* Closes a predefined key and the keys below it, here and on the machine. */
void machine_close_root(struct smb_machine *machine, uint32_t root, int64_t deadline);
/* Makes a call. The reply points into memory of `machine`. ERROR_INVALID_DATA: the reply is
 * malformed. */
LSTATUS machine_call(struct smb_machine *machine, const struct rrp_request *request,
                     int64_t deadline, struct rrp_reply *ret);
void machine_lose(struct smb_machine *machine);

/* ---- answer.c: requests of the stream protocol ---- */
struct smb_answers {
    struct smb_machine *machine;
    struct buffer data, name;
};
/* Answers a request. *ret_reply points into `answers`. */
void smb_answer(struct smb_answers *answers, const struct proto_request *request,
                struct proto_reply *ret_reply);
/* Serves the process that started this one until it closes the stream or violates the protocol.
 * Returns true if that process closed the stream. */
bool smb_serve(int in, int out, struct smb_machine *machine);

/* ---- starter.c: a process for each machine ---- */
/* Serves the program at the other end of `control`, a SOCK_SEQPACKET, until that end is closed or
 * the last machine's process has ended. Each message has a machine's address and its stream; a
 * child calls `serve` with them, and exits with the result. */
void smb_start_processes(int control, int (*serve)(const char *machine, int stream));

/* ---- answer.c: data from machines is checked, and corrected where they send wrong data ---- */
/* Checks a block that was requested with a buffer of `capacity` bytes, in either byte order. Adds
 * the header's length to Samba's total, which lacks it; removes bytes after the block.
 * ERROR_MORE_DATA: the buffer was too small, even if the machine did not report it;
 * ERROR_INVALID_DATA: damaged or empty. */
LSTATUS rules_block(struct buffer *block, size_t capacity);
/* Makes a list of texts in UTF-16LE end with exactly one empty text. Returns false if there is no
 * memory. */
bool rules_list(struct buffer *list);
bool rules_is_text(uint32_t type);

/* ---- login.c: address of the machine, and login ---- */
struct smb_address {
    char host[256]; /* host name or address, without brackets */
    char user[256]; /* "": the address has no user */
    uint16_t port;  /* 445 if the address has none */
    bool named_port;
};
/* Parses [\\][smb://][USER@]HOST[:PORT]. Returns false if the text is malformed. */
bool smb_address_read(const char *text, struct smb_address *ret);
/* Writes "HOST" or "HOST:PORT", the form in messages and in the credentials file. */
void smb_address_name(const struct smb_address *address, char *ret, size_t capacity);

enum smb_protection { SMB_SESSION_ONLY, SMB_RPC_SIGNED, SMB_RPC_PRIVATE };
struct smb_login {
    bool anonymous, kerberos; /* both false: the login has user and password */
    bool may_be_clear;        /* the connection may be without encryption */
    enum smb_protection rpc;
    char user[256], domain[256], password[1024];
    char from[512]; /* where the login was found, for messages */
};
/* Returns the path of the credentials file, valid until the program ends. */
const char *smb_credentials_path(void);
/* Finds the login for a machine; a machine without a section in the credentials file gets Kerberos.
 * Returns false if the file cannot be used; `why` has the reason and what to do. */
bool smb_login_find(const struct smb_address *address, struct smb_login *ret, char *why,
                    size_t capacity);
/* Adds or replaces the machine's section. A new file gets mode 0600. */
bool smb_login_keep(const char *machine, const struct smb_login *login, char *why, size_t capacity);

/* Prompts for user and password at the terminal. Returns false if no user was entered. */
bool smb_login_prompt(const struct smb_address *address, struct smb_login *login);
/* For tools: returns why the login to the machine would fail and what to do. Valid until the next
 * call. */
const char *smb_login_text(const char *machine);

/* ---- samba.c: uses Samba's client libraries, so its licence is theirs, GPL-3 ---- */
/* The steps of connecting, in their order. */
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
    /* where and why the last attempt failed */
    enum smb_step step;
    LSTATUS status;
    char reason[512];
    char peer[64]; /* the numeric address of the machine that was used last */
};
/* Stores address and login; does not connect yet. */
void smb_samba_init(struct smb_samba *samba, const struct smb_address *address,
                    const struct smb_login *login);
void smb_samba_done(struct smb_samba *samba);
/* Initializes what does not depend on the machine, so that processes forked later share it. */
void smb_samba_prepare(void);

#endif
