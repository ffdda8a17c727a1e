"""`python -m bench`: runs all contestants through all rows, in interleaved rounds, and writes RESULTS.md."""

import argparse
import os
import re
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bench.contestants import CONTESTANTS, Contestant
from bench.measure import Failed, run
from bench.report import Outcome, failures, page, table
from bench.rows import ROWS, Row

RESULTS = Path(__file__).parent / "RESULTS.md"


def main() -> int:
    options = parse()
    rows = [row for row in ROWS if re.search(options.rows, row.key)]
    contestants = [make() for make in CONTESTANTS]
    contestants = [who for who in contestants if re.search(options.only, who.name, re.IGNORECASE)]
    for who in contestants:
        if who.missing:
            print(f"without {who.name}: {who.missing}", file=sys.stderr)
    with tempfile.TemporaryDirectory(prefix="duologue-bench-") as state:
        # What is measured keeps its sessions as it does for a user, but not in the user's home.
        os.environ["XDG_STATE_HOME"] = state
        return report(options, rows, contestants)


def report(options: argparse.Namespace, rows: Sequence[Row], contestants: Sequence[Contestant]) -> int:
    outcomes = measure_all(rows, [who for who in contestants if not who.missing], options.rounds)
    print("\n".join(table(rows, contestants, outcomes)))
    print("\n".join(failures(outcomes)))
    if options.write or (rows == list(ROWS) and len(contestants) == len(CONTESTANTS)):
        RESULTS.write_text(page(rows, contestants, outcomes, options.rounds), encoding="utf-8")
        print(f"wrote {RESULTS}")
    return 0


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--rows", default="", metavar="REGEX", help="only rows whose key matches, such as 'agent-'")
    parser.add_argument("--only", default="", metavar="REGEX", help="only contestants whose name matches")
    parser.add_argument("--write", action="store_true", help="write RESULTS.md although something was left out")
    return parser.parse_args()


def measure_all(
    rows: Sequence[Row], contestants: Sequence[Contestant], rounds: int
) -> dict[str, dict[str, list[Outcome]]]:
    """Each round goes through everything once, another contestant first, so that drift of the machine evens out."""
    outcomes: dict[str, dict[str, list[Outcome]]] = {row.key: {} for row in rows}
    for number in range(rounds):
        for row in rows:
            shift = number % len(contestants)
            for who in (*contestants[shift:], *contestants[:shift]):
                if row.side == "agent" or who.client:
                    outcomes[row.key].setdefault(who.name, []).append(attempt(row, who))
            print(f"round {number + 1} of {rounds}: {row.key}", file=sys.stderr)
    return outcomes


def attempt(row: Row, who: Contestant) -> Outcome:
    try:
        return run(row, who)
    except Failed as failed:
        return failed


if __name__ == "__main__":
    sys.exit(main())
