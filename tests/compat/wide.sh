#!/bin/sh
# SPDX-License-Identifier: MIT
# Compiles and runs wide.c: wide.sh SOURCE_ROOT COMPILER [FLAG...]
root=$1
shift
command -v "$1" >/dev/null || { echo "$1 is not installed"; exit 77; }
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
case $1 in *++*) language=c++ ;; *) language=c ;; esac
"$@" -x $language -g -fsanitize=undefined -fno-sanitize-recover -Wall -Wextra -Werror \
    -I"$root/include" -I"$root/include/openperflib-windows" -I"$root/compat/include" "$root/tests/compat/wide.c" -o "$folder/wide" && "$folder/wide"
