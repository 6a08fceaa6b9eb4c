/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The caller, as Samba knows it after the login: name, SIDs, how the call was protected. */
#include "samba/shim.h"

#include <string.h>

enum { MOST_SIDS = 1200, NAME_BYTES = 512 };

static uint64_t authority_of(const struct dom_sid *sid)
{
    uint64_t number = 0;
    for (size_t i = 0; i < sizeof sid->id_auth; i++)
        number = number << 8 | sid->id_auth[i];
    return number;
}

static void add_sid(struct buffer *text, const struct dom_sid *sid)
{
    int count = sid->num_auths < 0 ? 0 : sid->num_auths > 15 ? 15 : sid->num_auths;
    buffer_printf(text, "%sS-%u-%llu", text->len ? " " : "", sid->sid_rev_num,
                  (unsigned long long)authority_of(sid));
    for (int i = 0; i < count; i++)
        buffer_printf(text, "-%u", (unsigned)sid->sub_auths[i]);
}

static bool is_sid(const struct dom_sid *sid, uint64_t authority, uint32_t first)
{
    return authority_of(sid) == authority && sid->num_auths >= 1 && sid->sub_auths[0] == first;
}

bool caller_is_samba(struct dcesrv_call_state *state)
{
    enum { NT_AUTHORITY = 5, LOCAL_SYSTEM = 18 };
    const struct auth_session_info *session = dcesrv_call_session_info(state);
    const struct security_token *token = session ? session->security_token : NULL;
    return token && token->num_sids && token->sids[0].num_auths == 1 &&
           is_sid(&token->sids[0], NT_AUTHORITY, LOCAL_SYSTEM);
}

/* Samba puts a SID of its own into the token of a session over SMB: dialect, signing, cipher. */
static bool marks_encrypted(const struct dom_sid *sid)
{
    enum { UNIX_AUTHORITY = 22, SMB3_MARK = 1397571891, CIPHER = 3 };
    return is_sid(sid, UNIX_AUTHORITY, SMB3_MARK) && sid->num_auths > CIPHER &&
           sid->sub_auths[CIPHER] != 0;
}

static bool add_token(struct buffer *sids, const struct auth_session_info *session)
{
    const struct security_token *token = session->security_token;
    bool encrypted = false;
    for (uint32_t i = 0; token && i < token->num_sids && i < MOST_SIDS; i++) {
        add_sid(sids, &token->sids[i]);
        encrypted = encrypted || marks_encrypted(&token->sids[i]);
    }
    return encrypted;
}

static void copy_name(char ret[static NAME_BYTES], const struct auth_session_info *session)
{
    const struct auth_user_info *info = session->info;
    const char *domain = info && info->domain_name ? info->domain_name : "";
    const char *name = info && info->account_name ? info->account_name : "";
    int count = snprintf(ret, NAME_BYTES, "%s%s%s", domain, *domain ? "\\" : "", name);
    if (count < 0 || count >= NAME_BYTES || !utf8_valid(ret, strlen(ret)))
        snprintf(ret, NAME_BYTES, "?");
}

bool caller_message(struct dcesrv_call_state *state, struct buffer *ret)
{
    BUFFER_AUTO sids = {0};
    char name[NAME_BYTES];
    enum dcerpc_AuthType type = DCERPC_AUTH_TYPE_NONE;
    enum dcerpc_AuthLevel level = DCERPC_AUTH_LEVEL_NONE;
    const struct auth_session_info *session = dcesrv_call_session_info(state);
    if (!session || !session->security_token)
        return false;
    dcesrv_call_auth_info(state, &type, &level);
    bool encrypted = add_token(&sids, session);
    copy_name(name, session);
    const struct proto_request request = {
        .operation = PROTO_CALLER,
        .index = ((uint32_t)level & PROTO_LEVEL) | (encrypted ? PROTO_ENCRYPTED : 0),
        .path = name,
        .name = sids.data ? sids.data : "",
    };
    return !sids.failed && proto_write_request(&request, ret);
}
