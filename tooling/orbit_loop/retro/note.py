"""Note on finished work: the event, and which records it suggests."""

import hashlib
import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from orbit_loop.loop import turn_id
from orbit_loop.retro.failures import fail, read_target
from orbit_registry.checks.duplicates import Neighbour, near_duplicates, refusing_copies
from orbit_registry.errors import RefusedError, UsageError, plural
from orbit_registry.formats.untrusted import cut
from orbit_registry.hook.events import NOTE_SKIPS as SKIPS
from orbit_registry.hook.events import NOTED
from orbit_registry.hook.project import session_of_process
from orbit_registry.model.record import Record
from orbit_registry.model.record_set import RecordSet
from orbit_registry.repository.writer import create_record, draft_record
from orbit_registry.workspace.author import Author
from orbit_registry.workspace.event_log import log_files, logged_events, write_event
from orbit_registry.workspace.workspace import Workspace

LEARNING, RULE, RESOURCE = "learning", "rule", "resource"
TITLE = "WHAT TO DO"  # what a person puts a rule's title in place of
UNSOLVED = ("unsolved", "needs-help")  # labels of a learning about an unsolved problem
SHORT = 48  # characters below which the text of a turn without tools says nothing new


@dataclass(frozen=True, slots=True)
class NoteRequest:
    """How a piece of work went: text, attempts, errors, failure."""

    text: str = ""
    attempts: int = 1
    errors: bool = False
    failed: bool = False
    skip_reason: str = ""
    task: str = ""
    paths: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    turn: str = ""  # id of the turn, or its name within the session; empty if no turn is noted
    tools: int | None = None  # tools that the turn used, if known
    heartbeat: bool = False
    evidence: tuple[str, ...] = ()

    @property
    def asks(self) -> bool:
        """Whether it suggests records: not solved at once, and not said to be nothing new."""
        return not self.skip_reason and (self.attempts > 1 or self.errors or self.failed)


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Kind of record to add, why, the command for a person, and the call of a tool for an agent;
    the call is empty where only a person can do it.
    """

    kind: str
    reason: str
    command: str
    tool: str = ""
    arguments: Mapping[str, object] = field(default_factory=dict)

    @property
    def call(self) -> str:
        """Return the call as an agent makes it."""
        arguments = json.dumps(dict(self.arguments), ensure_ascii=False)
        if self.tool:
            return f"{self.tool} {arguments}"

        return ""


@dataclass(frozen=True, slots=True)
class NoteResult:
    """Suggested records, similar ones, and the learning of a total failure."""

    asks: tuple[Suggestion, ...] = ()
    similar: tuple[Record, ...] = ()
    unsolved: Record | None = None  # learning about the unsolved problem, new or existing
    failure: Record | None = None  # failure that blocks the task for a while
    turn: str = ""
    skip_reason: str = ""


def note(workspace: Workspace, records: RecordSet, work: NoteRequest, author: Author) -> NoteResult:
    """Log how a piece of work went, and return which records it suggests."""
    _refuse_contradictions(work)
    turn = _turn(workspace, work)
    if not work.skip_reason and not work.asks:
        work = replace(work, skip_reason=skip_reason(workspace, work, turn))

    if not (work.skip_reason or work.text.strip()):
        raise UsageError(
            "the note is empty",
            hint=f"say it, or why there is nothing: --skip-reason {' | '.join(SKIPS)}",
        )

    target = read_target(f"task:{work.task}") if work.failed and work.task else None
    contribution = _contribution(workspace, records, work, author) if work.asks else NoteResult()
    if target is not None:
        scope = {"scope": {"paths": list(work.paths)}} if work.paths else {}
        tried = work.attempts if work.attempts > 1 else None
        fields = {"reason": work.text.strip(), "attempts": tried, **scope}
        contribution = replace(
            contribution, failure=fail(workspace, target, fields, author, datetime.now(UTC))[0]
        )

    details: dict[str, object] = {
        "attempts": work.attempts,
        "errors": work.errors,
        "failed": work.failed,
        "task": work.task or None,
    }
    if work.asks:
        details["asked"] = [ask.kind for ask in contribution.asks]
    else:
        details["skip_reason"] = work.skip_reason or None

    if turn:
        details |= {"turn": turn, "fingerprint": fingerprint(work.text)}
    if work.evidence:
        details["evidence"] = list(work.evidence)

    write_event(
        workspace, NOTED, [contribution.unsolved.id] if contribution.unsolved else [], details
    )
    return replace(contribution, turn=turn, skip_reason=work.skip_reason)


def skip_reason(workspace: Workspace, work: NoteRequest, turn: str) -> str:
    """Return why a note teaches nothing; empty if it may. Only turns are compared."""
    if work.heartbeat:
        return "routine-heartbeat"

    text = work.text.strip()
    if not text:
        return ""
    if turn and _was_noted(workspace, text, turn):
        return "duplicate-signal"

    if work.tools == 0 and len(text) < SHORT:
        return "no-new-information"

    return ""


def _was_noted(workspace: Workspace, text: str, turn: str) -> bool:
    """Say whether another turn was noted with the same text."""
    fingerprints = {
        event.row.get("fingerprint")
        for event in logged_events(log_files(workspace.state))
        if event.kind == NOTED and event.row.get("turn") != turn
    }
    return fingerprint(text) in fingerprints


def fingerprint(text: str) -> str:
    """Return 16 hexadecimal digits that identify a text regardless of case and spaces."""
    return hashlib.sha256(
        " ".join(text.casefold().split()).encode("utf-8", "surrogatepass")
    ).hexdigest()[:16]


def _turn(workspace: Workspace, work: NoteRequest) -> str:
    parts = work.turn.split(":")
    if not work.turn or (len(parts) == 5 and all(parts)):
        return work.turn
    if len(parts) != 1:
        hint = "source:agent:channel:session:turn, or a word that names it in its session"
        raise UsageError(f"{work.turn!r} is not an id of a turn", hint=hint)
    session, agent = session_of_process(str(workspace.root)) or ("", "")
    return turn_id("note", agent, "cli", session, work.turn)


def _refuse_contradictions(work: NoteRequest) -> None:
    if work.skip_reason and (work.failed or work.errors or work.attempts > 1):
        message = (
            "--skip-reason says that there is nothing to tell, and attempts or errors that there is"
        )
        raise UsageError(message, hint="leave one of them out")

    if work.asks and not work.text.strip():
        raise UsageError(
            "the note says nothing",
            hint='orbit note "Uploads fail without a retry key" --attempts 3',
        )


def _contribution(
    workspace: Workspace, records: RecordSet, work: NoteRequest, author: Author
) -> NoteResult:
    kind = workspace.kinds[LEARNING]
    fields = _learning(work, kind.schema.longest("summary"))
    draft = draft_record(workspace, kind, author, fields)[1]
    near = near_duplicates(workspace, records.of_kind(LEARNING), draft)

    if work.failed:
        same = next((neighbour.record for neighbour in near if neighbour.is_duplicate), None)

        def refuse(copies: Sequence[Neighbour]) -> None:
            if copies:
                raise RefusedError(
                    "another process has just noted the same", hint="run the command again"
                )

        admit = refusing_copies(workspace, kind, records.of_kind(LEARNING), refuse)
        unsolved = same or create_record(workspace, kind, author, fields, admit)
        similar = tuple(
            neighbour.record for neighbour in near if neighbour.record.uid != unsolved.uid
        )
        return NoteResult(similar=similar, unsolved=unsolved)

    similar = tuple(neighbour.record for neighbour in near)
    live = next((record for record in similar if record.phase == "live"), None)
    linked = _linked(records, live) if live is not None else {}
    return NoteResult(tuple(_suggestions(work, fields, live, linked)), similar)


def _linked(records: RecordSet, learning: Record) -> dict[str, str]:
    names = {learning.id, *learning.legacy_ids}
    ends: list[Record] = []
    for link in learning.links:
        ends += records.candidates(link.to)
    for record in records:
        if names & {link.to for link in record.links}:
            ends.append(record)

    return {
        record.kind.name: record.id
        for record in reversed(ends)
        if record.phase != "closed"
        and (record.kind.name == RULE or record.text("type") == "script")
    }


def _learning(work: NoteRequest, longest: int) -> dict[str, object]:
    scope = {
        axis: list(words) for axis, words in (("paths", work.paths), ("tags", work.tags)) if words
    }
    fields: dict[str, object] = {
        "summary": cut(" ".join(work.text.split()), longest),
        "scope": scope,
    }
    if work.task:
        fields["evidence"] = [{"kind": "task", "reference": work.task}]

    if work.failed:
        tried = f"Tried {plural(work.attempts, 'time')}, not solved."
        fields |= {
            "body": f"{work.text.strip()}\n\n{tried}",
            "confidence": "low",
            "basis": "observed",
        }
        fields["labels"] = list(UNSOLVED)

    return fields


def _suggestions(
    work: NoteRequest, fields: Mapping[str, object], live: Record | None, linked: Mapping[str, str]
) -> list[Suggestion]:
    where: list[str] = []
    for path in work.paths:
        where += ["--path", path]
    for tag in work.tags:
        where += ["--tag", tag]

    name = live.id if live is not None else "L-…"
    proof = f"a script that shows that it is so; then: orbit link RES-… proves {name}"
    first = _new_learning(work, fields, where)
    if live is not None:
        first = _strengthened(live, work.task or "TASK", linked)

    more = [
        Suggestion(RESOURCE, proof, "orbit import script PATH"),
        _rule(fields, where),
    ]
    return [first, *(ask for ask in more if ask.kind not in linked)]


def _strengthened(live: Record, task: str, linked: Mapping[str, str]) -> Suggestion:
    with_linked = f", with {' and '.join(sorted(linked.values()))}" if linked else ""
    return Suggestion(
        LEARNING,
        f"{live.id} says it already{with_linked}: strengthen it",
        shlex.join(["orbit", LEARNING, "vote", live.id, "--task", task]),
        "vote",
        {"id": live.id, "task": task},
    )


def _new_learning(
    work: NoteRequest, fields: Mapping[str, object], where: Sequence[str]
) -> Suggestion:
    task = ["--evidence", f"task:{work.task}"] if work.task else []
    words = ["orbit", LEARNING, "new", "--summary", str(fields["summary"]), *where, *task]
    reason = "what would have saved the further attempts"
    arguments = {"kind": LEARNING, "fields": fields}
    return Suggestion(LEARNING, reason, shlex.join(words), "add", arguments)


def _rule(fields: Mapping[str, object], where: Sequence[str]) -> Suggestion:
    summary = str(fields["summary"])
    words = ["orbit", RULE, "new", "--title", TITLE, "--rationale", summary, *where]
    of_rule = {"title": TITLE, "rationale": summary, "scope": fields["scope"]}
    arguments = {"kind": RULE, "fields": of_rule}
    return Suggestion(RULE, "if it holds beyond this case", shlex.join(words), "add", arguments)
