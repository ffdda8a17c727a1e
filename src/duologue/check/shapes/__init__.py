"""Whether messages have the form that the schema gives them, and which requirement a wrong form breaks."""

from duologue.check.shapes.watching import shape_findings, shape_rows

__all__ = ["shape_findings", "shape_rows"]
