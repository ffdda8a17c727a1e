"""No Python file is written that does not compile."""

from __future__ import annotations

import warnings

from duologue.coder.models.offline.turn import TurnStopped


def must_compile(path: str, old: str | None, new: str) -> None:
    """Stop the turn when a change would break a Python file; one that was broken before may stay so."""
    if not path.endswith((".py", ".pyi")):
        return
    error = _complaint(path, new)
    if error is not None and (old is None or _complaint(path, old) is None):
        raise TurnStopped(f"{path} would not be valid Python ({error}), so I stopped before writing it.")


def _complaint(path: str, text: str) -> str | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            compile(text, path, "exec", dont_inherit=True)
        except SyntaxError as error:
            return f"{error.msg}, line {error.lineno}"
        except (ValueError, RecursionError, MemoryError) as error:
            return str(error) or type(error).__name__
    return None
