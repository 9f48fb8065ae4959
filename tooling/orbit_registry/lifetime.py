"""Knows whether this process runs one command and ends, and keeps values to that end; it knows none of them.

A sync or a check of ten thousand records leaves some hundred thousand values behind, a sync an open database too. To
give them back one by one, a moment before the process ends as it is, took 3 % of a sync that takes over an edit.
"""

from __future__ import annotations

_kept: list[object] | None = None


def end_as_it_is() -> None:
    """Say that this process runs one command and ends."""
    global _kept
    _kept = []


def is_one_command() -> bool:
    """Return whether this process was said to run one command: what it begins has to last no longer than that."""
    return _kept is not None


def keep(*values: object) -> bool:
    """Keep values for as long as the process lives, if that is for one command; return whether they are kept."""
    if _kept is None:
        return False
    _kept.extend(values)
    return True
