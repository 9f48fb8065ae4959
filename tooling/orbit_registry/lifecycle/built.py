"""Whether the code follows a decision: one judgement from its status and what was gathered."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from orbit_registry.model.record import Record


class State(StrEnum):
    """What a decision is in the code, whatever its status says."""

    BUILT = "yes"
    PROPOSED = "proposed"
    """The status waits for a decision, and the code has it already."""
    NO_TRACE = "no"
    """It is accepted, names what code would have, and no code has it."""
    TAKEN_BACK = "taken-back"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Built:
    """The judgement, why, and the strongest pieces of evidence in words."""

    state: State
    why: str
    evidence: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """The state as people read it."""
        return STATES[self.state]

    @property
    def differs(self) -> bool:
        """Whether the status and the code say different things."""
        return self.state in (State.PROPOSED, State.NO_TRACE, State.TAKEN_BACK)

    @property
    def line(self) -> str:
        """The judgement in a line: what is looked for, or the strongest piece of evidence."""
        reason = self.evidence[0] if self.evidence and self.state in _BY_EVIDENCE else self.why
        return f"{self.words}: {reason}"

    def as_data(self) -> dict[str, object]:
        """Return the judgement as JSON shows it."""
        return {"state": self.state.value, "why": self.why, "evidence": list(self.evidence)}

    def lines(self) -> list[str]:
        """Return the judgement, with its evidence, a fact a line."""
        return [f"{self.words}: {self.why}", *self.evidence]


_BY_EVIDENCE = (State.BUILT, State.PROPOSED)
STATES: Mapping[State, str] = {
    State.BUILT: "built",
    State.PROPOSED: "proposed, but built",
    State.NO_TRACE: "no trace in the code",
    State.TAKEN_BACK: "built, then taken back",
    State.UNKNOWN: "can't tell",
}


class EvidenceKind(StrEnum):
    """What a piece of evidence is."""

    CITES = "cites"
    COMMIT = "commit"
    CHECK = "check"
    FILE = "file"
    TOGETHER = "together"
    LINKED = "linked"
    TITLE = "title"
    """A file has what its title says to use, or what its scope names."""
    NAME = "name"


class Undone(StrEnum):
    """What became of a commit."""

    REVERTED = "reverted"
    GONE = "gone"


@dataclass(frozen=True, slots=True)
class Trace:
    """One piece of evidence in words."""

    kind: EvidenceKind
    words: str
    is_new: bool = True
    """Whether it came with the decision or after it; what was there before proves little."""
    undone: Undone | None = None
    """How a commit was undone: by another one that took it back, or all its files are gone."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """All that was looked for, and what there is of it."""

    traces: Sequence[Trace] = ()
    missing: Sequence[str] = ()
    """What its title names and no file has."""
    unseen: int = 0
    """How many names of its text no file has."""
    seen: int = 0
    """How many of them some file has."""
    has_code: bool = True
    """Whether there is code that could follow a decision."""


MOST_SHOWN = 3
_NEW = {
    EvidenceKind.CITES: 6,
    EvidenceKind.COMMIT: 6,
    EvidenceKind.CHECK: 6,
    EvidenceKind.FILE: 4,
    EvidenceKind.TITLE: 4,
    EvidenceKind.TOGETHER: 3,
    EvidenceKind.LINKED: 3,
    EvidenceKind.NAME: 2,
}
_OLD = {EvidenceKind.TITLE: 2, EvidenceKind.FILE: 1, EvidenceKind.NAME: 1}
MOST_OF_A_KIND = {EvidenceKind.NAME: 2, EvidenceKind.COMMIT: 2}
ENOUGH = 2
"""What the evidence of an accepted decision has to weigh: most are built."""
ENOUGH_FOR_PROPOSED = 6
"""What new evidence has to weigh to say that a decision is built that no person accepted."""
FEWEST_UNSEEN = 4
"""Names of a text, none of which is in a file, that make silence tell."""

_FORBIDS = re.compile(
    r"(?:we )?(?:no\b|don['’]?t\b|do not\b|never\b|avoid|stop|ban\b|forbid|disallow|without\b"
    r"|remove|drop|delete|retire|deprecate|abandon|defer|postpone|not )"
    r"|.*\b(?:must not|may not|not allowed|is forbidden|are forbidden|is retired|are not)\b",
    re.IGNORECASE,
)
_PEOPLE = re.compile(
    r"\b(?:team|meeting|review(?:s|er|ers)?|process|workflow|on-?call|naming|convention|guidelines?"
    r"|policy|policies|strategy|principles?|governance|ownership|responsibilit\w+|decision records?"
    r"|architecture decisions?|adrs?|code owners?|pull requests?|branching|commit messages?"
    r"|versioning|release cadence|documentation|diagrams?|visuali[sz]ations?|wiki)\b",
    re.IGNORECASE,
)


def built(record: Record, evidence: Evidence) -> Built:
    """Judge whether the code follows a decision; nothing is said of a closed one."""
    if record.phase == "closed":
        return Built(State.UNKNOWN, f"it is {record.status.name}, so no code has to follow it")

    traces = sorted(evidence.traces, key=_weight, reverse=True)
    standing = [trace for trace in traces if trace.undone is None]
    shown = tuple(trace.words for trace in standing[:MOST_SHOWN] if _weight(trace))
    new = _sum(_telling_of_proposed(standing, evidence))
    waits = record.phase == "pending" and record.status.waits

    reverted = [trace.words for trace in traces if trace.undone is Undone.REVERTED]
    gone = [trace.words for trace in traces if _is_gone(trace)]
    is_thin = not waits and new < ENOUGH_FOR_PROPOSED
    if reverted and is_thin:
        return Built(State.TAKEN_BACK, reverted[0], tuple(reverted[1:MOST_SHOWN]))
    if gone and is_thin:
        # Written anew elsewhere or given up: both look alike.
        return Built(State.UNKNOWN, gone[0], shown)
    if waits and new >= ENOUGH_FOR_PROPOSED:
        return Built(State.PROPOSED, f"it is {record.status.name}, but the code has it", shown)
    if waits:
        return Built(State.UNKNOWN, f"it is {record.status.name}, and too little shows it", shown)
    if _sum(standing) >= ENOUGH:
        return Built(State.BUILT, "the code and its history show it", shown)

    return _silence(record, evidence, shown)


def _is_gone(trace: Trace) -> bool:
    return trace.kind is EvidenceKind.COMMIT and trace.undone is Undone.GONE


def _weight(trace: Trace) -> int:
    if trace.is_new:
        return _NEW[trace.kind]

    return _OLD.get(trace.kind, 0)


def _telling_of_proposed(traces: Sequence[Trace], evidence: Evidence) -> list[Trace]:
    """Return what came with a decision; names of which most are missing are others' too."""
    are_named = evidence.seen > evidence.unseen
    return [
        trace
        for trace in traces
        if trace.is_new and (are_named or trace.kind is not EvidenceKind.NAME)
    ]


def _sum(traces: Sequence[Trace]) -> int:
    """Add up what traces weigh; many of one kind weigh little more than one."""
    total = 0
    for kind in EvidenceKind:
        weights = sorted((_weight(trace) for trace in traces if trace.kind is kind), reverse=True)
        total += sum(weights[: MOST_OF_A_KIND.get(kind, 1)])

    return total


def _silence(record: Record, evidence: Evidence, shown: tuple[str, ...]) -> Built:
    """Judge a decision of which too little shows: silence tells if code would have its names."""
    if _FORBIDS.match(record.title):
        return Built(State.UNKNOWN, "it forbids or ends something, which leaves no trace", shown)
    if _PEOPLE.search(record.title):
        return Built(State.UNKNOWN, "it is about how people work, which leaves no trace", shown)
    if record.phase != "live":
        return Built(State.UNKNOWN, "it states no status, and too little shows it", shown)

    if not evidence.has_code:
        return Built(State.UNKNOWN, "there is no code here", shown)
    if evidence.missing:
        names = " or ".join(f"`{name}`" for name in evidence.missing[:MOST_SHOWN])
        why = f"no file has {names}, and no commit names the decision"
        return Built(State.NO_TRACE, why, shown)
    if evidence.unseen >= FEWEST_UNSEEN and not evidence.seen:
        names = f"any of the {evidence.unseen} names in its text"
        why = f"no file has {names}, and no commit names the decision"
        return Built(State.NO_TRACE, why, shown)

    return Built(State.UNKNOWN, "it names too little that code would have", shown)
