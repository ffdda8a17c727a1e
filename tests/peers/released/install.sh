#!/bin/sh
# Installs released agents and clients below .peers/released: all of them, or the ones named. One takes 50 to 500 MB.
#   sh tests/peers/released/install.sh [opencode claude codex codex-rust gemini qwen vibe fast-agent deepagents
#                                       acpx acp-client acplint jupyter toad]
set -u
cd "$(dirname "$0")/../../.."
place=.peers/released
mkdir -p $place

# Some want a newer Python than the project does; pyenv's are found where they are.
for bin in "$HOME"/.pyenv/versions/3.1[2-9]*/bin; do
    [ -d "$bin" ] && PATH="$bin:$PATH"
done

step() { # step FOLDER SPEC COMMAND...: quick when it is there; what the command says goes to a file
    folder=$1 spec=$2
    shift 2
    [ "$(cat "$place/$folder/stamp" 2>/dev/null)" = "$spec" ] && return
    echo "[$done of $all] installing $spec ..."
    if "$@" > "$place/$folder.log" 2>&1; then
        echo "$spec" > "$place/$folder/stamp"
        echo "    done: $(du -sh "$place/$folder" | cut -f1)"
    else
        echo "    could not be installed, so its tests are skipped: $(tail -n 1 "$place/$folder.log")"
    fi
}

into_node() { # into_node FOLDER PACKAGE
    mkdir -p "$place/$1"
    echo '{"private": true}' > "$place/$1/package.json"
    (cd "$place/$1" && npm install --silent --no-audit --no-fund "$2")
}

npm_package() { # npm_package FOLDER SPEC
    if command -v npm >/dev/null; then
        step "$1" "$2" into_node "$1" "$2"
    else
        echo "[$done of $all] $2 is skipped: npm was not found"
    fi
}

into_venv() { # into_venv FOLDER LEAST PACKAGE...: with the newest Python from 3.LEAST on
    folder=$1 least=$2
    shift 2
    for minor in 14 13 12 11; do
        [ "$minor" -lt "$least" ] && break
        "python3.$minor" -c 'pass' 2>/dev/null && found=python3.$minor && break
    done
    [ -n "${found:-}" ] || { echo "it wants Python 3.$least or newer, which was not found"; return 1; }
    "$found" -m venv --clear "$place/$folder" &&
        "$place/$folder/bin/python" -m pip install --quiet --disable-pip-version-check "$@"
}

python_package() { # python_package FOLDER LEAST SPEC: packages of a spec are separated by spaces
    (unset found; step "$1" "$3" into_venv "$1" "$2" $3)
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
    vibe) python_package vibe 12 mistral-vibe==3.0.2 ;;
    fast-agent) python_package fast-agent 12 fast-agent-mcp==0.10.48 ;;
    deepagents)
        python_package deepagents 11 \
            "deepagents-acp==0.0.13 deepagents==0.7.32 langchain-openai==1.7.4 langgraph-checkpoint-sqlite==3.1.2" ;;
    acp-client) python_package acp-client 11 acp-client==0.1.0 ;;
    acplint) python_package acplint 11 acplint==0.1.0 ;;
    jupyter) python_package jupyter 11 "jupyterlab==4.6.6 jupyter-ai-acp-client==0.3.3 selenium==4.51.0" ;;
    toad) python_package toad 14 batrachian-toad==0.6.20 ;;
    *) echo "unknown: $1" >&2; exit 2 ;;
    esac
}

set -- ${@:-acpx opencode claude codex codex-rust gemini qwen vibe fast-agent deepagents acp-client acplint jupyter toad}
done=0 all=$#
# The npm programs want Node 24.
npm_package node node@24
for name in "$@"; do
    done=$((done + 1))
    one "$name"
done
