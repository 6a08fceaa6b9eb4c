#!/bin/sh
# SPDX-License-Identifier: MIT
# Every public header, alone, compiles without a warning: alone.sh SOURCE_ROOT COMPILER [FLAG...]
# (language, standard and mode are the flags' business). With system.c/.cpp: the system's own headers
# still work behind ours.
root=$1
shift
command -v "$1" >/dev/null || { echo "$1 is not installed"; exit 77; }
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
failed=0

compile() { # NAME FLAG...: standard input is the source
    name=$1
    shift
    if ! "$@" -Wall -Wextra -Wshadow -pedantic -Werror -fsyntax-only - 2>"$folder/log"; then
        echo "$name: $*"
        head -20 "$folder/log"
        failed=1
    fi
}

echo 'int main(void) { return 0; }' | "$@" -fsyntax-only - 2>/dev/null || {
    echo "$* cannot compile at all"
    exit 77
}
# ours with nothing else in the path, Windows' as their .pc gives them, what stands beside as its own does
set -- "$@" -I"$root/include"
for path in "$root"/include/openperflib/*.h; do
    echo "#include <openperflib/${path##*/}>" | compile "${path##*/}" "$@"
done
set -- "$@" -I"$root/include/openperflib-windows" -I"$root/compat/include"
for path in "$root"/include/openperflib-windows/*.h "$root"/compat/include/*.h; do
    echo "#include <${path##*/}>" | compile "${path##*/}" "$@"
done
compile "system headers behind ours" "$@" <"$root/tests/compat/system.h"
exit $failed
