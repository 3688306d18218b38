#!/bin/sh
# Make .venv and install phiscan into it, at the exact versions of constraints.txt.
# Usage: setup.sh run|dev   (dev adds what the tests need)
set -eu
cd "$(dirname "$0")/.."
kind=${1:-run}
venv=.venv

find_python() {
    for name in python3 python3.13 python3.12 python3.11; do
        if command -v "$name" >/dev/null 2>&1 &&
            "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            command -v "$name"
            return
        fi
    done
    echo "setup: Python 3.11 or newer is needed; on Debian: apt-get install python3 python3-venv" >&2
    exit 2
}

make_venv() {
    python=$(find_python)
    # Debian keeps ensurepip in a package of its own; without it `-m venv` leaves a half-made folder.
    if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
        if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
            echo "setup: installing python3-venv"
            apt-get update -qq && apt-get install -y -qq python3-venv >/dev/null
        else
            echo "setup: Python's venv module is missing; on Debian: sudo apt-get install python3-venv" >&2
            exit 2
        fi
    fi
    rm -rf "$venv"
    "$python" -m venv "$venv"
}

# A .venv made by a Python that is gone, or on another path, does not run: make it anew.
"$venv/bin/python" -c 'import pip' 2>/dev/null || make_venv

# A checkout has the commands of papers/, too.
extra="[papers]"
[ "$kind" = dev ] && extra="[dev]"
echo "setup: installing phiscan$extra and what it needs into $venv (a few minutes the first time)"
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore
"$venv/bin/python" -m pip install -q -c constraints.txt pip hatchling editables
"$venv/bin/python" -m pip install -q -c constraints.txt --no-build-isolation -e ".$extra"
touch "$venv/.run"
[ "$kind" = dev ] && touch "$venv/.dev"
exit 0
