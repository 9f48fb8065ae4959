"""Kinds of records, read from `kinds/<kind>/` folders."""

import contextlib
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import chain
from pathlib import Path
from typing import Literal, cast

from orbit_registry.errors import ConfigError, did_you_mean
from orbit_registry.formats.citations import IdForms
from orbit_registry.formats.position import YamlProblemError
from orbit_registry.formats.yaml import load, position_of
from orbit_registry.model.schema import (
    Fields,
    RecordSchema,
    compile_schema,
    read_part,
    read_schema,
)
from orbit_registry.seams import kind_folders

Phase = Literal["pending", "live", "closed"]
PHASES: tuple[Phase, ...] = ("pending", "live", "closed")
LAST_PLACE = 99  # position in a brief of kinds that state none
SHIPPED = Path(__file__).parents[1] / "kinds"
_COMPARE = f"compare it with a shipped one: {SHIPPED / 'learning/kind.yaml'}"


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
    """The field with the long text; `document` for an entry of the document in `source`; `file` for
    a whole file: the one that `file` names in the record's folder, else the project's at `path`.
    """
    gate: str
    initial: Mapping[str, str]  # status of a new record by its author's role, human or agent
    statuses: Mapping[str, Status]
    brief: Mapping[str, int]
    places: Mapping[str, Mapping[str, int]]  # positions in a brief by a field and its value
    columns: tuple[str, ...]
    verbs: Mapping[str, str]  # verb → the status it sets
    voted: bool  # whether its records take votes
    review: Mapping[str, str]
    """Where `orbit review` lists the live records: key in JSON, title and command; empty if not."""
    folder: Path
    schema: RecordSchema = field(repr=False)

    def status(self, name: str) -> Status:
        """Return a status by name; an unknown one is pending and hidden."""
        status = self.statuses.get(name)
        if status is not None:
            return status

        banner = f"Status {name!r} is not known"
        return Status(name, "pending", False, False, False, name, banner, ())

    def next_status(self, status: Status, phase: Phase) -> str | None:
        """Return the first status of a phase in a status's `to`.

        A live one approves a record, a closed one rejects it.
        """
        return next((name for name in status.to if self.status(name).phase == phase), None)

    @property
    def with_article(self) -> str:
        """The label with its article: a decision."""
        name = self.label.lower()
        article = "an" if name[0] in "aeiou" else "a"
        return f"{article} {name}"

    def transitions_help(self, status: Status, record_id: str) -> str:
        """Return the statuses that a record can change to, in words, each with its command."""
        if not status.to:
            return f"from {status.name} it can become nothing: that status is final"

        commands = {
            to: f" (`orbit {self.name} {self.verb_of(to)} {record_id}`)"
            for to in self.verbs.values()
        }
        commands["superseded"] = f" (`orbit {self.name} supersede {record_id} --with NEW`)"
        targets = [to + commands.get(to, "") for to in status.to]
        return f"from {status.name} it can become {', '.join(targets)}"

    def verb_of(self, name: str) -> str:
        """Return the verb for a status that every kind has (accept, retire), else the kind's own.

        It is empty if no verb sets the status.
        """
        verb = next((verb for verb, to in self.verbs.items() if to == name), "")
        phase = self.status(name).phase
        before = {other.phase for other in self.statuses.values() if name in other.to}

        if verb and phase == "live" and "pending" in before:
            return "accept"
        if verb == "deprecate" and phase == "closed" and "live" in before:
            return "retire"

        return verb

    @property
    def approving_verb(self) -> str:
        """The first verb that makes a record live; empty if there is none."""
        return next(
            (verb for verb, to in self.verbs.items() if self.status(to).phase == "live"), ""
        )

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
        """Return the position of a record with these fields in a text of several kinds."""
        for name, places in self.places.items():
            value = str(data.get(name))
            if value in places:
                return places[value]

        return self.brief.get("place", LAST_PLACE)

    @property
    def in_document(self) -> bool:
        """Whether the prose of this kind is in a document that the record points at."""
        return self.prose == "document"

    @property
    def in_file(self) -> bool:
        """Whether the prose of this kind is a whole file, which search splits into chunks."""
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

    def __init__(self, kinds: Mapping[str, Kind], sources: Iterable[str] = ()) -> None:
        self._kinds = dict(kinds)
        self.sources = tuple(sources)  # names before the ids of inherited records: `org`

    def with_sources(self, sources: Iterable[str]) -> "KindTable":
        """Return the same kinds in a workspace that inherits records."""
        return KindTable(self._kinds, sources)

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

    def named(self, word: str) -> Kind:
        """Return the kind that a person means: by its name, its plural or its label."""
        plain = word.lower()
        alike = (
            kind
            for kind in self
            if plain in (kind.name, kind.plural, kind.label.lower(), kind.labels.lower())
        )
        return next(alike, None) or self[word]

    @cached_property
    def id_forms(self) -> IdForms:
        """Forms of ids that texts can cite."""
        numbered = tuple(kind.prefix for kind in self if kind.numbering == "sequence")
        coded = tuple(kind.prefix for kind in self if kind.numbering == "code")
        return IdForms(numbered, coded, self.sources)

    @cached_property
    def fingerprint(self) -> str:
        """Digest of everything but its file that reading a record depends on."""
        rows = [
            [
                kind.name,
                kind.plural,
                kind.prefix,
                kind.numbering,
                kind.prose,
                kind.schema.document,
                list(kind.statuses),
            ]
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
    """Return the shipped kinds and those in the folders `more`, each with one folder a kind."""
    kinds = dict(_shipped())
    for file in chain.from_iterable(map(_files, more)):
        _add(kinds, file, is_shipped=False)

    return KindTable(kinds)


def _add(kinds: dict[str, Kind], file: Path, *, is_shipped: bool) -> None:
    """Add the kind of a file; what names a kind belongs to it alone."""
    kind = _read_kind(file, is_shipped=is_shipped)
    names = {kind.name, kind.plural, kind.prefix}
    for other in kinds.values():
        if names & {other.name, other.plural, other.prefix}:
            message = f"{file}: {other.name!r} already has that name, plural or prefix"
            hint = "change `kind`, `plural` or `prefix` in it: each belongs to one kind"
            raise ConfigError(message, hint=hint)

    kinds[kind.name] = kind


@lru_cache(maxsize=1)
def _shipped() -> Mapping[str, Kind]:
    files = chain.from_iterable(map(_files, (SHIPPED, *kind_folders())))
    kinds: dict[str, Kind] = {}
    for file in files:
        _add(kinds, file, is_shipped=True)

    return dict(sorted(kinds.items()))


def _files(parent: Path) -> list[Path]:
    """Return the `kind.yaml` files of a folder of kinds.

    Dangling links are among them: reading one reports the error.
    """
    files = []
    try:
        for folder in parent.iterdir():
            with contextlib.suppress(FileNotFoundError, NotADirectoryError):
                (folder / "kind.yaml").lstat()
                files.append(folder / "kind.yaml")
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        message = f"{error.filename}: {(error.strerror or '').lower()}"
        hint = "check the owner and the permissions of the folder"
        raise ConfigError(message, hint=hint) from None

    return sorted(files)


def _read_kind(file: Path, *, is_shipped: bool) -> Kind:
    text = read_part(file)
    try:
        data = load(text)
    except YamlProblemError as error:
        position = error.problem.position
        message = f"{file}:{position.line if position else 1}: {error.problem.message}"
        raise ConfigError(message, hint=error.problem.hint or _COMPARE) from None

    if not is_shipped:
        _refuse_invalid(data, text, file)

    kind = _kind_from(cast("Fields", data), file.parent)
    if not is_shipped:
        _ = kind.schema.validator  # raises where the project's schema is none
        _refuse_contradictions(kind, file)

    return kind


def _refuse_invalid(data: object, text: str, file: Path) -> None:
    problems = _kind_schema().problems(data)
    if problems:
        line = position_of(text, problems[0].pointer).line if isinstance(data, dict) else 1
        message = f"{file}:{line}: {problems[0].message}"
        raise ConfigError(message, hint=problems[0].hint or _COMPARE)


@lru_cache(maxsize=1)
def _kind_schema() -> RecordSchema:
    return read_schema(SHIPPED / "kind.schema.json")


_AS_WRITTEN = (
    "plural",
    "prefix",
    "label",
    "labels",
    "numbering",
    "headline",
    "prose",
    "gate",
    "initial",
    "brief",
)
"""Fields of a kind that are what its file says."""


def _kind_from(data: Fields, folder: Path) -> Kind:
    name = data["kind"]
    plain = {key: data[key] for key in _AS_WRITTEN}
    statuses = {status: _status_from(status, entry) for status, entry in data["statuses"].items()}
    schema = compile_schema(folder / "schema.json", name, tuple(statuses))

    return Kind(
        **plain,
        name=name,
        statuses=statuses,
        places=data.get("places", {}),
        columns=tuple(data["columns"]),
        verbs=data.get("verbs", {}),
        voted=data.get("voted", False),
        review=data.get("review", {}),
        folder=folder,
        schema=schema,
    )


def _status_from(name: str, entry: Fields) -> Status:
    plain = {key: entry[key] for key in ("phase", "pushed", "searched", "shown", "word")}
    waits = entry.get("waits", entry["phase"] == "pending")
    return Status(name, **plain, banner=entry.get("banner"), to=tuple(entry["to"]), waits=waits)


def _refuse_contradictions(kind: Kind, file: Path) -> None:
    """Raise for what the schema of kinds can't express."""
    targets = chain.from_iterable(status.to for status in kind.statuses.values())
    unknown = sorted({*kind.initial.values(), *kind.verbs.values(), *targets} - set(kind.statuses))
    message = ""
    if unknown:
        message = f"statuses that the table lacks are named: {', '.join(unknown)}"
    elif any(status.pushed and status.waits for status in kind.statuses.values()):
        message = "a status that waits for a verdict is never pushed"
    elif kind.headline not in kind.schema.properties:
        message = f"the schema has no field {kind.headline!r} to be the headline"

    if message:
        raise ConfigError(f"{file}: {message}", hint=_COMPARE)
