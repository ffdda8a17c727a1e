"""Released agents and how each is started with the scripted model in place of a paid one. docs/peers.md tells what
they do; `install.sh` puts them below .peers/released."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[3]
PLACE = ROOT / ".peers" / "released"
MODEL = "scripted-model"

#: A model that takes images, for agents that send them to no model that they do not know.
SEEING_MODEL = "gpt-4o"

#: The files that an agent reads when it starts, by path below its home.
Files = Mapping[str, str]


@dataclass(frozen=True)
class Released:
    """An agent of a registry. `run` makes the directive that lets it run a shell command through its own tool."""

    name: str
    package: str
    command: tuple[str, ...]
    env: Callable[[str, Path], Mapping[str, str]]
    run: Callable[[str], str]
    files: Callable[[str], Files] = lambda url: {}
    versions: tuple[int, ...] = (1,)
    #: The config option and its value in which it asks for permission, when that is not how it begins.
    asking_mode: tuple[str, str] | None = None
    #: It runs commands in the terminal of the client, which has one for it.
    uses_terminal: bool = False
    #: The prompt in which its model is told of the tools of MCP servers.
    look_for_tools: str = "[[say ready]]"
    #: Scenarios that fail for a reason of its own, with the reason: always, and now and then.
    theirs: Mapping[str, str] = field(default_factory=dict)
    now_and_then: Mapping[str, str] = field(default_factory=dict)

    @property
    def missing(self) -> str:
        program = Path(self.command[0])
        return "" if program.exists() else f"{self.name}: no {program.relative_to(ROOT)} (see install.sh)"

    def environment(self, url: str, home: Path) -> dict[str, str]:
        """What it is started with: a home of its own, the model's address, and Node 24 first on PATH."""
        for path, text in self.files(url).items():
            file = home / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        node = PLACE / "node" / "node_modules" / "node" / "bin"
        xdg = {f"XDG_{kind}_HOME": str(home / kind.lower()) for kind in ("CONFIG", "DATA", "STATE", "CACHE")}
        own = self.env(url, home)
        return {
            "HOME": str(home),
            "PATH": f"{node}{os.pathsep}{os.environ['PATH']}",
            "NO_PROXY": "127.0.0.1",
            **xdg,
            **own,
        }


def _npm(folder: str, binary: str) -> str:
    return str(PLACE / folder / "node_modules" / ".bin" / binary)


def _python(folder: str, binary: str) -> str:
    return str(PLACE / folder / "bin" / binary)


def _call(tool: str, member: str) -> Callable[[str], str]:
    return lambda command: f"[[call {tool} {json.dumps({member: command})}]]"


SEES = {"input": ["text", "image"], "output": ["text"]}


def _opencode(url: str) -> Files:
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": f"{url}/v1", "apiKey": "unused"},
        "models": {MODEL: {"name": "Scripted", "attachment": True, "modalities": SEES}},
    }
    config = {
        "provider": {"scripted": provider},
        "model": f"scripted/{MODEL}",
        "small_model": f"scripted/{MODEL}",
        "autoupdate": False,
        "permission": {"bash": "ask", "edit": "ask"},
    }
    return {"config/opencode/opencode.json": json.dumps(config)}


def _codex(url: str) -> Files:
    text = f"""
model = "{MODEL}"
model_provider = "scripted"
approval_policy = "on-request"
sandbox_mode = "read-only"

[model_providers.scripted]
name = "Scripted"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "OPENAI_API_KEY"
"""
    return {"codex/config.toml": text}


def _gemini(url: str) -> Files:
    # In a folder that is not trusted it changes no mode and starts no MCP server.
    security = {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}}
    return {".gemini/settings.json": json.dumps({"security": security})}


def _vibe(url: str) -> Files:
    text = f"""
active_model = "scripted"
[[providers]]
name = "scripted"
api_base = "{url}/v1"
api_key_env_var = "SCRIPTED_KEY"
api_style = "openai"
[[models]]
name = "{MODEL}"
provider = "scripted"
alias = "scripted"
supports_images = true
"""
    return {"vibe/config.toml": text}


def _qwen(url: str) -> Files:
    # Else its model finds the tools of MCP servers by a search of its own.
    return {".qwen/settings.json": json.dumps({"tools": {"toolSearch": {"enabled": False}}})}


def _openai(url: str, home: Path) -> Mapping[str, str]:
    return {"OPENAI_BASE_URL": f"{url}/v1", "OPENAI_API_KEY": "unused", "OPENAI_MODEL": MODEL}


def _escalated(command: str) -> str:
    """A command of codex outside its sandbox, which it asks for."""
    asks = {"sandbox_permissions": "require_escalated", "justification": "a test"}
    return f"[[call exec_command {json.dumps({'cmd': command, **asks})}]]"


AGENTS = (
    Released(
        "opencode",
        "npm opencode-ai 1.18.33",
        (_npm("opencode", "opencode"), "acp"),
        lambda url, home: {"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1"},
        lambda command: f"[[call bash {json.dumps({'command': command, 'description': 'a test'})}]]",
        _opencode,
    ),
    Released(
        "claude",
        "npm @agentclientprotocol/claude-agent-acp 0.101.0",
        (_npm("claude", "claude-agent-acp"),),
        lambda url, home: {
            "ANTHROPIC_BASE_URL": url,
            "ANTHROPIC_API_KEY": "unused",
            "CLAUDE_CONFIG_DIR": str(home / ".claude"),
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        },
        _call("Bash", "command"),
        versions=(1, 2),
        asking_mode=("mode", "default"),
    ),
    Released(
        "codex",
        "npm @agentclientprotocol/codex-acp 2.6.0",
        (_npm("codex", "codex-acp"),),
        lambda url, home: {**_openai(url, home), "CODEX_HOME": str(home / "codex"), "CODEX_API_KEY": "unused"},
        _escalated,
        _codex,
        versions=(1, 2),
        asking_mode=("mode", "read-only"),
    ),
    Released(
        "codex-rust",
        "npm @zed-industries/codex-acp 0.16.0",
        (_npm("codex-rust", "codex-acp"),),
        lambda url, home: {**_openai(url, home), "CODEX_HOME": str(home / "codex"), "CODEX_API_KEY": "unused"},
        _escalated,
        _codex,
    ),
    Released(
        "gemini",
        "npm @google/gemini-cli 0.61.0",
        (_npm("gemini", "gemini"), "--acp"),
        lambda url, home: {"GOOGLE_GEMINI_BASE_URL": url, "GEMINI_API_KEY": "unused"},
        _call("run_shell_command", "command"),
        _gemini,
        now_and_then={"reopened_after_a_restart": "session/load finds no session (-32603), though its file is there"},
    ),
    Released(
        "qwen",
        "npm @qwen-code/qwen-code 0.24.4",
        (_npm("qwen", "qwen"), "--acp", "--auth-type", "openai"),
        lambda url, home: {**_openai(url, home), "OPENAI_MODEL": SEEING_MODEL},
        lambda command: f"[[call run_shell_command {json.dumps({'command': command, 'is_background': False})}]]",
        _qwen,
    ),
    Released(
        "vibe",
        "PyPI mistral-vibe 3.0.2",
        (_python("vibe", "vibe-acp"),),
        lambda url, home: {"VIBE_HOME": str(home / "vibe"), "SCRIPTED_KEY": "unused", "MISTRAL_API_KEY": "unused"},
        _call("bash", "command"),
        _vibe,
        look_for_tools='[[call search_tool_functions {"query": "duologue"}]]',
    ),
    Released(
        "fast-agent",
        "PyPI fast-agent-mcp 0.10.48",
        (_python("fast-agent", "fast-agent"), "acp", "--model", f"generic.{SEEING_MODEL}", "--shell"),
        lambda url, home: {"GENERIC_BASE_URL": f"{url}/v1", "GENERIC_API_KEY": "unused"},
        _call("execute", "command"),
        uses_terminal=True,
    ),
    Released(
        "deepagents",
        "PyPI deepagents-acp 0.0.13",
        (_python("deepagents", "python"), str(Path(__file__).parent / "programs" / "deepagents_agent.py")),
        _openai,
        _call("execute", "command"),
        theirs={"mcp_tool": "it takes MCP servers, keeps them to itself and gives them to no model"},
    ),
)
