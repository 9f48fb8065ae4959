"""The contribution trigger: what a finished piece of work asks for, by how it went; it prints nothing.

A first try that succeeded asks for nothing, and so does a note that says why there is nothing to tell. What somebody
noted in words stands in no event.
"""

from __future__ import annotations

import hashlib
import shlex
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from orbit_registry.checks.duplicates import copies_of, neighbours
from orbit_registry.checks.rules.loop import turn_id
from orbit_registry.errors import RefusedError, UsageError
from orbit_registry.hook.events import NOTE_SKIPS as SKIPS
from orbit_registry.hook.events import NOTED
from orbit_registry.hook.hosts import session_of_process
from orbit_registry.model.record import Record
from orbit_registry.model.record_set import RecordSet
from orbit_registry.repository.writer import create_record, draft_record, newcomers
from orbit_registry.retro.failures import fail, read_target
from orbit_registry.workspace.author import Author
from orbit_registry.workspace.event_log import LogState, log_files, rows_in, write_event
from orbit_registry.workspace.workspace import Workspace

LEARNING, RULE, RESOURCE = "learning", "rule", "resource"
UNSOLVED = ("unsolved", "needs-help")
"""The labels of a learning that says what nobody has solved yet."""
SHORT = 48
"""A text of fewer characters, of a turn without tools, tells nothing."""


@dataclass(frozen=True, slots=True)
class Noted:
    """What somebody says of their work: in words, how often it was tried, whether errors were met or it failed."""

    text: str = ""
    attempts: int = 1
    errors: bool = False
    failed: bool = False
    skip_reason: str = ""
    task: str = ""
    paths: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    turn: str = ""
    """The id of the turn, or what names it within its session; empty where it is no turn that is noted."""
    tools: int | None = None
    """How many tools the turn used, where that is known."""
    heartbeat: bool = False
    evidence: tuple[str, ...] = ()

    @property
    def asks(self) -> bool:
        """Whether it was worth telling: not solved at the first try, and not said to be nothing new."""
        return not self.skip_reason and (self.attempts > 1 or self.errors or self.failed)


@dataclass(frozen=True, slots=True)
class Ask:
    """What is asked for: a kind of record, why, and the command that adds it."""

    kind: str
    why: str
    command: str


@dataclass(frozen=True, slots=True)
class Contribution:
    """What a note came to: what is asked for, which records say it nearly, and the learning of a total failure."""

    asks: tuple[Ask, ...] = ()
    known: tuple[Record, ...] = ()
    unsolved: Record | None = None
    """The learning that says what nobody has solved; it may have stood there before."""
    failure: Record | None = None
    """What keeps the task that was given up from being tried again for a while."""
    turn: str = ""
    skip_reason: str = ""


def note(workspace: Workspace, records: RecordSet, said: Noted, author: Author) -> Contribution:
    """Say how a piece of work went: write the event, and return what that asks for.

    Total failure leaves a learning of low confidence, which waits or holds as any learning of that author does, and a
    failure of the task where one is named.

    Raises:
        UsageError: there are no words where they are needed, or two things contradict each other.
        InvalidRecordError, RefusedError: the learning can't be written; see `store.writer.create_record`.
    """
    _refuse_contradictions(said)
    turn = _turn(workspace, said)
    if not said.skip_reason and not said.asks:
        said = replace(said, skip_reason=skip_reason(workspace, said, turn))
    if not (said.skip_reason or said.text.strip()):
        raise UsageError("the note says nothing, and not why", hint=f"--skip-reason {' | '.join(SKIPS)}")
    target = read_target(f"task:{said.task}") if said.failed and said.task else None
    found = _contribution(workspace, records, said, author) if said.asks else Contribution()
    if target is not None:
        scope = {"scope": {"paths": list(said.paths)}} if said.paths else {}
        tried = said.attempts if said.attempts > 1 else None
        given = {"reason": said.text.strip(), "attempts": tried, **scope}
        found = replace(found, failure=fail(workspace, target, given, author, datetime.now(UTC))[0])
    asked = {"asked": [ask.kind for ask in found.asks]} if said.asks else {"skip_reason": said.skip_reason or None}
    went = {"attempts": said.attempts, "errors": said.errors, "failed": said.failed, "task": said.task or None}
    about = {"turn": turn, "fingerprint": fingerprint(said.text)} if turn else {}
    seen = {"evidence": list(said.evidence)} if said.evidence else {}
    write_event(workspace, NOTED, [found.unsolved.id] if found.unsolved else [], {**went, **asked, **about, **seen})
    return replace(found, turn=turn, skip_reason=said.skip_reason)


def skip_reason(workspace: Workspace, said: Noted, turn: str) -> str:
    """Return why a turn leaves nothing to tell; empty where it may, or where it is no turn."""
    if said.heartbeat:
        return "routine-heartbeat"
    text = said.text.strip()
    if not (turn and text):
        return ""
    rows = (row for _, row in rows_in(log_files(workspace.state), time.time(), LogState()))
    known = {row.get("fingerprint") for row in rows if row.get("event") == NOTED and row.get("turn") != turn}
    if fingerprint(text) in known:
        return "duplicate-signal"
    return "no-new-information" if said.tools == 0 and len(text) < SHORT else ""


def fingerprint(text: str) -> str:
    """Return what tells a text from others, whatever its case and spaces; 16 hexadecimal digits."""
    return hashlib.sha256(" ".join(text.casefold().split()).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _turn(workspace: Workspace, said: Noted) -> str:
    """Return the id of the turn that is noted: as it was given, or made of what is known here; empty for none."""
    parts = said.turn.split(":")
    if not said.turn or (len(parts) == 5 and all(parts)):
        return said.turn
    if len(parts) != 1:
        hint = "source:agent:channel:session:turn, or a word that names it in its session"
        raise UsageError(f"{said.turn!r} is no id of a turn", hint=hint)
    session, agent = session_of_process(str(workspace.root)) or ("", "")
    return turn_id("note", agent, "cli", session, said.turn)


def _refuse_contradictions(said: Noted) -> None:
    if said.skip_reason and (said.failed or said.errors or said.attempts > 1):
        raise UsageError(
            "--skip-reason says that there is nothing to tell, and attempts or errors that there is",
            hint="leave one of them out",
        )
    if said.asks and not said.text.strip():
        raise UsageError("the note says nothing", hint='orbit note "Uploads fail without a retry key" --attempts 3')


def _contribution(workspace: Workspace, records: RecordSet, said: Noted, author: Author) -> Contribution:
    kind = workspace.kinds[LEARNING]
    fields = _learning(said, kind.schema.longest("summary"))
    draft = draft_record(workspace, kind, author, fields)[1]
    near = neighbours(workspace, records.of_kind(LEARNING), draft)
    if said.failed:
        same = next((one.record for one in near if one.is_duplicate), None)
        compared = {one.path for one in records.of_kind(LEARNING)}

        def admit(new: Record) -> None:  # somebody may have noted the same since it was compared
            if any(copies_of(newcomers(workspace, kind, compared), new)):
                raise RefusedError("another process has just noted the same", hint="run the command again")

        unsolved = same or create_record(workspace, kind, author, fields, admit)
        known = tuple(one.record for one in near if one.record.uid != unsolved.uid)
        return Contribution(known=known, unsolved=unsolved)
    known = tuple(one.record for one in near)
    live = next((one for one in known if one.phase == "live"), None)
    held = _linked(records, live) if live is not None else {}
    return Contribution(tuple(_asks(workspace, said, fields, live, held)), known)


def _linked(records: RecordSet, known: Record) -> dict[str, str]:
    """Return the scripts and rules that a learning is linked with, whichever states it: kind and id of one of each."""
    names = {known.id, *known.legacy_ids}
    ends = [one for link in known.links for one in records.candidates(link.to)]
    ends += [one for one in records if any(link.to in names for link in one.links)]
    held = [one for one in ends if one.phase != "closed" and (one.kind.name == RULE or one.text("type") == "script")]
    return {one.kind.name: one.id for one in reversed(held)}


def shortened(text: str, longest: int) -> str:
    """Return a text of one line that is no longer than that, cut between words where it can be."""
    held = text[: longest - 1]
    return text if len(text) <= longest else f"{held.rpartition(' ')[0] or held}…"


def _learning(said: Noted, longest: int) -> dict[str, object]:
    """Return the fields of the learning that a note is, or asks for."""
    text = " ".join(said.text.split())
    summary = shortened(text, longest)
    scope = {axis: list(words) for axis, words in (("paths", said.paths), ("tags", said.tags)) if words}
    tried = f"Tried {said.attempts} {'time' if said.attempts == 1 else 'times'}, not solved."
    failed = {
        "body": f"{said.text.strip()}\n\n{tried}",
        "confidence": "low",
        "basis": "observed",
        "labels": list(UNSOLVED),
    }
    task = {"evidence": [{"kind": "task", "reference": said.task}]} if said.task else {}
    return {"summary": summary, "scope": scope, **task, **(failed if said.failed else {})}


def _asks(
    workspace: Workspace, said: Noted, fields: Mapping[str, object], live: Record | None, held: Mapping[str, str]
) -> list[Ask]:
    """Return what is asked for: a learning or a vote for the one there is, a script that proves it, perhaps a rule.

    What the learning is linked with already, by kind, is named instead.
    """
    where = [word for path in said.paths for word in ("--path", path)]
    where += [word for tag in said.tags for word in ("--tag", tag)]
    if live is not None:
        strengthen = ["orbit", LEARNING, "vote", live.id, "--task", said.task or "TASK"]
        beside = f", with {' and '.join(sorted(held.values()))}" if held else ""
        first = Ask(LEARNING, f"{live.id} says it already{beside}: strengthen it", shlex.join(strengthen))
    else:
        task = ["--evidence", f"task:{said.task}"] if said.task else []
        add = ["orbit", LEARNING, "add", "--summary", str(fields["summary"]), *where, *task]
        first = Ask(LEARNING, "what would have saved the further attempts", shlex.join(add))
    name = live.id if live is not None else "L-…"
    found = [first]
    if RESOURCE in held:
        pass
    elif RESOURCE in workspace.kinds:
        link = f"then: orbit link RES-… proves {name}"
        found.append(Ask(RESOURCE, f"a script that shows that it is so; {link}", "orbit import script PATH"))
    else:
        proof = f"orbit {LEARNING} update {name} --evidence file:PATH"
        found.append(Ask("script", "a script that shows that it is so", proof))
    if RULE in held:
        return found
    rule = ["orbit", RULE, "add", "--title", "WHAT TO DO", "--rationale", str(fields["summary"]), *where]
    return [*found, Ask(RULE, "where it holds beyond this case", shlex.join(rule))]
