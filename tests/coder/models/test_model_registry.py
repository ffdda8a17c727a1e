"""From a name to a model; nothing heavy is loaded on the way, and one bad line takes no other model away."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from duologue.coder.models import library
from duologue.coder.models.base import ModelError
from duologue.coder.models.registry import available_models, load_model

LOCAL = "http://127.0.0.1:8080/v1"

LIGHT = """
import sys
from duologue.coder.models import registry
from duologue.coder.models.registry import available_models, load_model
env = {"OPENAI_API_KEY": "o"}
model = load_model("openai:gpt-5", env)
assert model.name == "openai:gpt-5", model.name
assert [choice.spec for choice in available_models("openai:gpt-5", env)] == ["openai:gpt-5", "offline"]
heavy = [name for name in ("pydantic_ai", "pydantic", "openai", "anthropic", "httpx2") if name in sys.modules]
assert not heavy, heavy
"""

BLOCKED = """
import asyncio, sys
class Block:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {blocked!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Block())
from duologue.coder.models.base import ModelError, ModelRequest
from duologue.coder.models.registry import load_model
async def main():
    model = load_model("openai:gpt-5", {{"OPENAI_API_KEY": "o"}})
    async for _ in model.stream(ModelRequest("c", "", (), (), "/")):
        pass
try:
    asyncio.run(main())
except ModelError as error:
    print(error.summary)
"""


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_choosing_a_remote_model_loads_no_library() -> None:
    run(LIGHT)


def test_a_missing_extra_says_how_to_install_it() -> None:
    assert "pip install '.[agent]'" in run(BLOCKED.format(blocked=("anthropic",)))


def test_a_library_that_is_not_there_is_told_when_the_model_is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "LIBRARY", "a_library_that_is_not_there")
    for env in ({"OPENAI_API_KEY": "o"}, {}):  # Also before the key is missed: what comes first is said first.
        with pytest.raises(ModelError, match=r"pip install '\.\[agent\]'"):
            load_model("openai:gpt-5", env)


def test_nothing_configured_gives_the_offline_model() -> None:
    assert load_model(env={}).name.startswith("offline")


def test_models_of_environment_and_file_are_offered(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text(
        f"""
        models = ["openai:gpt-5", "home:qwen3", "anthropic:no-key", "offline", "home:qwen3"]
        colour = "red"
        [providers.home]
        base_url = "{LOCAL}"
        """
    )
    env = {"DUOLOGUE_CONFIG": str(path), "OPENAI_API_KEY": "o", "DUOLOGUE_MODEL": "home:llama"}
    warnings: list[str] = []
    choices = available_models(env=env, warn=warnings.append)
    assert [choice.spec for choice in choices] == ["home:llama", "openai:gpt-5", "home:qwen3", "offline"]
    assert choices[0].name == "llama" and choices[0].description == f"home ({LOCAL})"
    assert any("`colour`" in line for line in warnings)
    assert any("'anthropic:no-key' is not offered: no key for anthropic" in line for line in warnings)
    assert load_model(choices[2].spec, env, warn=warnings.append).name == "home:qwen3"


def test_a_broken_file_leaves_the_offline_model(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text("model = ")
    warnings: list[str] = []
    choices = available_models(env={"DUOLOGUE_CONFIG": str(path)}, warn=warnings.append)
    assert [choice.spec for choice in choices] == ["offline"] and "not a valid TOML file" in warnings[0]
    with pytest.raises(ModelError, match="not a valid TOML file"):
        load_model(env={"DUOLOGUE_CONFIG": str(path)})


def test_a_bad_default_leaves_the_other_models(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text('model = "openai:"\nmodels = ["openai:gpt-5"]\n')
    env = {"DUOLOGUE_CONFIG": str(path), "OPENAI_API_KEY": "o"}
    warnings: list[str] = []
    assert [choice.spec for choice in available_models(env=env, warn=warnings.append)] == ["openai:gpt-5", "offline"]
    assert "write `openai:NAME`" in warnings[0]
    assert load_model("openai:gpt-5", env).name == "openai:gpt-5"


def test_oddities_of_the_file_are_told_once_per_load(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text('model = "offline"\nnew_key = 1\n')
    warnings: list[str] = []
    load_model(env={"DUOLOGUE_CONFIG": str(path)}, warn=warnings.append)
    assert len(warnings) == 1 and "`new_key` is ignored" in warnings[0]
