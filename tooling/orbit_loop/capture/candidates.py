"""Pending learnings from lessons, without those that are known, rejected or unsafe."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from orbit_loop.capture.findings import Lesson
from orbit_registry.checks.duplicates import (
    Neighbour,
    near_duplicates,
    refusing_copies,
    says_the_same,
)
from orbit_registry.errors import InvalidRecordError, OrbitError, RefusedError
from orbit_registry.formats.secrets import find_secrets
from orbit_registry.formats.untrusted import inert_line, inert_text
from orbit_registry.model.record import Record
from orbit_registry.operations.freshness.evaluate import evaluate_freshness
from orbit_registry.operations.freshness.verify import fingerprinted
from orbit_registry.repository.writer import create_record, draft_record
from orbit_registry.workspace.author import Author
from orbit_registry.workspace.workspace import Workspace

KIND = "learning"
AUTHOR = Author("orbit capture", "agent")
LONGEST_BODY = 2_000
_ORDER = re.compile(
    r"(?i)\b(?:ignore|disregard|forget|override)\b.{0,60}\b(?:previous|prior|above|earlier|all"
    r"|any|instructions?|rules?)\b"
    r"|\bsystem prompt\b|\byou (?:must|are now|will|shall|have to|need to)\b|\bas an? "
    r"(?:ai|assistant|agent|model)\b"
    r"|\b(?:do not|don['’]t|never) "
    r"(?:tell|mention|reveal|ask|inform)\b|\b(?:new|following|these) instructions?\b"
    r"|\b(?:run|execute|paste|type|send|post|upload|download|fetch|open|visit|install) "
    r"(?:this|the following|it)\b"
    r"|https?://|\bwww\.|[$`]\(|\|\s*(?:ba|z)?sh\b|<\/?[a-z]|\b(?:assistant|system|user|human)\s*:",
)
"""Text that reads as an instruction or leads elsewhere: no fact about a project needs it."""
_DANGEROUS = re.compile(
    r"\b(?:curl|wget|eval|sudo|chmod|base64|rm -|nc -|ssh |scp )", re.IGNORECASE
)
"""Commands that no fact needs; a person's rule may forbid one."""


@dataclass(frozen=True, slots=True)
class Provenance:
    """Source of the lessons of one transcript."""

    source: str
    agent: str
    session: str
    transcript: str
    commit: str = ""

    def as_data(self, lesson: Lesson) -> dict[str, object]:
        """Return the `provenance` field of a record made from a lesson."""
        source = {"command": "tool", "correction": "user"}.get(lesson.pattern, self.source)
        source = self.source if self.source == "web" else source
        data = {
            "source": source,
            "pattern": lesson.pattern,
            "subject": lesson.subject,
            "agent": self.agent,
            "session": self.session,
            "transcript": self.transcript,
            "commit": self.commit,
        }
        return {name: value for name, value in data.items() if value}


@dataclass(frozen=True, slots=True)
class Candidate:
    """Pending learning; `instead_of` is the stale record that it would replace."""

    record: Record
    instead_of: Record | None = None


@dataclass(slots=True)
class CandidateResult:
    """New candidates, and how many lessons were skipped, by reason."""

    candidates: list[Candidate] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)


def propose(
    workspace: Workspace,
    records: Iterable[Record],
    lessons: Sequence[tuple[Lesson, Provenance]],
    recalled: Iterable[str] = (),
    *,
    sources: Sequence[str] = (),
    dry_run: bool = False,
) -> CandidateResult:
    """Add lessons as pending learnings; `recalled` are lines that the sessions were shown,
    `sources` ids for links.
    """
    result = CandidateResult()
    existing = list(records)
    recalled_texts = [_plain(line) for line in recalled]
    for lesson, provenance in lessons:
        try:
            candidate = _candidate(
                workspace, existing, lesson, provenance, recalled_texts, sources, dry_run=dry_run
            )
        except _KnownError as error:
            result.skipped[error.reason] += 1
            continue

        result.candidates.append(candidate)
        existing.append(candidate.record)

    return result


class _KnownError(Exception):
    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def reads_as_instruction(text: str) -> bool:
    """Say whether a text gives orders to its reader, or leads to another place."""
    return bool(_ORDER.search(text) or _DANGEROUS.search(text))


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", re.sub(r"\A\W*\[[^\]]{1,40}\]", "", text).casefold()))


def _candidate(
    workspace: Workspace,
    existing: Sequence[Record],
    lesson: Lesson,
    provenance: Provenance,
    recalled: Sequence[str],
    sources: Sequence[str],
    *,
    dry_run: bool,
) -> Candidate:
    texts = (lesson.summary, lesson.body, lesson.error_pattern, *lesson.paths, *lesson.inputs)
    if any(any(find_secrets(text)) for text in texts):
        raise _KnownError("holds what looks like a secret")

    is_free = lesson.pattern == "command" and any(reads_as_instruction(text) for text in texts)
    if is_free or _ORDER.search(lesson.summary):
        raise _KnownError("reads as an instruction")

    old = _existing_record(workspace, existing, lesson, provenance.session)
    summary = _plain(lesson.summary)
    was_shown = any(summary in line or line in summary for line in recalled if line)
    if was_shown and (
        old is None or lesson.pattern == "command"
    ):  # what is stale may be found anew
        raise _KnownError("was shown to the session")

    fields = _fields(workspace, lesson, provenance, old, sources)
    kind = workspace.kinds[KIND]
    try:
        draft = draft_record(workspace, kind, AUTHOR, fields)[1]
        _refuse_duplicates(
            near for near in near_duplicates(workspace, existing, draft) if near.record is not old
        )

        if dry_run:
            return Candidate(draft, old)

        admit = refusing_copies(workspace, kind, existing, _refuse_duplicates)
        return Candidate(create_record(workspace, kind, AUTHOR, fields, admit), old)
    except InvalidRecordError:
        raise _KnownError("is not a valid learning") from None
    except RefusedError as error:
        raise _KnownError(error.message) from None


def _refuse_duplicates(near: Iterable[Neighbour]) -> None:
    for neighbour in near:
        if neighbour.is_duplicate:
            raise _KnownError("was rejected" if neighbour.record.is_rejected else "is known")


def _existing_record(
    workspace: Workspace, existing: Sequence[Record], lesson: Lesson, session: str
) -> Record | None:
    """Return the stale record that a lesson would replace; None where it is new.

    A retired one may be learned anew, but not from the session that it was learned from.
    """
    stale: Record | None = None
    was_retired = False
    for record in existing:
        provenance = record.data.get("provenance")
        is_about = isinstance(provenance, Mapping) and provenance.get("subject") == lesson.subject
        text = f"{record.data['summary']}\n{record.data.get('body', '')}"
        is_same = (is_about and lesson.core in text) or _states_lesson(
            str(record.data["summary"]), lesson
        )

        if is_same and record.is_rejected:
            raise _KnownError("was rejected")
        if is_same and record.phase == "pending":
            raise _KnownError("waits for review already")

        if record.phase == "live" and (is_same or is_about):
            if record.path in evaluate_freshness(workspace, [record]).freshness:
                stale = record
            elif is_same:
                raise _KnownError("is known")

        if is_same and record.phase == "closed":
            was_retired = was_retired or ("session", session) in record.evidence

    if was_retired and stale is None:
        raise _KnownError("was retired")

    pending = (other for other in existing if other.phase == "pending")
    if stale is not None and any(stale.id in other.words("distinct_from") for other in pending):
        raise _KnownError("waits for review already")

    return stale


def _states_lesson(summary: str, lesson: Lesson) -> bool:
    """Compare headlines: our own word for word,
    those of a program by two thirds of the shorter one's words.
    """
    if lesson.pattern != "command":
        return _plain(summary) == _plain(lesson.summary)
    return says_the_same(summary, lesson.summary, 2 / 3)


def _fields(
    workspace: Workspace,
    lesson: Lesson,
    provenance: Provenance,
    old: Record | None,
    sources: Sequence[str],
) -> dict[str, object]:
    axes = {"paths": list(lesson.paths), "symbols": list(lesson.symbols)}
    scope = {axis: words for axis, words in axes.items() if words}
    evidence = [{"kind": "session", "reference": provenance.session}] if provenance.session else []
    evidence += [{"kind": "file", "reference": path} for path in lesson.files]
    links = [{"rel": "derived_from", "to": source} for source in sources]
    longest = workspace.kinds[KIND].schema.longest("summary")
    confidence = "medium" if lesson.pattern in ("recovery", "correction") else "low"
    fields: dict[str, object] = {
        "summary": inert_line(lesson.summary)[:longest],
        "body": inert_text(lesson.body)[:LONGEST_BODY],
        "confidence": confidence,
        "procedural": lesson.procedural or None,
        "error_pattern": lesson.error_pattern,
        "scope": scope,
        "evidence": evidence,
        "provenance": provenance.as_data(lesson),
    }

    if lesson.inputs:
        try:
            fields["freshness"] = fingerprinted(workspace, {}, lesson.inputs)
        except OrbitError:  # the file has just been deleted
            raise _KnownError("rests on a file that is not there") from None

    if old is not None:
        links.append({"rel": "amends", "to": old.id})
        fields["distinct_from"] = [old.id]

    if links:
        return {**fields, "links": links}

    return fields
