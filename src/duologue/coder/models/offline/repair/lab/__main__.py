"""Runs a job of the lab by path: ``python3 .../repair/lab JOB``, with the project's Python.

That Python need not have Duologue, so the parts are imported under a name of their own: importing them under their full
name would import what stands above them too, and the project may itself be called so.
"""

import json
import sys
import types
from importlib import import_module
from pathlib import Path

#: The name that the folder above has while a job runs.
ALONE = "duologue_lab"


def _run(job: str) -> None:
    here = Path(__file__).resolve().parent
    # The folder of a program comes first on the path; its names are not for the project's tests to find.
    sys.path[:] = [path for path in sys.path if Path(path or ".").resolve() != here]
    package = types.ModuleType(ALONE)
    package.__path__ = [str(here.parent)]
    sys.modules[ALONE] = package
    sys.dont_write_bytecode = True
    import_module(f"{ALONE}.lab.main").run(json.loads(job))


if __name__ == "__main__":
    _run(sys.argv[1])
