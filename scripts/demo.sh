#!/bin/sh
# A first look: the coding agent with its built-in offline model works on a copy of examples/project.
set -eu
cd "$(dirname "$0")/.."
bin=$PWD/.venv/bin
folder=$(mktemp -d "${TMPDIR:-/tmp}/duologue-demo.XXXXXX")
trap 'rm -rf "$folder"' EXIT INT TERM
cp -R examples/project/. "$folder"
PATH=$bin:$PATH
export PATH
"$bin/duologue" run --agent "duologue agent --model offline" --cwd "$folder" --yes \
    "${1:-Find the failing test, fix the code and run the tests again.}"
echo
echo "What changed in the copy:"
diff -ru -x __pycache__ examples/project "$folder" || true
