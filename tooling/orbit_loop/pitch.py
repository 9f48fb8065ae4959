"""Pitch: ranked suggestions of what to do next, and the verdict on one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import product, takewhile
from typing import Any

from orbit_loop.plan import ask_sources, capacity, outcomes_of, recent_retros
from orbit_loop.retro import failures
from orbit_loop.retro.form import COMPLETED
from orbit_registry.checks.review.review import decide
from orbit_registry.errors import OrbitError, RecordNotFoundError, RefusedError
from orbit_registry.formats.untrusted import inert_line
from orbit_registry.hook import events
from orbit_registry.model.record import Record
from orbit_registry.model.record_set import RecordSet
from orbit_registry.repository.guard import BY_A_PERSON
from orbit_registry.repository.reader import read_collection
from orbit_registry.workspace.author import Author, Review
from orbit_registry.workspace.event_log import write_event
from orbit_registry.workspace.workspace import Workspace

ADR, PROPOSED, WORKED = "adr", "proposed", "worked"
BASE, PER_PRIORITY, PER_FAILURE, PER_SUCCESS = 1.0, 0.5, -0.4, 0.2
MOST_FACTORS = 3  # failures, and successes, that count for one candidate
NO_CAPACITY = "not pitched: capacity"
_ITEM = "task"  # default type of a work item


@dataclass(frozen=True, slots=True)
class Subject:
    """Tags, globs and names that relate two things."""

    tags: frozenset[str] = frozenset()
    paths: tuple[str, ...] = ()
    names: frozenset[str] = frozenset()

    def shared(self, other: Subject) -> str:
        """Return in words what both have; empty if nothing."""
        if names := sorted(self.names & other.names):
            return f"both name {names[0]}"
        if tags := sorted(self.tags & other.tags):
            return f"both have the tag {tags[0]}"
        near = (pair[0] for pair in product(self.paths, other.paths) if _overlap(*pair))
        path = next(near, "")
        if path:
            return f"both are about {path}"

        return ""


@dataclass(frozen=True, slots=True)
class Candidate:
    """Proposed decision, or work item of the project's source."""

    target: failures.Target
    id: str
    title: str
    kind: str
    ground: Subject
    priority: float = 0.0  # from 0 to 1

    def as_data(self) -> dict[str, Any]:
        """Return what it is called, for JSON."""
        return {"id": self.id, "target": str(self.target), "title": self.title}


@dataclass(frozen=True, slots=True)
class RankedCandidate:
    """Candidate with its score and factors."""

    candidate: Candidate
    factors: tuple[tuple[str, float, str], ...]  # name, weight and reason of each

    @property
    def score(self) -> float:
        """Sum of the factors."""
        return round(sum(weight for _, weight, _ in self.factors), 4)

    def as_data(self, rank: int) -> dict[str, Any]:
        """Return it for JSON."""
        factors = [
            {"factor": name, "weight": weight, "why": why} for name, weight, why in self.factors
        ]
        words = {**self.candidate.as_data(), "kind": self.candidate.kind}
        return {"rank": rank, **words, "score": self.score, "factors": factors}


@dataclass(frozen=True, slots=True)
class Pitch:
    """Ranked candidates, those left out and why, and warnings."""

    pitched: tuple[RankedCandidate, ...] = ()
    left_out: tuple[tuple[Candidate, str], ...] = ()
    capacity: Mapping[str, object] = field(default_factory=dict)
    reason: str = ""
    warnings: tuple[str, ...] = ()

    def as_data(self) -> dict[str, Any]:
        """Return the pitch for JSON."""
        pitched = [entry.as_data(rank) for rank, entry in enumerate(self.pitched, 1)]
        left_out = [{**candidate.as_data(), "why": why} for candidate, why in self.left_out]
        return {
            "pitched": pitched,
            "left_out": left_out,
            "capacity": dict(self.capacity),
            "reason": self.reason or None,
            "warnings": list(self.warnings),
        }


def pitch(workspace: Workspace, records: RecordSet, now: datetime, most: int = 5) -> Pitch:
    """Rank what could be done next, unless no loop can be started; log the event."""
    sources = ask_sources(workspace, ("active_loops", "capacity", "work_items"))
    room = capacity(workspace, sources)
    warnings = list(sources.warnings)
    items = {candidate.id: candidate for candidate in _items(sources.get("work_items"), warnings)}
    candidates = [*_decisions(records), *items.values()]

    if room["available"] == 0:
        result = Pitch((), (), room, NO_CAPACITY, tuple(warnings))
    else:
        ranked, left_out = _ranked(records, candidates, now)
        reason = "" if ranked else "nothing to pitch"
        result = Pitch(tuple(ranked[:most]), tuple(left_out), room, reason, tuple(warnings))

    ids = [entry.candidate.id for entry in result.pitched if entry.candidate.kind == ADR]
    details = {"pitched": len(result.pitched), "reason": result.reason or None}
    write_event(workspace, events.PITCHED, ids, details)
    return result


def _ranked(
    records: RecordSet, candidates: Iterable[Candidate], now: datetime
) -> tuple[list[RankedCandidate], list[tuple[Candidate, str]]]:
    """Return candidates, the best first, and those left out, with the reason."""
    opened = failures.open_failures(records, now)
    failed = [(failure, _subject_of_failure(failure)) for failure in opened]
    worked = list(_worked(records))

    ranked: list[RankedCandidate] = []
    left_out: list[tuple[Candidate, str]] = []
    for candidate in candidates:
        reason = _exclusion_reason(candidate, failed, now)
        if reason:
            left_out.append((candidate, reason))
        else:
            ranked.append(_score(candidate, failed, worked))

    ranked.sort(key=lambda entry: (-entry.score, entry.candidate.id))
    return ranked, left_out


def verdict(
    workspace: Workspace,
    name: str,
    author: Author,
    review: Review,
    now: datetime,
    *,
    approved: bool,
) -> Record | None:
    """Log a person's verdict, and write it into the decision, which is returned,
    or into a failure.
    """
    if author.role == "agent":
        raise RefusedError(f"an agent may not decide on {name[:100]}", hint=BY_A_PERSON)

    records = read_collection(workspace).records
    is_id = ":" not in name and workspace.kinds.of_id(name) is not None
    record = records.get(name) if is_id else None
    if record is not None and record.kind.name != ADR:
        raise RecordNotFoundError(
            f"{name} is not a decision", hint="`orbit pitch` lists what can be decided on"
        )

    target = _target_of(record) if record is not None else _listed_target(workspace, name)
    existing = failures.open_failure(records, target, now)
    if approved and existing is not None:
        hint = f"`orbit clear {target}` lets it be tried again"
        raise RefusedError(f"{target} is left alone: {existing.text('reason')}", hint=hint)

    if record is not None:
        record = decide(workspace, record, "live" if approved else "closed", author, review)

    if not approved:
        reason = f"rejected in a pitch: {review.reason}"
        failures.fail(workspace, target, {"reason": reason}, author, now, verb="was")

    details = {
        "target": str(target),
        "verdict": "approved" if approved else "rejected",
        "by": review.by or author.name,
    }
    write_event(workspace, events.PITCHED, [record.id] if record is not None else [], details)
    return record


def _target(name: str) -> failures.Target:
    return failures.read_target(name if ":" in name else f"{_ITEM}:{name}")


def _listed_target(workspace: Workspace, name: str) -> failures.Target:
    """Return the target of a work item; a bare name has to be listed,
    so that a typo is no failure.
    """
    target = _target(name)
    listed = () if ":" in name else ask_sources(workspace, ("work_items",)).get("work_items")
    if ":" not in name and target not in {candidate.target for candidate in _items(listed, [])}:
        hint = f"`orbit pitch` lists what can be decided on; {target} names what no source lists"
        raise RecordNotFoundError(f"{name} is neither a decision nor a work item", hint=hint)

    return target


def _target_of(record: Record) -> failures.Target:
    return failures.Target(ADR, "", record.id)


def _decisions(records: RecordSet) -> Iterable[Candidate]:
    for record in records.of_kind(ADR):
        if record.status.name == PROPOSED:
            priority = record.data.get("priority", 0)
            yield Candidate(
                _target_of(record),
                record.id,
                record.title,
                ADR,
                _subject(record),
                priority / 255 if isinstance(priority, int) else 0.0,
            )


def _items(listed: Any, warnings: list[str]) -> Iterable[Candidate]:
    """Yield the work items of a source: `id` as a target or a task's, `title`, `tags`, `paths`,
    `priority` up to 1.
    """
    for number, entry in enumerate(listed if isinstance(listed, list) else (), 1):
        name = entry.get("id") if isinstance(entry, Mapping) else entry
        if not isinstance(name, str) or not name:
            warnings.append(
                f'work_items: item {number}: it has no `id`; for example "id": "story:shop:S-4"'
            )
            continue

        try:
            target = _target(name)
        except OrbitError as error:
            warnings.append(f"work_items: item {number}: {error.message}")
            continue

        item: Mapping[str, Any] = entry if isinstance(entry, Mapping) else {}
        priority = item.get("priority")
        if isinstance(priority, int | float) and priority is not True:
            weight = float(priority)
        else:
            weight = 0.0

        names = frozenset(
            {str(target), target.id, *_texts(item.get("links")), *_texts(item.get("tasks"))}
        )
        ground = Subject(frozenset(_texts(item.get("tags"))), (*_texts(item.get("paths")),), names)

        title = inert_line(str(item.get("title") or name))[:300]
        yield Candidate(target, str(target), title, "work item", ground, min(max(weight, 0.0), 1.0))


def _texts(value: object) -> tuple[str, ...]:
    if isinstance(value, list):
        return tuple(text for text in value if isinstance(text, str))

    return ()


def _subject(record: Record) -> Subject:
    linked = {link.to for link in record.links} | {reference for _, reference in record.evidence}
    names = {record.id, *linked, *record.words("tasks"), *record.scope.tasks}
    return Subject(
        frozenset((*record.tags, *record.words("labels"))), record.globs, frozenset(names)
    )


def _subject_of_failure(record: Record) -> Subject:
    ground, target = _subject(record), failures.target_of(record)
    return Subject(ground.tags, ground.paths, ground.names | {str(target), target.id})


def _worked(records: RecordSet) -> Iterable[tuple[str, Subject]]:
    for record in records.of_kind("learning"):
        if record.phase == "live" and WORKED in record.words("labels"):
            yield record.id, _subject(record)

    for retro in recent_retros(records):
        for outcome in outcomes_of(retro):
            if outcome.result == COMPLETED:
                names = frozenset({str(outcome.target), outcome.target.id})
                yield f"{outcome.target} in {retro.id}", Subject(names=names)


def _exclusion_reason(
    candidate: Candidate, failed: Sequence[tuple[Record, Subject]], now: datetime
) -> str:
    failure = next(
        (record for record, _ in failed if failures.target_of(record) == candidate.target), None
    )
    if failure is None:
        return ""
    state = failures.state(failure, now)
    tried = "failed once" if state["attempts"] == 1 else f"failed {state['attempts']} times"
    return f"{tried}, left alone until {state['until'] or 'it is cleared'}: {state['reason']}"


def _score(
    candidate: Candidate,
    failed: Sequence[tuple[Record, Subject]],
    worked: Sequence[tuple[str, Subject]],
) -> RankedCandidate:
    factors = [("base", BASE, "every candidate has it")]
    if candidate.priority:
        worth = round(PER_PRIORITY * candidate.priority, 4)
        factors.append(("priority", worth, f"{candidate.priority:.2f} of 1"))

    near = []
    for record, ground in failed:
        if reason := candidate.ground.shared(ground):
            near.append(("failed", PER_FAILURE, f"{failures.target_of(record)} failed; {reason}"))

    done = []
    for name, ground in worked:
        reason = candidate.ground.shared(ground)
        if reason and candidate.id not in ground.names:
            done.append(("worked", PER_SUCCESS, f"{name} worked; {reason}"))

    return RankedCandidate(candidate, (*factors, *near[:MOST_FACTORS], *done[:MOST_FACTORS]))


def _overlap(glob: str, other: str) -> bool:
    first, second = _folder(glob), _folder(other)
    if not first or not second:
        return glob == other
    short, long = sorted((first, second), key=len)
    return long[: len(short)] == short


def _folder(glob: str) -> tuple[str, ...]:
    return tuple(takewhile(lambda part: not {*part} & {*"*?[{!"}, glob.strip("/").split("/")))
