"""The command: read an order file, print the invoice."""

import sys
from pathlib import Path

from invoicer.invoice import read_lines
from invoicer.report import report


def main(arguments=None):
    paths = sys.argv[1:] if arguments is None else arguments
    if len(paths) != 1:
        print("usage: invoicer FILE", file=sys.stderr)
        return 2
    try:
        lines = read_lines(Path(paths[0]).read_text(encoding="utf-8").splitlines())
    except (OSError, ValueError) as error:
        print(f"invoicer: {error}", file=sys.stderr)
        return 1
    print(report(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
