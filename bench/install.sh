#!/bin/sh
# What the measurements need beside .venv: the official SDKs and the neutral counterpart, all below .bench.
set -eu
cd "$(dirname "$0")/.."
sh scripts/install_sdks.sh .bench
if [ -z "$(find .bench/neutral -newer bench/neutral.c 2>/dev/null)" ]; then
    "${CC:-cc}" -O2 -Wall -Wextra -o .bench/neutral bench/neutral.c || {
        echo "The neutral counterpart is a small C program: install a C compiler (on Debian: apt-get install gcc)." >&2
        exit 1
    }
fi
