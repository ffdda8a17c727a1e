"""What can be judged by looking over connections, whatever they were made for."""

from duologue.check.watching import capabilities, ids, lines, methods, sessions, settings, tools, turns

__all__ = ["capabilities", "ids", "lines", "methods", "sessions", "settings", "tools", "turns"]
