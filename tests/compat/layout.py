#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Proves that a compiler's Windows headers and ours agree.

    layout.py SOURCE_ROOT ours|own COMPILER [FLAG...]

`ours` compiles with include/openperflib-windows in the path, `own` with the compiler's own headers (mingw-w64). Two
files are compiled: layout.c (sizes, offsets, prototypes) and one generated here, which asserts the
value of every constant that our headers define. Then each file is compiled once
more with one wrong value: this must fail. Exit 77 when the compiler is absent.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

HEADERS = ('windef.h', 'winerror.h', 'winbase.h', 'winreg.h', 'winperf.h', 'pdh.h', 'pdhmsg.h',
           'winuser.h', 'loadperf.h')
INCLUDES = '#include <windows.h>\n#include <winperf.h>\n#include <pdh.h>\n#include <pdhmsg.h>\n' \
           '#include <loadperf.h>\n'
WORDS = {'CONST', 'VOID', 'PASCAL'}  # macros that are no values


def include_path(root):
    return ['-I' + os.path.join(root, folder)
            for folder in ('include', 'include/openperflib-windows', 'compat/include')]


def headers(root):
    for name in HEADERS:
        path = os.path.join(root, 'include', 'openperflib-windows', name)
        with open(path, encoding='utf-8') as file:
            text = re.sub(r'/\*.*?\*/', '', file.read(), flags=re.S)
        yield name, text.replace('\\\n', ' ')


def constants(root):
    found = []
    for _, text in headers(root):
        for name, value in re.findall(r'^#define ([A-Z][A-Z0-9_]*) +(\S+)', text, flags=re.M):
            of_a_or_w = value in (name + 'A', name + 'W', name + '_A', name + '_W')  # the A or W form of a type
            if not name.startswith(('OPL_', 'OPENPERFLIB_')) and name not in WORDS \
                    and not of_a_or_w:
                found.append(name)
    return sorted(set(found))


def fields(root):
    """Yields (structure, field) for every public structure; a field of a nested structure by its own name only."""
    for _, text in headers(root):
        for body, name in re.findall(r'^typedef (?:struct|union) _\w+ \{(.*?)^\} (\w+)', text,
                                     flags=re.S | re.M):
            for field in re.findall(r'([A-Za-z_]\w*)(?:\[\d+\])?;', body):
                if field != 'u':
                    yield name, field


def compile_text(command, text, folder):
    path = os.path.join(folder, 'check.c')
    with open(path, 'w', encoding='utf-8') as file:
        file.write(text)
    return subprocess.run(command + ['-c', path, '-o', os.devnull], capture_output=True, text=True,
                          check=False)


def our_values(root, names, folder):
    """The values of these constants in our headers, evaluated by a program that the host's compiler builds."""
    program = os.path.join(folder, 'values')
    lines = ''.join(f'    print((ULONGLONG)(ULONG_PTR)({name}));\n' if name.startswith(('HKEY_', 'INVALID_HANDLE')) else
                    f'    print((ULONGLONG)({name}));\n' for name in names)
    with open(program + '.c', 'w', encoding='utf-8') as file:
        file.write('#include <stdio.h>\n' + INCLUDES +
                   'static void print(ULONGLONG value) { printf("%llu\\n", '
                   '(unsigned long long)value); }\nint main(void)\n{\n' + lines + '}\n')
    subprocess.run(['cc', '-w', *include_path(root), program + '.c', '-o', program], check=True)
    return [int(line) for line in subprocess.run([program], capture_output=True, text=True,
                                                 check=True).stdout.split()]


def lacking(root):
    with open(os.path.join(root, 'tests', 'compat', 'lacking.txt'), encoding='utf-8') as file:
        return {line.split()[0] for line in file if line.strip() and not line.startswith('#')}


def assertions(pairs, missing):
    text = INCLUDES
    for name, value in pairs:
        if name.startswith(('HKEY_', 'INVALID_HANDLE')):
            test = f'(ULONG_PTR)({name}) == (ULONG_PTR){value}ULL'
        else:
            test = f'(unsigned long long)({name}) == {value}ULL'
        # a function's body, because a handle's value is no constant expression to every compiler
        check = (f'extern void mismatch_{name}(void) __attribute__((error("{name} is not {value}")));'
                 f'\nvoid check_{name}(void) {{ if (!({test})) mismatch_{name}(); }}\n')
        text += f'#ifdef {name}\n{check}'
        text += '#endif\n' if name in missing else f'#else\n#error {name} is lacking\n#endif\n'
    return text


def main():
    root, whose, compiler, *flags = sys.argv[1:]
    if not shutil.which(compiler):
        print(f'{compiler} is not installed: nothing compared')
        sys.exit(77)
    command = [compiler, '-std=c11', '-O1', '-Wall', '-Wextra', '-Werror', *flags]
    command += ['-pedantic-errors'] if whose == 'ours' else ['-D_WIN32_WINNT=0x0601']
    if whose == 'ours':
        command += include_path(root)
    with tempfile.TemporaryDirectory() as folder:
        probe = compile_text(command, '#include <stdio.h>\n', folder)
        if probe.returncode != 0:
            print(f'{" ".join(command)} cannot compile at all: nothing compared')
            sys.exit(77)
        sys.exit(1 if compare(root, command, folder) else 0)


def compare(root, command, folder):
    failures = []
    with open(os.path.join(root, 'tests', 'compat', 'layout.c'), encoding='utf-8') as file:
        layout = file.read()
    for structure, field in fields(root):
        if not re.search(rf'FIELD\({structure}, {field},', layout):
            failures.append(f'layout.c says nothing of {structure}.{field}')
    names, missing = constants(root), lacking(root)
    values = our_values(root, names, folder)
    good = assertions(zip(names, values), missing)
    wrong = assertions([(names[-1], values[-1] + 1)], missing)
    for title, text, must_fail in (('layout.c', layout, False), ('constants', good, False),
                                   ('layout.c -DWRONG', '#define WRONG\n' + layout, True),
                                   ('a wrong constant', wrong, True)):
        result = compile_text(command, text, folder)
        if must_fail != (result.returncode != 0):
            failures.append(f'{title}: {result.stderr or "compiled, but must not"}')
    print(f'{len(names)} constants, {len(list(fields(root)))} fields')
    print('\n'.join(failures), end='\n' if failures else '')
    return failures


if __name__ == '__main__':
    main()
