"""What became of each thing that was to be taken into the registry, as a value; it prints and writes nothing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

OutcomeKind = Literal["taken", "changed", "left", "present"]
ORDER: tuple[OutcomeKind, ...] = ("taken", "changed", "left", "present")
PathMoves = Sequence[tuple[str, str]]
"""Files or folders that were renamed: how each was called and how it is called now, from the root."""
_WORDS = {"taken": "taken", "changed": "changed on the way", "left": "left", "present": "already here"}
_WOULD = {"taken": "would be taken", "changed": "would change", "left": "would be left", "present": "already here"}
_LISTED = 20


@dataclass(frozen=True, slots=True)
class Outcome:
    """One line of a report.

    `taken`: `source` became the record. `changed`: something about it is not as the source had it, or another file
    changed with it. `left`: it was not taken. `present`: it was here before.
    """

    what: OutcomeKind
    source: str
    """The file or folder, from the root where it is inside; with ` · ADR-0007` for one entry of several."""
    record: str | None
    reason: str

    def as_dict(self) -> dict[str, object]:
        """Return the outcome as JSON shows it."""
        return {"source": self.source, "record": self.record, "reason": self.reason}


@dataclass(frozen=True, slots=True)
class TakeoverReport:
    """What an import or a backfill did, or with `dry_run` would do."""

    format: str
    path: str
    dry_run: bool
    outcomes: tuple[Outcome, ...]
    notes: tuple[str, ...] = ()

    def of(self, what: OutcomeKind) -> list[Outcome]:
        """Return the outcomes of one sort, in the order they came."""
        return [outcome for outcome in self.outcomes if outcome.what == what]

    @property
    def records(self) -> tuple[str, ...]:
        """Ids of the records that were made."""
        return tuple(outcome.record for outcome in self.of("taken") if outcome.record is not None)

    def as_data(self) -> dict[str, object]:
        """Return the report as JSON shows it."""
        return {
            "format": self.format,
            "path": self.path,
            "dry_run": self.dry_run,
            "counts": {what: len(self.of(what)) for what in ORDER},
            **{what: [outcome.as_dict() for outcome in self.of(what)] for what in ORDER},
            "notes": list(self.notes),
        }

    def text(self, listed: int = _LISTED) -> str:
        """Return the report for people: counts, then what was done; of one sort and reason `listed` are named."""
        words = _WOULD if self.dry_run else _WORDS
        counts = ", ".join(f"{len(self.of(what))} {words[what]}" for what in ORDER)
        lines = [f"{self.path} ({self.format}): {counts}"]
        for what in ORDER[:3]:
            outcomes = self.of(what)
            if outcomes:
                lines += ["", f"{words[what][:1].upper()}{words[what][1:]}:", *_grouped(outcomes, listed)]
        lines += ["", *self.notes] if self.notes else []
        return "\n".join(lines)


def _grouped(outcomes: Sequence[Outcome], listed: int) -> Iterable[str]:
    """Yield a line an outcome, or, where many share their reason, the reason with the first of them."""
    by_reason: dict[str, list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        by_reason[outcome.reason].append(outcome)
    for reason, group in by_reason.items():
        if len(group) == 1:
            yield f"  {_line(group[0])}: {reason}" if reason else f"  {_line(group[0])}"
            continue
        yield f"  {len(group)} × {reason or 'as it stands'}"
        yield from (f"    {_line(outcome)}" for outcome in group[:listed])
        if len(group) > listed:
            yield f"    … and {len(group) - listed} more (`--format json` lists all)"


def _line(outcome: Outcome) -> str:
    return f"{outcome.source} → {outcome.record}" if outcome.record else outcome.source
