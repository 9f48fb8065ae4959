"""The gate as one call: gathers facts, runs the checks, applies fixes and the baseline; the facade hands over to it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import PurePosixPath

from orbit_registry.checks.catalogue import check_of
from orbit_registry.checks.context import CheckContext
from orbit_registry.checks.runner import run_checks
from orbit_registry.errors import UsageError
from orbit_registry.records.diagnostic import Diagnostic, Severity
from orbit_registry.records.record_set import RecordSet
from orbit_registry.store.adopt import backfill
from orbit_registry.store.baseline import Baseline, Known, apply, baseline_of, read_baseline, write_baseline
from orbit_registry.store.documents import Documents
from orbit_registry.store.facts import gather, read_citing
from orbit_registry.store.journal import Change, apply_step
from orbit_registry.store.reader import Collection
from orbit_registry.store.workspace import Workspace
from orbit_registry.store.writer import writing

UNRECORDED, UNFINISHED = "ORB702", "ORB706"
"""What the store mends by itself: it makes records for entries, and whoever writes ends steps that were begun."""
_ROUNDS = 4
"""One fix can make room for another; after so many rounds what is left stays."""


@dataclass(frozen=True, slots=True)
class Read:
    """What was read of a workspace."""

    collection: Collection
    documents: Documents
    records: RecordSet


@dataclass(frozen=True, slots=True)
class CheckOutcome:
    """What the gate says."""

    diagnostics: tuple[Diagnostic, ...]
    """New findings; with `all`, every finding."""
    baselined: tuple[Diagnostic, ...] = ()
    fixed: tuple[Diagnostic, ...] = ()
    checked_count: int = 0
    """How many records were looked at, the unreadable ones among them."""
    gone: tuple[Known, ...] = ()
    """Findings of the baseline that no longer are."""
    base: str | None = None
    """What "changed" compares with."""
    paths: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Say whether no error is among the diagnostics: exit 0 or 1."""
        return not any(diagnostic.severity is Severity.ERROR for diagnostic in self.diagnostics)


def context_of(
    workspace: Workspace, read: Read, against: str | None = None, now: datetime | None = None
) -> CheckContext:
    """Return what the checks look at.

    Raises:
        UsageError: `against` names no commit.
    """
    texts: dict[str, str | None] = {}

    def text_of(path: str) -> str | None:
        if path not in texts:
            document = read.documents.by_path.get(path)
            texts[path] = document.text if document is not None else read_citing(workspace, path)
        return texts[path]

    _, broken = read_baseline(workspace)
    return CheckContext(
        records=read.records,
        kinds=workspace.kinds,
        config=workspace.config,
        problems=(*read.collection.problems, *read.documents.problems, *broken),
        documents=read.documents,
        facts=gather(workspace, read.records, against),
        now=now or datetime.now(UTC),
        read=text_of,
    )


def check(
    workspace: Workspace,
    reread: Callable[[], Read],
    *,
    paths: Sequence[str] = (),
    against: str | None = None,
    fix: bool = False,
    everything: bool = False,
) -> CheckOutcome:
    """Run the gate; `reread` returns the workspace as it stands on disk at the time of the call.

    Raises:
        UsageError: `against` names no commit, or a path leads out of the root.
        WriteError: a fix could not be written.
    """
    wanted = tuple(_from_root(path) for path in paths)
    fixed: list[Diagnostic] = []
    read = reread()
    context = context_of(workspace, read, against)
    found = run_checks(context)
    baseline, _ = read_baseline(workspace)
    for _ in range(_ROUNDS if fix else 0):
        repaired = _apply_fixes(workspace, context, [one for one in found if _within(one, wanted)])
        if not repaired:
            break
        fixed += repaired
        read = reread()
        context = context_of(workspace, read, against)
        found = run_checks(context)
    parts = apply(baseline, found)
    new = found if everything else parts.new
    return CheckOutcome(
        diagnostics=tuple(one for one in new if _within(one, wanted)),
        baselined=() if everything else tuple(one for one in parts.baselined if _within(one, wanted)),
        fixed=tuple(fixed),
        checked_count=len(read.records) + len({problem.location.path for problem in read.collection.problems}),
        gone=() if wanted else parts.gone,
        base=context.facts.base,
        paths=wanted,
    )


def update_baseline(workspace: Workspace, read: Read) -> tuple[int, bool]:
    """Make the baseline hold what the gate finds now; returns how many findings, and whether the file changed."""
    baseline = baseline_of(run_checks(context_of(workspace, read)))
    return len(baseline), write_baseline(workspace, baseline)


def findings(workspace: Workspace, read: Read) -> list[Diagnostic]:
    """Return everything the gate finds, whatever the baseline knows."""
    return run_checks(context_of(workspace, read))


def take_into_baseline(workspace: Workspace, before: Sequence[Diagnostic], after: Sequence[Diagnostic]) -> int:
    """Let the baseline know the findings that came between two looks; returns how many.

    For adoption: what an old repository brings with it is not the fault of the next change.
    """
    came = apply(baseline_of(before), after).new
    known, broken = read_baseline(workspace)
    added = baseline_of(came)
    if len(added) and not broken:
        write_baseline(workspace, Baseline(Counter(known.counts) + Counter(added.counts)))
    return len(added)


def _apply_fixes(workspace: Workspace, context: CheckContext, found: Sequence[Diagnostic]) -> list[Diagnostic]:
    """Write the fixes of one round, each as one step; two that touch the same file wait for the next round."""
    fixable = [diagnostic for diagnostic in found if diagnostic.fixable]
    if not fixable:
        return []
    repaired: list[Diagnostic] = []
    touched: set[str] = set()
    with writing(workspace):  # which ends every step that was begun
        repaired += [diagnostic for diagnostic in fixable if diagnostic.code == UNFINISHED]
        for diagnostic in fixable:
            check = check_of(diagnostic.code)
            changes: Sequence[Change] = check.fix(context, diagnostic) if check is not None and check.fix else ()
            if not changes or touched & {change.path for change in changes}:
                continue
            apply_step(workspace, f"fix-{diagnostic.code.lower()}", changes)
            touched |= {change.path for change in changes}
            repaired.append(diagnostic)
    unrecorded = [diagnostic for diagnostic in fixable if diagnostic.code == UNRECORDED]
    if unrecorded:
        report = backfill(workspace, sorted({diagnostic.location.path for diagnostic in unrecorded}))
        if any(outcome.what == "taken" for outcome in report.outcomes):
            repaired += unrecorded
    return repaired


def _from_root(path: str) -> str:
    pure = PurePosixPath(path)
    if pure.is_absolute() or ".." in pure.parts:
        raise UsageError(f"{path!r} does not stay inside the project", hint="name paths from the project's root")
    return "" if str(pure) == "." else str(pure)


def _within(diagnostic: Diagnostic, paths: tuple[str, ...]) -> bool:
    """Say whether a finding is about one of the paths: its own place, a related one, or the record's folder."""
    if not paths:
        return True
    places = [diagnostic.location.path, *(location.path for location in diagnostic.related)]
    folders = [place.rpartition("/")[0] for place in places if place.startswith(".orbit/")]
    names = [*places, *folders, *([diagnostic.record] if diagnostic.record else [])]
    return any(not path or name == path or name.startswith(f"{path}/") for path in paths for name in names)
