"""The protocol as a table of values: types by topic, methods, versions."""
