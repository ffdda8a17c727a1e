"""Local servers are asked directly, whatever proxy the machine uses."""

import pytest


@pytest.fixture(autouse=True)
def no_proxy_for_local_servers(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(name, "127.0.0.1")
