"""Codec between a record file's text and a record, with the positions of errors."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from orbit_registry.formats.position import Position, YamlProblemError
from orbit_registry.formats.yaml import load, position_of
from orbit_registry.judgements.is_moment import DAY_REMEDY, REMEDY, impossible_moments
from orbit_registry.model.diagnostic import Diagnostic, Location, Severity, from_problem
from orbit_registry.model.kind import Kind
from orbit_registry.model.record import Record
from orbit_registry.model.review import meant_condition
from orbit_registry.model.schema import SCHEMA_VERSION, SchemaProblem
from orbit_registry.workspace.files import RECORD_LIMIT

INVALID = "ORB103"
UNKNOWN_FIELD = "ORB104"
MISPLACED = "ORB105"
NEWER = "ORB106"
HIDING = frozenset({"ORB101", "ORB102", INVALID, UNKNOWN_FIELD, MISPLACED, NEWER})
"""Codes of errors that leave a file without a record."""


def hides_record(problem: Diagnostic) -> bool:
    """Say whether a problem leaves a file without a record;
    a folder of another program does not.
    """
    return problem.code in HIDING and problem.severity is Severity.ERROR


def unread_files(problems: Iterable[Diagnostic]) -> list[str]:
    """Return the paths of files without a readable record."""
    return sorted({problem.location.path for problem in problems if hides_record(problem)})


def decode_record(
    text: str,
    kind: Kind,
    path: str,
    *,
    explain: bool = True,
) -> tuple[Record | None, list[Diagnostic]]:
    """Return the record in a text, or its problems;
    `explain` costs a hundred times the validation.
    """
    try:
        data = load(text)
    except YamlProblemError as error:
        return None, [from_problem(error.problem, path)]

    if not isinstance(data, dict):
        state = "empty" if data is None else "not a mapping"
        hint = "a record is `key: value` lines; compare with another record"
        where = Location(path, Position(1))
        return None, [Diagnostic(INVALID, Severity.ERROR, f"the file is {state}", where, hint)]

    version = data.get("schema_version")
    if isinstance(version, int) and version > SCHEMA_VERSION:
        message = f"schema_version {version} is newer than this tool knows ({SCHEMA_VERSION})"
        hint = "upgrade orbit-registry as it was installed"
        where = Location(path, position_of(text, ("schema_version",)))
        return None, [Diagnostic(NEWER, Severity.ERROR, message, where, hint)]

    if not kind.schema.is_valid(data):
        problems = kind.schema.problems(data) if explain else []
        advised = [_advised(problem, data) for problem in problems]
        return None, [_diagnostic(text, problem, path, data.get("id")) for problem in advised]

    impossible = [
        SchemaProblem(
            pointer,
            f"no calendar has {moment}",
            DAY_REMEDY if pointer == ("review_by",) else REMEDY,
        )
        for pointer, moment in impossible_moments(data)
    ]
    if impossible:
        return None, [_diagnostic(text, problem, path, data.get("id")) for problem in impossible]

    record = record_of(data, kind, path)
    folder = path.rpartition("/")[0].rpartition("/")[2]
    if folder == record.id:
        return record, []

    message = f"the record {record.id} is in the folder {folder}/"
    where = Location(path, position_of(text, ("id",)))
    hint = (
        f"rename the folder to {record.id}/, or correct the id; delete it if it is a "
        f"copy of {record.id}"
    )
    return None, [Diagnostic(MISPLACED, Severity.ERROR, message, where, hint, record.id)]


def record_of_content(content: bytes, kind: Kind, path: str) -> Record | None:
    """Return the record in a file as a commit has it; None where it has none that can be read."""
    if len(content) > RECORD_LIMIT:
        return None

    return decode_record(content.decode("utf-8", "replace"), kind, path, explain=False)[0]


def _advised(problem: SchemaProblem, data: Mapping[str, object]) -> SchemaProblem:
    """Return a problem that says what to type for a review, which people get wrong at first."""
    match problem.pointer:
        case ("review_by",):
            return replace(problem, hint=DAY_REMEDY)
        case ("revisit_when", int(index), *_):
            meant = meant_condition(list_in(data, "revisit_when")[index])
            if meant:
                return replace(problem, hint=f"did you mean `{meant}`?")

            return problem
        case _:
            return problem


def _diagnostic(text: str, problem: SchemaProblem, path: str, record_id: object) -> Diagnostic:
    code = UNKNOWN_FIELD if problem.unknown_field else INVALID
    where = Location(path, position_of(text, problem.pointer))
    record = record_id if isinstance(record_id, str) else None
    return Diagnostic(code, Severity.ERROR, problem.message, where, problem.hint, record)


def record_of(data: Mapping[str, object], kind: Kind, path: str) -> Record:
    """Return the record of valid data."""
    prose = str(data.get(kind.prose, "")) if kind.in_record else ""
    return Record(kind, data, path, prose=prose)


def ordered(data: Mapping[str, object], order: Sequence[str]) -> dict[str, object]:
    """Return data with keys in the schema's order, unknown ones last."""
    listed = {name: data[name] for name in order if name in data}
    return {**listed, **data}


def data_in(text: str | None) -> dict[str, object] | None:
    """Return the mapping in a record file's text; None where it holds none."""
    try:
        data = load(text or "")
    except YamlProblemError:
        return None
    if isinstance(data, dict):
        return data

    return None


def mapping_in(data: Mapping[str, object], name: str) -> Mapping[str, object]:
    """Return a field that is a mapping; empty where it is none."""
    value = data.get(name)
    if isinstance(value, Mapping):
        return value

    return {}


def list_in(data: Mapping[str, object], name: str) -> list[object]:
    """Return the entries of a field that is a list; none where it is not a list."""
    value = data.get(name)
    if isinstance(value, list):
        return list(value)

    return []
