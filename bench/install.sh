#!/bin/sh
# What the measurements need beside .venv: the official SDKs and the neutral counterpart, all below .bench.
set -eu
cd "$(dirname "$0")/.."
cc=${CC:-cc}
sh scripts/install_sdks.sh .bench
if command -v "$cc" >/dev/null; then
    built=$(find .bench/neutral -size +8k -newer bench/neutral.c 2>/dev/null || true)
    [ -z "$built" ] || exit 0
    "$cc" -O2 -Wall -Wextra -o .bench/neutral bench/neutral.c
else
    echo "No C compiler ($cc): the neutral counterpart is the Python one, which holds back round trips in flight."
    printf '#!/bin/sh\nexec "%s/.venv/bin/python" "%s/bench/neutral.py" "$@"\n' "$PWD" "$PWD" > .bench/neutral
    chmod +x .bench/neutral
fi
