"""Kinds of records, read from `kinds/<kind>/` folders."""

import contextlib
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Literal, cast

from orbit_registry.errors import ConfigError, did_you_mean
from orbit_registry.formats.citations import IdForms
from orbit_registry.formats.position import YamlProblemError
from orbit_registry.formats.yaml import load, position_of
from orbit_registry.model.schema import RecordSchema, compile_schema, read_part, read_schema

Phase = Literal["pending", "live", "closed"]
PHASES: tuple[Phase, ...] = ("pending", "live", "closed")
NUMBERINGS: tuple[Literal["sequence", "code"], ...] = ("sequence", "code")
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
    waits: bool = (
        False  # whether a review is expected; not where a source alone leaves the state open
    )


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
    folder: Path
    schema: RecordSchema = field(repr=False)

    def status(self, name: str) -> Status:
        """Return a status by name; an unknown one is pending and hidden."""
        status = self.statuses.get(name)
        return status or Status(
            name, "pending", False, False, False, name, f"Status {name!r} is not known", ()
        )

    def next_status(self, status: Status, phase: Phase) -> str | None:
        """Return the first status of a phase in a status's `to`:
        `live` approves, `closed` rejects.
        """
        return next((name for name in status.to if self.status(name).phase == phase), None)

    @property
    def with_article(self) -> str:
        """The label with its article: a decision."""
        name = self.label.lower()
        return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"

    def transitions_help(self, status: Status, record_id: str) -> str:
        """Return the statuses that a record can change to, in words, each with its command."""
        commands = {
            to: f"`orbit {self.name} {self.verb_of(to)} {record_id}`" for to in self.verbs.values()
        }
        commands |= {"superseded": f"`orbit {self.name} supersede {record_id} --with NEW`"}
        targets = ", ".join(f"{to} ({commands[to]})" if to in commands else to for to in status.to)
        return f"from {status.name} it can become {targets or 'nothing: that status is final'}"

    def verb_of(self, name: str) -> str:
        """Return the verb for a status that every kind has (accept, retire),
        else the kind's own one; "" if none.
        """
        status, verb = (
            self.status(name),
            next((verb for verb, to in self.verbs.items() if to == name), ""),
        )
        before = [other for other in self.statuses.values() if name in other.to]
        if verb and status.phase == "live" and any(other.phase == "pending" for other in before):
            return "accept"

        closes = status.phase == "closed" and any(other.phase == "live" for other in before)
        return "retire" if closes and verb == "deprecate" else verb

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
        """Return the position of a record with these fields in a text of several kinds,
        the first lowest.
        """
        positions = (
            places[value]
            for name, places in self.places.items()
            if (value := str(data.get(name))) in places
        )
        return next(positions, self.brief.get("place", LAST_PLACE))

    @property
    def in_document(self) -> bool:
        """Whether the prose of this kind is in a document that the record points at."""
        return self.prose == "document"

    @property
    def in_file(self) -> bool:
        """Whether the prose of this kind is a whole file,
        which search and snapshot split into chunks.
        """
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
        prefixes = {
            name: tuple(kind.prefix for kind in self if kind.numbering == name)
            for name in NUMBERINGS
        }
        return IdForms(prefixes["sequence"], prefixes["code"], self.sources)

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
    for file in (file for parent in more for file in _files(parent)):
        kind = _read_kind(file, is_shipped=False)
        names = {kind.name, kind.plural, kind.prefix}
        conflict = next(
            (other for other in kinds.values() if names & {other.name, other.plural, other.prefix}),
            None,
        )
        if conflict is not None:
            message = f"{file}: {conflict.name!r} already has that name, plural or prefix"
            raise ConfigError(
                message, hint="change `kind`, `plural` or `prefix` in it: each belongs to one kind"
            )

        kinds[kind.name] = kind

    return KindTable(kinds)


@lru_cache(maxsize=1)
def _shipped() -> Mapping[str, Kind]:
    kinds = (_read_kind(file, is_shipped=True) for file in _files(SHIPPED))
    return {kind.name: kind for kind in kinds}


def _files(parent: Path) -> list[Path]:
    """Return the `kind.yaml` files of a folder of kinds, dangling links too:
    reading them reports the error.
    """
    files: list[Path] = []
    try:
        for folder in parent.iterdir():
            with contextlib.suppress(FileNotFoundError, NotADirectoryError):
                (folder / "kind.yaml").lstat()
                files.append(folder / "kind.yaml")
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        hint = "check the owner and the permissions of the folder"
        raise ConfigError(
            f"{error.filename}: {(error.strerror or '').lower()}", hint=hint
        ) from None

    return sorted(files)


def _read_kind(file: Path, *, is_shipped: bool) -> Kind:
    text = read_part(file)
    try:
        data = load(text)
    except YamlProblemError as error:
        position = error.problem.position
        message = f"{file}:{position.line if position else 1}: {error.problem.message}"
        raise ConfigError(message, hint=error.problem.hint or _COMPARE) from None

    for problem in [] if is_shipped else _kind_schema().problems(data):
        line = position_of(text, problem.pointer).line if isinstance(data, dict) else 1
        raise ConfigError(f"{file}:{line}: {problem.message}", hint=problem.hint or _COMPARE)

    kind = _kind_from(cast("Mapping[str, Any]", data), file.parent)
    if not is_shipped:
        _ = kind.schema.validator  # raises where the project's schema is none
        _refuse_contradictions(kind, file)

    return kind


@lru_cache(maxsize=1)
def _kind_schema() -> RecordSchema:
    return read_schema(SHIPPED / "kind.schema.json")


def _kind_from(data: Mapping[str, Any], folder: Path) -> Kind:
    statuses = {name: _status_from(name, entry) for name, entry in data["statuses"].items()}
    plain = (
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

    return Kind(
        **{name: data[name] for name in plain},
        name=data["kind"],
        statuses=statuses,
        places=data.get("places", {}),
        columns=tuple(data["columns"]),
        verbs=data.get("verbs", {}),
        voted=data.get("voted", False),
        folder=folder,
        schema=compile_schema(folder / "schema.json", data["kind"], tuple(statuses)),
    )


def _status_from(name: str, entry: Mapping[str, Any]) -> Status:
    plain = {key: entry[key] for key in ("phase", "pushed", "searched", "shown", "word")}
    waits = entry.get("waits", entry["phase"] == "pending")
    return Status(name, **plain, banner=entry.get("banner"), to=tuple(entry["to"]), waits=waits)


def _refuse_contradictions(kind: Kind, file: Path) -> None:
    """Raise for what the schema of kinds can't express."""
    targets = {to for status in kind.statuses.values() for to in status.to}
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
