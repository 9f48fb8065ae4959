"""Event log of commands, appended as JSON lines and read in bounded memory.

A log may be torn, hold anything, or be larger than memory: a line becomes at most one `LoggedEvent`
of short texts.
"""

import json
import math
import os
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from orbit_registry.errors import UnreadableFileError
from orbit_registry.formats.secrets import without_secrets
from orbit_registry.formats.values import with_texts
from orbit_registry.hook.events import FILES, LARGEST, MOST_ASKED, NAME, OPENED, Event, append
from orbit_registry.hook.project import session_of_process
from orbit_registry.hook.session import SessionLog
from orbit_registry.model.ids import is_shown_id
from orbit_registry.model.votes import parse_time
from orbit_registry.workspace.files import bounded_lines
from orbit_registry.workspace.workspace import Workspace

LONGEST_LINE = 65_536
MOST_IDS = 200
AHEAD_SECONDS = 86_400  # events dated further ahead come from a wrong clock, and are skipped
LONGEST_MS = 86_400_000
BACK_SECONDS = 60
"""Processes write in parallel, so a line may be a little older than the one before it."""
_WORDS = ("session", "agent", "skip_reason", "fault", "command")
"""Members of a line that are one short text."""
_WORD = re.compile(r"[A-Za-z0-9_][\w.:/ -]{0,99}\Z")


def note_opened(workspace: Workspace, record_id: str) -> None:
    """Log that an agent's session was shown a whole record."""
    if session_of_process(str(workspace.root)) is not None:
        write_event(workspace, OPENED, [record_id], {}, surface="show")


def write_event(
    workspace: Workspace,
    name: str,
    ids: Sequence[str],
    details: Mapping[str, object],
    seconds: float = 0,
    surface: str = "cli",
) -> None:
    """Log what was done with some records; secrets in `details` are removed."""
    root = str(workspace.root)
    session = session_of_process(root)
    event = Event(surface, time.time())
    event.name = name
    event.opened = list(ids)
    event.ms = seconds * 1000
    if session is not None:
        event.session = SessionLog(root, *session).name
    event.details = {name: with_texts(value, without_secrets) for name, value in details.items()}
    append(root, event)


@dataclass(frozen=True, slots=True)
class LoggedEvent:
    """One event, with the ids of records; `kind` is `retrieval`,
    `opened` or another event of the session.
    """

    at: float
    kind: str
    surface: str
    session: str
    agent: str
    shown: tuple[str, ...]
    opened: tuple[str, ...]
    failed: tuple[str, ...]  # records whose `error_pattern` matched a failure
    omitted: int
    skip_reason: str
    fault: str
    ms: float | None
    tokens: int | None
    withheld: tuple[str, ...] = ()  # records that the experiment withheld from the session
    paths: tuple[str, ...] = ()  # files that were asked about, from the root
    writes: bool = False  # the call writes these files
    command: str = ""  # hash of the shell command
    tests: bool = False  # the command runs tests
    is_failure: bool = False  # the call failed
    row: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)
    """The whole line."""


@dataclass(slots=True)
class LogScan:
    """Progress of a pass over the logs: bytes, lines, and the skipped lines by reason."""

    files: list[str] = field(default_factory=list)
    size: int = 0
    lines: int = 0
    line: int = 0  # last line of the current file, from 1
    offset: int = 0  # bytes read of the current file; a pass begins there in its first file
    skipped: Counter[str] = field(default_factory=Counter)
    backwards: int = 0  # events more than a minute older than the one before them


def log_files(state: Path) -> list[Path]:
    """Return the existing parts of a workspace's log, the oldest first; links are not followed."""
    folder = state / "log"
    return [path for name in FILES if (path := folder / name).is_file() and not path.is_symlink()]


def logged_events(
    files: Iterable[Path], now: float | None = None, scan: LogScan | None = None
) -> Iterator[LoggedEvent]:
    """Yield the events of logs in order, and fill in `scan`."""
    log = LogScan() if scan is None else scan
    latest = (time.time() if now is None else now) + AHEAD_SECONDS
    last = -math.inf
    for path in files:
        if log.files:
            log.offset = 0
        log.files.append(path.name)

        try:
            with _open(path) as file:
                file.seek(log.offset)

                for line in _lines(file, log):
                    parsed = read_line(line) if line is not None else "too long"
                    if not isinstance(parsed, str) and parsed.at > latest:
                        parsed = "dated ahead of the clock"

                    if isinstance(parsed, str):
                        log.skipped[parsed] += 1
                        continue

                    log.backwards += parsed.at < last - BACK_SECONDS
                    last = parsed.at
                    yield parsed
        except FileNotFoundError:
            continue  # rotated just now
        except OSError as error:
            message = f"{path} can't be read: {(error.strerror or '').lower()}"
            raise UnreadableFileError(
                message, hint="see who owns it; removing it loses the counts alone"
            ) from None


def events_about(state: Path, path: str) -> Iterator[LoggedEvent]:
    """Yield the events that name a file, the newest first; a part is read from its end."""
    name = json.dumps(path).encode()
    for part in reversed(log_files(state)):
        try:
            with _open(part) as file:
                size = file.seek(0, os.SEEK_END)
                file.seek(max(0, size - 2 * LARGEST))
                lines = file.read(2 * LARGEST).split(b"\n")
        except OSError:
            continue  # rotated just now, or not ours to read

        for line in reversed(lines):
            if name not in line or len(line) > LONGEST_LINE:
                continue

            parsed = read_line(line)
            if not isinstance(parsed, str) and path in parsed.paths:
                yield parsed


def follow(
    state: Path,
    start: tuple[int, int] = (0, 0),
    wait: Callable[[], object] = lambda: time.sleep(0.2),
) -> Iterator[Mapping[str, Any]]:
    """Yield new events after `start`, an inode and an offset, forever;
    rotated parts are read to their end.
    """
    path = state / "log" / NAME
    buffer = b""
    number, offset = start
    while True:
        try:
            with _open(path) as file:
                status = os.fstat(file.fileno())
                if status.st_ino != number or status.st_size < offset:
                    buffer += _read_rotated(state, number, offset)
                    number = status.st_ino
                    offset = 0

                file.seek(offset)
                buffer += file.read(LONGEST_LINE)
                offset = file.tell()
        except FileNotFoundError:
            pass  # rotated just now, or not written yet

        *lines, buffer = buffer.split(b"\n")
        for event in map(read_line, lines):
            if not isinstance(event, str):
                yield event.row

        if not lines:
            if len(buffer) > LONGEST_LINE:
                buffer = b""
            wait()


def _read_rotated(state: Path, number: int, offset: int) -> bytes:
    """Return what was appended to a part, found by its inode, before it was rotated."""
    for path in log_files(state):
        if path.stat().st_ino == number:
            return path.read_bytes()[offset:]
    return b""


def _open(path: Path) -> BinaryIO:
    return os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb")


def _lines(file: BinaryIO, log: LogScan) -> Iterator[bytes | None]:
    log.line = 0
    for line, size in bounded_lines(file, LONGEST_LINE):
        log.line += 1
        log.size += size
        log.offset += size
        if line is None or line.strip():
            log.lines += 1
            yield line


def read_line(line: bytes) -> LoggedEvent | str:
    """Return the event of a line, or why it is none."""
    try:
        row = json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError):
        return "torn or no JSON"

    if not isinstance(row, dict):
        return "no event"

    kind = _word(row.get("event"))
    surface = _word(row.get("surface"))
    timestamp = _moment(row.get("at"))
    if timestamp is None or not kind or not surface:
        return "no event"

    omitted = _count(row.get("omitted")) or 0
    return LoggedEvent(
        timestamp,
        kind,
        surface,
        **_details(row, kind),
        omitted=omitted,
        tokens=_count(row.get("tokens")),
        ms=_number(row.get("ms")),
        writes=row.get("writes") is True,
        tests=row.get("tests") is True,
        is_failure=row.get("result") == "failed",
        row=row,
    )


def _details(row: Mapping[str, Any], kind: str) -> dict[str, Any]:
    """Return the short texts of a line, and the records and files that its event is about."""
    details: dict[str, Any] = {name: _word(row.get(name)) for name in _WORDS}
    details |= {"shown": (), "opened": (), "failed": _ids(row.get("failed"))}
    if kind == "retrieval":
        details["shown"] = _ids(row.get("hits"))
        details["withheld"] = _ids(row.get("withheld"))
        details["paths"] = _paths(row.get("query"))
    elif kind == "opened":
        details["opened"] = _ids(row.get("ids"))

    return details


def _word(value: object) -> str:
    if isinstance(value, str) and _WORD.match(value):
        return value

    return ""


def _moment(value: object) -> float | None:
    if not isinstance(value, str) or len(value) > 40:
        return None

    try:
        return parse_time(value).timestamp()
    except (ValueError, OverflowError):
        return None


def _ids(value: object) -> tuple[str, ...]:
    if not isinstance(value, list):
        return ()
    texts = (entry for entry in value[:MOST_IDS] if isinstance(entry, str))
    return tuple(dict.fromkeys(filter(is_shown_id, texts)))


def _paths(value: object) -> tuple[str, ...]:
    if not isinstance(value, list):
        return ()
    texts = (path for path in value[:MOST_ASKED] if isinstance(path, str))
    return tuple(path for path in texts if path and path[0] != "#")


def _count(value: object) -> int | None:
    if type(value) is int and 0 <= value < 1_000_000_000:
        return value

    return None


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < LONGEST_MS:
        return None
    return float(value)
