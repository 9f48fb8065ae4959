"""Text in, values with line and column out; nothing here opens a file or knows what a record is."""

from __future__ import annotations

MARKDOWN = (".md", ".markdown", ".mdown", ".mkd")
"""Endings of the names of files that are Markdown, in lower case."""


def is_markdown(name: str) -> bool:
    """Say by its name whether a file is Markdown."""
    return name.lower().endswith(MARKDOWN)
