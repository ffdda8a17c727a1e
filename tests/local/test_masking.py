"""What is masked before it is written down, and what only looks like it and stays."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from duologue.local.masking import MASK, mask, mask_broken, mask_text

#: Put together here, so that nobody who looks for keys in this file finds one.
BODY = "a1B2" * 10
KEYS = (
    f"sk-{BODY}",
    f"sk-ant-api03-{BODY}",
    f"sk_live_{BODY}",
    f"ghp_{BODY}",
    f"gho_{BODY}",
    f"github_pat_{BODY}_{BODY}",
    f"glpat-{BODY}",
    f"xoxb-12345678-{BODY}",
    f"AIza{BODY}",
    f"hf_{BODY}",
    f"npm_{BODY}",
    f"pypi-{BODY}",
    f"ya29.{BODY}",
    "AKIA" + "ABCD1234" * 2,
    f"eyJhbGciOi{BODY}.eyJzdWIi{BODY}.{BODY}",
)
PRIVATE_KEY = "-----BEGIN {}PRIVATE KEY-----\n" + f"{BODY}\n{BODY}\n" + "-----END {}PRIVATE KEY-----"


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("around", ["{}", "use {} now", 'key="{}",', "({})", "a={}&b=1", "\\n{}\\n"])
def test_a_key_is_known_by_its_shape(key: str, around: str) -> None:
    shown = mask_text(around.format(key))
    assert key not in shown and BODY not in shown and MASK in shown
    assert len(shown) <= len(around) + len(MASK)


@pytest.mark.parametrize(
    "text", [*(f"word{key}" for key in KEYS[:-1]), f"word-eyJ{BODY}.{BODY}", f"wordeyJ{BODY}.{BODY}"]
)
def test_what_stands_in_the_middle_of_a_word_is_no_key(text: str) -> None:
    assert mask_text(text) == text


@pytest.mark.parametrize(
    "text", ["use Bearer hush", "bearer hush0123", "Basic aHVzaDpodXNo=", "http://me:hush@host/", "\\nBasic hush-0="]
)
def test_what_stands_behind_the_name_of_a_scheme_is_masked(text: str) -> None:
    shown = mask_text(text)
    assert "hush" not in shown and "aHVz" not in shown and MASK in shown
    assert mask_text(text.replace(" ", "_").replace("://", ":/")) == text.replace(" ", "_").replace("://", ":/")


@pytest.mark.parametrize("kind", ["", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED "])
def test_a_private_key_is_masked_to_its_end(kind: str) -> None:
    block = PRIVATE_KEY.format(kind, kind)
    assert mask_text(f"before\n{block}\nafter") == f"before\n{MASK}\nafter"
    assert mask_text(f"before\n{block[:60]}") == f"before\n{MASK}"
    assert BODY not in mask_broken(json.dumps({"text": block})[:-30])


@pytest.mark.parametrize(
    "text",
    [
        "tool --token hush",
        "tool --api-key=hush --verbose",
        "tool --apikey hush",
        "tool --auth-token 'hush hush' x",
        'tool --password="hush \\" hush" x',
        "tool -token hush",
        "tool --tokens hush",
        "tool --key hush1234 x",
        "tool --basic-auth='hush-1234'",
        "OPENAI_API_KEY=hush tool",
        "export GITHUB_TOKEN='hush'; tool",
        "AWS_SECRET_ACCESS_KEY=hush",
        "DEPLOY_SIGNING_KEY=hush",
        "TOKEN=hush",
        "TOKENS=hush",
        "NOTES_API_KEYS='hush'",
        "PASSWORDS=hush",
        "SECRETS=1hush",
        "curl -H 'X-Api-Key: hush-hush' u",
        'curl -H "Authorization: hush-hush" u',
        "Cookie: hush=hush; more=hush",
        "psql 'host=x password=hush dbname=y'",
        "http://h/x?page=1&access_token=hush",
        'called with {"apiKey": "hush", "page": 1}',
        "called with {'client_secret': 'hush', 'page': 1}",
    ],
)
def test_what_stands_behind_a_name_of_a_secret_is_masked(text: str) -> None:
    shown = mask_text(text)
    assert "hush" not in shown and MASK in shown


@pytest.mark.parametrize(
    "value",
    [
        {"tokens": ["hush", "hush"]},
        {"apiKeys": {"home": "hush"}},
        {"passwords": "hush", "cookies": [{"a": "hush"}], "auth_tokens": {"a": {"b": "hush"}}},
        {"SIGNING_KEY": "hush", "x-access-keys": ["hush"]},
        {"command": "tool", "args": ["--token", "hush", "--verbose"]},
        {"args": ["--api-key=hush"]},
        {"args": ["--auth", "hush1234"]},
        {"args": ["--passwords", "hush", "--env", "NAME=hush"]},
        {"args": ["sh", "-c", "tool --token hush"]},
        {"variables": [{"name": "OPENAI_API_KEY", "value": "hush"}]},
        {"configId": "apiKey", "value": "hush"},
    ],
)
def test_members_and_arguments_that_hold_secrets_are_masked(value: Any) -> None:
    shown = json.dumps(mask(value, 1000))
    assert "hush" not in shown and MASK in shown
    for name in value:
        assert name in shown


@pytest.mark.parametrize(
    "value",
    [
        {"inputTokens": 5, "outputTokens": 7, "totalTokens": 12, "tokens": 12, "cachedReadTokens": 0},
        {"tokens": {"input": 5, "output": 7, "cost": 0.5}, "maxTokens": "500", "progressToken": "a"},
        {"args": ["--max-tokens", "500", "--verbose", "--key-file", "x", "--key", "left", "--auth", "none"]},
        {"name": "page", "value": "plain"},
        {"configId": "model", "value": "offline"},
        {"sessionId": "s-1", "toolCallId": "call_0123456789abcdef", "key": "left", "keys": ["a"], "monkey": "x"},
        {"tokenizer": "bpe", "secretary": "Ann", "passwordless": "yes", "cookieCutter": "star"},
    ],
)
def test_members_that_only_sound_like_secrets_stay(value: Any) -> None:
    assert mask(value, 1000) == value


@pytest.mark.parametrize(
    "text",
    [
        "tool --max-tokens 500 --verbose",
        "tool --max-tokens=500, then",
        "docker login --password-stdin host",
        "tool --token --verbose",
        "sort --key=2,2 --key 3; tool --key keys/prod2024.pem --auth kerberos --no-auth --tls-key server2024.pem",
        "struct sk_buff_head; key_value_pairs; pk_columns; hf_hub_download; npm_config_cache",
        "MAX_TOKENS=500 tool",
        "PRIMARY_KEYS=a",
        "f(api_key=None, password=None)",
        "for token in tokens: yield token",
        "unexpected token: identifier expected",
        "the bearer of good news, Basic authentication",
        '{"inputTokens": 5, "tokens": 12}',
        "-----BEGIN PUBLIC KEY-----\nabc\n-----END PUBLIC KEY-----",
        "see https://example.org/a@b and me@example.org",
        "eyJ is how such a token begins",
    ],
)
def test_innocent_text_stays(text: str) -> None:
    assert mask_text(text) == text


@pytest.mark.parametrize(
    "text",
    [
        '{"tokens": ["hush", "hu',
        '{"env": {"HOME": "hush", "X": "hu',
        '{"headers": [{"name": "a", "value": "hush',
        '{"apiKeys": {"a": "hush"}, "x": tru',
        '{"password": 12345678, "x": tru',
        '{"args": ["--token=hush", "x',
    ],
)
def test_broken_json_is_masked_behind_its_names(text: str) -> None:
    shown = mask_broken(text)
    assert "hu" not in shown and "12345678" not in shown and MASK in shown


def test_counts_in_broken_json_stay() -> None:
    assert mask_broken('{"inputTokens": 5, "x": tru') == '{"inputTokens": 5, "x": tru'


def test_a_secret_at_the_place_of_the_cut_is_known() -> None:
    for at in range(1, 30):
        shown = mask("x" * (1000 - at) + f" {KEYS[1]} https://me:{BODY}@host/", 1000)
        assert "a1B2" not in shown and shown.startswith("x" * 960)


@pytest.mark.parametrize(
    "piece", ["-", "a-", "sk-", "key-", "eyJ", "eyJ-", '"a', "--", "x_", "BEGIN ", "://", "bearer ", "--key ", "--key-"]
)
def test_no_text_makes_it_slow(piece: str) -> None:
    """Each of these would take minutes if the time grew with the square of the length (the test's time is limited)."""
    text = piece * (100_000 // len(piece))
    assert len(mask_broken(text)) <= len(text) + len(MASK)


@given(st.text(max_size=60), st.text(max_size=60))
@settings(max_examples=50)
def test_a_key_is_found_in_any_text(before: str, after: str) -> None:
    assert KEYS[0] not in mask_text(f"{before} {KEYS[0]} {after}")
