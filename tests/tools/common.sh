# SPDX-License-Identifier: MIT
# Sourced by the tests of the tools: makes a folder for the test, and defines functions that print
# results in TAP format.
# shellcheck shell=sh
set -u
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
export OPENPERFLIB_ROOT="$folder/root" COLUMNS=100 LC_ALL=C.UTF-8
unset NO_COLOR LANG LC_MESSAGES OPENPERFLIB_TRACE OPENPERFLIB_SYSROOT
count=0

# check NAME COMMAND...: runs the command; prints "ok" if it succeeds, else "not ok"
check() {
    count=$((count + 1))
    checked=$1
    shift
    if "$@" >"$folder/check.log" 2>&1; then
        echo "ok $count - $checked"
    else
        echo "not ok $count - $checked"
        sed 's/^/# /' "$folder/check.log"
    fi
}

# run CODE COMMAND...: the command must end with this exit code; its output is then in $folder/out
# and $folder/err
run() {
    wanted=$1
    shift
    "$@" >"$folder/out" 2>"$folder/err"
    got=$?
    [ "$got" -eq "$wanted" ] && return 0
    echo "exit code $got, not $wanted: $*"
    cat "$folder/out" "$folder/err"
    return 1
}

# says TEXT: standard output has a line with this text; warns TEXT: standard error has one
says() { grep -qF -- "$1" "$folder/out" || { cat "$folder/out" "$folder/err"; false; }; }
warns() { grep -qF -- "$1" "$folder/err" || { cat "$folder/out" "$folder/err"; false; }; }
silent() { [ ! -s "$folder/err" ] || { cat "$folder/err"; false; }; }

# same FILE: standard output must be exactly the content of this file
same() { diff -u "$1" "$folder/out"; }

finish() { echo "1..$count"; }
