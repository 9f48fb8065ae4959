"""Streaming reader of transcripts, one line at a time; the agents' modules say what a line means."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from orbit_registry.agents.agent import Row, TranscriptEntry, open_transcript
from orbit_registry.hook.render import END, START
from orbit_registry.model.ids import is_safe_id

NEEDLE = re.compile(re.escape(START.strip("<>")).encode())
"""Part of every line that holds a block, however its brackets are escaped."""
_ITEM = re.compile(r"^- \[([^\]\s]{1,100})\]", re.MULTILINE)
_ESCAPED = (START.replace("<", "&lt;").replace(">", "&gt;"), END.replace("<", "&lt;").replace(">", "&gt;"))
"""Ends of a block for agents that escape brackets."""

_TOLD = (
    "project-notes|system-reminder|hook_context|environment_context|user_instructions|user-prompt-submit-hook|"
    "local-command-[a-z]+|command-[a-z]+|ide_[a-z]+|skills_instructions|permissions instructions|private|INSTRUCTIONS"
)
_INJECTED = re.compile(
    rf"(?s)(?:<|&lt;)(?P<tag>{_TOLD})\b[^>\n]{{0,200}}?(?:>|&gt;).*?(?:(?:<|&lt;)/(?P=tag)(?:>|&gt;)|\Z)"
    r"|\[project notes\].*?(?:\[end of project notes\]|\Z)|(?m:^)## System Context\n.*?(?=^## |\Z)",
    re.MULTILINE,
)
"""Injected and private parts of a prompt; an unclosed one reaches to the end."""


def without_injected(text: str) -> str:
    """Remove blocks of records, reminders of the host and private parts from a text."""
    return _INJECTED.sub(" ", text).strip() if "<" in text or "&lt;" in text or "[" in text or "## S" in text else text


def injected_in(text: str) -> list[str]:
    """Return what hosts, hooks and briefs put into a text."""
    return [match[0] for match in _INJECTED.finditer(text)]


def ids_in(text: str) -> list[str]:
    """Return the ids of the records in the blocks of a text, with repetitions."""
    return [record_id for block in _blocks(text) for record_id in _ITEM.findall(block) if is_safe_id(record_id)]


def _blocks(text: str) -> Iterator[str]:
    for start, end in ((START, END), _ESCAPED):
        at = text.find(start)
        while at >= 0:
            close = text.find(end, at)
            yield text[at : close if close >= 0 else len(text)]
            at = text.find(start, close) if close >= 0 else -1


LONGEST_ROW = 4_000_000
"""Bytes of a line; a longer one is output of a tool, and is skipped."""
MOST_BYTES = 2_000_000_000
Given = Callable[[Row], Iterable[str]]
"""Texts that hooks put into a line."""
Entries = Callable[[Row], Iterator[TranscriptEntry]]
"""Entries of a line, in order."""


@dataclass(slots=True)
class Progress:
    """How far a transcript was read: bytes, lines, unreadable lines, and the hash of the content."""

    size: int = 0
    done: int = 0
    lines: int = 0
    broken: int = 0
    digest: Any = field(default_factory=hashlib.sha256)


def entries_in(
    path: Path, entries: Entries, met: Progress, tell: Callable[[int], None] | None = None
) -> Iterator[TranscriptEntry]:
    """Yield the entries of a transcript, fill in `met`, and report the bytes to `tell`."""
    with open_transcript(path) as file:
        met.size = os.fstat(file.fileno()).st_size
        for line in _rows(file, met):
            if tell is not None and met.lines % 500 == 0:
                tell(met.done)
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):
                met.broken += 1
                continue
            if isinstance(row, dict):
                yield from entries(row)
    if tell is not None:
        tell(met.done)


def _rows(file: BinaryIO, met: Progress) -> Iterator[bytes]:
    """Yield the lines below the limit; of a longer one only a part is in memory."""
    while met.done < MOST_BYTES and (line := file.readline(LONGEST_ROW)):
        is_whole = line.endswith(b"\n") or len(line) < LONGEST_ROW
        met.lines += 1
        while line:
            met.done += len(line)
            met.digest.update(line)
            if is_whole or line.endswith(b"\n"):
                break
            line = file.readline(LONGEST_ROW)
        if is_whole and line.strip():
            yield line
        elif not is_whole:
            met.broken += 1


@dataclass(slots=True)
class Read:
    """Records in the blocks of a transcript, and its unreadable lines."""

    records: Counter[str] = field(default_factory=Counter)
    broken: int = 0
    ended: float = 0.0
    """Time of the last write, in seconds since 1970."""


def read_transcript(path: Path, injected_texts: Given) -> Read | None:
    """Count the records in a transcript's blocks; None if it can't be read."""
    result = Read()
    try:
        with open_transcript(path) as file:
            result.ended = os.fstat(file.fileno()).st_mtime
            for line in filter(NEEDLE.search, _rows(file, Progress())):
                try:
                    row = json.loads(line)
                except (ValueError, RecursionError):
                    result.broken += 1
                    continue
                for text in injected_texts(row) if isinstance(row, dict) else ():
                    result.records.update(ids_in(text))
    except OSError:
        return None
    return result
