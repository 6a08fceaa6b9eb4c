/* SPDX-License-Identifier: MIT */
/* Which machine openperflib-smb queries, and as which user: addresses, and the password file, which
 * only its owner may be able to read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../skip.h"
#include "../temp.h"
#include "remote/smb/smb.h"

static char file[512], why[5000];

static void write_file(const char *text, mode_t mode)
{
    unlink(file);
    FILE *stream = fopen(file, "w");
    assert_non_null(stream);
    fputs(text, stream);
    fclose(stream);
    chmod(file, mode);
}

static struct smb_login find(const char *machine)
{
    struct smb_address address;
    struct smb_login login;
    assert_true(smb_address_read(machine, &address));
    assert_true(smb_login_find(&address, &login, why, sizeof why));
    return login;
}

static bool refused(void)
{
    struct smb_address address;
    struct smb_login login;
    *why = '\0';
    assert_true(smb_address_read("web1", &address));
    return !smb_login_find(&address, &login, why, sizeof why);
}

static void addresses(void **state)
{
    static const struct {
        const char *text, *host, *user, *name;
        unsigned port;
    } good[] = {
        {"web1",                   "web1",         "",             "web1",         445 },
        {"\\\\WEB1",               "WEB1",         "",             "WEB1",         445 },
        {"smb://web1:4450",        "web1",         "",             "web1:4450",    4450},
        {"bob@web1",               "web1",         "bob",          "web1",         445 },
        {"bob@corp.org@web1:5",    "web1",         "bob@corp.org", "web1:5",       5   },
        {"10.0.0.1:445",           "10.0.0.1",     "",             "10.0.0.1:445", 445 },
        {"::1",                    "::1",          "",             "::1",          445 },
        {"[::1]:4450",             "::1",          "",             "[::1]:4450",   4450},
        {"smb://x@[fe80::1%eth0]", "fe80::1%eth0", "x",            "fe80::1%eth0", 445 },
    };
    static const char *const bad[] = {
        "",           "\\\\", "@web1", "bob@", "web1:",  "web1:0", "web1:x",
        "web1:70000", "[::1", "[]",    "-o",   "[::1]4", "u@-o"};
    struct smb_address address;
    char name[300];
    for (size_t i = 0; i < COUNT(good); i++) {
        assert_true(smb_address_read(good[i].text, &address));
        assert_string_equal(address.host, good[i].host);
        assert_string_equal(address.user, good[i].user);
        assert_int_equal(address.port, good[i].port);
        smb_address_name(&address, name, sizeof name);
        assert_string_equal(name, good[i].name);
    }
    for (size_t i = 0; i < COUNT(bad); i++)
        assert_false(smb_address_read(bad[i], &address));
}

static void sections(void **state)
{
    write_file("# mine\n"
               "[*]\nuser = someone\npassword =  with = and  spaces \n"
               "[web1]\nuser = CORP\\bob\npassword = one\nencryption = offered\nrpc = private\n"
               "[Web1:4450]\r\nuser = port@CORP.ORG\r\npassword = two\r\n"
               "[web1]\nuser = alice\npassword = three\n"
               "[web2]\nuser = carol\n[web3]\nanonymous = yes\n",
               0600);
    struct smb_login login = find("WEB1");
    assert_string_equal(login.user, "bob");
    assert_string_equal(login.domain, "CORP");
    assert_string_equal(login.password, "one");
    assert_true(login.may_be_clear);
    assert_int_equal(login.rpc, SMB_RPC_PRIVATE);
    assert_false(login.kerberos);
    assert_non_null(strstr(login.from, "[web1], line 5"));
    login = find("web1:4450");
    assert_string_equal(login.user, "port@CORP.ORG");
    assert_string_equal(login.password, "two");
    assert_false(login.may_be_clear);
    login = find("alice@web1");
    assert_string_equal(login.password, "three");
    login = find("else");
    assert_string_equal(login.user, "someone");
    assert_string_equal(login.password, "with = and  spaces");
    /* the file has no section for the user dave, so his Kerberos ticket is used */
    login = find("dave@web1");
    assert_string_equal(login.user, "dave");
    assert_string_equal(login.password, "");
    assert_true(login.kerberos);
    login = find("web2");
    assert_true(login.kerberos);
    login = find("web3");
    assert_true(login.anonymous);
    assert_false(login.kerberos);
}

static void without_a_file_the_ticket_counts(void **state)
{
    unlink(file);
    struct smb_login login = find("web1");
    assert_true(login.kerberos);
    assert_non_null(strstr(login.from, file));
}

static void a_file_that_others_may_use_is_not_used(void **state)
{
    static const mode_t modes[] = {0640, 0604, 0660, 0644, 0610, 0666};
    for (size_t i = 0; i < COUNT(modes); i++) {
        write_file("[*]\nuser = a\npassword = b\n", modes[i]);
        assert_true(refused());
        assert_non_null(strstr(why, "chmod 600"));
        assert_non_null(strstr(why, file));
    }
    write_file("[*]\nuser = a\n", 0400);
    assert_false(refused());
    unlink(file);
    mkdir(file, 0700);
    assert_true(refused());
    rmdir(file);
    assert_int_equal(symlink("/dev/null", file), 0);
    assert_true(refused());
    assert_non_null(strstr(why, "symbolic link"));
    unlink(file);
}

/* A file with a NUL byte is not used, because everything after the NUL would be lost when a section
 * is read. */
static void a_file_with_a_nul_byte_is_not_used(void **state)
{
    static const char text[] = "[*]\nuser = a\0\npassword = b\n";
    struct smb_login login = {.user = "c", .password = "d"};
    write_file("", 0600);
    FILE *out = fopen(file, "w");
    assert_non_null(out);
    assert_int_equal(fwrite(text, 1, sizeof text - 1, out), sizeof text - 1);
    assert_int_equal(fclose(out), 0);
    assert_true(refused());
    assert_non_null(strstr(why, "NUL byte"));
    assert_false(smb_login_keep("web1", &login, why, sizeof why));
    struct stat st;
    assert_int_equal(stat(file, &st), 0);
    assert_int_equal(st.st_size, sizeof text - 1);
    unlink(file);
}

static void a_line_before_the_first_section_is_named(void **state)
{
    write_file("# people\n\nuser = a\n[*]\nuser = b\npassword = c\n", 0600);
    assert_true(refused());
    assert_non_null(strstr(why, "line 3"));
    unlink(file);
}

static void a_file_of_another_user_is_not_used(void **state)
{
    if (geteuid() != 0) {
        report_skipped("only root can give files away");
        return;
    }
    write_file("[*]\nuser = a\npassword = b\n", 0600);
    assert_int_equal(chown(file, 1, (gid_t)-1), 0);
    assert_true(refused());
    assert_non_null(strstr(why, "chown 0"));
}

static void what_is_not_understood_is_named(void **state)
{
    static const char *const wrong[] = {"[web1]\nuser\n", "[web1]\npasword = x\n",
                                        "[web1]\nencryption = maybe\n", "[web9]\nrpc = no\n",
                                        "[web9\n"};
    for (size_t i = 0; i < COUNT(wrong); i++) {
        write_file(wrong[i], 0600);
        assert_true(refused());
        assert_non_null(strstr(why, *wrong[i] == '[' && wrong[i][5] != '\n' ? "line 2" : "line 1"));
        assert_null(strstr(why, "passport"));
    }
}

static void what_is_kept_is_found(void **state)
{
    struct stat st;
    struct smb_login login = {.user = "bob", .domain = "CORP", .password = "p = [x]"};
    unlink(file);
    assert_true(smb_login_keep("web1:4450", &login, why, sizeof why));
    assert_int_equal(stat(file, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    strcpy(login.password, "other");
    login.may_be_clear = true;
    login.rpc = SMB_RPC_SIGNED;
    assert_true(smb_login_keep("web2", &login, why, sizeof why));
    strcpy(login.password, "changed");
    assert_true(smb_login_keep("WEB1:4450", &login, why, sizeof why));
    struct smb_login found = find("web1:4450");
    assert_string_equal(found.password, "changed");
    found = find("web2");
    assert_string_equal(found.password, "other");
    assert_string_equal(found.domain, "CORP");
    assert_true(found.may_be_clear);
    assert_int_equal(found.rpc, SMB_RPC_SIGNED);
    strcpy(login.password, "ends with a blank ");
    assert_false(smb_login_keep("web3", &login, why, sizeof why));
    strcpy(login.password, "");
    chmod(file, 0644);
    assert_false(smb_login_keep("web3", &login, why, sizeof why));
}

int main(void)
{
    char folder[64];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses),
        cmocka_unit_test(sections),
        cmocka_unit_test(without_a_file_the_ticket_counts),
        cmocka_unit_test(a_file_that_others_may_use_is_not_used),
        cmocka_unit_test(a_file_with_a_nul_byte_is_not_used),
        cmocka_unit_test(a_line_before_the_first_section_is_named),
        cmocka_unit_test(a_file_of_another_user_is_not_used),
        cmocka_unit_test(what_is_not_understood_is_named),
        cmocka_unit_test(what_is_kept_is_found),
    };
    temp_make(folder);
    setenv("XDG_CONFIG_HOME", folder, 1);
    snprintf(file, sizeof file, "%s/openperflib", folder);
    mkdir(file, 0700);
    strcat(file, "/credentials");
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    temp_remove(folder);
    return failed;
}
