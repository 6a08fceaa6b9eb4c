/* SPDX-License-Identifier: MIT */
/*
 * Private to openperflib-smb: one machine's registry, read over SMB. Who speaks SMB is behind
 * `struct smb_wire` (smb_samba.c, on Samba's client libraries; tests have machines of their own);
 * everything that judges a reply is here and knows nothing of Samba.
 */
#ifndef OPL_REMOTE_SMB_H
#define OPL_REMOTE_SMB_H

#include "remote/form.h"
#include "remote/smb_ndr.h"

/* Statuses that only the network knows. */
enum { SMB_LOCKED = 212, SMB_PIPE_BUSY = 231 };

/* ---- what carries calls to the machine ---- */
struct smb_wire {
    /* Anew. ERROR_FILE_NOT_FOUND and SMB_PIPE_BUSY: the machine is there, its registry service is
     * not, or not yet. */
    LSTATUS (*connect)(struct smb_wire *wire, int64_t deadline);
    /* The reply's bytes replace `ret`. RPC_S_CALL_FAILED, WAIT_TIMEOUT: the connection is lost. */
    LSTATUS(*call)
    (struct smb_wire *wire, enum winreg_call operation, const struct buffer *request,
     int64_t deadline, struct buffer *ret);
    void (*close)(struct smb_wire *wire);
    void (*pause)(struct smb_wire *wire, unsigned ms);
};

/* ---- smb_keys.c: the machine's keys, kept open; lost connections are made anew ---- */
enum { SMB_KEPT_KEYS = 16, SMB_HINTS = 16 };
struct smb_key {
    uint32_t root;
    char *path;
    struct winreg_handle handle;
    uint64_t used;
    bool open;
};
struct smb_machine {
    struct smb_wire *wire;
    bool connected;
    bool answered;  /* on this connection */
    uint64_t clock; /* of the kept keys */
    struct smb_key keys[SMB_KEPT_KEYS];
    uint32_t hints[SMB_HINTS]; /* how large answers were, by the name's hash */
    unsigned failures;
    int64_t not_before;
    struct buffer request, reply; /* of the last call */
};
void machine_init(struct smb_machine *machine, struct smb_wire *wire);
void machine_done(struct smb_machine *machine);
/* *ret stays the machine's. Connects when it must. */
LSTATUS machine_key(struct smb_machine *machine, uint32_t root, const char *path, int64_t deadline,
                    struct winreg_handle *ret);
void machine_forget_key(struct smb_machine *machine, uint32_t root, const char *path);
/* Closes a root and what was opened below it, there too. */
void machine_close_root(struct smb_machine *machine, uint32_t root, int64_t deadline);
/* Sends machine->request; the answer is in machine->reply. */
LSTATUS machine_call(struct smb_machine *machine, enum winreg_call operation, int64_t deadline);
void machine_lose(struct smb_machine *machine);

/* ---- smb_answer.c: a request of the form ---- */
struct smb_answers {
    struct smb_machine *machine;
    struct buffer data, name;
};
/* *ret_reply lies in `answers`. */
void smb_answer(struct smb_answers *answers, const struct form_request *request,
                struct form_reply *ret_reply);
/* How long a question may take, at most. */
int smb_seconds_for(const struct form_request *request);

/* ---- smb_session.c ---- */
/* Serves the one who started us until he goes or breaks the form. True: he went. */
bool smb_serve(int in, int out, struct smb_machine *machine);

/* ---- smb_address.c, smb_credentials.c: whom to ask, and as whom ---- */
struct smb_address {
    char host[256]; /* without brackets */
    char user[256]; /* "": none is named */
    uint16_t port;  /* 445 unless said */
    bool named_port;
};
/* [\\][smb://][USER@]HOST[:PORT] */
bool smb_address_read(const char *text, struct smb_address *ret);
/* Its "HOST" or "HOST:PORT", as errors and the file have it. */
void smb_address_name(const struct smb_address *address, char *ret, size_t room);

enum smb_protection { SMB_SESSION_ONLY, SMB_RPC_SIGNED, SMB_RPC_PRIVATE };
struct smb_login {
    bool anonymous, kerberos; /* neither: by password */
    bool may_be_clear;        /* the machine need not encrypt */
    enum smb_protection rpc;
    char user[256], domain[256], password[1024];
    char from[512]; /* where this comes from, for messages */
};
/* The file: *ret_path lives as long as the program. */
const char *smb_credentials_path(void);
/* False: `why` says what is wrong with the file and how to mend it. A machine that has no section
 * is asked with Kerberos. */
bool smb_login_find(const struct smb_address *address, struct smb_login *ret, char *why,
                    size_t room);
/* Adds or replaces a section; the file is made with mode 0600. */
bool smb_login_keep(const char *machine, const struct smb_login *login, char *why, size_t room);

/* ---- smb_words.c, linked to tools ---- */
/* Why it cannot be logged in there, and what to do. Valid until the next call. */
const char *smb_login_words(const char *machine);

#endif
