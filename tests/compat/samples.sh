#!/bin/sh
# SPDX-License-Identifier: MIT
# Every sample compiles without a warning, each provider as C and as C++:
#   samples.sh SOURCE_ROOT COMPILER C++COMPILER BUILD_ROOT [FLAG]...   with our headers
#   samples.sh SOURCE_ROOT COMPILER C++COMPILER windows                    with Windows' own
# Samples that use the builder, the tables or the kernel are not compiled with Windows' headers.
root=$1 c=$2 cxx=$3 library=$4
shift 4
for compiler in "$c" "$cxx"; do
    command -v "$compiler" >/dev/null || { echo "$compiler is not installed"; exit 77; }
done
place=$(mktemp -d) || exit 1
trap 'rm -rf "$place"' EXIT

ours="-I$root/include -I$root/include/openperflib-windows -I$root/compat/include -fPIC -L$library/compat -L$library/src -lopenperflib-win32 -lopenperflib"
theirs="-ladvapi32 -luser32"
only_ours='build\.h|object\.h'
libraries=$ours
[ "$library" != windows ] || libraries=$theirs

compile() {
    echo "$*"
    # shellcheck disable=SC2086
    "$@" -Wall -Wextra -Werror -Wno-missing-field-initializers -shared -o "$place/out" $libraries || exit 1
}
for source in "$root"/samples/*/*.c; do
    folder=$(dirname "$source")
    name=$(basename "$source" .c)
    [ "$name" = "$(basename "$folder")" ] || continue
    [ "$library" = windows ] && grep -Eq "#include <.*($only_ours)" "$source" && continue
    others=
    grep -q -e '"../common/sample.h"' -e '"perfmap.h"' "$source" && others="$root/samples/common/numbers.c $root/samples/common/query.c"
    ! grep -q 'samplePerformanceKey' "$source" || others="$others $root/samples/common/register.c $root/samples/common/server.c"
    ! grep -q 'sampleRegister' "$folder"/*.c || others="$others $root/samples/common/register.c"
    ! grep -q '"../common/bases.h"' "$folder"/*.c || others="$others $root/samples/common/bases.c"
    for other in "$folder"/*.c; do
        case $(basename "$other") in "$name.c" | data_*) ;; *) others="$others $other" ;; esac
    done
    data=
    case $name in *_inst) data=$root/samples/myperf1_inst/data_random.c ;; esac
    # shellcheck disable=SC2086
    compile "$c" -std=gnu11 "$@" "$source" $others $data
    # shellcheck disable=SC2086
    compile "$cxx" -std=gnu++11 "$@" -Wno-c99-designator -xc++ "$source" $others $data
done
[ "$library" = windows ] || exit 0
for source in "$root"/samples/*/*.cpp; do
    echo "$source"
    "$cxx" -fpermissive -w "$source" -o "$place/out" -ladvapi32 || exit 1
done
