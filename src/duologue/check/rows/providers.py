"""Providers of models."""

from __future__ import annotations

from duologue.check.row import AGENT, BOTH, CLIENT, row

ROWS = (
    row(
        "allu-providers-01",
        CLIENT,
        "SHOULD",
        "rfd-custom-llm-endpoint",
        "providers is called after initialize, where the agent has the capability as an object.",
    ),
    row(
        "allu-providers-02",
        AGENT,
        "MUST",
        "rfd-custom-llm-endpoint",
        "Who serves providers says so.",
    ),
    row(
        "allu-providers-03",
        AGENT,
        "SHAPE",
        "schema-unstable",
        "A provider has providerId, supported, required and perhaps current with apiType and baseUrl.",
    ),
    row(
        "allu-providers-04",
        AGENT,
        "MUST NOT",
        "rfd-custom-llm-endpoint",
        "A provider without current gets no traffic.",
    ),
    row(
        "allu-providers-05",
        AGENT,
        "SHAPE",
        "rfd-custom-llm-endpoint",
        "Headers that were set are not told again.",
    ),
    row(
        "allu-providers-06",
        AGENT,
        "SHAPE",
        "rfd-custom-llm-endpoint",
        "providers/set replaces all of one provider, headers too.",
    ),
    row(
        "allu-providers-07",
        AGENT,
        "SHOULD",
        "rfd-custom-llm-endpoint",
        "providers/set with a wrong provider, apiType or params fails with -32602.",
    ),
    row(
        "allu-providers-08",
        AGENT,
        "MUST",
        "rfd-custom-llm-endpoint",
        "providers/disable of a required one fails with -32602.",
    ),
    row(
        "allu-providers-09",
        CLIENT,
        "SHOULD NOT",
        "rfd-custom-llm-endpoint",
        "Nobody tries to disable a required one.",
    ),
    row(
        "allu-providers-10",
        CLIENT,
        "SHOULD",
        "rfd-custom-llm-endpoint",
        "Providers are set before sessions are opened.",
    ),
    row(
        "allu-providers-11",
        AGENT,
        "SHOULD",
        "rfd-custom-llm-endpoint",
        "providers/disable of an unknown one succeeds.",
    ),
    row(
        "allu-providers-12",
        AGENT,
        "MUST",
        "rfd-custom-llm-endpoint",
        "A disabled one stays in the list, without current.",
    ),
    row(
        "allu-providers-13",
        AGENT,
        "SHOULD",
        "rfd-custom-llm-endpoint",
        "Sessions opened after a change use it.",
    ),
    row(
        "allu-providers-14",
        AGENT,
        "SHOULD NOT",
        "rfd-custom-llm-endpoint",
        "Settings do not outlive the agent.",
    ),
    row(
        "allu-providers-15",
        BOTH,
        "MUST",
        "schema-unstable",
        "Unknown apiTypes are lived with.",
    ),
)
