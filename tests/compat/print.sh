#!/bin/sh
# SPDX-License-Identifier: MIT
# Compiles and runs print.c in every mode: print.sh SOURCE_ROOT BUILD_ROOT COMPILER [FLAG]...
root=$1 build=$2
shift 2
command -v "$1" >/dev/null || { echo "$1 is not installed"; exit 77; }
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
case $1 in *++*) language=c++ ;; *) language=c ;; esac
printf 'д n 4000000000\n4000000000 1099511627776\nt\n' >"$folder/wanted"
for mode in '' '-DUNICODE -D_UNICODE'; do
    # shellcheck disable=SC2086 # words are wanted
    "$@" -x $language $mode -g -Wall -Wextra -Werror -Wno-format -Wno-format-extra-args -fshort-wchar \
        -DOPL_WINDOWS_PRINTF -I"$root/include" -I"$root/include/openperflib-windows" -I"$root/compat/include" \
        "$root/tests/compat/print.c" -x none \
        -o "$folder/print" -L"$build/compat" -L"$build/src" -lopenperflib-win32 -lopenperflib ${SANITIZE-} &&
        LD_LIBRARY_PATH=$build/src "$folder/print" | diff "$folder/wanted" - || exit 1
done
