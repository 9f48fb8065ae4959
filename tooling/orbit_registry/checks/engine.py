"""The gate: runs the checks or takes a cached result, then applies fixes and the baseline."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from typing import cast

from orbit_registry.checks.accepted import accepted
from orbit_registry.checks.check import Announce, run_checks
from orbit_registry.checks.context import load_context
from orbit_registry.checks.inputs import Files, Inputs, collect_inputs
from orbit_registry.errors import OrbitError
from orbit_registry.lifecycle.record_checks import checks_of
from orbit_registry.model.diagnostic import Diagnostic, Severity
from orbit_registry.operations.freshness.evaluate import expiring_today
from orbit_registry.repository.baseline import (
    Baseline,
    BaselineFinding,
    SortedFindings,
    apply,
    baseline_key,
    baseline_of,
    read_baseline,
    refuse_newer,
    write_baseline,
)
from orbit_registry.repository.reader import Reading, read_collection
from orbit_registry.repository.votes import BROKEN
from orbit_registry.workspace.cache import row_reader, to_row
from orbit_registry.workspace.workspace import ORBIT, Workspace, open_workspace, project_path

Fix = bool | str
"""Whether to fix; `record` or `document`: that side wins where the two differ,
whatever their own authority.
"""


@dataclass(frozen=True, slots=True)
class Result:
    """What the checks found, every finding in order."""

    diagnostics: tuple[Diagnostic, ...]
    checked_count: int
    base: str | None
    allowed: tuple[Diagnostic, ...] = ()  # what a comment allows, with its reason


@dataclass(frozen=True, slots=True)
class CheckOutcome:
    """Outcome of the gate."""

    diagnostics: tuple[Diagnostic, ...]  # new findings; with `everything`, every finding
    baselined: tuple[Diagnostic, ...] = ()
    fixed: tuple[Diagnostic, ...] = ()
    checked_count: int = 0
    """How many records were checked, unreadable ones included;
    how many events, where `subject` says so.
    """
    resolved: tuple[BaselineFinding, ...] = ()  # findings of the baseline that are gone
    base: str | None = None  # the commit that "changed" compares with
    paths: tuple[str, ...] = ()
    subject: str = "record"
    allowed: tuple[Diagnostic, ...] = ()  # broken decisions that a comment allows
    says: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """What each check of a record asks for, by its name, and the address of the record's page;
    empty without one.
    """

    @property
    def ok(self) -> bool:
        """Say whether no error is among the diagnostics: exit 0 or 1."""
        return not any(diagnostic.severity is Severity.ERROR for diagnostic in self.diagnostics)


_ROUNDS = 4  # one fix can make room for another


def gate(
    workspace: Workspace,
    read: Callable[[], Reading],
    *,
    paths: Sequence[str] = (),
    against: str | None = None,
    fix: Fix = False,
    announce: Announce = lambda _diagnostic, _changes: None,
    dry_run: bool = False,
    everything: bool = False,
    proposed: bool = False,
) -> CheckOutcome:
    """Run the gate; `read` reads the records, again when a fix has changed files,
    `announce` takes each change before that.
    """
    selected_paths = tuple(project_path(path).rstrip("/") for path in paths)
    fixed = list[Diagnostic]()
    refused = dict[tuple[str, str], str]()
    authority = fix if isinstance(fix, str) else None
    reading = read()
    result = run(workspace, against, proposed=proposed, reading=reading)
    baseline = accepted(workspace, reading, against)

    for _ in range(_ROUNDS if fix else 0):
        parts = _compared(workspace, baseline, result, against)
        excluded: set[tuple[str, str]] = set()
        if not (selected_paths or everything):
            excluded = {_subject(finding) for finding in parts.baselined}

        selected = partial(_is_selected, selected_paths, excluded)
        fixable = any(
            diagnostic.fixable and selected(diagnostic) for diagnostic in result.diagnostics
        )

        if authority is None and not fixable:
            break

        from orbit_registry.checks.autofix import apply_fixes

        fixes = apply_fixes(
            workspace, result.diagnostics, against, selected, authority, announce, dry_run=dry_run
        )
        refused |= {_subject(diagnostic): reason for diagnostic, reason in fixes.refused.items()}

        if dry_run or not fixes.done:
            break

        fixed += fixes.done
        result = run(workspace, against, proposed=proposed, reading=read())

    parts = _compared(workspace, baseline, result, against)
    new = result.diagnostics if everything else parts.new
    if against is not None and any(row.check is None for row in new) and not everything:
        at_base = _at_base(workspace, against)
        new = _compared(workspace, baseline | at_base, result, against).new

    chosen = partial(_within, selected_paths)
    diagnostics = [  # with the reason why a fix was refused
        replace(diagnostic, hint=refused.get(_subject(diagnostic), diagnostic.hint))
        for diagnostic in filter(chosen, new)
    ]
    baselined = () if everything else tuple(filter(chosen, parts.baselined))
    return CheckOutcome(
        diagnostics=tuple(diagnostics),
        baselined=baselined,
        fixed=tuple(fixed),
        checked_count=result.checked_count,
        resolved=() if selected_paths else _gone(workspace, parts),
        base=result.base,
        paths=selected_paths,
        allowed=tuple(filter(chosen, result.allowed)),
        says=_says(workspace, result),
    )


def _gone(workspace: Workspace, parts: SortedFindings) -> tuple[BaselineFinding, ...]:
    """Return the findings of the baseline that are gone; those in files that a sparse checkout
    leaves out were not looked for.
    """
    if not parts.resolved or not workspace.git.not_checked_out:
        return parts.resolved

    left_out = workspace.git.not_checked_out
    known = read_collection(workspace).records
    sources = {record.id: record.source.path for record in known if record.source is not None}
    return tuple(
        row
        for row in parts.resolved
        if row.path not in left_out and sources.get(row.record, "") not in left_out
    )


def _compared(
    workspace: Workspace, baseline: Baseline, result: Result, against: str | None
) -> SortedFindings:
    """Split findings by the baseline; against a revision, a broken decision touches a changed line,
    so it is new.
    """
    if against is None:
        return apply(
            baseline, result.diagnostics, lambda path: not (workspace.root / path).exists()
        )

    parts = apply(
        baseline, [diagnostic for diagnostic in result.diagnostics if diagnostic.check is None]
    )
    new = sorted(
        (*parts.new, *(row for row in result.diagnostics if row.check)),
        key=lambda row: row.sort_key,
    )
    return SortedFindings(
        tuple(new), parts.baselined, tuple(row for row in parts.resolved if row.code != "ORB1005")
    )


def _says(workspace: Workspace, result: Result) -> dict[str, tuple[str, str]]:
    if not any(diagnostic.check for diagnostic in (*result.diagnostics, *result.allowed)):
        return {}

    address = str(workspace.config.site.get("base_url") or "").rstrip("/")
    says: dict[str, tuple[str, str]] = {}
    for record in read_collection(workspace).records:
        if record.phase == "closed":
            continue

        page = ""
        if address.startswith("http"):
            page = f"{address}/{record.kind.plural}/{record.id}/"
        for check in checks_of([record]):
            says[check.name] = (check.say, page)

    return says


def _at_base(workspace: Workspace, against: str) -> Baseline:
    """Return the findings at the merge base with a revision;
    none where git or the files there can't tell.
    """
    commit = workspace.git.merge_base(against)
    if commit is None:
        return Baseline()

    try:
        with workspace.git.checked_out(commit) as folder:
            if not (folder / ORBIT).is_dir():
                return Baseline()
            return baseline_of(run(open_workspace(folder), definitions_only=True).diagnostics)
    except OrbitError:
        return Baseline()


def run(
    workspace: Workspace,
    against: str | None = None,
    now: datetime | None = None,
    *,
    proposed: bool = False,
    definitions_only: bool = False,
    reading: Reading | None = None,
) -> Result:
    """Return everything the checks find, without the baseline;
    from the cache where nothing changed.
    """
    now = now or datetime.now(UTC)
    inputs = collect_inputs(
        workspace,
        against,
        now,
        proposed=proposed,
        definitions_only=definitions_only,
        reading=reading,
    )
    key = inputs.key
    stored = workspace.cache.recall("check", key)

    if stored is not None:
        return cast("Result", row_reader(Result)(stored))

    result, lasts = run_uncached(inputs)
    if lasts:
        workspace.cache.remember("check", key, to_row(result))

    return result


def run_uncached(inputs: Inputs) -> tuple[Result, bool]:
    """Return what the checks find, and whether it may be cached under the key of these inputs."""
    files = Files(inputs)
    context = load_context(inputs, files)
    every = run_checks(context)
    diagnostics = tuple(diagnostic for diagnostic in every if diagnostic.allowed is None)
    allowed = tuple(diagnostic for diagnostic in every if diagnostic.allowed is not None)

    result = Result(diagnostics, _record_count(inputs.reading), inputs.facts.base, allowed)
    lasts = not expiring_today(context.records, inputs.now, context.config)
    lasts &= not any(diagnostic.code == BROKEN for diagnostic in diagnostics)
    return result, files.is_steady and lasts


def _record_count(reading: Reading) -> int:
    """Return how many records there are, unreadable files among them."""
    valid = {entry.path for entry in reading.entries if reading.record(entry) is not None}
    problems = reading.collection.problems
    broken = {problem.location.path for problem in problems if problem.code != BROKEN}
    return len(valid | broken)


def update_baseline(workspace: Workspace) -> tuple[int, bool]:
    """Make the baseline hold what the gate finds now;
    returns how many findings, and whether the file changed.
    """
    refuse_newer(workspace)
    diagnostics = run(workspace).diagnostics
    current = read_baseline(workspace)[0]
    parts = apply(current, diagnostics)
    gone = Counter(_gone(workspace, parts))
    # Of checks that did not run, and of documents that are not checked out.
    unseen = current - Counter(map(baseline_key, parts.baselined)) - gone
    baseline = baseline_of(diagnostics) + unseen

    return baseline.total(), write_baseline(workspace, baseline)


def take_into_baseline(
    workspace: Workspace, before: Sequence[Diagnostic], after: Sequence[Diagnostic]
) -> int:
    """Add what appeared between two runs, by an adoption, to the baseline, drop what went;
    return how many appeared.
    """
    added = baseline_of(apply(baseline_of(before), after).new)
    current, broken = read_baseline(workspace)
    resolved = Counter(apply(current, after).resolved)
    if not broken and (added or resolved):
        write_baseline(workspace, current - resolved + added)

    return added.total()


def _subject(diagnostic: Diagnostic) -> tuple[str, str]:
    return diagnostic.code, diagnostic.record or diagnostic.location.path


def _is_selected(
    paths: tuple[str, ...], excluded: Set[tuple[str, str]], diagnostic: Diagnostic
) -> bool:
    return _within(paths, diagnostic) and _subject(diagnostic) not in excluded


def _within(paths: tuple[str, ...], diagnostic: Diagnostic) -> bool:
    """Say whether a finding is about a file or folder at one of some paths, or a record there."""
    if not paths or "" in paths:
        return True

    names = [diagnostic.location.path, *(location.path for location in diagnostic.related)]
    names += [name.rpartition("/")[0] for name in names if name.startswith(".orbit/")]
    if diagnostic.record:
        names.append(diagnostic.record)

    folders = tuple(f"{path}/" for path in paths)
    return any(f"{name}/".startswith(folders) for name in names)
