"""Runs the checks of records over the files of a project."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Any

from orbit_enforce.allowances import Allow
from orbit_enforce.change import CodeChange, code_change_since
from orbit_enforce.kind import FILE_LIMIT, Finder, Survey, Tree, decoded
from orbit_enforce.matches import (
    Break,
    FileMatches,
    Readers,
    Scopes,
    Side,
    new_breaks,
    read_file,
    scopes_of,
)
from orbit_enforce.report import Report
from orbit_enforce.spec import KINDS_PAGE, LEVELS, DecisionCheck, checks_named, checks_of
from orbit_registry.errors import InvalidRecordError, OrbitError, UsageError
from orbit_registry.formats.code_tree import NO_AST_GREP, NotRunError, UnreadableError
from orbit_registry.formats.position import Position, YamlProblemError
from orbit_registry.formats.syntax import syntax_of
from orbit_registry.formats.yaml import load
from orbit_registry.model.diagnostic import Diagnostic, Location, Severity
from orbit_registry.model.record import Record
from orbit_registry.operations.glob_counts import count_matches
from orbit_registry.repository.inherited import source_of
from orbit_registry.repository.policy import is_within
from orbit_registry.workspace.cache import digest
from orbit_registry.workspace.files import inside, read_bytes, read_text, walk
from orbit_registry.workspace.workspace import CONFIG, ORBIT, Workspace

TIME_LIMIT_SECONDS = 60.0


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
    run.add_blind()
    run.add_all()

    if change is not None:
        altered = _runnable(_altered(run, records, before), Report(workspace))
        _add_altered(run, change, altered, records)
        _add_moved_out(run, change, {**run.checks, **altered})
        _add_submodules(run, change, {**run.checks, **altered})

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
    Run(_runnable(checks, report), tree, report, paths=[path]).add_all()
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


@dataclass
class Run:
    """One run over the tree."""

    checks: Mapping[str, DecisionCheck]
    """By their names."""
    tree: Tree
    report: Report
    change: CodeChange | None = None
    paths: Collection[str] | None = None
    """The files to read, without the cache; else those of the change, or all."""
    needed: set[tuple[str, Allow]] = field(default_factory=set)
    """The allowances that allow something, each with its file."""
    added: dict[str, set[int]] = field(default_factory=dict)
    """The lines that the change adds, by file."""

    def breaks(self) -> Iterator[tuple[DecisionCheck, list[Break]]]:
        """Yield each check with what breaks it, and did not before the change;
        what can't be run is reported.
        """
        for name, check in self.checks.items():
            if name in self.blind and not self.change:
                continue

            try:
                rows = [*self._side.breaks(check)]
                self.needed.update((row.path, row.allow) for row in rows if row.allow)
                if rows and self._before is not None and not check.is_reference:
                    rows = new_breaks(rows, self._before.breaks(check), self._is_added)
            except NotRunError as error:
                self.report.add(check, "ORB1004", f"{name} is not run: {error}")
            else:
                yield check, rows

    def add_all(self) -> None:
        """Report what breaks the checks, what can't be run, and allowances that allow nothing."""
        skipped: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
        for path, value in self._side.values.items():
            for name, reason in value.not_run.items():
                skipped[name, reason].append(path)

        for check, rows in self.breaks():
            for row in rows:
                self.report.add_break(check, row)

        for (name, reason), files in skipped.items():
            more = f" and {len(files) - 1} more" if len(files) > 1 else ""
            check, message = self.checks[name], f"{name} is not run on {files[0]}{more}: {reason}"
            # Else a file could hide from a check behind a long sum.
            severity = Severity.ERROR if check.level == "error" and reason != NO_AST_GREP else None
            self.report.add(check, "ORB1004", message, severity=severity)

        for path, value in self._side.values.items():
            old = (
                self._before.values.get(self._side.earlier.get(path, ""))
                if self._before is not None
                else None
            )

            earlier = (
                Counter(allow.name + allow.reason for allow in old.allows)
                if old
                else Counter[str]()
            )
            for allow in value.allows:
                earlier[allow.name + allow.reason] -= 1
                if (path, allow) not in self.needed and earlier[allow.name + allow.reason] < 0:
                    self._add_unused(path, allow)

    def add_blind(self) -> None:
        """Report checks that look at no file, and exceptions that match none."""
        for name, check in self.checks.items():
            if name in self.blind:
                hint = "correct `in:`, or remove the check if its subject is gone"
                if "in" not in check.fields:
                    hint = "no file of its sort is here; remove the check if its subject is gone"

                self.report.add(check, "ORB1003", f"{name} looks at no file", hint=hint)

            exceptions = [str(text) for text in check.fields.get("except", ())]
            counts = count_matches(exceptions, self.tree.paths)
            for text in [text for text in exceptions if text not in counts]:
                hint = "correct the glob, or remove it if the file is gone"
                self.report.add(
                    check, "ORB1003", f"`except: {text}` of {name} matches no file", hint=hint
                )

    @cached_property
    def _scopes(self) -> Scopes:
        return scopes_of(self.checks, self.tree.paths)

    @cached_property
    def blind(self) -> frozenset[str]:
        """The checks that look at no file, and should."""
        counts = Counter(chain.from_iterable(self._scopes.readers.values()))
        return frozenset(
            name
            for name, check in self.checks.items()
            if not (counts[name] if isinstance(check.finder, Finder) else self._scopes.files[name])
            and not (
                isinstance(check.finder, Survey) and (check.must == "have" or check.is_reference)
            )
        )

    @cached_property
    def _side(self) -> Side:
        """The files of today."""
        paths = (
            self.change.earlier if self.paths is None and self.change is not None else self.paths
        )
        readers = {
            path: names
            for path, names in self._scopes.readers.items()
            if paths is None or path in paths
        }
        values = (
            self._stored(readers) if self.paths is None else self._read(readers, self.tree.text)
        )
        earlier = self.change.earlier if self.change is not None else {}

        return Side(
            self.tree, readers, values, lambda check: self._scopes.files[check.name], earlier
        )

    @cached_property
    def _before(self) -> Side | None:
        """The files before the change; in a moved one also what the checks of its name now find."""
        if (change := self.change) is None:
            return None

        readers = scopes_of(self.checks, change.before).readers
        moved = [path for path, old in change.earlier.items() if old not in ("", path)]
        for path, names in scopes_of(self.checks, moved).readers.items():
            old = change.earlier[path]
            readers[old] = list(dict.fromkeys([*readers.get(old, ()), *names]))

        readers = {path: names for path, names in readers.items() if path in change.texts}
        tree = change.tree_before(self.tree)
        return Side(
            tree,
            readers,
            self._read(readers, tree.text),
            lambda check: [*filter(check.covers, tree.paths)],
        )

    def _read(self, readers: Readers, text: Callable[[str], str | None]) -> dict[str, FileMatches]:
        return {
            path: read_file(map(self.checks.__getitem__, names), path, text(path) or "")
            for path, names in readers.items()
        }

    def _stored(self, readers: Readers) -> dict[str, FileMatches]:
        """Return what the checks find in each file;
        unchanged files and checks are answered by the cache.
        """
        deadline = (
            time.process_time() + TIME_LIMIT_SECONDS
        )  # of the processor: a busy machine is no reason
        reasons: dict[str, str] = {}

        def parse(path: str, content: bytes) -> object:
            if time.process_time() > deadline:
                reasons[path] = f"not reached in {TIME_LIMIT_SECONDS:.0f} s"
                return None
            names = readers[path]
            try:
                text = decoded(content, path)
                if text.startswith(_LFS_POINTER):
                    raise UnreadableError("Git LFS has its content: `git lfs pull` brings it")
            except UnreadableError as error:
                return FileMatches({}, not_run=dict.fromkeys(names, str(error))).as_json()
            return self._read({path: names}, lambda _: text)[path].as_json()

        workspace = self.report.workspace
        key = [
            find_spec("ast_grep_py") is None,
            {name: check.digest for name, check in self.checks.items()},
        ]
        namespace = f"enforce {digest(key)[:16]}"
        values: dict[str, FileMatches] = {}

        for path, state in workspace.cache.files(
            namespace, workspace.root, readers, parse, limit=FILE_LIMIT
        ).items():
            if state.value is not None:
                values[path] = FileMatches.from_json(state.value)
            elif (
                state.error is not None
                and state.size > FILE_LIMIT
                and _is_text(workspace.root / path)
            ):
                reasons[path] = f"larger than {FILE_LIMIT:,} bytes"

        not_run = {path: dict.fromkeys(readers[path], reason) for path, reason in reasons.items()}
        return values | {path: FileMatches({}, not_run=rows) for path, rows in not_run.items()}

    def _is_added(self, row: Break) -> bool:
        if row.match is None or self.change is None:
            return True
        if row.path not in self.added:
            self.added[row.path] = self.change.added_lines(row.path, self.tree.text(row.path) or "")
        return not self.added[row.path].isdisjoint(range(row.match.line, row.match.end_line + 1))

    def _add_unused(self, path: str, allow: Allow) -> None:
        names = self._side.readers[path]
        check = next((self.checks[name] for name in names if allow.is_for(name)), None)
        nearest = check or self.checks[names[0]]
        message = f"`orbit: allow {allow.name}` allows nothing here"
        hint = "remove the comment, or correct the id"

        if not allow.name:
            message, hint = (
                "this allowance can't be read",
                f"write `orbit: allow {nearest.record.id} because …`",
            )

        self.report.add(
            nearest, "ORB1007", message, Location(path, Position(allow.line)), hint=hint
        )


_LFS_POINTER = "version https://git-lfs.github.com/spec/"
"""What a file begins with whose content is not checked out."""


def _is_text(file: Path) -> bool:
    """Say whether a file is code by its name, or has no NUL in its beginning."""
    if syntax_of(file.name) is not None:
        return True

    with file.open("rb") as stream:
        return b"\0" not in stream.read(8_000)


def _add_altered(
    run: Run, change: CodeChange, checks: Mapping[str, DecisionCheck], records: Sequence[Record]
) -> None:
    """Add what breaks the checks of the base that this change alters or ends.

    The base judges: a check counts as the base has it, at its level there.
    """
    report = run.report
    again = Run(checks, run.tree, Report(report.workspace), change, change.earlier)
    reported = _reported(report)
    _add_unread(run, again, change)

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


def _add_unread(run: Run, again: Run, change: CodeChange) -> None:
    """Add the changed files that can't be read, and so hide what an altered check would find."""
    readers = again._scopes.readers
    for path in change.earlier:
        if path not in readers or not _is_unread(run, path):
            continue

        for name in readers[path]:
            check = again.checks[name]
            message = f"{name} is not run on {path}: it is too large, or in an unknown encoding"
            severity = LEVELS[check.level]
            run.report.add(check, "ORB1004", message, Location(path), severity=severity)


def _is_unread(run: Run, path: str) -> bool:
    file = run.report.workspace.root / path
    if file.is_symlink() or not file.is_file() or run.tree.text(path) is not None:
        return False
    return file.stat().st_size <= FILE_LIMIT or _is_text(file)


def _altered(
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
    return f"{path}:{row.match.line}" if row.match else path


def _add_evasion(report: Report, check: DecisionCheck, message: str, instead: str) -> None:
    location = report.location(check.record, ("checks",))
    hint = f"leave the check unchanged, or {instead}"
    severity = LEVELS[check.level]
    report.add(check, "ORB1008", message, location, severity=severity, hint=hint)


def _add_moved_out(run: Run, change: CodeChange, checks: Mapping[str, DecisionCheck]) -> None:
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
            message = f"{check.name} is not run on {name}: it is a link to what no check reads"
            severity = LEVELS[check.level]
            report.add(check, "ORB1004", message, Location(name), severity=severity)

        readable = {name: path for name, path in names.items() if path}
        for name, path in readable.items():
            if _is_unread(run, path):
                message = f"{check.name} is not run on {path}, which counts as {name} too"
                severity = LEVELS[check.level]
                report.add(check, "ORB1004", message, Location(path), severity=severity)

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


def _add_submodules(run: Run, change: CodeChange, checks: Mapping[str, DecisionCheck]) -> None:
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

            message = f"{check.name} is not run on {path}: a submodule has its files"
            run.report.add(check, "ORB1004", message, Location(path), severity=severity)
