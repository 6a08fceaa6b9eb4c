# SPDX-License-Identifier: MIT
# Sourced by scripts/package: an upgrade from older packages, built from the commit before debian/ was added,
# together with that debian/. What was registered, set and recorded before the upgrade must be there after it.
# shellcheck shell=bash disable=SC2154,SC2016

packages_of_an_earlier_commit() {
    local first older=$place/older
    first=$(git log --diff-filter=A --format=%h -- debian/control | tail -n 1) && [ -n "$first" ] || return 1
    [ ! -e "$older/openperflib_0.0.9_amd64.deb" ] || return 0
    rm -rf "$older" && mkdir -p "$older/openperflib" && git archive "$first^" | tar -xf - -C "$older/openperflib" &&
        git archive "$first" debian | tar -xf - -C "$older/openperflib" &&
        sed -i '1s/0\.1\.0/0.0.9/' "$older/openperflib/debian/changelog" && (cd "$older/openperflib" && dpkg-buildpackage -us -uc -b)
}

# provider NAME [FLAG...]: builds a provider, linked with the older library, and writes its files to /opt in the
# root "upgrade"
provider() {
    local folder=$place/upgrade/opt name=$1
    rm -rf "$place/to-link" && dpkg-deb -x "$place"/older/libopenperflib0_0.0.9_*.deb "$place/to-link" &&
        gcc -shared -fPIC -fvisibility=hidden -I"$place/older/openperflib/include" -DVALUE=16 -DCOUNTERS=1 "-DSERVICE=\"$name\"" "${@:2}" \
            tests/packages/third.c "$place"/to-link/usr/lib/*/libopenperflib.so.0 -o "$folder/$name.so" &&
        printf '#define ALL 0\n#define Answer 2\n' >"$folder/$name.h" &&
        printf '[info]\ndrivername=%s\nsymbolfile=%s.h\n[languages]\n009=English\n[objects]\nALL_009_NAME=\n[text]\n%s\n%s\n' "$name" "$name" \
            "ALL_009_NAME=$name" 'Answer_009_NAME=Answer' >"$folder/$name.ini"
}
with_data() { as_user upgrade env XDG_DATA_HOME=/home/data "$@"; }
registered() { inside upgrade lodctr "--library=/opt/$1.so" "/opt/$1.ini"; }
# Prints all registrations, those for all users and those for one user. Times such as "Last Answer" are
# left out.
state() {
    inside upgrade lodctr /Q:machine-one /Q:machine-two /Q:crashing && with_data lodctr /Q:users-own &&
        inside upgrade reg query 'HKLM\SYSTEM\CurrentControlSet\Services\crashing' /s
}
value_of() { "${@:2}" typeperf -sc 1 "\\$1\\Answer" | tee /dev/stderr | grep -F '"16.000000"'; }
all_answer() { value_of machine-one as_user upgrade && value_of users-own with_data && ! value_of machine-two as_user upgrade; }

registered_before() {
    make_root upgrade && cp "$place"/older/*.deb "$place/upgrade/debs" && rm "$place"/upgrade/debs/*_0.1.0_* &&
        mkdir -p "$place/upgrade/home/data" && chown 65534 "$place/upgrade/home/data" &&
        install upgrade libopenperflib0 openperflib || return 1
    provider machine-one && provider machine-two && provider users-own && provider crashing -DCRASHES &&
        registered machine-one && registered machine-two && registered crashing && inside upgrade lodctr /D:machine-two &&
        with_data lodctr --user --library=/opt/users-own.so /opt/users-own.ini &&
        inside upgrade reg add 'HKLM\SOFTWARE\Microsoft\Windows NT\CurrentVersion\Perflib' /v 'Error Count Limit' /t REG_DWORD /d 1 &&
        inside upgrade sh -c 'pcview crashing; lodctr /Q:crashing' | tee /dev/stderr | grep 'Quarantine: until' && all_answer &&
        state >"$place/state"
}
kept() {
    cp "$place"/first/*.deb "$place/upgrade/debs" && rm "$place"/upgrade/debs/*_0.0.9_* && install upgrade libopenperflib0 openperflib &&
        inside upgrade dpkg -l libopenperflib0 | grep -F ' 0.1.0 ' && diff "$place/state" <(state) && all_answer
}

check_upgrade() {
    [ -e .git ] || { skip "packages: an upgrade" "an earlier commit is not known here" && return; }
    try "packages: of an earlier commit" packages_of_an_earlier_commit
    try "packages: registered, for all and for a user, disabled, in quarantine" registered_before
    try "packages: upgraded, all is kept" kept
    drop_root upgrade
}
