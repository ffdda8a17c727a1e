#!/bin/sh
# Installs released agents and clients below .peers/released: all of them, or the ones named. An agent takes 50 to 500 MB.
#   sh tests/peers/released/install.sh [opencode claude codex codex-rust gemini qwen vibe fast-agent acpx acp-client ...]
set -u
cd "$(dirname "$0")/../../.."
place=.peers/released
mkdir -p $place

npm_package() { # npm_package FOLDER SPEC: quick when it is there
    [ "$(cat "$place/$1/stamp" 2>/dev/null)" = "$2" ] && return
    echo "Installing $2 ..."
    mkdir -p "$place/$1"
    echo '{"private": true}' > "$place/$1/package.json"
    (cd "$place/$1" && npm install --silent --no-audit --no-fund "$2") && echo "$2" > "$place/$1/stamp" ||
        echo "$2 could not be installed; its tests are skipped."
}

python_package() { # python_package FOLDER SPEC: the newest Python there is, since some want 3.12
    [ "$(cat "$place/$1/stamp" 2>/dev/null)" = "$2" ] && return
    echo "Installing $2 ..."
    for python in python3.13 python3.12 .venv/bin/python; do
        "$python" -c 'pass' 2>/dev/null && break
    done
    "$python" -m venv --clear "$place/$1" &&
        "$place/$1/bin/python" -m pip install --quiet --disable-pip-version-check "$2" &&
        echo "$2" > "$place/$1/stamp" || echo "$2 could not be installed; its tests are skipped."
}

one() {
    case $1 in
    opencode) npm_package opencode opencode-ai@1.18.33 ;;
    claude) npm_package claude @agentclientprotocol/claude-agent-acp@0.101.0 ;;
    codex) npm_package codex @agentclientprotocol/codex-acp@2.6.0 ;;
    codex-rust) npm_package codex-rust @zed-industries/codex-acp@0.16.0 ;;
    gemini) npm_package gemini @google/gemini-cli@0.61.0 ;;
    qwen) npm_package qwen @qwen-code/qwen-code@0.24.4 ;;
    acpx) npm_package acpx acpx@0.19.1 ;;
    vibe) python_package vibe mistral-vibe==3.0.2 ;;
    fast-agent) python_package fast-agent fast-agent-mcp==0.10.48 ;;
    acp-client) python_package acp-client acp-client==0.1.0 ;;
    acplint) python_package acplint acplint==0.1.0 ;;
    *) echo "unknown: $1" >&2; exit 2 ;;
    esac
}

if ! command -v npm >/dev/null; then
    echo "npm not found: only what PyPI has is installed." >&2
    set -- ${@:-vibe fast-agent acp-client acplint}
else
    # The programs of the table want Node 24.
    npm_package node node@24
    set -- ${@:-acpx opencode claude codex codex-rust gemini qwen vibe fast-agent acp-client acplint}
fi
for name in "$@"; do one "$name"; done
