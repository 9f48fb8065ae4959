"""How far decisions are enforced: the class of each live one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from orbit_enforce.enforce import tree_of
from orbit_enforce.kind import Survey, Tree
from orbit_enforce.spec import DecisionCheck, checks_of
from orbit_registry.errors import listed
from orbit_registry.model.record import Record
from orbit_registry.workspace.workspace import Workspace

CLASSES = {
    "enforced": "a proved check at level warning or error",
    "referenced": "a rule of another program, which is on",
    "advised": "a proved check at level advice",
    "anchored": "only what one file must have",
    "not checkable": "the record says why",
    "unclassified": "neither a check nor a reason",
}
_LISTED = 20


@dataclass(frozen=True, slots=True)
class Classified:
    """A decision, its class, and its checks or why it has none that counts."""

    record: Record
    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class Enforcement:
    """The class of each live decision."""

    classes: Sequence[Classified]

    @property
    def share(self) -> float:
        """The share of decisions with a check of weight, of all but those that can't be checked."""
        counts = self.counts
        total = sum(counts.values()) - counts["not checkable"]
        if total:
            return (counts["enforced"] + counts["referenced"]) / total

        return 0.0

    @property
    def counts(self) -> Counter[str]:
        """How many decisions each class has."""
        return Counter(row.name for row in self.classes)

    def as_data(self) -> dict[str, object]:
        """Return the classes as JSON shows them."""
        rows = [
            {"id": row.record.id, "class": row.name, "reason": row.reason or None}
            for row in self.classes
        ]
        counts = {name: self.counts[name] for name in CLASSES}
        return {"share": round(self.share, 3), "counts": counts, "decisions": rows}

    def text(self) -> str:
        """Return the classes as people read them."""
        counts, total = self.counts, len(self.classes)
        if not total:
            return "no decision is accepted"

        lines = [
            (
                f"{self.share:.0%} of the decisions that can be checked are enforced ({total} "
                f"accepted)"
            ),
            "",
        ]
        lines += [f"{counts[name]:>6}  {name}: {words}" for name, words in CLASSES.items()]
        unclassified = [row for row in self.classes if row.name == "unclassified"]
        ids = [row.record.id for row in unclassified if not row.reason]

        if ids:
            lines += ["", f"Neither a check nor a reason: {listed(ids, _LISTED)}"]

        rows = [f"  {row.record.id}: {row.reason}" for row in unclassified if row.reason]
        if rows:
            lines += ["", "Their checks do not count:", *rows]

        return "\n".join(lines)


def enforcement(workspace: Workspace, records: Iterable[Record]) -> Enforcement:
    """Return the class of each live decision."""
    live = [record for record in records if record.phase == "live" and record.kind.in_document]
    tree = tree_of(workspace, *workspace.git.files())
    return Enforcement([_classified(record, tree) for record in live])


def _classified(record: Record, tree: Tree) -> Classified:
    checks = checks_of(record)
    off = {check.number: reason for check in checks if (reason := _why_off(check, tree))}
    counted = [check for check in checks if check.number not in off]
    own = [check for check in counted if not check.is_reference]
    pattern_checks = [
        check for check in own if check.must != "have" or sum(map(check.reads, tree.paths)) > 1
    ]

    if any(check.level != "advice" for check in pattern_checks):
        name = "enforced"
    elif any(check.is_reference for check in counted):
        name = "referenced"
    elif pattern_checks:
        name = "advised"
    elif counted:
        name = "anchored"
    else:
        name = "not checkable" if record.data.get("not_checkable") else "unclassified"

    names = [
        f"{check.name} ({off[check.number]})" if check.number in off else check.name
        for check in checks
    ]
    return Classified(record, name, str(record.data.get("not_checkable") or ", ".join(names)))


def _why_off(check: DecisionCheck, tree: Tree) -> str:
    """Return why a check does not count; empty if it does."""
    if check.problems:
        if check.problems[0].code == "ORB1002":
            return "its examples do not hold"

        return "it can't be used"

    if not check.is_reference or not isinstance(check.finder, Survey):
        return ""

    return next(
        (what for _, what in check.finder.find(tree, [*filter(check.covers, tree.paths)])), ""
    )
