"""Event log of the hook: one JSON line an event, of a closed set of keys.

`query` holds paths and tags alone, never the words of a question.
"""

import posix
from time import gmtime, strftime

from orbit_registry.hook.payload import to_json
from orbit_registry.hook.project import UPDATE, private_folder
from orbit_registry.model.reach import SKIPS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from orbit_registry.hook.context import Selection

    Members = Mapping[str, Any]

FILES = ("events.4.jsonl", "events.3.jsonl", "events.2.jsonl", "events.1.jsonl", "events.jsonl")
"""The log, its oldest part first; events are appended to the last."""
NAME = FILES[-1]
FAULTS = {
    "payload": "what came is no JSON object in UTF-8",
    "ledger": "the session's log can't be written (is the disk full?), so nothing was shown",
    "index": "the push index is damaged",
}
"""Known faults; of any other only the name of the exception's class is logged."""
OPENED, LOADED, RETRIEVAL = "opened", "loaded", "retrieval"
APPROVED, REJECTED, NOTED = "approved", "rejected", "noted"
FAILED, CLEARED, REQUEUED = "failed", "cleared", "requeued"
DISPATCHED, RETRO, BRIEF_PLAN, PITCHED = "dispatched", "retro", "brief_plan", "pitched"
CAPTURED, ENSURED, PROPOSED, APPLIED = "captured", "ensured", "proposed", "applied"
WITHHELD, OUTCOME, SYNCED = "withheld", "outcome", "synced"
DONE = (
    OPENED,
    LOADED,
    APPROVED,
    REJECTED,
    NOTED,
    FAILED,
    CLEARED,
    REQUEUED,
    DISPATCHED,
    RETRO,
    BRIEF_PLAN,
    PITCHED,
    CAPTURED,
    ENSURED,
    PROPOSED,
    APPLIED,
    WITHHELD,
    OUTCOME,
    SYNCED,
)
"""Events about the records of `ids`, without a selection."""
MOMENTS = ("stop", "subagent stop", "session end", "compaction", "compacted")
"""Events of a session that hooks log and don't answer."""
NAMES = (RETRIEVAL, *DONE, *MOMENTS, "run", "refreshed")
"""All names of events; docs/reference/events.md explains each."""
NOTE_SKIPS = {
    "routine-heartbeat": "the work was routine",
    "duplicate-signal": "it is known already",
    "no-new-information": "nothing was learned",
}
"""All reasons for a turn without a note."""
LARGEST = 1_000_000
"""Bytes; a part that has more becomes the next older one, and the oldest of `FILES` goes."""
MOST_ASKED = 20


class Event:
    """One event; `name` is one of `NAMES`, `session` the name of a session log.

    `opened` are ids of records that were read (an event of their own), or those that a name of
    `DONE` is about. `fault` is one of `FAULTS` or the name of an exception's class. `details` are
    further members. `failed` are ids of records whose pattern the error of a failed call holds,
    `withheld` those in the hold-out. `command` is a hash of the shell's command, `tests` whether it
    runs tests, `writes` whether the call writes the files of `query`, `has_failed` whether it
    failed. `tokens` are those of what was shown.
    """

    def __init__(self, surface: str, at: float) -> None:
        """Start an event; `at` is in seconds since 1970."""
        self.name = RETRIEVAL
        self.surface, self.at = surface, at
        self.session = self.agent = self.fault = self.skip_reason = ""
        self.details: Members = {}

        self.query: Sequence[str] = ()
        self.hits: Sequence[str] = ()
        self.opened: Sequence[str] = ()
        self.failed: Sequence[str] = ()
        self.withheld: Sequence[str] = ()

        self.command = self.omitted = self.tokens = 0
        self.tests = self.writes = self.has_failed = False
        self.ms = 0.0

    def set_selection(self, selection: "Selection", tokens: int) -> None:
        """Take over a selection, a further part of a reply where there is one before; `tokens` are
        those of the text that is shown so far.
        """
        self.hits = [*self.hits, *(match.row.id for match in selection.matches)]
        self.omitted += selection.omitted
        self.withheld = [*self.withheld, *selection.withheld]
        self.tokens = tokens
        self.skip_reason = "" if tokens else selection.skip_reason

    def line(self) -> str:
        """Return the event as one line of JSON; two where records were opened too."""
        if self.name in DONE:
            return self._line(self.name, {"ids": self.opened, **self.details})

        first = self._line(OPENED, {"ids": self.opened}) if self.opened else ""
        members = self._selection() if self.name == RETRIEVAL else self.details
        return first + self._line(self.name, members)

    def _line(self, name: str, members: "Members") -> str:
        line = {
            "at": strftime("%Y-%m-%dT%H:%M:%SZ", gmtime(self.at)),
            "event": name,
            "surface": self.surface,
            "session": self.session or None,
        }
        if self.agent:
            line["agent"] = self.agent

        end = {"fault": self.fault or None, "ms": round(self.ms, 1)}
        return to_json({**line, **members, **end}) + "\n"

    def _selection(self) -> "Members":
        members = {
            "query": self.query[:MOST_ASKED],
            "hits": self.hits,
            "count": len(self.hits),
            "omitted": self.omitted,
            "skip_reason": self.skip_reason if self.skip_reason in SKIPS else None,
            **self.details,
        }
        optional: Members = {
            "failed": self.failed,
            "withheld": self.withheld,
            "tokens": self.tokens,
            "command": f"{self.command:x}" if self.command else "",
            "tests": self.tests,
            "writes": self.writes,
            "result": "failed" if self.has_failed else "",
        }
        for name, value in optional.items():
            if value:
                members[name] = value

        return members


def note(root: str, name: str, surface: str, at: float, **details: "str | int | None") -> None:
    """Log what a person or an agent did to a record.

    Texts among `details` are names, hashes and ids alone.
    """
    event = Event(surface, at)
    event.name = name
    event.details = {key: None if value == "" else value for key, value in details.items()}
    append(root, event)


def append(root: str, event: Event) -> None:
    """Append an event to a project's log; one that can't be written is lost without an error."""
    try:
        folder = private_folder(root, "log")
        handle = posix.open(f"{folder}/{NAME}", UPDATE | posix.O_APPEND, 0o600)
        try:
            size = posix.fstat(handle).st_size
            # A process that was killed, or a full disk, may have left half a line: it costs no
            # other. One that is just being written across a page looks so too; then an empty line
            # separates the two, which readers skip.
            is_torn = size and posix.pread(handle, 1, size - 1) != b"\n"
            line = event.line()
            posix.write(handle, f"\n{line}".encode() if is_torn else line.encode())
            if size > LARGEST:
                _turn(folder, handle)
        finally:
            posix.close(handle)
    except OSError:
        return


def _turn(folder: str, handle: int) -> None:
    posix.lockf(handle, posix.F_TLOCK, 0)  # the process that gets the lock rotates
    if posix.lstat(f"{folder}/{NAME}").st_ino != posix.fstat(handle).st_ino:
        return

    for older, newer in zip(FILES, FILES[1:]):  # noqa: B905, RUF007 - the oldest has no place to go
        try:
            posix.replace(f"{folder}/{newer}", f"{folder}/{older}")
        except FileNotFoundError:
            continue
