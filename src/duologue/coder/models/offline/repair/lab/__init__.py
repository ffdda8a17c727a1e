"""The lab: a program that tries edits in a scratch copy, run by the path of its folder with the project's Python.

It needs the standard library from Python 3.9 on (and pytest where the project uses it), and leaves nothing behind.
"""
