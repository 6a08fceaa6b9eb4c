# SPDX-License-Identifier: MIT
# Sourced by the tests that look at perfmon's screen: runs the program $perfmon in the terminal
# emulator tmux.
# shellcheck shell=sh
# shellcheck disable=SC2034,SC2154
if ! command -v tmux >/dev/null; then
    echo "ok $((count + 1)) # SKIP the screen: tmux is not installed"
    echo "1..$((count + 1))"
    exit
fi
number=0 keep=
mux() { tmux -S "$folder/tmux$number" -f /dev/null "$@"; }
trap 'mux kill-server 2>/dev/null; rm -rf "$folder"' EXIT
trap 'exit 1' INT TERM
open() { # COLUMNS ROWS TERM ARGUMENT...
    columns=$1 rows=$2 term=$3
    shift 3
    mux kill-server 2>/dev/null
    rm -f "$folder/code" "$folder/after" # those of an earlier run would end `ended` at once
    number=$((number + 1))
    # each run has new settings, unless $keep is set; an earlier perfmon may still be saving its own
    [ "$keep" ] || export XDG_CONFIG_HOME="$folder/config$number"
    settings=$XDG_CONFIG_HOME/openperflib/perfmon.conf
    # a shell around perfmon writes its exit code, and the terminal's settings before and after
    mux new-session -d -s one -x "$columns" -y "$rows" \
        "stty -g >'$folder/before'; TERM=$term '$perfmon' $* 2>'$folder/err'; echo \$? >'$folder/code'; stty -g >'$folder/after'; sleep 60"
}
screen() { mux capture-pane -p -t one >"$folder/out"; }
until_says() { # PATTERN: waits until the screen shows it, half a minute at most
    for _ in $(seq 300); do
        screen && grep -q -- "$1" "$folder/out" && return
        sleep 0.1
    done
    cat "$folder/out" "$folder/err"
    return 1
}
keys() { mux send-keys -t one "$@"; }
ended() { # CODE: perfmon has ended with this exit code, and the terminal's settings are as before
    for _ in $(seq 100); do [ -s "$folder/code" ] && [ -s "$folder/after" ] && break; sleep 0.1; done
    [ "$(cat "$folder/code")" = "$1" ] && cmp "$folder/before" "$folder/after"
}
again() { keep=1; begin "$@"; code=$?; keep=; return $code; }
begin() { open "$@" && until_says 'all .*%'; }
