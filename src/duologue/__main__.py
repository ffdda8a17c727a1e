"""`python -m duologue` is the `duologue` command."""

import sys

from duologue.cli import main

if __name__ == "__main__":
    sys.exit(main())
