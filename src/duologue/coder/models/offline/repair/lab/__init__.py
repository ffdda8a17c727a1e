"""The lab: a program of its own, sent to the project's Python as one script, that tries edits in a scratch copy.

It needs the standard library from Python 3.9 on (and pytest where the project uses it), and leaves nothing behind.
"""
