"""What a change gets past the checks of its base: it weakens or ends one, or moves files out of it.

The base judges: a check counts as the base has it, at its level there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from orbit_enforce.change import CodeChange
from orbit_enforce.kind import Finder, Tree
from orbit_enforce.matches import Break
from orbit_enforce.report import Report
from orbit_enforce.run import Run
from orbit_enforce.spec import LEVELS, DecisionCheck, checks_of
from orbit_registry.model.diagnostic import Location, Severity
from orbit_registry.model.record import Record
from orbit_registry.repository.inherited import source_of
from orbit_registry.repository.policy import is_within
from orbit_registry.workspace.workspace import CONFIG


def add_altered(
    run: Run, change: CodeChange, checks: Mapping[str, DecisionCheck], records: Sequence[Record]
) -> None:
    """Add what breaks the checks of the base that this change alters or ends.

    The base judges: a check counts as the base has it, at its level there.
    """
    report = run.report
    again = Run(checks, run.tree, Report(report.workspace), change, change.earlier)
    reported = _reported(report)
    _add_hidden(run, again, change)

    for check, rows in again.breaks():
        by_path: dict[str, Break] = {}
        for row in rows:
            if not _is_reported(reported, check, row):
                by_path.setdefault(row.path, row)

        for row in by_path.values():
            words = _altering(run, records, check)
            message = f"this change {words} and breaks it at {_place(check, row)}"
            _add_evasion(report, check, message, "weaken it in a separate change")


def _altering(run: Run, records: Iterable[Record], check: DecisionCheck) -> str:
    """Return what a change does to a check of the base, in words."""
    record = next((row for row in records if row.uid == check.record.uid), None)
    if record is None:
        return f"deletes {check.record.id} with its check {check.id}"
    if record.phase == "closed":
        return f"retires {record.id} with its check {check.id}"
    if record.phase == "pending":
        return f"takes back {record.id} with its check {check.id}"

    return f"{'weakens' if check.name in run.checks else 'removes'} {check.name}"


def _add_hidden(run: Run, again: Run, change: CodeChange) -> None:
    """Add the changed files that can't be read, and so hide what an altered check would find."""
    readers = again.scopes.readers
    for path in change.earlier:
        if path not in readers or not run.is_unread(path):
            continue

        for name in readers[path]:
            reason = f"on {path}: it is too large, not checked out, or in an unknown encoding"
            _add_unread(run.report, again.checks[name], path, reason)


def altered(
    run: Run, records: Iterable[Record], before: Iterable[Record]
) -> Iterator[DecisionCheck]:
    """Yield the checks of the base that are no longer the same, under the record's present id."""
    by_uid = {record.uid: record for record in records}
    for record in before:
        current = by_uid.get(record.uid)
        if current is not None:
            record = Record(record.kind, {**record.data, "id": current.id}, current.path)

        for check in checks_of(record):
            now = run.checks.get(check.name)
            is_live = now is not None and now.record.phase == "live"
            if check.is_reference:
                continue  # another program judges, by its configuration of today
            if now is None or not is_live or now.digest != check.digest or now.level != check.level:
                yield check


Reported = Mapping[tuple[str, str, int], Severity]
"""The weight of each finding of a check, by its name, its file and its line."""


def _reported(report: Report) -> Reported:
    weights: dict[tuple[str, str, int], Severity] = {}
    for row in report.diagnostics:
        line = row.location.position.line if row.location.position else 0
        weights[row.check or "", row.location.path, line] = row.severity

    return weights


def _is_reported(reported: Reported, check: DecisionCheck, row: Break) -> bool:
    """Say whether a break is allowed by a reason, or a finding of the same weight already."""
    if row.allow is not None and row.allow.reason:
        return True

    path = CONFIG if source_of(row.path) else row.path
    weight = reported.get((check.name, path, row.match.line if row.match else 0))
    order = list(Severity)
    return weight is not None and order.index(weight) <= order.index(LEVELS[check.level])


def _place(check: DecisionCheck, row: Break) -> str:
    path = row.path or check.record.path
    if row.match:
        return f"{path}:{row.match.line}"

    return path


def _add_unread(
    report: Report, check: DecisionCheck, path: str, words: str, severity: Severity | None = None
) -> None:
    """Add that a check is not run on a file, with the weight of the check if no other is given."""
    message = f"{check.name} is not run {words}"
    severity = severity or LEVELS[check.level]
    report.add(check, "ORB1004", message, Location(path), severity=severity)


def _add_evasion(report: Report, check: DecisionCheck, message: str, instead: str) -> None:
    location = report.location(check.record, ("checks",))
    hint = f"leave the check unchanged, or {instead}"
    severity = LEVELS[check.level]
    report.add(check, "ORB1008", message, location, severity=severity, hint=hint)


def add_moved_out(run: Run, change: CodeChange, checks: Mapping[str, DecisionCheck]) -> None:
    """Add what this change brings into files that it moves out of a check's files,
    or that a link brings into them.
    """
    aliases = dict(change.aliases(run.tree.paths))
    if not aliases:
        return

    report = run.report
    for check in checks.values():
        finder = check.finder
        if check.record.phase != "live" or not isinstance(finder, Finder) or check.demands_one:
            continue

        names = {
            name: path
            for name, path in aliases.items()
            if check.covers(name) and not check.covers(path) and (finder.reads(name) or not path)
        }
        unread = [name for name, path in names.items() if not path]
        for name in unread:
            _add_unread(report, check, name, f"on {name}: it is a link to what no check reads")

        readable = {name: path for name, path in names.items() if path}
        for name, path in readable.items():
            if run.is_unread(path):
                _add_unread(report, check, path, f"on {path}, which counts as {name} too")

        _add_aliased(run, change, check, readable)


def _add_aliased(
    run: Run, change: CodeChange, check: DecisionCheck, names: Mapping[str, str]
) -> None:
    texts = {name: run.tree.text(path) or "" for name, path in names.items()}
    if not texts:
        return

    there = change.contents([*names])
    earlier = {name: name if name in there else path for name, path in names.items()}
    lines = {name: set(range(1, text.count("\n") + 2)) for name, text in texts.items()}
    aside = Run(
        {check.name: check},
        Tree([*texts], texts.get),
        Report(run.report.workspace),
        CodeChange(change.git, change.base, earlier, ()),
        [*texts],
        added=lines,
    )
    for _, rows in aside.breaks():
        for row in rows:
            if row.allow is not None and row.allow.reason:
                continue

            line = row.match.line if row.match else 1
            place = f"{names[row.path]}:{line}"
            message = f"{place} breaks {check.name} as {row.path}, which this change moves or links"
            _add_evasion(run.report, check, message, "move the file in a separate change")


def add_submodules(run: Run, change: CodeChange, checks: Mapping[str, DecisionCheck]) -> None:
    """Add the submodules that this change brings into a check's files: they are not read."""
    submodules = change.git.submodules(path for path, old in change.earlier.items() if not old)
    for path in submodules:
        replaced = [name for name in change.gone if is_within(name, path)]
        for check in checks.values():
            if check.record.phase != "live" or not isinstance(check.finder, Finder):
                continue

            # Files that were read are worse than a folder that never was.
            severity = Severity.WARNING
            if any(check.reads(name) for name in replaced):
                severity = LEVELS[check.level]
            elif not check.may_cover_below(path):
                continue

            reason = f"on {path}: a submodule has its files"
            _add_unread(run.report, check, path, reason, severity)
