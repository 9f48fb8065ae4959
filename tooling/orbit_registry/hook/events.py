"""Appends what each dispatch did to the event log: one JSON line, of a closed set of keys; it reads no event.

What somebody asked in words is never written down: `query` holds paths and tags alone.
"""

import posix
from time import gmtime, strftime

from orbit_registry.hook.context import SKIPS
from orbit_registry.hook.index import ID
from orbit_registry.hook.payload import quoted
from orbit_registry.hook.project import private_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from orbit_registry.hook.context import Selection

FILES = ("events.4.jsonl", "events.3.jsonl", "events.2.jsonl", "events.1.jsonl", "events.jsonl")
"""The log, its oldest part first; events are appended to the last."""
NAME = FILES[-1]
FAULTS = {
    "payload": "what came is no JSON object in UTF-8",
    "ledger": "what the session was shown can't be kept, so nothing was shown",
    "index": "the push index is damaged",
}
"""What may go wrong by itself; of anything else the name of the exception's class is written down, and no more."""
OPENED, LOADED, RETRIEVAL = "opened", "loaded", "retrieval"
APPROVED, REJECTED, NOTED = "approved", "rejected", "noted"
FAILED, CLEARED, REQUEUED = "failed", "cleared", "requeued"
DISPATCHED, RETRO, BRIEF_PLAN, PITCHED = "dispatched", "retro", "brief_plan", "pitched"
CAPTURED, ENSURED, PROPOSED, APPLIED = "captured", "ensured", "proposed", "applied"
WITHHELD, OUTCOME, SYNCED = "withheld", "outcome", "synced"
DONE = (
    OPENED, LOADED, APPROVED, REJECTED, NOTED, FAILED, CLEARED, REQUEUED, DISPATCHED, RETRO, BRIEF_PLAN, PITCHED,
    CAPTURED, ENSURED, PROPOSED, APPLIED, WITHHELD, OUTCOME, SYNCED,
)  # fmt: skip
"""Events that say what was done with the records of `ids`, and retrieved none."""
MOMENTS = ("stop", "subagent stop", "session end", "compaction", "compacted")
"""What hosts tell of a session; their hooks write it down and answer nothing."""
NAMES = (RETRIEVAL, *DONE, *MOMENTS, "run", "refreshed")
"""All names that an event of ours can have; docs/reference/events.md says what each means."""
NOTE_SKIPS = {
    "routine-heartbeat": "the work was routine",
    "duplicate-signal": "it is known already",
    "no-new-information": "nothing was learned",
}
"""Why a turn may leave nothing to tell: all reasons there are."""
LARGEST = 1_000_000
"""Bytes; a part that has more becomes the next older one, and the oldest of `FILES` goes: five of them at most."""
MOST_ASKED = 20
_FLAGS = posix.O_RDWR | posix.O_CREAT | posix.O_APPEND | posix.O_NOFOLLOW | posix.O_CLOEXEC | posix.O_NONBLOCK


class Event:
    """One dispatch. `skip_reason` is empty or one of `select.SKIPS`; `session` is a session log's name, or empty.

    `name` is `retrieval`, or what else happened: then nothing was chosen, and only when and where is written.
    `opened` are ids of records that were read; they make an event of their own. Where the name is `loaded`, they stand
    in a rule file that the agent loaded by itself; where it is another of `DONE`, they are those it was done with.
    `fault` is one of `FAULTS`, the name of an exception's class, or empty. `details` are further members of the line
    as JSON, each after a comma: what a brief knows and no hook does.
    `agent` is the program that asks, where it is known; `tokens` are those of what was shown, 0 where nobody counted.
    `failed` are ids of records whose pattern the error of a failed call holds, shown before or not; `withheld` those
    of records that the session does without, by lot, where they would have been shown. `command` is a number made of
    the shell's command that is run, 0 where none is, `tests` says that it runs tests; `writes` that the call writes the
    files of `query`, `has_failed` that it is over and failed.
    """

    __slots__ = (
        "agent", "at", "command", "details", "failed", "fault", "has_failed", "hits", "ms", "name", "omitted", "opened",
        "query", "session", "skip_reason", "surface", "tests", "tokens", "withheld", "writes",
    )  # fmt: skip

    def __init__(self, surface: str, at: float) -> None:
        """`at` is in seconds since 1970; the rest is filled in as it becomes known."""
        self.surface, self.at, self.session, self.skip_reason = surface, at, "", ""
        self.name, self.fault, self.details, self.agent = RETRIEVAL, "", "", ""
        self.query: Sequence[str] = ()
        self.hits: Sequence[str] = ()
        self.opened: Sequence[str] = ()
        self.failed: Sequence[str] = ()
        self.withheld: Sequence[str] = ()
        self.command, self.tests, self.writes, self.has_failed = 0, False, False, False
        self.omitted, self.tokens, self.ms = 0, 0, 0.0

    def set_selection(self, selection: "Selection", tokens: int) -> None:
        """Take over what was chosen; `tokens` are those of the text that is shown."""
        self.hits = [match.row.values[ID] for match in selection.matches]
        self.omitted, self.skip_reason, self.tokens = selection.omitted, selection.skip_reason, tokens
        self.withheld = selection.withheld

    def line(self) -> str:
        """Return the event as one line of JSON; two where records were opened too."""
        end = f'"fault": {_or_null(self.fault)}, "ms": {self.ms:.1f}}}\n'
        reason = self.skip_reason if self.skip_reason in SKIPS else ""
        middle = (
            f'"query": [{", ".join(map(quoted, self.query[:MOST_ASKED]))}], "hits": [{_listed(self.hits)}], '
            f'"count": {len(self.hits)}, "omitted": {self.omitted}, "skip_reason": {_or_null(reason)}{self.details}, '
            + (f'"failed": [{_listed(self.failed)}], ' if self.failed else "")
            + (f'"withheld": [{_listed(self.withheld)}], ' if self.withheld else "")
            + (f'"tokens": {self.tokens}, ' if self.tokens else "")
            + (f'"command": "{self.command:x}", ' if self.command else "")
            + ('"tests": true, ' if self.tests else "")
            + ('"writes": true, ' if self.writes else "")
            + ('"result": "failed", ' if self.has_failed else "")
        )
        if self.name in DONE:
            return f'{self._start(self.name)}"ids": [{_listed(self.opened)}]{self.details}, {end}'
        first = f'{self._start(OPENED)}"ids": [{_listed(self.opened)}], {end}' if self.opened else ""
        besides = f"{self.details[2:]}, " if self.details else ""
        return first + self._start(self.name) + (middle if self.name == RETRIEVAL else besides) + end

    def _start(self, name: str) -> str:
        return (
            f'{{"at": "{strftime("%Y-%m-%dT%H:%M:%SZ", gmtime(self.at))}", "event": {quoted(name)}, '
            f'"surface": {quoted(self.surface)}, "session": {_or_null(self.session)}, '
            + (f'"agent": {quoted(self.agent)}, ' if self.agent else "")
        )


def _or_null(text: str) -> str:
    return quoted(text) if text else "null"


def _listed(ids: "Sequence[str]") -> str:
    return ", ".join(map(quoted, ids))


def note(root: str, name: str, surface: str, at: float, **details: "str | int | None") -> None:
    """Write down that a person or an agent did something to a record; `details` say to which, who, and what came of it.

    Nothing was chosen, so that it counts as no dispatch; texts among the details are names, hashes and ids alone.
    """
    event = Event(surface, at)
    event.name = name
    members = (f"{quoted(key)}: {_or_null(value) if isinstance(value, str) else 'null' if value is None else value}"
            for key, value in details.items())  # fmt: skip
    event.details = "".join(f", {member}" for member in members)
    append(root, event)


def append(root: str, event: Event) -> None:
    """Write an event to the log of a project; a disk that refuses loses the event, and nobody is told.

    A surface does its work whether or not it can be counted.
    """
    try:
        folder = private_folder(root, "log")
        handle = posix.open(f"{folder}/{NAME}", _FLAGS, 0o600)
        try:
            size = posix.fstat(handle).st_size
            # A process that was killed, or a full disk, may have left half a line: it costs no other. One that is just
            # being written across a page looks so too; then an empty line stands between the two, which readers pass.
            torn = size and posix.pread(handle, 1, size - 1) != b"\n"
            posix.write(handle, (f"\n{event.line()}" if torn else event.line()).encode())
            if size > LARGEST:
                _turn(folder, handle)
        finally:
            posix.close(handle)
    except OSError:
        return


def _turn(folder: str, handle: int) -> None:
    """Make each part of the log the next older one, once, however many notice that it is full."""
    posix.lockf(handle, posix.F_TLOCK, 0)  # whoever has the lock does it
    if posix.lstat(f"{folder}/{NAME}").st_ino != posix.fstat(handle).st_ino:
        return
    for older, newer in zip(FILES, FILES[1:]):  # noqa: B905, RUF007 - the oldest has no place to go
        try:
            posix.replace(f"{folder}/{newer}", f"{folder}/{older}")
        except FileNotFoundError:
            continue
