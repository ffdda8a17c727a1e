#!/bin/sh
# What the peer tests need beside .venv: the official SDKs, below .peers.
set -eu
cd "$(dirname "$0")/../.."
sh scripts/install_sdks.sh .peers
