#!/bin/sh
# A first look: the coding agent works with its built-in offline model on a copy of examples/project.
# It finds the failing test and a repair that every test agrees with, asks, applies it and runs the tests again.
#   sh scripts/demo.sh ["another request"]        DEMO_ASK=1 asks you about each change and command
set -eu
cd "$(dirname "$0")/.."
bin=$PWD/.venv/bin
here=$PWD
folder=$(mktemp -d "${TMPDIR:-/tmp}/duologue-demo.XXXXXX")
trap 'rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM
cp -R examples/project/. "$folder"
PATH=$bin:$PATH
# It leaves nothing behind.
DUOLOGUE_SESSIONS=off
export PATH DUOLOGUE_SESSIONS

# The questions of this repair are answered by rules, which would do alone; --yes answers what another request asks.
request=${1:-Fix the failing test.}
if [ -n "${DEMO_ASK:-}" ]; then
    set --
else
    set -- --allow 'edit:invoicer/**' --allow 'run:python3 -m unittest *' --allow 'run:duologue try-edits *' --yes
fi
status=0
duologue run --model offline --cwd "$folder" "$@" "$request" || status=$?

echo
echo "What changed in the copy ($folder):"
(cd "$folder" && find . -name __pycache__ -type d -prune -exec rm -rf {} +)
if diff -ru "$here/examples/project" "$folder" -x __pycache__; then
    echo nothing
fi
exit "$status"
