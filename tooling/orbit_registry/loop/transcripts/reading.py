"""Streams a transcript and counts the records in it; which texts the model was given, each agent's file says."""

from __future__ import annotations

import json
import os
import re
import stat
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from orbit_registry.loop.transcripts.blocks import NEEDLE, ids_in

LONGEST_LINE = 32_000_000
MOST_BYTES = 2_000_000_000
Row = Mapping[str, Any]
Given = Callable[[Row], Iterable[str]]
"""Texts of a line of a transcript that the model was given by a hook."""


@dataclass(slots=True)
class Read:
    """What a transcript holds: how often each record stands in what hooks gave, and lines that can't be read."""

    records: Counter[str] = field(default_factory=Counter)
    lines: int = 0
    broken: int = 0
    ended: float = 0.0
    """When it was last written, in seconds since 1970."""


def read_transcript(path: Path, given: Given) -> Read | None:
    """Return what a transcript holds; None where it can't be read or is no plain file."""
    found = Read()
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    state = os.fstat(handle)
    if not stat.S_ISREG(state.st_mode):
        os.close(handle)
        return None
    found.ended = state.st_mtime
    with os.fdopen(handle, "rb") as file:
        try:
            wanted = re.compile(NEEDLE)
            left = MOST_BYTES
            while left > 0 and (line := file.readline(LONGEST_LINE)):
                left -= len(line)
                found.lines += 1
                if wanted.search(line):
                    _count(found, line, given)
        except OSError:
            return None
    return found


def _count(found: Read, line: bytes, given: Given) -> None:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        found.broken += 1
        return
    if isinstance(row, dict):
        for text in given(row):
            found.records.update(ids_in(text))


def texts_of(value: object) -> Iterator[str]:
    """Yield the texts in a value that is a text, a list of texts, or a list of parts that have a `text`."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for one in value:
            yield from texts_of(one.get("text") if isinstance(one, dict) else one)
