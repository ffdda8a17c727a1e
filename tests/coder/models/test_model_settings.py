"""Which model runs, where and with which key; and what a wrong config file says."""

from __future__ import annotations

import base64
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from duologue.coder.models.base import ModelError
from duologue.coder.models.config import Config, SettingsError, Wire, config_path, read_config
from duologue.coder.models.keys import Secret, address_secrets, public_address, redact
from duologue.coder.models.settings import RemoteSettings, chosen_spec, resolve

OWN_OPENAI, OWN_ANTHROPIC = "https://api.openai.com/v1", "https://api.anthropic.com"
LOCAL = "http://127.0.0.1:8080/v1"


def config(tmp_path: Path, text: str, mode: int = 0o600) -> tuple[Config, dict[str, str]]:
    path = tmp_path / "config.toml"
    path.write_text(text)
    path.chmod(mode)
    env = {"DUOLOGUE_CONFIG": str(path)}
    return read_config(env), env


def remote(spec: str, env: dict[str, str], config: Config = Config()) -> RemoteSettings:  # noqa: B008
    settings = resolve(spec, env, config)
    assert settings is not None
    return settings


def key_of(settings: RemoteSettings) -> str | None:
    return settings.endpoint.key.reveal() if settings.endpoint.key else None


def test_nothing_configured_is_offline() -> None:
    assert chosen_spec(None, {}, read_config({})) == "offline"
    assert resolve("offline", {"DUOLOGUE_BASE_URL": LOCAL}, Config()) is None


def test_the_command_line_wins_over_the_environment_over_the_file(tmp_path: Path) -> None:
    file, env = config(tmp_path, 'model = "openai:from-file"')
    assert chosen_spec(None, env, file) == "openai:from-file"
    env["DUOLOGUE_MODEL"] = "openai:from-env"
    assert chosen_spec(None, env, file) == "openai:from-env"
    assert chosen_spec("openai:from-flag", env, file) == "openai:from-flag"


@pytest.mark.parametrize(
    ("spec", "env", "wire", "model", "url", "key"),
    [
        ("openai:gpt-5", {"OPENAI_API_KEY": "o"}, Wire.OPENAI, "gpt-5", OWN_OPENAI, "o"),
        ("openai:gpt-5", {"OPENAI_API_KEY": "o", "DUOLOGUE_API_KEY": "d"}, Wire.OPENAI, "gpt-5", OWN_OPENAI, "d"),
        ("anthropic:c", {"ANTHROPIC_API_KEY": "a"}, Wire.ANTHROPIC, "c", OWN_ANTHROPIC, "a"),
        ("anthropic:c", {"ANTHROPIC_API_KEY": "a", "ANTHROPIC_BASE_URL": LOCAL}, Wire.ANTHROPIC, "c", LOCAL, "a"),
        ("openai:g", {"OPENAI_API_KEY": "o", "OPENAI_BASE_URL": LOCAL}, Wire.OPENAI, "g", LOCAL, "o"),
        ("openai:g", {"OPENAI_BASE_URL": "http://x/v1", "DUOLOGUE_BASE_URL": LOCAL}, Wire.OPENAI, "g", LOCAL, None),
        ("openai-compatible:q", {"DUOLOGUE_BASE_URL": LOCAL, "DUOLOGUE_API_KEY": "d"}, Wire.OPENAI, "q", LOCAL, "d"),
        ("openai-compatible", {"DUOLOGUE_BASE_URL": LOCAL, "DUOLOGUE_MODEL": "q"}, Wire.OPENAI, "q", LOCAL, None),
        ("qwen3:8b", {"DUOLOGUE_BASE_URL": LOCAL}, Wire.OPENAI, "qwen3:8b", LOCAL, None),
        ("qwen3", {"OPENAI_BASE_URL": LOCAL, "OPENAI_API_KEY": "o"}, Wire.OPENAI, "qwen3", LOCAL, "o"),
    ],
)
def test_specs(spec: str, env: dict[str, str], wire: Wire, model: str, url: str, key: str | None) -> None:
    settings = remote(spec, env)
    assert (settings.endpoint.wire, settings.model, settings.endpoint.base_url) == (wire, model, url)
    assert key_of(settings) == key


def test_a_key_for_one_provider_is_not_sent_to_another() -> None:
    env = {"DUOLOGUE_BASE_URL": LOCAL, "OPENAI_API_KEY": "o", "ANTHROPIC_API_KEY": "a"}
    assert key_of(remote("some-model", env)) is None
    assert key_of(remote("anthropic:c", {"ANTHROPIC_API_KEY": "a", "OPENAI_API_KEY": "o"})) == "a"


def test_a_key_of_a_config_table_stays_with_its_endpoint(tmp_path: Path) -> None:
    file, env = config(
        tmp_path,
        f"""
        model = "openai:gpt-5"
        api_key_env = "MY_KEY"
        [providers.home]
        base_url = "{LOCAL}"
        wire = "anthropic"
        context_size = 4096
        """,
    )
    env |= {"MY_KEY": "mine", "DUOLOGUE_API_KEY": "d", "DUOLOGUE_BASE_URL": "http://elsewhere/v1"}
    home = remote("home:m", env, file)
    assert (home.endpoint.base_url, home.endpoint.wire, key_of(home)) == (LOCAL, Wire.ANTHROPIC, None)
    assert home.context_size == 4096
    del env["DUOLOGUE_API_KEY"], env["DUOLOGUE_BASE_URL"]
    assert key_of(remote("openai:gpt-5", env, file)) == "mine"
    with pytest.raises(SettingsError, match="no key for anthropic: set ANTHROPIC_API_KEY or DUOLOGUE_API_KEY"):
        resolve("anthropic:c", env, file)
    assert key_of(remote("bare", {**env, "DUOLOGUE_BASE_URL": LOCAL}, file)) is None


def test_the_file_alone_is_enough(tmp_path: Path) -> None:
    file, env = config(
        tmp_path,
        f"""
        model = "qwen3:8b"
        base_url = "{LOCAL}"
        api_key = "literal"
        context_size = 8192
        thinking = "low"
        retries = 5
        silence_timeout = 30
        """,
    )
    settings = remote(chosen_spec(None, env, file), env, file)
    assert (settings.model, settings.endpoint.base_url, key_of(settings)) == ("qwen3:8b", LOCAL, "literal")
    assert (settings.context_size, settings.thinking, settings.retries) == (8192, "low", 5)
    assert settings.silence_timeout == 30


@pytest.mark.parametrize(
    ("spec", "env", "says"),
    [
        ("openai:gpt-5", {}, "no key for openai: set OPENAI_API_KEY or DUOLOGUE_API_KEY"),
        ("anthropic:c", {"OPENAI_API_KEY": "o"}, "no key for anthropic: set ANTHROPIC_API_KEY or DUOLOGUE_API_KEY"),
        ("gpt-5", {"OPENAI_API_KEY": "o"}, "no endpoint is named for the model: use `offline`, `openai:NAME`"),
        ("home:x", {}, "there is no provider 'home' for the model 'home:x'; there are: openai, anthropic, openai-comp"),
        ("home:x", {}, "under [providers.home], or set DUOLOGUE_BASE_URL if this is the name of a model"),
        ("openai:", {"OPENAI_API_KEY": "o"}, "write `openai:NAME`"),
        ("openai-compatible", {"DUOLOGUE_BASE_URL": LOCAL}, "write `openai-compatible:NAME`"),
        ("m", {"DUOLOGUE_BASE_URL": "localhost:8080"}, "DUOLOGUE_BASE_URL is not an http(s) address"),
        ("m", {"DUOLOGUE_BASE_URL": "http://[::1/v1"}, "DUOLOGUE_BASE_URL is not an http(s) address"),
        ("m", {"DUOLOGUE_BASE_URL": "file:///etc/passwd"}, "DUOLOGUE_BASE_URL is not an http(s) address"),
    ],
)
def test_what_is_missing_is_named(spec: str, env: dict[str, str], says: str) -> None:
    with pytest.raises(SettingsError) as caught:
        resolve(spec, env, Config())
    assert says in caught.value.summary


def test_a_missing_key_counts_as_unauthorized() -> None:
    with pytest.raises(ModelError) as caught:
        resolve("openai:gpt-5", {}, Config())
    assert caught.value.status == 401


def test_a_base_url_without_a_model_is_not_quietly_offline() -> None:
    with pytest.raises(SettingsError, match="no model is named: set DUOLOGUE_MODEL"):
        chosen_spec(None, {"DUOLOGUE_BASE_URL": LOCAL}, Config())


def test_unknown_keys_are_skipped_with_a_warning(tmp_path: Path) -> None:
    file, _ = config(
        tmp_path, 'model = "offline"\ntheme = "dark"\n[providers.home]\nbase_url = "http://h"\ncolour = 1\n'
    )
    assert file.top == {"model": "offline"} and file.providers["home"] == {"base_url": "http://h"}
    first, second = file.warnings
    assert first.startswith(f"{tmp_path}") and "unknown key `theme` is ignored; known here: model, models, " in first
    assert "thinking" in first and first.endswith("providers")
    assert "unknown key `providers.home.colour` is ignored; known here: base_url, api_key, " in second
    assert second.endswith("wire")


def test_a_key_that_is_nearly_known_is_named(tmp_path: Path) -> None:
    file, _ = config(tmp_path, 'modle = "offline"\n[provider.home]\nwire = "openai"\n[providers.home]\nbaseurl = "h"\n')
    keys = {"modle": "model", "provider": "providers", "providers.home.baseurl": "base_url"}
    told = [f"unknown key `{key}` is ignored; is `{meant}` meant?" for key, meant in keys.items()]
    assert [warning.partition(": ")[2] for warning in file.warnings] == told


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("retries = '3'", "`retries` must be a whole number, not a text"),
        ("retries = true", "`retries` must be a whole number, not a bool"),
        ("retries = -1", "`retries` must be at least 0, not -1"),
        ("silence_timeout = 0", "`silence_timeout` must be at least 0.001, not 0"),
        ("silence_timeout = nan", "`silence_timeout` must be at least 0.001, not nan"),
        ("model = 5", "`model` must be a text, not a whole number"),
        ("models = ['a', 2]", "`models` must be a list of texts"),
        ("thinking = 'hard'", "`thinking` must be one of off, low, medium, high, not 'hard'"),
        ("api_key = ['sk-secret']", "`api_key` must be a text, not a list of texts"),
        ("providers = 1", "`providers` must be a table, not a whole number"),
        ("[providers]\nhome = 1", "`providers.home` must be a table, not a whole number"),
        ("[providers.home]\nwire = 'grpc'", "`providers.home.wire` must be one of openai, anthropic, not 'grpc'"),
        ("model = ", "not a valid TOML file"),
    ],
)
def test_a_wrong_value_is_named(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(SettingsError) as caught:
        config(tmp_path, text)
    assert says in caught.value.summary and "config.toml" in caught.value.summary
    assert "sk-secret" not in caught.value.summary


def test_a_provider_without_an_address_is_named(tmp_path: Path) -> None:
    file, env = config(tmp_path, "[providers.home]\n")
    with pytest.raises(SettingsError, match=r"`providers.home.base_url` is missing"):
        resolve("home:m", env, file)


@pytest.mark.skipif(os.name == "nt", reason="modes are POSIX")
@pytest.mark.parametrize(("mode", "warned"), [(0o600, False), (0o644, True), (0o640, True)])
def test_a_literal_key_that_others_may_read_is_warned_of(tmp_path: Path, mode: int, warned: bool) -> None:
    file, _ = config(tmp_path, 'api_key = "sk-literal-key"\n', mode)
    assert any("chmod 600" in warning for warning in file.warnings) is warned
    assert "sk-literal-key" not in "".join(file.warnings)


def test_the_settings_of_who_runs_the_tests_do_not_count_in_them() -> None:
    path = config_path(os.environ)
    assert path is not None and path.is_relative_to(tempfile.gettempdir()) and not path.exists()


def test_where_the_file_is_looked_for() -> None:
    home = {"HOME": "/h"}
    assert config_path({}) is None
    assert config_path(home) == Path("/h/.config/duologue/config.toml")
    assert config_path({**home, "XDG_CONFIG_HOME": "/x"}) == Path("/x/duologue/config.toml")
    assert config_path({**home, "XDG_CONFIG_HOME": "/x", "DUOLOGUE_CONFIG": "/c.toml"}) == Path("/c.toml")


def test_a_home_that_is_missing_or_no_folder_is_fine(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for home in ("/nonexistent", str(tmp_path), str(tmp_path / "file")):
        assert read_config({"HOME": home}) == Config()


def test_an_unreadable_default_file_is_a_warning_and_a_named_one_an_error(tmp_path: Path) -> None:
    folder = tmp_path / ".config" / "duologue" / "config.toml"
    folder.mkdir(parents=True)  # a folder cannot be read as a file, whoever runs the test
    (warning,) = read_config({"HOME": str(tmp_path)}).warnings
    assert "not read: " in warning
    for named in (folder, tmp_path / "absent.toml"):
        with pytest.raises(SettingsError, match="set DUOLOGUE_CONFIG to a readable file"):
            read_config({"DUOLOGUE_CONFIG": str(named)})


def test_text_is_redacted() -> None:
    text = "key topsecret, Bearer abc.def-ghi, sk-proj-abcdefgh1234 at https://me:pw@host/v1"
    shown = redact(text, [Secret("topsecret")])
    assert shown == "key ***, Bearer ***, *** at https://***@host/v1"
    assert redact("the key k is short", [Secret("k")]) == "the key k is short"
    assert public_address("https://me:pw@host:8443/v1/?key=x#y") == "https://host:8443/v1"


@pytest.mark.parametrize("before", ["", "x", "xy", "Bearer "])
@pytest.mark.parametrize("after", ["", "z", "zz"])
@pytest.mark.parametrize("code", [base64.b64encode, base64.urlsafe_b64encode])
def test_a_key_is_found_in_base64(before: str, after: str, code: Callable[[bytes], bytes]) -> None:
    key = "my-plain>>key??99"
    coded = code(f"{before}{key}{after}".encode()).decode()
    shown = redact(f"got {coded} back", [Secret(key)])
    left = shown.removeprefix("got ").removesuffix(" back").partition("***")
    assert left[1] and all(len(part) <= 6 + len(before) * 2 for part in (left[0], left[2]))


def test_a_key_is_found_in_any_case_and_a_password_as_it_is_sent() -> None:
    assert redact("bad MY-PLAIN-KEY", [Secret("my-plain-key")]) == "bad ***"
    sent = base64.b64encode(b"me:p@ss w").decode()
    secrets = address_secrets("https://me:p%40ss%20w@host/v1")
    assert redact(f"sent {sent} with p@ss w", secrets) in ("sent *** with ***", f"sent ***{sent[-2:]} with ***")
    assert redact("Basic bWU6cHc=, Basic authentication") == "Basic ***, Basic authentication"
    assert not address_secrets("https://host/v1")


def test_a_secret_compares_but_does_not_show() -> None:
    assert Secret("a") == Secret("a") != Secret("b") and hash(Secret("a")) == hash(Secret("a"))
    assert f"{Secret('topsecret')} {Secret('topsecret')!r}" == "Secret(***) Secret(***)"
