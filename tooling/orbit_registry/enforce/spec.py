"""Checks of records: their fields, files, digest, and whether their own examples hold."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from orbit_registry.enforce.kind import (
    CheckKind,
    Fields,
    Finder,
    InvalidCheckError,
    NotRunError,
    Survey,
    UnreadableError,
    all_kinds,
)
from orbit_registry.enforce.syntax import EXTENSIONS
from orbit_registry.errors import RecordNotFoundError, did_you_mean
from orbit_registry.formats.globs import Glob, match_any, parse_glob, readable_globs
from orbit_registry.formats.position import Pointer, Problem
from orbit_registry.model.diagnostic import Severity
from orbit_registry.model.record import Record

SHARED = ("id", "say", "level", "must", "in", "except", "passes", "fails")
"""The fields of every check; the other one is named after the kind."""
LEVELS = {"advice": Severity.NOTE, "warning": Severity.WARNING, "error": Severity.ERROR}
Level = Literal["advice", "warning", "error"]
KINDS_PAGE = "see docs/reference/checks/kinds.md in Orbit's documentation"


@dataclass(frozen=True, slots=True)
class SpecProblem:
    """Why a check is invalid or unproven, and where in its record."""

    code: str
    message: str
    pointer: Pointer
    hint: str | None = None


@dataclass(frozen=True)
class DecisionCheck:
    """One check of a record."""

    record: Record
    number: int
    fields: Fields
    kind: CheckKind | None
    problems: Sequence[SpecProblem] = ()
    counts_as_advice: bool = False
    """Whether what its level rests on no longer holds."""

    @property
    def id(self) -> str:
        """Its id in the record."""
        return str(self.fields.get("id", self.number + 1))

    @property
    def name(self) -> str:
        """Its name in every report: ADR-0016/run-only-in-bridge."""
        return f"{self.record.id}/{self.id}"

    @property
    def say(self) -> str:
        """What it asks for, in one line; the record's title where it does not say."""
        return str(self.fields.get("say") or self.record.title)

    @property
    def must(self) -> str:
        """`not` or `have`."""
        return str(self.fields.get("must", "not"))

    @property
    def level(self) -> str:
        """`advice`, `warning` or `error`; advice where what the level rests on no longer holds."""
        return "advice" if self.counts_as_advice else str(self.fields.get("level", "advice"))

    @property
    def is_about_one_file(self) -> bool:
        """Whether a text alone shows that it is broken; if not, it looks at the whole tree or at settings."""
        if self.kind is None or self.kind.needs_tree or self.is_reference:
            return False
        return self.must == "not" or (self.kind.needs_all and self.kind.name != "path")

    @property
    def body(self) -> Fields:
        """The fields of its kind."""
        return self.fields[self.kind.name] if self.kind else {}

    @property
    def is_reference(self) -> bool:
        """Whether another program does the checking."""
        return self.kind is not None and self.kind.name == "by"

    @cached_property
    def globs(self) -> tuple[Glob, ...]:
        """The globs of its files, then those that `except` leaves out."""
        record_globs = None if self.kind and self.kind.everywhere(self.body) else self.record.globs
        texts = [
            *(self.fields.get("in") or record_globs or ["**"]),
            *(f"!{text}" for text in self.fields.get("except", ())),
        ]
        return tuple(readable_globs(map(str, texts)))

    def covers(self, path: str) -> bool:
        """Say whether a file is in its scope."""
        return match_any(self.globs, path) is not None

    def reads(self, path: str) -> bool:
        """Say whether it looks at a file: one of its scope, in a form that its kind reads."""
        if self.problems or self.is_reference or not self.covers(path):
            return False
        try:
            finder = self.finder()
        except NotRunError:
            return True
        return self.is_about_one_file if isinstance(finder, Survey) else finder.reads(path)

    @cached_property
    def digest(self) -> str:
        """Digest of what it finds: kind, scope and the parser's version, not its words or level."""
        parts = [self.kind.name if self.kind else "", self.body, self.must, [glob.text for glob in self.globs]]
        version = _version("ast-grep-py") if self._is_pattern else ""
        return hashlib.sha256(json.dumps([*parts, version], sort_keys=True).encode()).hexdigest()[:16]

    @property
    def has_parser(self) -> bool:
        """Whether the library that its digest names is there."""
        return not self._is_pattern or bool(_version("ast-grep-py"))

    @property
    def _is_pattern(self) -> bool:
        return self.kind is not None and self.kind.name == "pattern"

    def finder(self) -> Finder | Survey:
        """Return what finds its matches; raises InvalidCheckError and NotRunError."""
        if self.kind is None:
            raise InvalidCheckError("the check has no kind")
        return self.kind.make(self.body, self.must)


def _version(package: str) -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return ".".join(version(package).split(".")[:2])
    except PackageNotFoundError:
        return ""


def checks_of(record: Record) -> list[DecisionCheck]:
    """Return the checks of a record, valid or not."""
    value = record.data.get("checks")
    entries = [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []
    ids = [entry.get("id") for entry in entries]
    return [_read(record, number, entry, ids[:number]) for number, entry in enumerate(entries)]


def check_named(record: Record, name: str) -> DecisionCheck:
    """Return a check of a record by its id, or the only one."""
    checks = [check for check in checks_of(record) if name in ("", check.id)]
    if len(checks) != 1:
        names = ", ".join(check.name for check in checks_of(record))
        hint = f"its checks: {names}" if names else f"write it under `checks:`; {KINDS_PAGE}"
        problem = f"no check `{name}`" if name else "no check" if not names else "several checks: name one"
        raise RecordNotFoundError(f"{record.id} has {problem}", hint=hint)
    return checks[0]


def _read(record: Record, number: int, entry: Mapping[str, Any], before: Sequence[object]) -> DecisionCheck:
    pointer = ("checks", number)
    names = [name for name in entry if name not in SHARED and not str(name).startswith("x-")]
    kinds = all_kinds()
    problems: list[SpecProblem] = []
    for name in (name for name in names if name not in kinds):
        near = did_you_mean(str(name), [*SHARED, *kinds], "`")
        hint = f"{near}kinds are {', '.join(kinds)}"
        problems.append(
            SpecProblem("ORB1001", f"`{name}` is neither a field nor a kind of check", (*pointer, name), hint)
        )
    chosen = [name for name in names if name in kinds]
    kind = kinds[chosen[0]] if len(chosen) == 1 else None
    if kind is None and not problems:
        message = f"a check has one kind; this one has {' and '.join(chosen) or 'none'}"
        problems.append(SpecProblem("ORB1001", message, pointer, f"kinds are {', '.join(kinds)}"))
    for problem in kind.schema.problems(entry[kind.name]) if kind else ():
        problems.append(SpecProblem("ORB1001", problem.message, (*pointer, chosen[0], *problem.pointer), problem.hint))
    for name in ("in", "except"):
        for position, text in enumerate(entry.get(name, ())):
            glob = parse_glob(str(text))
            if isinstance(glob, Problem) or glob.exclude:
                reason = glob.message if isinstance(glob, Problem) else "it starts with `!`"
                message = f"`{str(text)[:80]}` is no glob that includes: {reason}"
                problems.append(SpecProblem("ORB1001", message, (*pointer, name, position)))
    if entry.get("id") in before:
        message = f"{record.id} has two checks with the id `{entry.get('id')}`"
        problems.append(SpecProblem("ORB1001", message, (*pointer, "id")))
    check = DecisionCheck(record, number, entry, kind, problems)
    return check if problems else _proved(check)


def _proved(check: DecisionCheck) -> DecisionCheck:
    """Return a check with what its examples disprove."""
    pointer = ("checks", check.number)
    try:
        finder = check.finder()
    except InvalidCheckError as error:
        message = f"{check.name} can't be used: {error}"
        problem = SpecProblem("ORB1001", message, (*pointer, check.kind.name) if check.kind else pointer)
        return DecisionCheck(check.record, check.number, check.fields, check.kind, [problem])
    except NotRunError:
        return check  # said when it is to be run
    problems = [*_disproved(check, finder)] if not (isinstance(finder, Survey) and finder.is_reference) else []
    return DecisionCheck(check.record, check.number, check.fields, check.kind, problems)


def _disproved(check: DecisionCheck, finder: Finder | Survey) -> Iterator[SpecProblem]:
    check_pointer = ("checks", check.number)
    for name in ("passes", "fails"):
        if not check.fields.get(name):
            hint = f"add a text that {'keeps to' if name == 'passes' else 'breaks'} the decision"
            yield SpecProblem("ORB1002", f"{check.name} has no example under `{name}:`", check_pointer, hint)
        for position, example in enumerate(check.fields.get(name, ())):
            pointer = (*check_pointer, name, position)
            file = _example(check, finder, example)
            if file is None:
                hint = f"write `{{at: {_covered_path(check, finder)}, text: …}}`"
                yield SpecProblem("ORB1002", f"an example of {check.name} does not say what file it is", pointer, hint)
                continue
            try:
                breaks = is_broken(check, finder, *file)
            except UnreadableError as error:
                yield SpecProblem("ORB1002", f"an example of {check.name} can't be read: {error}", pointer)
                continue
            except NotRunError:
                return
            if breaks != (name == "fails"):
                result = "breaks" if breaks else "does not break"
                hint = "correct the check or the example: a check that was never seen failing proves nothing"
                if isinstance(finder, Finder) and not check.covers(file[0]):
                    hint = f"{file[0]} is not in the check's scope; correct `at:`, or `in:` of the check"
                yield SpecProblem("ORB1002", f"an example under `{name}:` {result} {check.name}", pointer, hint)


def is_broken(check: DecisionCheck, finder: Finder | Survey, path: str, text: str) -> bool:
    """Say whether a project of one file breaks a check."""
    if isinstance(finder, Survey):
        tree = finder.example(path, text)
        return any(True for _ in finder.find(tree, [path for path in tree.paths[:1] if check.covers(path)]))
    if not check.covers(path) or not finder.reads(path):
        return False
    return any(True for _ in finder.find(path, text)) != (check.must == "have")


def _example(check: DecisionCheck, finder: Finder | Survey, example: object) -> tuple[str, str] | None:
    """Return the path and text of an example; a text alone is a file in the check's scope."""
    if isinstance(example, dict):
        return str(example["at"]), str(example.get("text", ""))
    if isinstance(finder, Survey):
        return str(example), ""
    extensions = EXTENSIONS.get(str(check.body.get("language")), ())
    names = [*(check.kind.example_names if check.kind else ()), *(f"example.{extension}" for extension in extensions)]
    paths = (path for path in _paths(check.globs, names) if check.covers(path) and finder.reads(path))
    path = next(paths, None)
    return None if path is None else (path, str(example))


def _covered_path(check: DecisionCheck, finder: Finder | Survey) -> str:
    """Return a path that an example may have."""
    paths = (path for path in _paths(check.globs, ["file.py", "file.ts"]) if check.covers(path))
    return next((path for path in paths if isinstance(finder, Survey) or finder.reads(path)), "src/file.py")


def _paths(globs: Iterable[Glob], names: Sequence[str]) -> Iterator[str]:
    """Yield made-up paths that globs may match."""
    for alternative in (alternative for glob in globs if not glob.exclude for alternative in glob.alternatives):
        if alternative.path is not None:
            yield alternative.path
            continue
        last = alternative.text.rpartition("/")[2]
        for name in names or [last.replace("*", "example")]:
            yield f"{alternative.directory}/{name}".lstrip("/")
            yield f"{alternative.directory}/example/{name}".lstrip("/")
