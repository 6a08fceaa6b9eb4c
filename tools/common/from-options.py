#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Generates completions and manual pages from the output of a tool's --print-options.

    from-options.py bash|zsh|fish TOOL-PROGRAM OUTPUT
    from-options.py man TOOL-PROGRAM PAGE.scd SCDOC OUTPUT

A page has a line @SYNOPSIS@ and a line @OPTIONS@.
"""
import re
import subprocess
import sys


class Tool:
    def __init__(self, name, arguments, summary):
        self.name, self.arguments, self.summary = name, arguments, summary
        self.usage, self.options = [], []
        self.anywhere = False  # it works without a command, so a command may also follow after options


class Option:
    def __init__(self, letter, name, argument, complete, help_text, word):
        self.letter, self.name, self.argument = letter, name, argument
        self.complete, self.help, self.word = complete, help_text, word
        self.optional = argument.startswith("[")

    def spellings(self):
        short = self.letter or self.word
        return ([f"-{short}"] if short else []) + ([f"--{self.name}"] if self.name else [])


def read(program):
    """Returns the tool and the list of its commands."""
    tool, commands, target = None, [], {}
    out = subprocess.run([program, "--print-options"], check=True, capture_output=True, text=True)
    for line in out.stdout.splitlines():
        kind, *rest = line.split("\t")
        if kind == "tool":
            tool = target[""] = Tool(*rest)
        elif kind == "command":
            commands.append(Tool(*rest))
            target[rest[0]] = commands[-1]
        elif kind == "usage":
            target[rest[0]].usage.append(rest[1])
        elif kind == "option":
            target[rest[0]].options.append(Option(*rest[1:]))
    tool.anywhere = bool(commands) and not tool.usage[0].startswith("COMMAND")
    for command in commands:
        own = {option.name for option in command.options} if tool.anywhere else set()
        command.all = command.options + [o for o in tool.options if not tool.anywhere or o.name in {"help", "version"} - own]
    return tool, commands


# ---- manual pages ----

def scd(text):
    return re.sub(r"([_*\\#~])", r"\\\1", text)


def man_usage(text):
    """Makes option words bold in scdoc's notation; other text is unchanged."""
    return " ".join(f"*{scd(word)}*" if re.fullmatch(r"--?[a-z]+|/[a-z]+", word) else scd(word)
                    for word in text.split())


def man_option(option):
    parts = [f"*{scd(text)}*" for text in option.spellings()]
    value = option.argument.strip("[]")
    if option.optional:
        parts[-1] += f"[=_{scd(value)}_]"
    elif value:
        parts[-1] += (f"=_{scd(value)}_" if option.name else f" _{scd(value)}_")
    return f"{', '.join(parts)}\n\t{scd(option.help)}\n"


def man_synopsis(tool, commands):
    lines = []
    for part in [tool, *commands]:
        name = tool.name if part is tool else f"{tool.name} {part.name}"
        usages = [usage for usage in part.usage if not commands or part is not tool or "COMMAND" not in usage]
        lines += [f"*{scd(name)}* {man_usage(usage)}".rstrip() for usage in usages]
    return "++\n".join(lines)


def man_options(tool, commands):
    blocks, last = [], [man_option(option) for option in tool.options]
    if tool.anywhere:
        blocks, last = last, []
    for command in commands:
        same = tool.anywhere and command.options and {o.name for o in command.options} <= {o.name for o in tool.options}
        also = f" It has the options of {tool.name} without a command." if same else ""
        blocks.append(f"## {tool.name} {command.name}\n\n{scd(command.summary + also)}\n")
        blocks += [man_option(option) for option in command.options if not same]
    if commands and last:
        blocks.append("## All commands\n")
    return "\n".join(blocks + last)


def man(program, page, scdoc, output):
    tool, commands = read(program)
    text = open(page, encoding="utf-8").read()
    text = text.replace("@SYNOPSIS@\n", man_synopsis(tool, commands) + "\n")
    text = text.replace("@OPTIONS@\n", man_options(tool, commands))
    with open(output, "w", encoding="utf-8") as out:
        subprocess.run([scdoc], input=text.encode(), stdout=out, check=True)


# ---- completions ----

def quoted(text):
    return "'" + text.replace("'", "'\\''") + "'"


def bash_list(texts):
    return f'mapfile -t COMPREPLY < <(compgen -W {quoted(texts)} -- "$cur")'


# kinds of names, and the tools that print them with the option --names
NAMES = {"@objects": "pcview", "@services": "lodctr", "@counters": "typeperf", "@sets": "logman"}

# Completes names with blanks, percent signs and backslashes: typed quotes are removed before names are compared, and
# the result has the same kind of quotes. bash splits words at colons outside of quotes, so the text before a colon is
# removed from the result.
BASH_NAMES = r"""_TOOL_names() {
    local word typed before='' slash=$'\\' at=$COMP_CWORD
    if [[ $cur == :* ]]; then
        before=$cur cur=''
    elif [[ ${COMP_WORDS[at - 1]} == *: ]]; then
        before=${COMP_WORDS[--at]}
    fi
    [[ -z $before ]] || before=${COMP_WORDS[at - 1]}$before
    typed=$before$cur
    case $typed in
    \'*) typed=${typed#?} ;;
    \"*) typed=${typed#?} typed=${typed//"$slash$slash"/"$slash"} ;;
    *) typed=${typed//"$slash$slash"/$'\1'} typed=${typed//"$slash"/} typed=${typed//$'\1'/"$slash"} ;;
    esac
    while IFS= read -r word; do
        [[ ${word,,} == "${typed,,}"* ]] || continue
        case $before$cur in
        \'*) ;;
        \"*) word=${word//"$slash"/"$slash$slash"} word=${word//'$'/"$slash$"} ;;
        *) printf -v word %q "$word" ;;
        esac
        COMPREPLY+=("${word:${#before}}")
    done < <("$1" --names 2>/dev/null)
}"""
BASH_INI = """compopt -o filenames
    mapfile -t COMPREPLY < <(compgen -d -- "$cur"; compgen -f -X '!*.[iI][nN][iI]' -- "$cur")"""


def bash_complete(tool, what):
    if what == "@files":
        return "compopt -o default; COMPREPLY=()"
    if what == "@ini":
        return BASH_INI
    return f"_{tool.name}_names {NAMES[what]}" if what in NAMES else bash_list(what)


def names_kinds(tool, commands):
    """Returns the kinds of names that arguments of this tool and its commands can be."""
    options = [option for part in [tool, *commands] for option in part.options]
    return sorted({tool.arguments, *(option.complete for option in options)} & set(NAMES))


def others_after(tool):
    """Returns (spellings of options, kind of names): after these options plain words are names of that kind."""
    options = [option for option in tool.options
               if option.complete in NAMES and (option.optional or not option.argument)]
    kind = options[0].complete if options else None
    return [text for option in options for text in option.spellings()], kind


def bash(tool, commands):
    def spellings(parts):
        return " ".join(text for part in parts for o in part.options for text in o.spellings())

    cases = []
    for part in [tool, *commands]:
        for option in part.options:
            if option.argument and not option.optional and option.complete:
                cases.append(f"    {' | '.join(option.spellings())})\n"
                             f"        {bash_complete(tool, option.complete)}\n        return ;;")
    lines = [f"# bash completion for {tool.name}; made from its option table"]
    if names_kinds(tool, commands):
        lines.append(BASH_NAMES.replace("TOOL", tool.name))
    lines += [f"_{tool.name}() {{",
             '    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}',
             '    [[ $cur == "=" ]] && cur=',
             '    [[ $prev == "=" ]] && prev=${COMP_WORDS[COMP_CWORD - 2]}',
             '    case $prev in', *dict.fromkeys(cases), '    esac']
    names = " ".join(c.name for c in commands)
    if tool.anywhere:
        lines += ['    local command="" word', '    for word in "${COMP_WORDS[@]:1:COMP_CWORD - 1}"; do', '        case $word in',
                  f'        {" | ".join(c.name for c in commands)}) command=${{command:-$word}} ;;', '        esac', '    done',
                  '    if [[ -z $command && $cur != -* ]]; then', f'        {bash_list(names)}',
                  '        [[ -z $cur || ${#COMPREPLY[@]} -eq 0 ]] || return', '    fi']
    elif commands:
        lines += ['    if [ "$COMP_CWORD" -eq 1 ] && [[ $cur != -* ]]; then', f'        {bash_list(names)}',
                  '        return', '    fi']
    if commands:
        lines += ['    if [[ $cur == -* ]]; then', f'        case ${"command" if tool.anywhere else "{COMP_WORDS[1]}"} in']
        lines += [f'        {c.name}) {bash_list(" ".join(spelling for o in c.all for spelling in o.spellings()))} ;;' for c in commands]
        lines += [f'        *) {bash_list(spellings([tool]))} ;;', '        esac', '        return',
                  '    fi']
    else:
        lines += ['    if [[ $cur == -* ]]; then', f'        {bash_list(spellings([tool]))}',
                  '        return', '    fi']
    others, kind = others_after(tool)
    if others:
        lines += ['    local word', '    for word in "${COMP_WORDS[@]}"; do', '        case $word in',
                  f'        {" | ".join(others)})', f'            {bash_complete(tool, kind)}',
                  '            return ;;', '        esac', '    done']
    if tool.arguments:
        lines.append('    ' + bash_complete(tool, tool.arguments))
    default = "-o default " if commands else ""
    return "\n".join([*lines, "}", f"complete {default}-F _{tool.name} {tool.name}", ""])


def zsh_action(tool, what):
    fixed = {"": "", "@files": "_files", "@ini": '_files -g "*.(#i)ini"'}
    if what in NAMES:
        return f"_{tool.name}_{what[1:]}"
    return fixed.get(what, f"({what})")


def zsh_argument(tool, option):
    if not option.argument:
        return ""
    action = zsh_action(tool, option.complete)
    colon = "::" if option.optional else ":"
    return f"{colon}{option.argument.strip('[]').lower()}:{action}"


def zsh_option(tool, option):
    text = re.sub(r"([][:\\])", r"\\\1", option.help.split(". ")[0].rstrip("."))
    specs = []
    for spelling in option.spellings():
        equals = "" if not option.argument else \
            ("=-" if option.optional else "=") if spelling.startswith("--") else \
            "" if option.word else ("-" if option.optional else "+")
        specs.append(quoted(f"{spelling}{equals}[{text}]{zsh_argument(tool, option)}"))
    return specs


def zsh(tool, commands):
    specs = [s for o in tool.options for s in zsh_option(tool, o)]
    if tool.arguments:
        kind = tool.arguments.strip("@").rstrip("s") if tool.arguments in NAMES else "file"
        specs.append(quoted(f"*:{kind}:{zsh_action(tool, tool.arguments)}"))
    lines = [f"#compdef {tool.name}", f"# made from the option table of {tool.name}"]
    others, other_kind = others_after(tool)
    for what in names_kinds(tool, commands):
        lines += [f"_{tool.name}_{what[1:]}() {{", "    local -a names"]
        if what == tool.arguments and others:
            lines.append(f"    (( $words[(I)({'|'.join(others)})] )) && "
                         f"{{ _{tool.name}_{other_kind[1:]}; return }}")
        lines += [f"    names=(${{(f)\"$({NAMES[what]} --names 2>/dev/null)\"}})",
                  "    compadd -a names", "}"]
    pairs = " ".join(quoted(f"{c.name}:{c.summary}") for c in commands)
    chosen = "$words[2]"
    if tool.anywhere:
        chosen = f"$words[(r)({'|'.join(c.name for c in commands)})]"
        specs.append(quoted(f"1:command:_{tool.name}_first"))
        lines += [f"_{tool.name}_first() {{", f"    local -a commands=({pairs})", "    _describe command commands",
                  f"    _{tool.name}_{tool.arguments[1:]}", "}"]
    elif commands:
        lines += ["if (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then",
                  f"    local -a commands=({pairs})", "    _describe command commands", "    return", "fi"]
    if commands:
        lines += [f"case {chosen} in"]
        lines += [f"{c.name}) _arguments " +
                  " ".join(s for o in c.all for s in zsh_option(tool, o)) + " ;;"
                  for c in commands]
        lines += [f"*) _arguments {' '.join(specs)} ;;", "esac"]
    else:
        lines += ["_arguments \\", *[f"    {s} \\" for s in specs[:-1]], f"    {specs[-1]}"]
    return "\n".join([*lines, ""])


def fish_list(what):
    if what == "@ini":
        return "(__fish_complete_suffix .ini)"
    return f"({NAMES[what]} --names 2>/dev/null)" if what in NAMES else what


def fish_option(tool, option, condition):
    command = ["complete", "-c", tool.name]
    if condition:
        command += ["-n", quoted(f"__fish_seen_subcommand_from {condition}")]
    if option.letter:
        command += ["-s", option.letter]
    if option.word:
        command += ["-o", option.word]
    if option.name:
        command += ["-l", option.name]
    if option.argument and not option.optional:
        command += ["-r"] if option.complete == "@files" else ["-x"]
    for_arguments = option.optional or not option.argument
    if option.complete and option.complete != "@files" and not for_arguments:
        command += ["-a", quoted(fish_list(option.complete))]
    return " ".join([*command, "-d", quoted(option.help.split(". ")[0].rstrip("."))])


def fish(tool, commands):
    lines = [f"# fish completion for {tool.name}; made from its option table"]
    if tool.arguments in NAMES or tool.arguments == "@ini":
        others, kind = others_after(tool)
        seen = "__fish_contains_opt " + " ".join(
            part for option in tool.options if others and option.complete == kind
            for part in (["-s", option.letter] if option.letter else []) + [option.name])
        known = f" -n {quoted('not ' + seen)}" if others else ""
        lines.append(f"complete -c {tool.name}{known} -f -a {quoted(fish_list(tool.arguments))}")
        if others:
            lines.append(f"complete -c {tool.name} -n {quoted(seen)} -f -a {quoted(fish_list(kind))}")
    elif tool.arguments != "@files":
        lines.append(f"complete -c {tool.name} -f")
    lines += [fish_option(tool, o, "") for o in tool.options]
    for command in commands:
        none = quoted("not __fish_seen_subcommand_from " + " ".join(c.name for c in commands)) if tool.anywhere else "__fish_use_subcommand"
        lines.append(f"complete -c {tool.name} -n {none} -a {command.name} "
                     f"-d {quoted(command.summary)}")
        lines += [fish_option(tool, o, command.name) for o in command.options]
    return "\n".join([*lines, ""])


def main():
    kind, program, *rest = sys.argv[1:]
    if kind == "man":
        man(program, *rest)
        return
    text = {"bash": bash, "zsh": zsh, "fish": fish}[kind](*read(program))
    with open(rest[0], "w", encoding="utf-8") as out:
        out.write(text)


main()
