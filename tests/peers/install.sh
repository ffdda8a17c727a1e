#!/bin/sh
# What the peer tests need beside .venv: the official SDKs and the examples of the Python one, below .peers.
set -eu
cd "$(dirname "$0")/../.."
sh scripts/install_sdks.sh .peers

# The examples come with the source alone.
python_sdk=$(cat .peers/python.stamp)
if [ "$(cat .peers/examples.stamp 2>/dev/null)" != "$python_sdk" ]; then
    rm -rf .peers/examples .peers/source
    mkdir -p .peers/examples
    .venv/bin/python -m pip download --quiet --disable-pip-version-check --no-deps --no-binary :all: \
        --dest .peers/source "$python_sdk"
    tar xzf .peers/source/*.tar.gz -C .peers/examples --strip-components=2 "$(echo "$python_sdk" |
        sed 's/-/_/g; s/==/-/')/examples"
    echo "$python_sdk" > .peers/examples.stamp
fi
