"""The gate as one call: runs the checks unless an earlier run saw the same, applies fixes and the baseline."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from orbit_registry.checks.inputs import take
from orbit_registry.checks.outcome import CheckOutcome, Fix, Result
from orbit_registry.records.diagnostic import Diagnostic, diagnostic_of, row_of
from orbit_registry.store.baseline import Baseline, apply, baseline_of, read_baseline, refuse_newer, write_baseline
from orbit_registry.store.workspace import Workspace, project_path

# Running checks and mending imports parsers and a hundred modules, so both are imported where they are needed: a run
# in which nothing changed takes half the time without them.

_ROUNDS = 4
"""One fix can make room for another; after so many rounds what is left stays."""


def check(
    workspace: Workspace,
    refresh: Callable[[], object],
    *,
    paths: Sequence[str] = (),
    against: str | None = None,
    fix: Fix = False,
    everything: bool = False,
) -> CheckOutcome:
    """Run the gate; `refresh` is called when a fix has changed files.

    Raises:
        UsageError: `against` names no commit, or a path leads out of the root.
        WriteError: a fix could not be written.
    """
    wanted = tuple(project_path(path).rstrip("/") for path in paths)
    fixed: list[Diagnostic] = []
    refused: dict[tuple[str, str], str] = {}
    side = fix if isinstance(fix, str) else None
    result = look(workspace, against)
    for _ in range(_ROUNDS if fix else 0):
        if side is None and not any(one.fixable and _within(one, wanted) for one in result.diagnostics):
            break
        from orbit_registry.checks.mend import mend

        mended = mend(workspace, against, lambda one: _within(one, wanted), side)
        refused |= {_subject(one): why for one, why in mended.refused.items()}
        if not mended.done:
            break
        fixed += mended.done
        refresh()
        result = look(workspace, against)
    baseline, _ = read_baseline(workspace)
    parts = apply(baseline, result.diagnostics)
    new = result.diagnostics if everything else parts.new
    return CheckOutcome(
        diagnostics=tuple(_told(one, refused) for one in new if _within(one, wanted)),
        baselined=() if everything else tuple(one for one in parts.baselined if _within(one, wanted)),
        fixed=tuple(fixed),
        checked_count=result.checked_count,
        gone=() if wanted else parts.gone,
        base=result.base,
        paths=wanted,
    )


def look(workspace: Workspace, against: str | None = None, now: datetime | None = None) -> Result:
    """Return everything the checks find, whatever the baseline knows; remembered where nothing changed.

    Raises:
        UsageError: `against` names no commit.
    """
    inputs = take(workspace, against, now or datetime.now(UTC))
    key = inputs.key
    stored = workspace.values.recall("check", key)
    if stored is not None:
        rows, count, base = stored
        return Result(tuple(map(diagnostic_of, rows)), count, base)
    from orbit_registry.checks.load import run

    result, lasts = run(inputs)
    if lasts:
        rows = [row_of(diagnostic) for diagnostic in result.diagnostics]
        workspace.values.remember("check", key, [rows, result.checked_count, result.base])
    return result


def findings(workspace: Workspace) -> list[Diagnostic]:
    """Return everything the gate finds, whatever the baseline knows."""
    return list(look(workspace).diagnostics)


def update_baseline(workspace: Workspace) -> tuple[int, bool]:
    """Make the baseline hold what the gate finds now; returns how many findings, and whether the file changed.

    Raises:
        RefusedError: a newer version of the tool wrote it.
        WriteError: the disk refused.
    """
    refuse_newer(workspace)
    baseline = baseline_of(look(workspace).diagnostics)
    return len(baseline), write_baseline(workspace, baseline)


def take_into_baseline(workspace: Workspace, before: Sequence[Diagnostic], after: Sequence[Diagnostic]) -> int:
    """Let the baseline know findings that came between two looks, and forget those that went; returns how many came.

    For adoption: what an old repository brings with it is not the fault of the next change.
    """
    added = baseline_of(apply(baseline_of(before), after).new)
    known, broken = read_baseline(workspace)
    gone = Counter(apply(known, after).gone)
    if not broken and (len(added) or gone):
        write_baseline(workspace, Baseline(Counter(known.counts) - gone + Counter(added.counts)))
    return len(added)


def _subject(diagnostic: Diagnostic) -> tuple[str, str]:
    """Return what a finding is about, whichever side it is reported at."""
    return diagnostic.code, diagnostic.record or str(diagnostic.location)


def _told(diagnostic: Diagnostic, refused: Mapping[tuple[str, str], str]) -> Diagnostic:
    """Return a finding with why its fix was left to a person, where it was."""
    return replace(diagnostic, hint=refused.get(_subject(diagnostic), diagnostic.hint))


def _within(diagnostic: Diagnostic, paths: tuple[str, ...]) -> bool:
    """Say whether a finding is about one of the paths: its own place, a related one, or the record's folder."""
    if not paths:
        return True
    places = [diagnostic.location.path, *(location.path for location in diagnostic.related)]
    folders = [place.rpartition("/")[0] for place in places if place.startswith(".orbit/")]
    names = [*places, *folders, *([diagnostic.record] if diagnostic.record else [])]
    return any(not path or name == path or name.startswith(f"{path}/") for path in paths for name in names)
