#!/bin/sh
# install_sdks.sh DIR: installs the official SDKs below DIR, for comparisons and as peers; quick when they are there.
# The Python SDK goes to DIR/venv, the TypeScript SDK in two versions to DIR/node/node_modules (only with node and npm).
set -eu
cd "$(dirname "$0")/.."
dir=$1
python_sdk=agent-client-protocol==0.12.1
node_sdk_old=sdk-1.3@npm:@agentclientprotocol/sdk@1.3.0
node_sdk_new=sdk-2.4@npm:@agentclientprotocol/sdk@2.4.0

mkdir -p "$dir/node"
if [ "$(cat "$dir/python.stamp" 2>/dev/null)" != "$python_sdk" ]; then
    echo "Installing $python_sdk into $dir/venv ..."
    .venv/bin/python -m venv --clear "$dir/venv"
    "$dir/venv/bin/python" -m pip install --quiet --disable-pip-version-check "$python_sdk"
    echo "$python_sdk" > "$dir/python.stamp"
fi
if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
    echo "node or npm not found: going on without the TypeScript SDK."
elif [ "$(cat "$dir/node.stamp" 2>/dev/null)" != "$node_sdk_old $node_sdk_new" ]; then
    echo "Installing the TypeScript SDK 1.3.0 and 2.4.0 into $dir/node ..."
    echo '{"private": true}' > "$dir/node/package.json"
    (cd "$dir/node" && npm install --silent --no-audit --no-fund "$node_sdk_old" "$node_sdk_new")
    echo "$node_sdk_old $node_sdk_new" > "$dir/node.stamp"
fi
