#!/bin/sh
# mypy --strict over the package and over the tests and tools around it.
# Tests import helpers that lie beside them by their bare name, as pytest lets them; so each of their folders is a root.
set -eu
cd "$(dirname "$0")/.."
mypy=.venv/bin/mypy
own='(^|/)(programs|must_fail|snippets)/'

failed=0

$mypy --strict --package duologue || failed=1
MYPYPATH=src:$(find tests scripts -name '*.py' | grep -Ev "$own" | xargs -n1 dirname | sort -u | paste -sd: -)
export MYPYPATH
$mypy --strict --explicit-package-bases --exclude "$own" --exclude 'tests/.+/conftest\.py' tests scripts bench || failed=1
# One at a time: they all have the same name.
for file in $(find tests -mindepth 2 -name conftest.py); do
    $mypy --strict --explicit-package-bases "$file" || failed=1
done
exit $failed
