#!/bin/sh
# mypy --strict over the package, on Linux and on macOS, and over the tests and tools around it.
# A test folder without __init__.py lets its files import each other by bare name, as pytest does; so it is a root.
set -eu
cd "$(dirname "$0")/.."
mypy=.venv/bin/mypy
# Programs that are checked on their own or not at all; fuzzers need a library that is not installed here.
own='(^|/)(programs|must_fail|snippets)/|/fuzz_[a-z_]+\.py$'
failed=0

$mypy --strict --package duologue || failed=1
# What only Linux has is guarded by a question for the platform. (Windows is not promised yet.)
$mypy --strict --platform darwin --cache-dir .mypy_cache/darwin --package duologue || failed=1

MYPYPATH=src:$(find tests scripts -name '*.py' | grep -Ev "$own" | xargs -n1 dirname | sort -u |
    while read -r dir; do [ -e "$dir/__init__.py" ] || printf '%s:' "$dir"; done)
export MYPYPATH=${MYPYPATH%:}
# Conftests of several roots have the same name, so they are checked one at a time.
alone=$(find tests -mindepth 2 -name conftest.py | while read -r file; do
    [ -e "$(dirname "$file")/__init__.py" ] || echo "$file"
done)
skip=$(printf '%s' "$alone" | sed 's/\./\\./g' | paste -sd'|' -)
$mypy --strict --explicit-package-bases --exclude "$own" ${skip:+--exclude "$skip"} tests scripts bench || failed=1
for file in $alone; do $mypy --strict --explicit-package-bases "$file" || failed=1; done
exit $failed
