#!/bin/sh
# Makes .venv in the checkout and installs the project into it; does nothing when that was done for this pyproject.toml.
#   sh scripts/setup.sh [EXTRAS]     all that working on it needs, or these extras; '' installs the project alone
# PYTHON names the interpreter to use; otherwise the first of the usual names that is 3.11 or newer.
set -eu
cd "$(dirname "$0")/.."
venv=.venv
stamp=$venv/.installed
all=dev,agent
extras=${1-$all}

new_enough() {
    # Runs it: a version manager's placeholder is on PATH yet fails when started.
    "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1
}

find_python() {
    if [ -n "${PYTHON:-}" ]; then
        new_enough "$PYTHON" && { echo "$PYTHON"; return; }
        echo "PYTHON=$PYTHON does not start or is older than Python 3.11." >&2
        exit 1
    fi
    for name in python3 python3.13 python3.12 python3.11 python3.14 python; do
        new_enough "$name" && { echo "$name"; return; }
    done
    echo "No Python 3.11 or newer found (tried python3, python3.11 to python3.14, python)." >&2
    echo "Install one, or say where it is: make PYTHON=/path/to/python3.12 ..." >&2
    exit 1
}

key=$(cat pyproject.toml scripts/setup.sh | cksum)
if [ -x $venv/bin/python ] && new_enough $venv/bin/python; then
    case "$(cat $stamp 2>/dev/null)" in "$key $all" | "$key $extras") exit 0 ;; esac
else
    python=$(find_python)
    echo "Making $venv with $("$python" --version) ..."
    rm -rf $venv
    "$python" -m venv $venv || {
        rm -rf $venv
        echo "$python cannot make a virtual environment (on Debian and Ubuntu: apt-get install python3-venv)." >&2
        exit 1
    }
fi
project=${extras:+[$extras]}
echo "Installing duologue$project into $venv ..."
$venv/bin/python -m pip install --quiet --disable-pip-version-check --editable ".$project" || {
    echo "pip could not install it (the lines above say why). It needs the network, or a mirror that pip is told of." >&2
    exit 1
}
# Python may be told not to write bytecode (PYTHONDONTWRITEBYTECODE): then each process would compile it all anew.
$venv/bin/python -m compileall -q src
echo "$key $extras" > $stamp
