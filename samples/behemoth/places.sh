# SPDX-License-Identifier: MIT
# Sourced by install and remove: for which user the sample is installed, and where its files are.
# shellcheck shell=bash disable=SC2034

# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../scripts/common.sh"
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
programs=(behemoth-server behemoth-manager behemoth-client)
units=(behemoth.socket behemoth.service)

options() {
    cat <<END
  --user          for yourself: programs below ~/.local, counters in the user's layer of the registry
  --prefix=DIR    programs below DIR (default: /usr/local)
  --no-service    do not start the service, and create no user
END
}

user=() prefix='' service=true build=$top/build
take_options() {
    while [ $# -gt 0 ]; do
        case $1 in
        -h | --help) usage && exit ;;
        --user) user=(--user) ;;
        --prefix=?*) prefix=${1#*=} ;;
        --no-service) service=false ;;
        --build=?*) build=${1#*=} ;;
        *) usage >&2 && exit 2 ;;
        esac
        shift
    done
    find_places
}

find_places() {
    if [ ${#user[@]} -gt 0 ]; then
        prefix=${prefix:-$HOME/.local}
        unit_folder=${XDG_CONFIG_HOME:-$HOME/.config}/systemd/user
    else
        prefix=${prefix:-/usr/local}
        unit_folder=$prefix/lib/systemd/system
    fi
    case $prefix in /*) ;; *) die "--prefix=$prefix: must be an absolute path" 2 ;; esac
    bin=$prefix/bin
    lib=$prefix/lib/behemoth # the provider is registered with this path; no other user may write there
    completion=$prefix/share/bash-completion/completions/behemoth-manager
}

needs() { # TOOL
    command -v "$1" >/dev/null ||
        die "$1 is not in PATH: install openperflib, or call this in 'meson devenv -C build -w .'"
}

may_write() { # FOLDER, or if it does not exist, the nearest folder above it
    local folder=$1
    while [ ! -e "$folder" ]; do folder=$(dirname "$folder"); done
    [ -w "$folder" ]
}

# Is there a running systemd, of the machine or of this user?
has_systemd() {
    "$service" || return 1
    if [ ${#user[@]} -gt 0 ]; then
        systemctl --user show-environment >/dev/null 2>&1
    else
        [ -d /run/systemd/system ]
    fi
}
