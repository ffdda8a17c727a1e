"""Markdown, which texts of the protocol may hold."""

from __future__ import annotations


def fenced(text: str, language: str = "") -> str:
    """Text as a code block, whatever fences it holds itself."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{language}\n{text}{'' if text.endswith(chr(10)) else chr(10)}{fence}"
