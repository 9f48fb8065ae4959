"""How far decisions are enforced: the class of each live one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from orbit_registry.enforce.kind import Survey, Tree
from orbit_registry.enforce.run import tree_of
from orbit_registry.enforce.spec import DecisionCheck, checks_of
from orbit_registry.formats.globs import matches
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
class Enforcement:
    """The class of each live decision."""

    classes: Sequence[tuple[Record, str]]

    @property
    def share(self) -> float:
        """The share of decisions with a check of weight, of all but those that can't be checked."""
        counts = self.counts
        total = sum(counts.values()) - counts["not checkable"]
        return (counts["enforced"] + counts["referenced"]) / total if total else 0.0

    @property
    def counts(self) -> Counter[str]:
        """How many decisions each class has."""
        return Counter(name for _, name in self.classes)

    def as_data(self) -> dict[str, object]:
        """Return the classes as JSON shows them."""
        counts = self.counts
        return {
            "share": round(self.share, 3),
            "counts": {name: counts[name] for name in CLASSES},
            "decisions": [{"id": record.id, "class": name, "reason": reason(record)} for record, name in self.classes],
        }

    def text(self) -> str:
        """Return the classes as people read them."""
        counts, total = self.counts, len(self.classes)
        if not total:
            return "no decision is accepted"
        lines = [f"{self.share:.0%} of the decisions that can be checked are enforced ({total} accepted)", ""]
        lines += [f"{counts[name]:>6}  {name}: {words}" for name, words in CLASSES.items()]
        ids = [record.id for record, name in self.classes if name == "unclassified"]
        if ids:
            more = f" and {len(ids) - _LISTED} more" if len(ids) > _LISTED else ""
            lines += ["", f"Neither a check nor a reason: {', '.join(ids[:_LISTED])}{more}"]
        return "\n".join(lines)


def enforcement(workspace: Workspace, records: Iterable[Record]) -> Enforcement:
    """Return the class of each live decision."""
    live = [record for record in records if record.phase == "live" and record.kind.in_document]
    tree = tree_of(workspace, *workspace.git.files())
    return Enforcement([(record, _class(record, tree)) for record in live])


def _class(record: Record, tree: Tree) -> str:
    checks = [check for check in checks_of(record) if not check.problems]
    pattern_checks = [check for check in checks if not check.is_reference and not _is_anchor(check, tree.paths)]
    if any(check.level != "advice" for check in pattern_checks):
        return "enforced"
    if any(check.is_reference and _is_on(check, tree) for check in checks):
        return "referenced"
    if pattern_checks:
        return "advised"
    if any(not check.is_reference for check in checks):
        return "anchored"
    return "not checkable" if record.data.get("not_checkable") else "unclassified"


def _is_on(check: DecisionCheck, tree: Tree) -> bool:
    finder = check.finder()
    files = [path for path in tree.paths if check.covers(path)]
    return isinstance(finder, Survey) and not any(True for _ in finder.find(tree, files))


def _is_anchor(check: DecisionCheck, files: Sequence[str]) -> bool:
    """Say whether a check only demands that one file has a text."""
    if check.must != "have":
        return False
    globs = check.globs if check.kind and check.kind.name != "path" else ()
    return sum(any(not glob.exclude and matches(glob, path) for glob in globs) for path in files) <= 1


def reason(record: Record) -> str | None:
    """Return why a record has no check, or the names of its checks."""
    if record.data.get("not_checkable"):
        return str(record.data["not_checkable"])
    return ", ".join(check.name for check in checks_of(record)) or None
