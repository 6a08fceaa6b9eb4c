#!/bin/sh
# SPDX-License-Identifier: MIT
# One source, written with TEXT and TCHAR, compiles as ANSI and as Unicode program without a warning:
# tchar.sh SOURCE_ROOT COMPILER [FLAG...]. The mingw-w64 compilers use their own headers.
root=$1
shift
command -v "$1" >/dev/null || { echo "$1 is not installed"; exit 77; }
case $1 in *mingw*) include= ;; *) include="-I$root/include -I$root/include/openperflib-windows -I$root/compat/include" ;; esac
for mode in '' '-DUNICODE -D_UNICODE'; do
    # shellcheck disable=SC2086 # words are wanted
    "$@" -std=gnu11 -D_WIN32_WINNT=0x0600 -Wall -Wextra -Werror $include $mode -fsyntax-only \
        "$root/tests/compat/tchar.c" || exit 1
done
