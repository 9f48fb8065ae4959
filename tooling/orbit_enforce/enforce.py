"""Runs the checks of records over the files of a project."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from orbit_enforce.change import code_change_since
from orbit_enforce.findings import add_blind, add_breaks
from orbit_enforce.kind import FILE_LIMIT, Tree, decoded
from orbit_enforce.report import Report
from orbit_enforce.run import Run
from orbit_enforce.spec import KINDS_PAGE, DecisionCheck, checks_named, checks_of
from orbit_enforce.weakened import add_altered, add_moved_out, add_submodules, altered
from orbit_registry.errors import InvalidRecordError, OrbitError, UsageError
from orbit_registry.formats.code_tree import NotRunError, UnreadableError
from orbit_registry.formats.position import YamlProblemError
from orbit_registry.formats.yaml import load
from orbit_registry.model.diagnostic import Diagnostic
from orbit_registry.model.record import Record
from orbit_registry.workspace.files import inside, read_bytes, read_text, walk
from orbit_registry.workspace.workspace import ORBIT, Workspace


def tree_of(workspace: Workspace, tracked: Sequence[str] | None, untracked: Sequence[str]) -> Tree:
    """Return the files that checks look at, all but the records' own, and how to read them."""
    paths = (*tracked, *untracked) if tracked is not None else walk(workspace.root, hidden=False)

    def text(path: str) -> str | None:
        try:
            return decoded(read_bytes(inside(workspace.root, path), limit=FILE_LIMIT), path)
        except (OrbitError, UnreadableError):
            return None

    return Tree([path for path in paths if not path.startswith(f"{ORBIT}/")], text)


def enforce(
    workspace: Workspace,
    records: Iterable[Record],
    tracked: Sequence[str] | None,
    untracked: Sequence[str],
    *,
    against: str | None = None,
    before: Sequence[Record] = (),
    proposed: bool = False,
    definitions_only: bool = False,
    name: str = "",
) -> tuple[Diagnostic, ...]:
    """Return what the checks of live records find, and what is wrong with them.

    With `against`, only what was not found then, and what the checks of the records that were in
    force `before` find where this change alters them. `definitions_only` looks at no file. `name`:
    only this check.
    """
    records = list(records)
    base = workspace.git.merge_base(against) if against is not None else None
    report = Report(workspace)
    is_open = [record for record in records if record.phase != "closed"]
    in_records = chain.from_iterable(map(checks_of, is_open))
    checks = [check for check in in_records if name in ("", check.name)]
    for check in checks:
        for problem in check.problems:
            report.add(
                check,
                problem.code,
                problem.message,
                report.location(check.record, problem.pointer),
                hint=problem.hint,
            )

    runnable = _runnable(
        (check for check in checks if check.record.phase == "live" or proposed), report
    )

    if definitions_only:
        return tuple(report.diagnostics)

    change = code_change_since(workspace.git, base, untracked) if base is not None else None
    run = Run(runnable, tree_of(workspace, tracked, untracked), report, change)
    add_blind(run)
    add_breaks(run)

    if change is not None:
        ended = _runnable(altered(run, records, before), Report(workspace))
        add_altered(run, change, ended, records)
        add_moved_out(run, change, {**run.checks, **ended})
        add_submodules(run, change, {**run.checks, **ended})

    return tuple(report.diagnostics)


def check_text(
    workspace: Workspace, records: Iterable[Record], path: str, text: str
) -> tuple[Diagnostic, ...]:
    """Return what a text breaks as the content of a file,
    and which of the file's checks can't be run.
    """
    report = Report(workspace)
    live = [record for record in records if record.phase == "live"]
    in_records = chain.from_iterable(map(checks_of, live))
    checks = [check for check in in_records if check.covers(path) and check.is_about_one_file]
    text = decoded(text.encode("utf-8", "replace"))
    tree = Tree([path], {path: text}.get)
    add_breaks(Run(_runnable(checks, report), tree, report, paths=[path]))
    return tuple(report.diagnostics)


@dataclass(frozen=True, slots=True)
class CheckTrial:
    """The checks that were tried, and what they found."""

    names: Sequence[str]
    diagnostics: Sequence[Diagnostic]


def try_checks(workspace: Workspace, record: Record, name: str = "") -> CheckTrial:
    """Run the checks of a live or proposed record, or one by its id."""
    checks = checks_named(record, name)

    if record.phase == "closed":
        message = f"{record.id} is {record.status.name}, so its checks never run"
        raise UsageError(message, hint="`orbit enforce try --file` tries them from a YAML file")

    full_name = f"{record.id}/{name}" if name else ""
    rows = enforce(workspace, [record], *workspace.git.files(), proposed=True, name=full_name)
    findings = sorted((row for row in rows if row.code != "ORB1007"), key=lambda row: row.sort_key)
    return CheckTrial([check.name for check in checks], findings)


def record_of_file(workspace: Workspace, path: str) -> Record:
    """Return a decision, which is nowhere, with the checks of a YAML file."""
    try:
        value: Any = load(read_text(inside(workspace.root, path)))
    except YamlProblemError as error:
        hint = f"correct the YAML; {KINDS_PAGE}"
        raise InvalidRecordError(f"{path}: {error.problem.message}", hint=hint) from None

    kind = next(kind for kind in workspace.kinds if kind.in_document)
    status = next(name for name, status in kind.statuses.items() if status.phase == "live")
    moment = "2000-01-01T00:00:00Z"
    fields = value if isinstance(value, dict) else {}
    data = {
        "schema_version": 1,
        "id": f"{kind.prefix}0000",
        "uid": "0" * 32,
        "title": path,
        "status": status,
        "created_at": moment,
        "updated_at": moment,
        **fields,
    }

    for problem in kind.schema.problems(data):
        raise InvalidRecordError(f"{path}: {problem.message}", hint=problem.hint or KINDS_PAGE)

    return Record(kind, data, path)


def _runnable(checks: Iterable[DecisionCheck], report: Report) -> dict[str, DecisionCheck]:
    """Return the checks that can be run by name; the others are reported."""
    runnable: dict[str, DecisionCheck] = {}
    for check in checks:
        try:
            if not check.problems:
                _ = check.finder
                runnable[check.name] = check
        except NotRunError as error:
            report.add(check, "ORB1004", f"{check.name} is not run: {error}")

    return runnable
