"""Kinds of records, read from `kinds/<kind>/` folders."""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Literal

from orbit_registry.errors import ConfigError, did_you_mean
from orbit_registry.formats.citations import IdForms
from orbit_registry.formats.position import YamlProblemError
from orbit_registry.formats.yaml import load
from orbit_registry.model.schema import RecordSchema, compile_schema, read_part

Phase = Literal["pending", "live", "closed"]
PHASES: tuple[Phase, ...] = ("pending", "live", "closed")
ROLES = ("human", "agent")
NUMBERINGS: tuple[Literal["sequence", "code"], ...] = ("sequence", "code")
GATES = ("always", "scoped", "relevant_and_linked", "procedural")
LAST_PLACE = 99
"""Position in a brief of kinds that state none."""
SHIPPED = Path(__file__).parents[1] / "kinds"
_COMPARE = f"compare it with a shipped one: {SHIPPED / 'learning/kind.yaml'}"
_FIELDS = frozenset(
    {"kind", "plural", "prefix", "label", "labels", "numbering", "headline", "prose", "gate", "initial", "statuses",
     "brief", "places", "columns", "verbs", "voted"}
)  # fmt: skip
_STATUS_FIELDS = frozenset({"phase", "pushed", "searched", "shown", "word", "banner", "to", "waits"})
_NAME = re.compile(r"[a-z][a-z0-9_]*\Z")
_PREFIX = re.compile(r"[A-Z][A-Z0-9]*-\Z")


@dataclass(frozen=True, slots=True)
class Status:
    """A status of a kind: what may be done with its records, and where they can go from it."""

    name: str
    phase: Phase
    pushed: bool
    searched: bool
    shown: bool
    word: str
    banner: str | None
    to: tuple[str, ...]
    waits: bool = False
    """Whether a review is expected; not where a source alone leaves the state open."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of record, as its `kind.yaml` says."""

    name: str
    plural: str
    prefix: str
    label: str
    labels: str
    numbering: Literal["sequence", "code"]
    headline: str
    prose: str
    """The field with the long text; `document` for an entry of the document in `source`; `file` for a whole file: the
    one that `file` names in the record's folder, else the project's at `path`."""
    gate: str
    initial: Mapping[str, str]
    """Status of a new record by its author's role, human or agent."""
    statuses: Mapping[str, Status]
    brief: Mapping[str, int]
    places: Mapping[str, Mapping[str, int]]
    """Positions in a brief by a field and its value."""
    columns: tuple[str, ...]
    verbs: Mapping[str, str]
    """Verb → the status it sets."""
    voted: bool
    """Whether its records take votes."""
    folder: Path
    schema: RecordSchema = field(repr=False)

    def status(self, name: str) -> Status:
        """Return a status by name; an unknown one is pending and hidden."""
        status = self.statuses.get(name)
        return status or Status(name, "pending", False, False, False, name, f"Status {name!r} is not known", ())

    def next_status(self, status: Status, phase: Phase) -> str | None:
        """Return the first status of a phase in a status's `to`: `live` approves, `closed` rejects."""
        return next((name for name in status.to if self.status(name).phase == phase), None)

    def transitions_help(self, status: Status, record_id: str) -> str:
        """Return the statuses that a record can change to, in words, each with its command."""
        commands = {to: f"`orbit {self.name} {verb} {record_id}`" for verb, to in self.verbs.items()}
        commands |= {"superseded": f"`orbit {self.name} supersede {record_id} --with NEW`"}
        targets = ", ".join(f"{to} ({commands[to]})" if to in commands else to for to in status.to)
        return f"from {status.name} it can become {targets or 'nothing: that status is final'}"

    def is_rejection(self, status: Status) -> bool:
        """Say whether a review sets this status to reject a record."""
        return any(
            pending.phase == "pending" and self.next_status(pending, "closed") == status.name
            for pending in self.statuses.values()
        )

    def template(self, name: str = "new.md") -> str:
        """Return the text of a template in the kind's folder."""
        return read_part(self.folder / name)

    def file_of(self, record_id: str) -> str:
        """Return the path of a record's file below `.orbit` or the inbox."""
        return f"{self.plural}/{record_id}/{self.name}.yaml"

    def place(self, data: Mapping[str, object]) -> int:
        """Return the position of a record with these fields in a text of several kinds, the first lowest."""
        positions = (places[value] for name, places in self.places.items() if (value := str(data.get(name))) in places)
        return next(positions, self.brief.get("place", LAST_PLACE))

    @property
    def live_word(self) -> str:
        """Word for live records: that of the first live status."""
        return next((status.word for status in self.statuses.values() if status.phase == "live"), "in force")

    @property
    def is_expected(self) -> bool:
        """Whether readers look for this kind even without records: decisions, and kinds with votes."""
        return self.in_document or self.voted

    @property
    def in_document(self) -> bool:
        """Whether the prose of this kind is in a document that the record points at."""
        return self.prose == "document"

    @property
    def in_file(self) -> bool:
        """Whether the prose of this kind is a whole file, which search and snapshot split into chunks."""
        return self.prose == "file"

    @property
    def has_source(self) -> bool:
        """Whether records of this kind may point at a text elsewhere."""
        return self.in_file or "source" in self.schema.document["properties"]

    @property
    def in_record(self) -> bool:
        """Whether the prose of this kind is a field of the record."""
        return not (self.in_document or self.in_file)


class KindTable:
    """Kinds by name, plural and id prefix."""

    def __init__(self, kinds: Mapping[str, Kind]) -> None:
        self._kinds = dict(kinds)

    def __iter__(self) -> Iterator[Kind]:
        return iter(self._kinds.values())

    def __contains__(self, name: str) -> bool:
        return name in self._kinds

    def __getitem__(self, name: str) -> Kind:
        try:
            return self._kinds[name]
        except KeyError:
            hint = f"{did_you_mean(name, self._kinds)}known kinds: {', '.join(self._kinds)}"
            raise ConfigError(f"there is no kind {name!r}", hint=hint) from None

    @cached_property
    def id_forms(self) -> IdForms:
        """Forms of ids that texts can cite."""
        prefixes = {
            numbering: tuple(kind.prefix for kind in self if kind.numbering == numbering) for numbering in NUMBERINGS
        }
        return IdForms(prefixes["sequence"], prefixes["code"])

    @cached_property
    def fingerprint(self) -> str:
        """Digest of everything but its file that reading a record depends on."""
        rows = [
            [kind.name, kind.plural, kind.prefix, kind.numbering, kind.prose, kind.schema.document, list(kind.statuses)]
            for kind in self
        ]
        return hashlib.sha256(json.dumps(rows, sort_keys=True, default=str).encode()).hexdigest()

    def of_plural(self, plural: str) -> Kind | None:
        """Return the kind with this folder under `.orbit/`."""
        return next((kind for kind in self if kind.plural == plural), None)

    def of_id(self, record_id: str) -> Kind | None:
        """Return the kind of an id by its prefix; the longest prefix wins."""
        fitting = [kind for kind in self if record_id.startswith(kind.prefix)]
        return max(fitting, key=lambda kind: len(kind.prefix), default=None)


def load_kinds(*more: Path) -> KindTable:
    """Return the shipped kinds and those in the folders `more`, each with one folder a kind.

    Raises:
        ConfigError: a folder is incomplete, contradicts itself, or repeats a name or prefix.
    """
    return _load(more, tuple(_stamp(parent) for parent in more))


def _stamp(parent: Path) -> tuple[tuple[str, int, int], ...]:
    """Return a key that changes with the files of a folder of kinds."""
    files = [*_files(parent, "kind.yaml"), *_files(parent, "schema.json")]
    states = [(file, file.lstat()) for file in files]
    return tuple((str(file), state.st_mtime_ns, state.st_size) for file, state in states)


def _files(parent: Path, name: str) -> list[Path]:
    """Return the files of a name in a folder of kinds, dangling links too: reading them reports the error."""
    files: list[Path] = []
    try:
        for folder in parent.iterdir():
            with contextlib.suppress(FileNotFoundError, NotADirectoryError):
                (folder / name).lstat()
                files.append(folder / name)
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        hint = "check the owner and the permissions of the folder"
        raise ConfigError(f"{error.filename}: {(error.strerror or '').lower()}", hint=hint) from None
    return sorted(files)


@lru_cache(maxsize=8)
def _load(more: tuple[Path, ...], _stamps: tuple[object, ...]) -> KindTable:
    kinds: dict[str, Kind] = {}
    for parent in (SHIPPED, *more):
        for file in _files(parent, "kind.yaml"):
            kind = _read_kind(file)
            if parent != SHIPPED:
                _ = kind.schema.validator  # a project's own has to be told that it is none
            conflicts = [other for other in kinds.values() if kind.name == other.name or kind.prefix == other.prefix]
            conflicts += [other for other in kinds.values() if kind.plural == other.plural]
            if conflicts:
                message = f"{file}: {conflicts[0].name!r} already has that name, plural or prefix"
                raise ConfigError(message, hint="change `kind`, `plural` or `prefix` in it: each belongs to one kind")
            kinds[kind.name] = kind
    return KindTable(kinds)


def _read_kind(file: Path) -> Kind:
    try:
        data = load(read_part(file))
    except YamlProblemError as error:
        position = error.problem.position
        message = f"{file}:{position.line if position else 1}: {error.problem.message}"
        raise ConfigError(message, hint=error.problem.hint or _COMPARE) from None
    if not isinstance(data, dict):
        raise ConfigError(f"{file}: a kind is a mapping", hint=_COMPARE)
    try:
        return _kind_from(data, file.parent)
    except KeyError as error:
        raise ConfigError(f"{file}: `{error.args[0]}` is missing", hint=_COMPARE) from None
    except (TypeError, ValueError) as error:
        raise ConfigError(f"{file}: {error}", hint=_COMPARE) from None


def _kind_from(data: Mapping[str, object], folder: Path) -> Kind:
    _refuse_unknown(data, _FIELDS)
    table = _mapping(data["statuses"], "statuses")
    statuses = {name: _status_from(name, _mapping(entry, f"statuses.{name}")) for name, entry in table.items()}
    initial = {role: str(status) for role, status in _mapping(data["initial"], "initial").items()}
    verbs = {verb: str(status) for verb, status in _mapping(data.get("verbs", {}), "verbs").items()}
    kind = Kind(
        name=str(data["kind"]),
        plural=str(data["plural"]),
        prefix=str(data["prefix"]),
        label=str(data["label"]),
        labels=str(data["labels"]),
        numbering=_numbering(data["numbering"]),
        headline=str(data["headline"]),
        prose=str(data["prose"]),
        gate=str(data["gate"]),
        initial=initial,
        statuses=statuses,
        brief={key: _integer(number, f"brief.{key}") for key, number in _mapping(data["brief"], "brief").items()},
        places={
            name: {
                value: _integer(position, f"places.{name}.{value}")
                for value, position in _mapping(by, "places").items()
            }
            for name, by in _mapping(data.get("places", {}), "places").items()
        },
        columns=_words(data["columns"]),
        verbs=verbs,
        voted=_boolean(data.get("voted", False), "voted"),
        folder=folder,
        schema=compile_schema(folder / "schema.json", str(data["kind"]), tuple(statuses)),
    )
    _refuse_contradictions(kind, folder)
    return kind


def _status_from(name: str, data: Mapping[str, object]) -> Status:
    _refuse_unknown(data, _STATUS_FIELDS)
    phase = str(data["phase"])
    if phase not in PHASES:
        raise ValueError(f"status {name!r} has phase {phase!r}; phases are {', '.join(PHASES)}")
    banner = data.get("banner")
    return Status(
        name=name,
        phase=phase,
        pushed=_boolean(data["pushed"], f"statuses.{name}.pushed"),
        searched=_boolean(data["searched"], f"statuses.{name}.searched"),
        shown=_boolean(data["shown"], f"statuses.{name}.shown"),
        word=str(data["word"]),
        banner=None if banner is None else str(banner),
        to=_words(data["to"]),
        waits=_boolean(data.get("waits", phase == "pending"), f"statuses.{name}.waits"),
    )


def _refuse_contradictions(kind: Kind, folder: Path) -> None:
    wrong = []
    if not _NAME.match(kind.name) or not _NAME.match(kind.plural):
        wrong.append("`kind` and `plural` are lower-case words")
    if not _PREFIX.match(kind.prefix):
        wrong.append("`prefix` is capitals and a hyphen, as in `ADR-`")
    if kind.gate not in GATES:
        wrong.append(f"`gate` is one of {', '.join(GATES)}")
    if set(kind.initial) != set(ROLES):
        wrong.append(f"`initial` names a status for each of {', '.join(ROLES)}")
    used = {
        *kind.initial.values(),
        *kind.verbs.values(),
        *(to for status in kind.statuses.values() for to in status.to),
    }
    if unknown := sorted(used - set(kind.statuses)):
        wrong.append(f"statuses that the table lacks are named: {', '.join(unknown)}")
    if any(status.pushed and status.waits for status in kind.statuses.values()):
        wrong.append("a status that waits for a verdict is never pushed")
    if kind.headline not in kind.schema.properties:
        wrong.append(f"the schema has no field {kind.headline!r} to be the headline")
    if wrong:
        raise ConfigError(f"{folder / 'kind.yaml'}: {wrong[0]}", hint=_COMPARE)


def _refuse_unknown(data: Mapping[str, object], fields: frozenset[str]) -> None:
    for name in map(str, data):
        if name not in fields and not name.startswith("x-"):
            raise ValueError(f"unknown field `{name}`; {did_you_mean(name, fields)}own fields start with `x-`")


def _mapping(value: object, name: str) -> Mapping[str, object]:
    if not isinstance(value, dict):
        raise TypeError(f"`{name}` in kind.yaml is not a mapping")
    return value


def _boolean(value: object, name: str) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"`{name}` is {value!r}, not true or false")
    return value


def _integer(value: object, name: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"`{name}` is {value!r}, not a whole number")
    return value


def _numbering(value: object) -> Literal["sequence", "code"]:
    numbering = next((name for name in NUMBERINGS if name == value), None)
    if numbering is None:
        raise ValueError(f"`numbering` is {value!r}; it is one of {', '.join(NUMBERINGS)}")
    return numbering


def _words(value: object) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise TypeError(f"{value!r} is not a list")
    return tuple(str(word) for word in value)
