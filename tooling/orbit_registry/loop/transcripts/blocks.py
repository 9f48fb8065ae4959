"""Finds the ids of records in the blocks that push writes, wherever they stand in a text; it keeps nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterator

from orbit_registry.push.render import END, START
from orbit_registry.records.ids import is_safe_id

NEEDLE = re.escape(START.strip("<>")).encode()
"""Stands in every line of a transcript that holds a block, however its brackets are escaped."""
_ITEM = re.compile(r"^- \[([^\]\s]{1,100})\]", re.MULTILINE)
_ESCAPED = (START.replace("<", "&lt;").replace(">", "&gt;"), END.replace("<", "&lt;").replace(">", "&gt;"))
"""How an agent that escapes brackets shows the ends of a block to its model."""


def ids_in(text: str) -> list[str]:
    """Return the ids of the records in the blocks of a text, each as often as it stands there."""
    return [one for block in _blocks(text) for one in _ITEM.findall(block) if is_safe_id(one)]


def _blocks(text: str) -> Iterator[str]:
    for start, end in ((START, END), _ESCAPED):
        at = text.find(start)
        while at >= 0:
            close = text.find(end, at)
            yield text[at : close if close >= 0 else len(text)]
            at = text.find(start, close) if close >= 0 else -1
