"""Candidate edits: small changes of one place that a person could have mistyped. Runs inside the lab."""
