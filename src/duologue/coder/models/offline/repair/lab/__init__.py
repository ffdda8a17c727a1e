"""The lab: a program of its own, sent to the project's Python as one script, that tries edits in a scratch copy.

It needs nothing but the standard library (and pytest where the project uses it), from Python 3.9 on, and leaves nothing behind.
"""
