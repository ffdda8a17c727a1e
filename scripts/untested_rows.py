"""Why a requirement has no test of ours: what is not built yet, and what no program can see to by itself."""

from __future__ import annotations

_PROXIES = "Proxies and conductors are not built: the proposal is not part of any schema yet."
_SCREEN = "Only a screen can show it; `duologue run` prints text as it is, without layout."

_HTTP = "There is no HTTP transport yet."
_WEBSOCKET = "There is no WebSocket transport yet."

#: Requirement -> why. One that has a test since needs no reason any more.
REASONS: dict[str, str] = {
    **{f"allu-http-{number:02}": _HTTP for number in range(1, 28)},
    **{f"allu-ws-{number:02}": _WEBSOCKET for number in range(1, 8)},
    **{f"allu-extensibility-{number:02}": _PROXIES for number in range(1, 6)},
    "all-updates-06": _SCREEN,
    "all-config-10": _SCREEN,
    "allu-auth-03": "No agent of ours logs in at a terminal; what the arguments lead to is its author's program.",
    "all-elicitation-31": "What is entered at a page does not pass through Duologue; not to tell it is up to authors.",
    "all-elicitation-39": "Who may enter something at a page is up to the service behind it.",
}
