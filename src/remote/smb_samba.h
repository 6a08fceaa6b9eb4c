/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What openperflib-smb does with Samba's client libraries, which are GPL-3. */
#ifndef OPL_REMOTE_SMB_SAMBA_H
#define OPL_REMOTE_SMB_SAMBA_H

#include "remote/smb.h"

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

/* ---- smb_check.c: for people; returns the program's exit code ---- */
int smb_check(const struct smb_address *address, bool keep);

#endif
