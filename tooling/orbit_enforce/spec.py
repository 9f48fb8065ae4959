"""Checks of records: their fields, files, digest, and whether their own examples hold."""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

from orbit_enforce.kind import (
    NO_KIND,
    CheckKind,
    Fields,
    Finder,
    InvalidCheckError,
    Survey,
    all_kinds,
)
from orbit_registry.errors import RecordNotFoundError, did_you_mean
from orbit_registry.formats.code_tree import NotRunError, UnreadableError
from orbit_registry.formats.globs import Glob, match_any, matches, parse_glob, readable_globs
from orbit_registry.formats.position import Pointer, Problem
from orbit_registry.formats.syntax import EXTENSIONS
from orbit_registry.lifecycle.record_checks import ForbiddenWords
from orbit_registry.model.diagnostic import Severity
from orbit_registry.model.record import Record

SHARED = ("id", "say", "level", "must", "in", "except", "passes", "fails")
"""The fields of every check; the other one is named after the kind."""
LEVELS = {"advice": Severity.NOTE, "warning": Severity.WARNING, "error": Severity.ERROR}
KINDS_PAGE = "see docs/reference/checks/kinds.md in Orbit's documentation"


@dataclass(frozen=True, slots=True)
class SpecProblem:
    """Why a check is invalid or unproven, and where in its record."""

    code: str
    message: str
    pointer: Pointer
    hint: str | None = None


@dataclass(eq=False)
class DecisionCheck:
    """One check of a record."""

    record: Record
    number: int
    fields: Fields
    kind: CheckKind
    invalid: Sequence[SpecProblem] = ()
    """What is wrong with its fields."""

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
        """`advice`, `warning` or `error`, as a person set it."""
        return str(self.fields.get("level", "advice"))

    @property
    def pointer(self) -> Pointer:
        """Where it is in its record."""
        return "checks", self.number

    @property
    def body(self) -> Fields:
        """The fields of its kind."""
        body: Fields = self.fields.get(self.kind.name, {})
        return body

    @property
    def is_reference(self) -> bool:
        """Whether another program does the checking."""
        return self.kind.is_reference

    @property
    def is_about_one_file(self) -> bool:
        """Whether a text alone shows that it is broken;
        if not, it looks at the whole tree or at settings.
        """
        return not self.kind.needs_tree and (self.must == "not" or self.kind.needs_all)

    @property
    def demands_one(self) -> bool:
        """Whether one match in all its files is enough."""
        return self.must == "have" and not self.kind.needs_all

    @cached_property
    def globs(self) -> tuple[Glob, ...]:
        """The globs of its files, then those that `except` leaves out."""
        record_globs = None if self.kind.everywhere(self.body) else self.record.globs
        texts = [*(self.fields.get("in") or record_globs or ["**"])]
        texts += (f"!{text}" for text in self.fields.get("except", ()))
        return tuple(readable_globs(map(str, texts)))

    def covers(self, path: str) -> bool:
        """Say whether a file is in its scope."""
        return match_any(self.globs, path) is not None

    def may_cover_below(self, folder: str) -> bool:
        """Say whether its scope may have files in a folder, whatever they are called."""
        is_left_out = any(glob.exclude and matches(glob, f"{folder}/a/a") for glob in self.globs)
        included = (glob for glob in self.globs if not glob.exclude)
        alternatives = chain.from_iterable(glob.alternatives for glob in included)
        return not is_left_out and any(choice.may_be_below(folder) for choice in alternatives)

    def reads(self, path: str) -> bool:
        """Say whether it looks at a file: one of its scope, in a form that its kind reads."""
        if self.problems or self.is_reference or not self.covers(path):
            return False

        try:
            if isinstance(self.finder, Survey):
                return self.is_about_one_file

            return self.finder.reads(path)
        except NotRunError:
            return True

    @cached_property
    def digest(self) -> str:
        """Digest of what it finds: kind, scope and the version of the kind's library,
        not its words or level.
        """
        globs = [glob.text for glob in self.globs]
        parts = [self.kind.name, self.body, self.must, globs, self.library_version or ""]
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]

    @cached_property
    def library_version(self) -> str | None:
        """Major and minor version of its kind's library;
        empty where the kind has none, None where it is missing.
        """
        from importlib.metadata import PackageNotFoundError, version

        try:
            if self.kind.library:
                return ".".join(version(self.kind.library).split(".")[:2])

            return ""
        except PackageNotFoundError:
            return None

    @cached_property
    def finder(self) -> Finder | Survey:
        """What finds its matches; raises InvalidCheckError and NotRunError."""
        return self.kind.finder(self.body, self.must)

    @property
    def forbidden(self) -> ForbiddenWords | None:
        """The words that it forbids in code, if that is all that it does."""
        if self.invalid:
            return None

        where = self.body.get("where", "code")
        is_of_words = self.must == "not" and "words" in self.body and where in ("code", "any")
        if not is_of_words or self.problems:
            return None

        return ForbiddenWords(self.body["words"], where, bool(self.body.get("ignore_case")))

    @cached_property
    def problems(self) -> Sequence[SpecProblem]:
        """Why it can't be used: what is wrong with its fields, else what its examples disprove."""
        return self.invalid or [*_disproved(self)]


def checks_of(record: Record) -> list[DecisionCheck]:
    """Return the checks of a record, valid or not."""
    value = record.data.get("checks")
    if isinstance(value, list):
        entries = [entry for entry in value if isinstance(entry, dict)]
    else:
        entries = []

    ids = [entry.get("id") for entry in entries]
    return [_read(record, number, entry, ids[:number]) for number, entry in enumerate(entries)]


def rows_of_checks(records: Iterable[Record]) -> Iterator[dict[str, object]]:
    """Yield the checks of records as the snapshot has them."""
    for record in records:
        for check in checks_of(record):
            yield {
                "record_id": record.id,
                "check_name": check.name,
                "kind": check.kind.name,
                "level": check.level,
                "asks": check.say,
            }


def checks_named(record: Record, name: str) -> list[DecisionCheck]:
    """Return the check of a record with an id, or all if it is empty."""
    checks = checks_of(record)
    if chosen := [check for check in checks if name in ("", check.id)]:
        return chosen
    names = ", ".join(check.name for check in checks)
    hint = f"its checks: {names}" if names else f"write it under `checks:`; {KINDS_PAGE}"
    raise RecordNotFoundError(f"{record.id} has no check{f' `{name}`' if name else ''}", hint=hint)


def check_named(record: Record, name: str) -> DecisionCheck:
    """Return a check of a record by its id, or the only one."""
    checks = checks_named(record, name)
    if len(checks) > 1:
        names = ", ".join(check.name for check in checks)
        raise RecordNotFoundError(
            f"{record.id} has several checks: name one", hint=f"its checks: {names}"
        )
    return checks[0]


def _read(
    record: Record, number: int, entry: Mapping[str, Any], before: Sequence[object]
) -> DecisionCheck:
    kinds = all_kinds()
    chosen = [kinds[name] for name in entry if name in kinds]
    check = DecisionCheck(record, number, entry, chosen[0] if len(chosen) == 1 else NO_KIND)
    check.invalid = [*_misread(check, [kind.name for kind in chosen], before)]
    return check


def _misread(
    check: DecisionCheck, chosen: Sequence[str], before: Sequence[object]
) -> Iterator[SpecProblem]:
    """Yield what is wrong with the fields of a check."""
    entry, pointer, kind = check.fields, check.pointer, check.kind
    kinds = f"kinds are {', '.join(all_kinds())}"
    unknown = [
        name
        for name in entry
        if name not in (*SHARED, *all_kinds()) and not str(name).startswith("x-")
    ]
    for name in unknown:
        near = did_you_mean(str(name), [*SHARED, *all_kinds()], "`")
        message = f"`{name}` is neither a field nor a kind of check"
        yield SpecProblem("ORB1001", message, (*pointer, name), near + kinds)

    if kind is NO_KIND and not unknown:
        message = f"a check has one kind; this one has {' and '.join(chosen) or 'none'}"
        yield SpecProblem("ORB1001", message, pointer, kinds)

    for problem in kind.schema.problems(entry[kind.name]) if kind is not NO_KIND else ():
        message = problem.message.replace("`the record`", f"`{kind.name}`")
        yield SpecProblem("ORB1001", message, (*pointer, kind.name, *problem.pointer), problem.hint)

    for name in ("in", "except"):
        for position, text in enumerate(entry.get(name, ())):
            glob = parse_glob(str(text))
            if isinstance(glob, Problem) or glob.exclude:
                reason = glob.message if isinstance(glob, Problem) else "it starts with `!`"
                message = f"`{str(text)[:80]}` is no glob that includes: {reason}"
                yield SpecProblem("ORB1001", message, (*pointer, name, position))

    if entry.get("id") in before:
        message = f"{check.record.id} has two checks with the id `{entry.get('id')}`"
        yield SpecProblem("ORB1001", message, (*pointer, "id"))


def _disproved(check: DecisionCheck) -> Iterator[SpecProblem]:
    """Yield what the examples of a check disprove;
    nothing where a library is missing, which a run reports.
    """
    try:
        finder = check.finder
    except InvalidCheckError as error:
        yield SpecProblem(
            "ORB1001", f"{check.name} can't be used: {error}", (*check.pointer, check.kind.name)
        )
        return
    except NotRunError:
        return

    for name in () if check.is_reference else ("passes", "fails"):
        if not check.fields.get(name):
            hint = f"add a text that {'keeps to' if name == 'passes' else 'breaks'} the decision"
            yield SpecProblem(
                "ORB1002", f"{check.name} has no example under `{name}:`", check.pointer, hint
            )

        for position, example in enumerate(check.fields.get(name, ())):
            try:
                result = _tried(check, finder, name, example)
            except UnreadableError as error:
                result = f"an example of {check.name} can't be read: {error}", None
            except NotRunError:
                return

            if result is not None:
                yield SpecProblem("ORB1002", result[0], (*check.pointer, name, position), result[1])


def _tried(
    check: DecisionCheck, finder: Finder | Survey, name: str, example: object
) -> tuple[str, str | None] | None:
    """Return what is wrong with an example under `passes` or `fails`, and what to do about it."""
    if isinstance(example, dict):
        path, text = str(example["at"]), str(example.get("text", ""))
    elif isinstance(finder, Survey):
        path, text = str(example), ""
    else:
        extensions = EXTENSIONS.get(str(check.body.get("language")), ())
        names = [*check.kind.example_names, *(f"example.{end}" for end in extensions)]
        path, text = _path_for(check, finder, names), str(example)

    if not path:
        at = _path_for(check, finder, ["file.py", "file.ts"]) or "src/file.py"
        return (
            f"an example of {check.name} does not say what file it is",
            f"write `{{at: {at}, text: …}}`",
        )

    breaks = is_broken(check, finder, path, text)
    if breaks == (name == "fails"):
        return None

    hint = "correct the check or the example: a check that was never seen failing proves nothing"
    if isinstance(finder, Finder) and not check.covers(path):
        hint = f"{path} is not in the check's scope; correct `at:`, or `in:` of the check"

    return (
        f"an example under `{name}:` {'breaks' if breaks else 'does not break'} {check.name}",
        hint,
    )


def is_broken(check: DecisionCheck, finder: Finder | Survey, path: str, text: str) -> bool:
    """Say whether a project of one file breaks a check."""
    if isinstance(finder, Survey):
        tree = finder.example(path, text)
        covered = [path for path in tree.paths[:1] if check.covers(path)]
        return any(True for _ in finder.find(tree, covered))

    if not check.covers(path) or not finder.reads(path):
        return False

    return any(True for _ in finder.find(path, text)) != (check.must == "have")


def _path_for(check: DecisionCheck, finder: Finder | Survey, names: Sequence[str]) -> str:
    """Return a made-up path that a check reads, with one of the names if it may have it;
    empty if there is none.
    """
    included = [glob.alternatives for glob in check.globs if not glob.exclude]
    for row in chain.from_iterable(included):
        text = re.sub(r"\[(.)[^\]]*\]", r"\1", row.text.replace("**/", ""))
        folder, _, last = re.sub(r"\*+", "example", text.replace("?", "x")).rpartition("/")
        for name in (*names, last):
            path = f"{folder}/{name}".lstrip("/")
            if check.covers(path) and (isinstance(finder, Survey) or finder.reads(path)):
                return path

    return ""
