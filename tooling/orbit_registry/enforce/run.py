"""Runs the checks of records over the files of a project."""

from __future__ import annotations

import contextlib
import time
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from orbit_registry.enforce.changes import Change, added_lines, change_since
from orbit_registry.enforce.evidence import FILE, exceptions_of, read_evidence
from orbit_registry.enforce.kind import FILE_LIMIT, Finder, InvalidCheckError, Match, NotRunError, Survey, Tree
from orbit_registry.enforce.spec import LEVELS, DecisionCheck, SpecProblem, checks_of
from orbit_registry.enforce.syntax import Allow, allows_in
from orbit_registry.errors import OrbitError
from orbit_registry.formats.globs import GlobIndex
from orbit_registry.formats.position import Position
from orbit_registry.formats.yaml import position_of
from orbit_registry.model.diagnostic import Diagnostic, Location, Severity
from orbit_registry.model.record import Record
from orbit_registry.operations.glob_counts import count_matches
from orbit_registry.repository.codec import data_in, list_in
from orbit_registry.repository.inherited import namespaced, source_of
from orbit_registry.workspace.cache import digest
from orbit_registry.workspace.files import inside, read_bytes, walk
from orbit_registry.workspace.workspace import CONFIG, INHERITED, ORBIT, Workspace

TIME_LIMIT_SECONDS = 60.0
WHOLE_FILE = Match(1, 1, 1 << 30, "", "")
"""What a file without a match that it must have has: an allowance on any of its lines is for it."""
_LACKS = "add what it lacks, or write `orbit: allow {} because …` in the file if it is right here"


@dataclass(frozen=True, slots=True)
class FileMatches:
    """What the checks find in one file."""

    matches: Mapping[str, Sequence[Match]]
    """By the name of the check."""
    allows: Sequence[Allow] = ()
    not_run: Mapping[str, str] = field(default_factory=dict)
    """Why a check could not be run, by its name."""


Runnable = tuple[DecisionCheck, Finder | Survey]
Break = tuple[str, Match, Allow | None]
"""A path, what breaks a check there, and the comment that allows it."""


def tree_of(workspace: Workspace, tracked: Sequence[str] | None, untracked: Sequence[str]) -> Tree:
    """Return the files that checks look at, all but the records' own, and how to read them."""
    paths = (*tracked, *untracked) if tracked is not None else walk(workspace.root, hidden=False)

    def text(path: str) -> str | None:
        try:
            return read_bytes(inside(workspace.root, path), limit=FILE_LIMIT).decode("utf-8", "replace")
        except OrbitError:
            return None

    return Tree([path for path in paths if not path.startswith(f"{ORBIT}/")], text)


def enforce(
    workspace: Workspace, records: Iterable[Record], tracked: Sequence[str] | None, untracked: Sequence[str], *,
    against: str | None = None, proposed: bool = False, definitions_only: bool = False, name: str = "",
) -> tuple[Diagnostic, ...]:  # fmt: skip
    """Return what the checks of live records find, and what is wrong with them.

    With `against`, only what was not found then; `definitions_only` looks at no file. `name`: only
    this check.
    """
    records = list(records)
    base = workspace.git.merge_base(against) if against is not None else None
    open_checks = [check for record in records if record.phase != "closed"
                   for check in checks_of(record) if name in ("", check.name)]  # fmt: skip
    report = _Report(workspace)
    open_checks = [*_with_evidence(workspace, open_checks, report, base)]
    for check in open_checks:
        for problem in check.problems:
            report.add_problem(check, problem)
    selected = [check for check in open_checks if check.record.phase == "live" or proposed]
    runnable = dict(_runnable(selected, report))
    if definitions_only:
        return tuple(report.diagnostics)
    tree = tree_of(workspace, tracked, untracked)
    change = change_since(workspace.git, base, untracked) if base is not None else None
    _Tree(workspace, runnable, tree, report, change).run()
    if change is not None:
        _add_weakened(workspace, _at_base(workspace, records, change), tree, report, change)
    return tuple(report.diagnostics)


def check_text(workspace: Workspace, records: Iterable[Record], path: str, text: str) -> tuple[Diagnostic, ...]:
    """Return what a text breaks as the content of a file, and which of the file's checks can't be run."""
    report = _Report(workspace)
    live = [check for record in records if record.phase == "live" for check in checks_of(record) if check.covers(path)]
    checks = [*_with_evidence(workspace, live, report, None)]
    runnable = {name: pair for name, pair in _runnable(checks, report) if pair[0].is_about_one_file}
    _Tree(workspace, runnable, Tree([path], {path: text}.get), report, None).run_on([path])
    return tuple(row for row in report.diagnostics if row.code != "ORB1010")


def _with_evidence(
    workspace: Workspace, checks: Iterable[DecisionCheck], report: _Report, base: str | None
) -> Iterator[DecisionCheck]:
    """Yield checks; one that changed after its replay counts as advice, and is reported.

    The evidence of the commit that a change starts from counts too: a change can't lower a level by editing the file.
    """
    files: list[Mapping[str, Mapping[str, Any]]] = []
    for revision in (None, base) if base is not None else (None,):
        try:
            files.append(read_evidence(workspace, revision))
        except OrbitError as error:  # no evidence against a level
            if revision is None:
                message = f"could not read the evidence of checks: {error.message}"
                report.diagnostics.append(Diagnostic("ORB1010", Severity.WARNING, message, Location(FILE), error.hint))
    for check in checks:
        entries = [evidence.get(check.name) for evidence in files]
        is_fresh = any(entry is None or entry["digest"] == check.digest for entry in entries)
        if not entries or check.level == "advice" or is_fresh or not check.has_parser:
            yield check
            continue
        message = f"{check.name} changed after its replay, so it counts as advice"
        hint = f"run `orbit enforce replay {check.name}`"
        report.add(check, "ORB1010", message, hint=hint)
        yield replace(check, counts_as_advice=True)


def _at_base(workspace: Workspace, records: Sequence[Record], change: Change) -> Iterator[DecisionCheck]:
    """Yield the checks of changed records as they were, live, in the commit that a change starts from.

    A record that is closed now has no check to weaken; one with a new id is known by its uid.
    """
    by_uid = {record.uid: record for record in records}
    git = workspace.git
    paths = [path for path in change.before if path.startswith(f"{ORBIT}/")]
    paths += _copies_left(workspace, change) if CONFIG in paths else []
    names = {f"{change.base}:{git.prefix}{path}": path for path in paths}
    for name, content in git.blobs(names, check=False).items():
        path, source = names[name], source_of(names[name])
        home = f"{INHERITED}/{source}/" if source else f"{ORBIT}/"
        kind = workspace.kinds.of_plural(path.removeprefix(home).split("/")[0])
        data = data_in(content.decode("utf-8", "replace")) if kind is not None else None
        if kind is None or data is None or not kind.schema.is_valid(data):
            continue
        data = namespaced(data, source) if source else data
        current = by_uid.get(str(data["uid"]))
        earlier = Record(kind, data, path)
        if earlier.phase == "live" and (current is None or current.phase != "closed"):
            yield from checks_of(Record(kind, {**data, "id": current.id}, current.path) if current else earlier)


def _copies_left(workspace: Workspace, change: Change) -> list[str]:
    """Return the copies, in the commit that a change starts from, of sources that it takes out of `extends`."""
    git = workspace.git
    name = f"{change.base}:{git.prefix}{CONFIG}"
    text = git.blobs([name], check=False).get(name, b"").decode("utf-8", "replace")
    entries = [entry for entry in list_in(data_in(text) or {}, "extends") if isinstance(entry, Mapping)]
    gone = {str(entry.get("name")) for entry in entries}.difference(entry.name for entry in workspace.config.extends)
    return [path for path in git.files_at(change.base, INHERITED) if source_of(path) in gone] if gone else []


def _add_weakened(
    workspace: Workspace, before: Iterable[DecisionCheck], tree: Tree, report: _Report, change: Change
) -> None:
    """Add the checks that found something in the changed files before the change weakened them."""
    order = list(Severity)
    reported = {(row.check, row.location.path): order.index(row.severity) for row in report.diagnostics}
    scratch = _Report(workspace)
    comparable = (check for check in before if check.must == "not" and not check.is_reference)
    runnable = dict(_runnable(comparable, _Report(workspace)))
    _Tree(workspace, runnable, tree, scratch, change).run_on([path for path in tree.paths if path in change.earlier])
    for row in {(row.check, row.location.path): row for row in reversed(scratch.diagnostics) if row.check}.values():
        if row.check and reported.get((row.check, row.location.path), len(order)) > order.index(row.severity):
            check, position = runnable[row.check][0], row.location.position
            place = f"{row.location.path}:{position.line}" if position else row.location.path
            message = f"this change weakens {row.check} and breaks it at {place}"
            hint = "leave the check unchanged, or weaken it in a separate change"
            report.add(check, "ORB1008", message, report.place(check.record, ("checks",)), hint=hint)


def _runnable(checks: Iterable[DecisionCheck], report: _Report) -> Iterator[tuple[str, Runnable]]:
    for check in checks:
        if check.problems:
            continue
        try:
            yield check.name, (check, check.finder())
        except NotRunError as error:
            report.add(check, "ORB1004", f"{check.name} is not run: {error}")
        except InvalidCheckError as error:  # no example was tried, as a library was missing then
            report.add(check, "ORB1001", f"{check.name} can't be used: {error}")


@dataclass
class _Report:
    workspace: Workspace
    diagnostics: list[Diagnostic] = field(default_factory=list)

    def add(
        self, check: DecisionCheck, code: str, message: str, location: Location | None = None, *,
        severity: Severity | None = None, hint: str | None = None, name: str | None = None, allowed: str | None = None,
    ) -> None:  # fmt: skip
        """Add a finding; a proposed record gets notes alone. A wrong inherited check is one that is not run."""
        if check.record.origin and code in ("ORB1001", "ORB1002", "ORB1004"):
            if code != "ORB1004":
                code, message, hint = "ORB1004", f"{check.name} is not run: {message}", "correct it where it comes from"
            location = Location(CONFIG)
        if check.record.origin and code == "ORB1003":
            return  # what a source's check looks at may be in other repositories
        severity = severity or (Severity.ERROR if code in ("ORB1001", "ORB1002") else Severity.WARNING)
        severity = severity if check.record.phase == "live" else Severity.NOTE
        location = location or self.place(check.record, ("checks", check.number))
        if source_of(location.path):
            location = Location(CONFIG)  # findings in the copies are left to their own repository
        self.diagnostics.append(
            Diagnostic(code, severity, message, location, hint, check.record.id, check=name, allowed=allowed)
        )

    def add_problem(self, check: DecisionCheck, problem: SpecProblem) -> None:
        """Add what is wrong with a check itself."""
        location = self.place(check.record, problem.pointer)
        self.add(check, problem.code, problem.message, location, hint=problem.hint)

    def place(self, record: Record, pointer: tuple[str | int, ...]) -> Location:
        """Return the location of a field of a record."""
        try:
            text = read_bytes(inside(self.workspace.root, record.path), limit=FILE_LIMIT).decode("utf-8", "replace")
            return Location(record.path, position_of(text, pointer))
        except OrbitError:
            return Location(record.path, Position(1))

    def break_of(
        self, check: DecisionCheck, what: str, location: Location, allowed: str | None = None, *, is_bare: bool = False,
        hint: str = "",
    ) -> None:  # fmt: skip
        """Add a broken decision; `is_bare`: an allowance without a reason is there."""
        title = f" ({check.record.title})" if check.say != check.record.title else ""
        message = f"{what} breaks {check.record.id}{title}: {check.say}"
        other = "override" if check.record.origin else "supersede"
        hint = hint or f"write `orbit: allow {check.record.id} because …` if it is right here"
        hint += f", or {other} the decision"
        code = "ORB1005"
        if is_bare:
            code, hint = "ORB1006", f"add the reason: `orbit: allow {check.record.id} because …`"
        self.add(
            check, code, message, location, severity=LEVELS[check.level], hint=hint, name=check.name, allowed=allowed
        )


@dataclass
class _Tree:
    """One run over the tree."""

    workspace: Workspace
    checks: dict[str, Runnable]
    """By their names, each with its finder."""
    tree: Tree
    report: _Report
    change: Change | None

    def run(self) -> None:
        """Add the findings of all checks."""
        scopes, names_of = self._scopes(self.tree.paths)
        self._blind(scopes, names_of)
        self._surveys(scopes)
        if self.change is not None:
            names_of = {path: names for path, names in names_of.items() if path in self.change.earlier}
        values = self._values(names_of)
        self._fall_back(names_of, values)
        self._add_matches(names_of, values)

    def _fall_back(self, names_of: Mapping[str, list[str]], values: Mapping[str, FileMatches]) -> None:
        """Count checks as advice of which too many matches are allowed or false alarms."""
        weighty = {name: check for name, (check, _) in self.checks.items() if check.level != "advice"}
        evidence: Mapping[str, Mapping[str, Any]] = {}
        if weighty:
            with contextlib.suppress(OrbitError):
                evidence = read_evidence(self.workspace)
        for name, check in weighty.items():
            allows = [allow for _, _, allow in self._breaks(check, names_of, values)]
            allowed = sum(allow is not None and bool(allow.reason) for allow in allows)
            if excess := exceptions_of(evidence.get(name, {}), allowed, len(allows)):
                exceptions, total = excess
                message = f"{exceptions} of {total} matches of {name} are allowed or false alarms: it counts as advice"
                hint = f"name what it should leave out under `except:`, then `orbit enforce replay {name}`"
                self.report.add(check, "ORB1010", message, hint=hint)
                self.checks[name] = (replace(check, counts_as_advice=True), self.checks[name][1])

    def run_on(self, paths: Sequence[str]) -> None:
        """Add the findings in some files, without the cache; a check of names looks at all files."""
        _, names_of = self._scopes(paths)
        self._surveys(self._scopes(self.tree.paths)[0])
        contents = {path: (self.tree.text(path) or "").encode("utf-8", "replace") for path in names_of}
        values = {path: self._read(names, path, contents[path]) for path, names in names_of.items()}
        self._fall_back(names_of, values)
        self._add_matches(names_of, values)

    def _read(self, names: Iterable[str], path: str, content: bytes) -> FileMatches:
        """Return what some checks find in a file."""
        text = _decoded(content)
        matches: dict[str, list[Match]] = {}
        not_run: dict[str, str] = {}
        for name in names:
            finder = self.checks[name][1]
            try:
                if isinstance(finder, Finder) and (places := [*finder.find(path, text)]):
                    matches[name] = places
            except NotRunError as error:
                not_run[name] = str(error)
        return FileMatches(matches, [*allows_in(path, text)], not_run)

    def _scopes(self, paths: Sequence[str]) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
        """Return the files of each check, and the checks that read each file."""
        index = GlobIndex([(name, check.globs) for name, (check, _) in self.checks.items()])
        scopes: dict[str, list[str]] = {name: [] for name in self.checks}
        names_of: dict[str, list[str]] = {}
        for path in paths:
            for name, _ in index.match(path):
                scopes[name].append(path)
                finder = self.checks[name][1]
                if isinstance(finder, Finder) and finder.reads(path):
                    names_of.setdefault(path, []).append(name)
        return scopes, names_of

    def _blind(self, scopes: Mapping[str, list[str]], names_of: Mapping[str, list[str]]) -> None:
        """Add checks that look at no file, and exceptions that match none."""
        counts = Counter(name for names in names_of.values() for name in names)
        for name, (check, finder) in self.checks.items():
            is_file_free = isinstance(finder, Survey) and (check.must == "have" or finder.is_reference)
            if not (counts[name] if isinstance(finder, Finder) else scopes[name]) and not is_file_free:
                hint = "correct `in:`, or remove the check if its subject is gone"
                self.report.add(check, "ORB1003", f"{name} looks at no file", hint=hint)
            exceptions = [str(text) for text in check.fields.get("except", ())]
            counts_of = count_matches(exceptions, self.tree.paths)
            for text in [text for text in exceptions if text not in counts_of]:
                hint = "correct the glob, or remove it if the file is gone"
                self.report.add(check, "ORB1003", f"`except: {text}` of {name} matches no file", hint=hint)

    def _surveys(self, scopes: Mapping[str, list[str]]) -> None:
        for name, (check, finder) in self.checks.items():
            if not isinstance(finder, Survey):
                continue
            try:
                rows = self._new_in_tree(check, finder, scopes[name])
            except NotRunError as error:
                self.report.add(check, "ORB1004", f"{name} is not run: {error}")
                continue
            for path, what in rows:
                if finder.is_reference:
                    self.report.add(check, "ORB1009", what)
                elif not path:
                    hint = finder.hint or "add the file"
                    location = self.report.place(check.record, ("checks", check.number))
                    self.report.break_of(check, what, location, hint=hint)
                else:
                    hint = finder.hint or "move or rename the file"
                    if finder.has_exceptions and not check.record.origin:
                        hint += ", leave it out with `except:`"
                    self.report.break_of(check, what, Location(path), hint=hint)

    def _new_in_tree(self, check: DecisionCheck, finder: Survey, scope: Sequence[str]) -> list[tuple[str, str]]:
        """Return what a check finds in the tree and did not find before the change."""
        rows = [*finder.find(self.tree, scope)]
        if self.change is None or finder.is_reference or not rows:
            return rows
        earlier = self._files_before
        tree = Tree(earlier, self._text_before)
        before = {*finder.find(tree, [path for path in earlier if check.covers(path)])}
        return [row for row in rows if row not in before]

    def _text_before(self, path: str) -> str | None:
        content = self._contents_before.get(path)
        return self.tree.text(path) if content is None else _decoded(content)

    @cached_property
    def _files_before(self) -> list[str]:
        """The files before the change."""
        if self.change is None:
            return [*self.tree.paths]
        same = (path for path in self.tree.paths if path not in self.change.earlier)
        return [*same, *(path for path in self.change.before if not path.startswith(f"{ORBIT}/"))]

    def _values(self, names_of: Mapping[str, list[str]]) -> dict[str, FileMatches]:
        """Return what the checks find in each file; unchanged files and checks are answered by the cache."""
        deadline = time.process_time() + TIME_LIMIT_SECONDS  # of the processor: a busy machine is no reason
        late: set[str] = set()

        def parse(path: str, content: bytes) -> object:
            if time.process_time() > deadline:
                late.add(path)
                return None
            return _as_json(self._read(names_of[path], path, content))

        checks = {name: check.digest for name, (check, _) in self.checks.items()}
        cache, namespace = self.workspace.cache, f"enforce {digest(checks)[:16]}"
        cache.keep_newest("enforce", namespace)
        values: dict[str, FileMatches] = {}
        for path, state in cache.files(namespace, self.workspace.root, names_of, parse, limit=FILE_LIMIT).items():
            if state.value is not None:
                values[path] = _from_json(state.value)
            elif path in late:
                reason = f"not reached in {TIME_LIMIT_SECONDS:.0f} s"
                values[path] = FileMatches({}, (), dict.fromkeys(names_of[path], reason))
            elif state.error is not None and state.size > FILE_LIMIT and _is_text(f"{self.workspace.root}/{path}"):
                reason = f"larger than {FILE_LIMIT:,} bytes"
                values[path] = FileMatches({}, (), dict.fromkeys(names_of[path], reason))
        return values

    def _add_not_run(self, values: Mapping[str, FileMatches]) -> None:
        skipped: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
        for path, value in values.items():
            for name, reason in value.not_run.items():
                skipped[name, reason].append(path)
        for (name, reason), files in skipped.items():
            more = f" and {len(files) - 1} more" if len(files) > 1 else ""
            self.report.add(self.checks[name][0], "ORB1004", f"{name} is not run on {files[0]}{more}: {reason}")

    def _add_matches(self, names_of: Mapping[str, list[str]], values: Mapping[str, FileMatches]) -> None:
        self._add_not_run(values)
        used: set[tuple[str, Allow]] = set()
        for check, finder in self.checks.values():
            if check.must == "have" and check.kind is not None and not check.kind.needs_all:
                if isinstance(finder, Finder):
                    self._add_missing_entry(check, finder, names_of, values)
                continue
            rows = [*self._breaks(check, names_of, values)]
            used |= {(path, allow) for path, _, allow in rows if allow}
            for path, match, allow in self._new(check, rows):
                location = Location(path, Position(match.line, match.column))
                reason = allow.reason if allow else None
                what, hint = f"`{match.text or path}`", "" if match.text else _LACKS.format(check.record.id)
                self.report.break_of(check, what, location, reason or None, is_bare=reason == "", hint=hint)
        for path, value in values.items():
            old = self._old(path)
            earlier = Counter(allow.name + allow.reason for allow in old.allows) if old else Counter[str]()
            for allow in value.allows:
                earlier[allow.name + allow.reason] -= 1
                if (path, allow) not in used and earlier[allow.name + allow.reason] < 0:
                    self._unused(path, allow, names_of[path])

    def _breaks(
        self, check: DecisionCheck, names_of: Mapping[str, list[str]], values: Mapping[str, FileMatches]
    ) -> Iterator[Break]:
        """Yield what breaks a check in the files: its matches, or each file without the match that it must have."""
        for path, value in values.items():
            matches = value.matches.get(check.name, ())
            if check.must == "have":
                is_lacking = check.name in names_of[path] and not matches and check.name not in value.not_run
                matches = [WHOLE_FILE] if is_lacking else []
            allows = (
                {allow.line: allow for allow in reversed(value.allows) if allow.is_for(check.name)} if matches else {}
            )
            lines = sorted(allows)
            for match in matches:
                position = bisect_left(lines, match.line - 1)
                nearest = [allows[line] for line in lines[position : position + 2]]
                fitting = (allow for allow in nearest if match.line - allow.is_alone <= allow.line <= match.end_line)
                yield path, match, next(fitting, None)

    def _new(self, check: DecisionCheck, rows: list[Break]) -> list[Break]:
        """Return what the change brings in of what breaks a check; without a change all.

        Equal lines count as moved as often as they were there before; of the others the added ones are new.
        """
        if check.must == "have":
            return [row for row in rows if (old := self._old(row[0])) is None or old.matches.get(check.name)]
        counts = Counter(match.lines for _, match, _ in rows)
        rooms = Counter(counts)
        rooms.subtract(match.lines for old in self._before.values() for match in old.matches.get(check.name, ()))
        rows.sort(key=lambda row: 0 < rooms[row[1].lines] < counts[row[1].lines] and not self._is_added(*row[:2]))
        new = []
        for row in rows:
            if rooms[row[1].lines] > 0:
                rooms[row[1].lines] -= 1
                new.append(row)
        return new

    def _is_added(self, path: str, match: Match) -> bool:
        if path not in self._added:
            old = self._contents_before.get(self.change.earlier[path], b"") if self.change is not None else b""
            self._added[path] = added_lines(_decoded(old), _decoded((self.tree.text(path) or "").encode()))
        return not self._added[path].isdisjoint(range(match.line, match.end_line + 1))

    @cached_property
    def _added(self) -> dict[str, set[int]]:
        return {}

    @cached_property
    def _contents_before(self) -> Mapping[str, bytes]:
        """The changed files before the change, by their names then."""
        if self.change is None:
            return {}
        git = self.workspace.git
        objects = {f"{self.change.base}:{git.prefix}{path}": path for path in self.change.before}
        return {objects[name]: content[:FILE_LIMIT] for name, content in git.blobs(objects, check=False).items()}

    @cached_property
    def _before(self) -> Mapping[str, FileMatches]:
        """What the checks find in these files; in a moved one, those of its name now do too."""
        if self.change is None:
            return {}
        names_of = self._scopes(self.change.before)[1]
        for path, names in self._scopes([path for path, old in self.change.earlier.items() if old != path])[1].items():
            if old := self.change.earlier[path]:
                names_of[old] = list(dict.fromkeys([*names_of.get(old, ()), *names]))
        contents = self._contents_before
        return {path: self._read(names, path, contents[path])
                for path, names in names_of.items() if path in contents}  # fmt: skip

    def _old(self, path: str) -> FileMatches | None:
        """Return what a changed file had before the change."""
        return self._before.get(self.change.earlier.get(path, "")) if self.change is not None else None

    def _add_missing_entry(
        self, check: DecisionCheck, finder: Finder, names_of: Mapping[str, list[str]], values: Mapping[str, FileMatches]
    ) -> None:
        """Add that no file has what a check demands once."""
        if self.change is not None:
            is_lost = any(check.name in value.matches for value in self._before.values())
        else:
            is_lost = any(check.name in names_of[path] for path in values)
        has_match = any(check.name in value.matches for value in values.values())
        if is_lost and not has_match and not self._has_match(check, finder, values):
            self.report.break_of(check, "a missing entry", self.report.place(check.record, ()), hint="add it")

    def _has_match(self, check: DecisionCheck, finder: Finder, values: Mapping[str, FileMatches]) -> bool:
        """Say whether a file that the change leaves alone has what a check demands once."""
        others = (path for path in self.tree.paths if path not in values and check.covers(path) and finder.reads(path))
        with contextlib.suppress(NotRunError):
            return any(True for path in others for _ in finder.find(path, self.tree.text(path) or ""))
        return True  # nothing is known of a file that can't be read

    def _unused(self, path: str, allow: Allow, names: Sequence[str]) -> None:
        check = next((self.checks[name][0] for name in names if allow.name in (name, name.partition("/")[0])), None)
        nearest = check or self.checks[names[0]][0]
        reason = "it allows nothing here" if check else "no check of that name looks at this file"
        message = f"`orbit: allow {allow.name}` is not needed: {reason}"
        hint = "remove the comment, or correct the id"
        if not allow.name:
            message, hint = "this allowance can't be read", f"write `orbit: allow {nearest.record.id} because …`"
        self.report.add(nearest, "ORB1007", message, Location(path, Position(allow.line)), hint=hint, name=None)


def _decoded(content: bytes) -> str:
    return content.decode("utf-8-sig", "replace").replace("\r\n", "\n")


def _is_text(file: str) -> bool:
    with Path(file).open("rb") as stream:
        return b"\0" not in stream.read(8_000)


def _as_json(value: FileMatches) -> object:
    matches = {name: [list(match) for match in places] for name, places in value.matches.items()}
    return [matches, [list(allow) for allow in value.allows], dict(value.not_run)]


def _from_json(value: Any) -> FileMatches:
    matches, allows, not_run = value
    return FileMatches(
        {name: [Match(*row) for row in rows] for name, rows in matches.items()},
        [Allow(*row) for row in allows],
        not_run,
    )
