#!/bin/sh
# SPDX-License-Identifier: MIT
# With -fshort-wchar the C library's wide scanf and std::wstring must be refused by the compiler, with
# a reason; without it they must work. refused.sh SOURCE_ROOT COMPILER...
root=$1
shift
command -v "$1" >/dev/null || { echo "$1 is not installed"; exit 77; }
object=$(mktemp) || exit 1
trap 'rm -f "$object"' EXIT

compile() { # LANGUAGE SOURCE FLAG...
    language=$1 source=$2
    shift 2
    printf '%b' "$source" | $compiler -O1 -x "$language" -I"$root/include" -I"$root/include/openperflib-windows" -I"$root/compat/include" "$@" -c -o "$object" - 2>&1
}
expect_refused() { # LANGUAGE SOURCE REASON
    output=$(compile "$1" "$2" -fshort-wchar) && { echo "compiled: $2"; exit 1; }
    case $output in
    *"$3"*) ;;
    *) echo "refused without its reason: $output"; exit 1 ;;
    esac
    output=$(compile "$1" "$2") || { echo "refused without -fshort-wchar: $output"; exit 1; }
}

compiler="$*"
case $compiler in
*++*)
    expect_refused c++ '#include <windows.h>\n#include <string>\nstd::wstring text;\n' '4-byte'
    expect_refused c++ '#include <string>\n#include <windows.h>\nstd::wstring text;\n' '4-byte'
    compile c++ '#include <windows.h>\n#include <string>\nstd::u16string a; std::string b;\n' \
        -fshort-wchar || exit 1
    ;;
*)
    expect_refused c '#include <windows.h>\n#include <wchar.h>\nint f(void) { wchar_t c; return wscanf(L"x", &c); }\n' \
        '4-byte'
    expect_refused c '#include <wchar.h>\n#include <windows.h>\nint f(wchar_t *t, char *s) {\n
        return (int)mbstowcs(t, s, 1); }\n' '4-byte'
    compile c '#include <windows.h>\nsize_t f(void) { return wcslen(L"x"); }\n' -fshort-wchar -Werror ||
        exit 1
    ;;
esac
