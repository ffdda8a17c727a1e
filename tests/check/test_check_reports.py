"""Reports: what they say, and that nothing of a program can break them."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest

from duologue.check.reason import Reason
from duologue.check.record import Line
from duologue.check.reports import FORMATS, Report, text, written
from duologue.check.rows import ROWS
from duologue.check.run import Choice, sum_up
from duologue.check.verdict import Finding, Status, Verdict, judge
from duologue.protocol.method import Side

NASTY = Line(0, False, b'{"x":"<script>]]>&\x01\xff"}\n')


def verdict(row: str, *findings: Finding) -> Verdict:
    return judge(ROWS[row], 1, findings, ROWS[row].agent)


REPORT = Report(
    "agent",
    "some-agent --acp",
    (1,),
    [
        verdict("all-framing-01", Finding("all-framing-01")),
        verdict("all-framing-02", Finding("all-framing-02"), Finding("all-framing-02", "broke <off>", (NASTY,))),
        verdict("v1-initialize-05", Finding("v1-initialize-05", "agentInfo is missing")),
        verdict("all-framing-03"),
        verdict("all-framing-11"),
    ],
)


def test_a_verdict_is_the_sum_of_what_was_found() -> None:
    statuses = [each.status for each in REPORT.verdicts]
    assert statuses == [Status.PASS, Status.FAIL, Status.WARN, Status.SKIPPED, Status.SKIPPED]
    assert [each.reason for each in REPORT.verdicts[3:]] == [Reason.NOT_OBSERVED, Reason.READING]
    assert REPORT.failed


def test_a_reason_to_skip_does_not_hide_an_observation() -> None:
    skipped = Finding("all-framing-01", reason=Reason.CAPABILITY)
    assert verdict("all-framing-01", skipped, Finding("all-framing-01")).status is Status.PASS
    assert verdict("all-framing-01", skipped).reason is Reason.CAPABILITY


def test_where_nothing_of_an_area_is_offered_the_rest_of_it_is_not_either() -> None:
    shut = Finding("allu-nes-02", reason=Reason.CAPABILITY)
    only = Choice(only=frozenset({"nes"}))
    reasons = {each.row.id: each.reason for each in sum_up(Side.AGENT, 1, [shut], only)}
    assert set(reasons.values()) == {Reason.CAPABILITY}
    open_ = [shut, Finding("allu-nes-07")]
    reasons = {each.row.id: each.reason for each in sum_up(Side.AGENT, 1, open_, only)}
    assert reasons["allu-nes-10"] is Reason.NOT_OBSERVED


def test_text_shows_the_messages_and_counts_the_rest() -> None:
    lines = list(text(REPORT))
    assert any(line.startswith("FAIL all-framing-02: ") for line in lines)
    assert any("broke <off>" in line for line in lines)
    assert any(line.strip().startswith('<- {"x"') for line in lines)
    assert "version 1: 1 pass, 1 fail, 1 warn, 2 skipped" in lines
    assert any("by hand: a person reads the documentation" in line for line in lines)
    assert not any("all-framing-11" in line for line in lines)
    assert any("all-framing-11" in line for line in text(REPORT, verbose=True))


def test_json_has_every_requirement() -> None:
    rows = json.loads(written(REPORT, ".json"))["rows"]
    assert [row["status"] for row in rows] == ["pass", "fail", "warn", "skipped", "skipped"]
    assert rows[1]["problems"][0]["problem"] == "broke <off>"


def test_junit_can_be_read_whatever_a_program_said() -> None:
    (suite,) = ElementTree.fromstring(written(REPORT, ".xml"))
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("5", "1", "2")
    (failure,) = suite.iter("failure")
    assert "broke <off>" in (failure.text or "")


def test_the_page_runs_nothing_that_a_program_said() -> None:
    class Tags(HTMLParser):
        def __init__(self) -> None:
            super().__init__()
            self.seen: set[str] = set()

        def handle_starttag(self, tag: str, attrs: object) -> None:
            self.seen.add(tag)

    page = written(REPORT, ".html")
    parser = Tags()
    parser.feed(page)
    assert "table" in parser.seen
    assert "script" not in parser.seen
    assert "&lt;off&gt;" in page


@pytest.mark.parametrize("suffix", FORMATS)
def test_half_a_character_does_not_cost_the_report(suffix: str) -> None:
    half = verdict("all-extensibility-06", Finding("all-extensibility-06", "bad\ud800 is not ACP"))
    assert written(Report("agent", "x", (1,), [half]), suffix).encode("utf-8")


@pytest.mark.parametrize("suffix", FORMATS)
def test_an_empty_report_can_be_written(suffix: str) -> None:
    assert written(Report("client", "x", (), []), suffix)


def test_what_is_wrong_with_each_item_of_a_list_is_told_once() -> None:
    findings = [Finding("all-extensibility-02", f"result.items[{number}].type: no such member") for number in range(3)]
    report = Report("agent", "some-agent", (1,), [verdict("all-extensibility-02", *findings)])
    assert [line for line in text(report) if "no such member" in line] == ["  result.items[0].type: no such member"]
