"""Streaming reader of transcripts, and the check that records reached them."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import chain
from pathlib import Path
from typing import BinaryIO, TypeVar

from orbit_registry.agents.agent import Row, open_transcript, transcript_readers
from orbit_registry.hook.render import END, START
from orbit_registry.hook.session import safe_name
from orbit_registry.model.ids import is_shown_id
from orbit_registry.model.reach import TRIAL
from orbit_registry.workspace.event_log import LoggedEvent
from orbit_registry.workspace.files import bounded_lines

NEEDLE = re.compile(re.escape(START.strip("<>")).encode())
"""Part of every line that holds a block, however its brackets are escaped."""
_ITEM = re.compile(r"^- \[([^\]\s]{1,100})\]", re.MULTILINE)
_ESCAPED = (
    START.replace("<", "&lt;").replace(">", "&gt;"),
    END.replace("<", "&lt;").replace(">", "&gt;"),
)
"""Ends of a block for agents that escape brackets."""

_INJECTED_TAGS = (
    "project-notes|system-reminder|hook_context|environment_context|user_instructions"
    "|user-prompt-submit-hook|"
    "local-command-[a-z]+|command-[a-z]+|ide_[a-z]+|skills_instructions|permissions "
    "instructions|private|INSTRUCTIONS|"
    "bash-[a-z]+|task-notification|teammate-message|user_shell_command|subagent_notification"
    "|skill|turn_aborted"
)
_INJECTED = re.compile(
    rf"(?s)(?:<|&lt;)(?P<tag>{_INJECTED_TAGS})\b[^>\n]{{0,200}}?(?:>|&gt;).*?(?:(?:<|&lt;)"
    rf"/(?P=tag)(?:>|&gt;)|\Z)"
    r"|\[project notes\].*?(?:\[end of project notes\]|\Z)|(?m:^)## System Context\n.*?(?=^## |\Z)",
    re.MULTILINE,
)
"""Injected and private parts of a prompt; an unclosed one reaches to the end."""


def without_injected(text: str) -> str:
    """Remove blocks of records, reminders of the host and private parts from a text."""
    if "<" in text or "&lt;" in text or "[" in text or "## S" in text:
        return _INJECTED.sub(" ", text).strip()

    return text


def injected_in(text: str) -> list[str]:
    """Return what hosts, hooks and briefs put into a text."""
    return [match[0] for match in _INJECTED.finditer(text)]


def ids_in(text: str) -> list[str]:
    """Return the ids of the records in the blocks of a text, with repetitions."""
    ids: list[str] = []
    for block in _blocks(text):
        ids += filter(is_shown_id, _ITEM.findall(block))

    return ids


def _blocks(text: str) -> Iterator[str]:
    for start, end in ((START, END), _ESCAPED):
        at = text.find(start)
        while at >= 0:
            close = text.find(end, at)
            yield text[at : close if close >= 0 else len(text)]
            at = text.find(start, close) if close >= 0 else -1


LONGEST_ROW = 4_000_000  # bytes of a line; a longer one is output of a tool, and is skipped
MOST_BYTES = 2_000_000_000
InjectedTexts = Callable[[Row], Iterable[str]]  # texts that hooks put into a line
Entry = TypeVar("Entry")


@dataclass(slots=True)
class Progress:
    """How far a transcript was read: bytes, lines and unreadable lines."""

    done: int = 0
    lines: int = 0
    broken: int = 0


def entries_in(
    path: Path,
    entries: Callable[[Row], Iterator[Entry]],
    progress: Progress,
    on_progress: Callable[[int], None] | None = None,
) -> Iterator[Entry]:
    """Yield what `entries` makes of a transcript's lines, fill in `progress`,
    and report the bytes to `on_progress`.
    """
    with open_transcript(path) as file:
        for row in _objects(_rows(file, progress), progress):
            if on_progress is not None and progress.lines % 500 == 0:
                on_progress(progress.done)
            yield from entries(row)

    if on_progress is not None:
        on_progress(progress.done)


def _objects(lines: Iterable[bytes], counts: Progress | TranscriptRecords) -> Iterator[Row]:
    for line in lines:
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            counts.broken += 1
            continue
        if isinstance(row, dict):
            yield row


def _rows(file: BinaryIO, progress: Progress) -> Iterator[bytes]:
    for line, size in bounded_lines(file, LONGEST_ROW):
        progress.lines += 1
        progress.done += size
        progress.broken += line is None
        if line is not None and line.strip():
            yield line
        if progress.done >= MOST_BYTES:
            return


@dataclass(slots=True)
class TranscriptRecords:
    """Records in the blocks of a transcript, and its unreadable lines."""

    records: Counter[str] = field(default_factory=Counter)
    broken: int = 0
    ended: float = 0.0  # time of the last write, in seconds since 1970


def read_transcript(path: Path, injected_texts: InjectedTexts) -> TranscriptRecords | None:
    """Count the records in a transcript's blocks; None if it can't be read."""
    result = TranscriptRecords()
    try:
        with open_transcript(path) as file:
            result.ended = os.fstat(file.fileno()).st_mtime
            for row in _objects(filter(NEEDLE.search, _rows(file, Progress())), result):
                for text in injected_texts(row):
                    result.records.update(ids_in(text))
    except OSError:
        return None

    return result


HOOK_SURFACE = "hook:"
MOST_SESSIONS = 50
LATE_SECONDS = 5  # an agent writes its transcript a little after the hook has answered
DELIVERY_READERS = transcript_readers(
    "injected_texts"
)  # agents whose transcripts hold what hooks added


@dataclass(frozen=True, slots=True)
class Delivery:
    """Records of one session: how many hooks claim to have shown,
    and how many its transcript holds.
    """

    session: str
    agent: str
    path: Path
    claimed: int
    found: int
    missing: tuple[str, ...]
    unclaimed: tuple[str, ...]  # in the transcript but not in the log, which may have been rotated
    broken: int  # unreadable lines of the transcript that hold a block

    def as_data(self) -> dict[str, object]:
        """Return the comparison for JSON."""
        return {**asdict(self), "path": str(self.path)}


def events_by_session(events: Iterable[LoggedEvent]) -> dict[str, list[LoggedEvent]]:
    """Return the events of hooks that showed records, by session, the newest sessions last."""
    by_ledger: dict[str, list[LoggedEvent]] = {}
    for event in events:
        is_of_session = bool(event.session) and not event.session.startswith(TRIAL)
        if event.shown and is_of_session and event.surface.startswith(HOOK_SURFACE):
            by_ledger[event.session] = [*by_ledger.pop(event.session, []), event]
            if len(by_ledger) > MOST_SESSIONS:
                by_ledger.pop(next(iter(by_ledger)))

    return by_ledger


def deliveries(
    root: Path,
    events_by_ledger: Mapping[str, Sequence[LoggedEvent]],
    agents: Iterable[str] = DELIVERY_READERS,
) -> list[Delivery]:
    """Compare each session that has a transcript, the newest last."""
    results = []
    for ledger, events in events_by_ledger.items():
        session, _, subagent = ledger.partition(".")
        if any(name and safe_name(name) != name for name in (session, subagent)):
            continue  # unsafe as part of a path

        for name in agents:
            reader = DELIVERY_READERS[name]
            path = reader.transcript(root, session, subagent)
            if path is None:
                delivery = None
            else:
                delivery = _compare(name, path, reader.injected_texts, ledger, events)

            if delivery is not None:
                results.append(delivery)
                break

    return results


def _compare(
    agent: str,
    path: Path,
    injected_texts: InjectedTexts,
    ledger: str,
    events: Sequence[LoggedEvent],
) -> Delivery | None:
    read = read_transcript(path, injected_texts)
    if read is None:
        return None

    # The transcript can't hold what was shown after its last write.
    shown_ids = (event.shown for event in events if event.at <= read.ended + LATE_SECONDS)
    claimed = Counter(chain.from_iterable(shown_ids))
    lists = (tuple(sorted(claimed - read.records)), tuple(sorted(read.records - claimed)))

    return Delivery(
        ledger, agent, path, claimed.total(), (claimed & read.records).total(), *lists, read.broken
    )


def without_event(root: Path, logged_sessions: Iterable[str], since: float) -> tuple[int, int]:
    """Count Claude Code's sessions since a time, and those of them that the log names."""
    newest, logged = DELIVERY_READERS["claude"].sessions(root)[:MOST_SESSIONS], set(logged_sessions)
    paths = [path for path in newest if path.stat().st_mtime >= since]
    return len(paths), sum(safe_name(path.stem) in logged for path in paths)
