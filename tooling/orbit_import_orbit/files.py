"""Files of danieljhkim/orbit: reading its layout, mapping fields to this format, finding the prose
of its decisions.

adrs/<status>/ADR-0001/{adr.yaml, body.md}
learnings/L-0001/{learning.yaml, votes.jsonl, comments.jsonl}      also L20260517-1, the older ids
learnings/L-0001.yaml, learnings/superseded/L-0001.yaml             the oldest, flat form
"""

import os
import posixpath
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path

from orbit_registry.errors import OrbitError
from orbit_registry.formats.adr.model import AdrDocument
from orbit_registry.formats.position import YamlProblemError
from orbit_registry.formats.yaml import load
from orbit_registry.judgements.same_decision import DecisionText, same_decision
from orbit_registry.model.record import Record
from orbit_registry.model.votes import format_time
from orbit_registry.operations.document_facts import FEATURE, cut_line, words
from orbit_registry.repository.documents import Document, decision_paths, entry_text
from orbit_registry.workspace.files import TEMPORARY, document_text, read_text
from orbit_registry.workspace.workspace import RESERVED_NAMES, Workspace

STATUSES = ("accepted", "superseded", "proposed", "deleted")
"""The status folders; of one id in two of them the first in this order keeps it."""
ASIDE = "imported-from-orbit"
_ID = {"adr": re.compile(r"ADR-\d+\Z"), "learning": re.compile(r"L-?\d+(?:-\d+)?\Z")}
_OURS_BY_UID = re.compile(r"(?m)^uid: [\"']?[0-9a-f]{32}\b")
_FOLDERS = ("adrs", "learnings")


@dataclass(frozen=True, slots=True)
class ForeignRecord:
    """One foreign record: its files (paths from the `.orbit/`) and its data,
    or why they can't be read.
    """

    kind: str
    path: str  # the YAML file
    folder: str | None  # the record's folder; None in the flat form
    siblings: tuple[str, ...]  # the other files in the folder, as paths from it
    data: Mapping[str, object] = field(default_factory=dict)
    text: str = ""
    status_folder: str | None = None
    problem: str | None = None

    @property
    def id(self) -> str:
        """The id in the file, else that of its folder."""
        folder_name = (self.folder or self.path.removesuffix(".yaml")).rpartition("/")[2]
        return str(self.data.get("id") or folder_name)


@dataclass(slots=True)
class OrbitLayout:
    """A whole foreign `.orbit/`."""

    root: Path
    records: list[ForeignRecord] = field(
        default_factory=list
    )  # in the order in which ids are assigned
    strays: list[str] = field(
        default_factory=list
    )  # other files in the folders of records, from the `.orbit/`
    others: list[str] = field(default_factory=list)  # other names in the `.orbit/`
    hidden: list[str] = field(default_factory=list)  # hidden files and folders among the records


def _has_foreign(folder: Path, kind: str) -> bool:
    return any(not _is_ours(folder, record) for record in _records(folder, kind, []))


def find_orbit(path: Path) -> Path | None:
    """Return the foreign `.orbit/` at a path or in it."""
    for folder in (path / ".orbit", path, path.parent):
        if folder.is_dir() and any(_has_foreign(folder, kind) for kind in _ID):
            return folder
        if folder.name == ".orbit" and folder.is_dir():
            return None

    return None


def read_layout(orbit: Path) -> OrbitLayout:
    """Return every foreign record below an `.orbit/`;
    an unreadable file is a record with a problem.
    """
    layout = OrbitLayout(orbit)
    for kind in _ID:
        layout.records += (
            record for record in _records(orbit, kind, layout.strays) if not _is_ours(orbit, record)
        )

    layout.records.sort(
        key=lambda record: (
            record.kind,
            record.id,
            STATUSES.index(record.status_folder or STATUSES[0]),
            record.path,
        )
    )

    for folder in (*_FOLDERS, *(f"adrs/{status}" for status in STATUSES), "learnings/superseded"):
        if (orbit / folder).is_dir():
            names = sorted(entry.name for entry in (orbit / folder).iterdir())
            hidden = (
                name for name in names if name.startswith(".") and not name.startswith(TEMPORARY)
            )
            layout.hidden += (f"{folder}/{name}" for name in hidden)

    layout.others = sorted({entry.name for entry in orbit.iterdir()} - RESERVED_NAMES - {*_FOLDERS})
    return layout


def _is_ours(orbit: Path, record: ForeignRecord) -> bool:
    """Say whether a record has this tool's format;
    an unreadable one has where its place fits no other layout.
    """
    if record.problem is not None:
        return (
            record.status_folder is None
            and record.folder is not None
            and (orbit / "config.yaml").exists()
        )

    return "uid" in record.data


def _records(orbit: Path, kind: str, strays: list[str]) -> Iterator[ForeignRecord]:
    top = f"{kind}s"
    yield from _folder(orbit, kind, top, None, strays)
    for name in STATUSES:
        if (orbit / top / name).is_dir() and not (orbit / top / name).is_symlink():
            yield from _folder(orbit, kind, f"{top}/{name}", name, strays)


def _folder(
    orbit: Path, kind: str, top: str, status: str | None, strays: list[str]
) -> Iterator[ForeignRecord]:
    try:
        names = sorted(entry.name for entry in (orbit / top).iterdir())
    except OSError:
        return

    for name in names:
        path = f"{top}/{name}"
        here = orbit / path
        if name.startswith(".") or (status is None and name in STATUSES and here.is_dir()):
            continue

        if here.is_symlink():
            strays.append(path)
        elif here.is_dir():
            siblings = tuple(_siblings(here))
            record_file = f"{kind}.yaml"
            if record_file in siblings:
                other_files = tuple(file for file in siblings if file != record_file)
                yield _read(orbit, kind, f"{path}/{record_file}", path, other_files, status)
            else:
                strays += (f"{path}/{file}" for file in siblings)
        elif name.endswith(".yaml") and _ID[kind].match(name.removesuffix(".yaml")):
            yield _read(orbit, kind, path, None, (), status)
        else:
            strays.append(path)


def _siblings(folder: Path) -> Iterator[str]:
    for parent, folders, files in os.walk(folder):
        folders.sort()
        prefix = Path(parent).relative_to(folder).as_posix()
        yield from (name if prefix == "." else f"{prefix}/{name}" for name in sorted(files))


def _read(
    orbit: Path,
    kind: str,
    path: str,
    folder: str | None,
    siblings: tuple[str, ...],
    status: str | None,
) -> ForeignRecord:
    data, text, problem = {}, "", None
    try:
        content = read_text(orbit / path)
        value = {"uid": ""} if _OURS_BY_UID.search(content) else load(content)
        if isinstance(value, dict):
            data, text = value, content
        else:
            problem = "the file holds no mapping"
    except YamlProblemError as error:
        position = error.problem.position
        where = f"line {position.line}, column {position.column}: " if position else ""
        problem = f"{where}{error.problem.message}"
    except OrbitError as error:
        problem = error.message.replace(f"{orbit}{os.sep}", "")

    return ForeignRecord(kind, path, folder, siblings, data, text, status, problem)


ADR_STATUS = {
    "proposed": "proposed",
    "accepted": "accepted",
    "superseded": "superseded",
    "deleted": "rejected",
}
"""`deleted` there is a rejected proposal."""
_PEOPLE = frozenset({"human", "user", "me"})
_MOMENT = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2})\Z")
_KEY = re.compile(r"[^A-Za-z0-9_.-]+")
_EVIDENCE = frozenset({"task", "commit", "file", "session", "record", "issue", "pr", "external"})
_ADR_KEYS = frozenset(
    {
        "schema_version",
        "id",
        "title",
        "status",
        "owner",
        "created_at",
        "last_updated",
        "accepted_at",
        "related_features",
        "related_tasks",
        "tags",
        "paths",
        "supersedes",
        "superseded_by",
        "legacy_ids",
        "validation_warnings",
        "legacy_validation",
    }
)
_LEARNING_KEYS = frozenset(
    {
        "schema_version",
        "schemaVersion",
        "id",
        "status",
        "scope",
        "summary",
        "body",
        "evidence",
        "supersedes",
        "superseded_by",
        "legacy_ids",
        "created_at",
        "updated_at",
        "created_by",
        "priority",
    }
)
LONGEST_SUMMARY = 280  # characters, by the schema of learnings
Renamed = Mapping[str, str]  # old ids with their new ones


@dataclass(slots=True)
class Mapped:
    """Fields in this tool's format, and notes on what changed."""

    fields: dict[str, object]
    changed: list[str] = field(default_factory=list)


def adr_fields(
    data: Mapping[str, object], status_folder: str | None, renamed: Renamed, now: str
) -> Mapped:
    """Return the fields of a decision."""
    mapped = Mapped({})
    status = _text(data.get("status")) or status_folder or ""
    features = _list(data.get("related_features"))
    feature = features[0] if features and FEATURE.match(features[0]) else None
    accepted = _text(data.get("accepted_at"))
    fields = mapped.fields
    fields["title"] = cut_line(_text(data.get("title")), 300)
    fields["status"] = ADR_STATUS.get(status, "unknown")
    is_same = fields["status"] == status
    fields["status_raw"] = None if is_same else status
    fields["date"] = accepted[:10] if _MOMENT.match(accepted) else None
    fields["tasks"] = words(_list(data.get("related_tasks")))
    fields["feature"] = feature
    fields["labels"] = words(features if feature is None else features[1:])
    fields["scope"] = _scope({"paths": data.get("paths"), "tags": data.get("tags")})
    fields["created_by"] = _author(_text(data.get("owner")))
    fields["x-accepted_at"] = accepted
    fields["x-validation_warnings"] = data.get("validation_warnings")
    validation = data.get("legacy_validation")
    fields["x-legacy_validation"] = None if validation == "none" else validation

    fields |= _common(data, renamed)
    fields |= _times(data, "last_updated", now, mapped)
    fields |= _unknown(data, _ADR_KEYS, mapped)

    if not is_same:
        mapped.changed.append(
            f"its status `{status}` is {mapped.fields['status']} here; status_raw keeps the word"
        )

    _say_folder(mapped, data, status_folder, status)
    return mapped


def learning_fields(
    data: Mapping[str, object], status_folder: str | None, renamed: Renamed, now: str
) -> Mapped:
    """Return the fields of a learning; see `adr_fields`."""
    mapped = Mapped({})
    scope = data.get("scope")
    status = _text(data.get("status")) or (
        "superseded" if status_folder == "superseded" else "active"
    )
    archived = status == "superseded" and not _list(data.get("superseded_by"))
    summary = _text(data.get("summary"))
    short = cut_line(summary, LONGEST_SUMMARY)
    fields = mapped.fields
    fields["status"] = "retired" if archived else status
    fields["x-status_raw"] = status if archived else None
    fields["summary"] = short
    fields["x-summary"] = summary if short != summary.strip() else None
    fields["body"] = _text(data.get("body"))
    fields["scope"] = _scope(scope if isinstance(scope, Mapping) else {})
    fields["evidence"] = _evidence(data.get("evidence"))
    fields["priority"] = data.get("priority")
    fields["created_by"] = _author(_text(data.get("created_by")))
    fields |= _common(data, renamed)
    fields |= _times(data, "updated_at", now, mapped)
    fields |= _unknown(data, _LEARNING_KEYS, mapped)

    _say_folder(mapped, data, status_folder, status)

    if archived:
        mapped.changed.append("superseded by nothing, so it is retired here")

    if mapped.fields["x-summary"]:
        mapped.changed.append(
            f"its summary is made one line of at most {LONGEST_SUMMARY} characters; x-summary "
            f"keeps all of it"
        )

    return mapped


def _say_folder(
    mapped: Mapped, data: Mapping[str, object], folder: str | None, status: str
) -> None:
    if folder is not None and data.get("status") and folder != status:
        mapped.fields["x-status_folder"] = folder
        mapped.changed.append(
            f"its file says {status} and its folder {folder}; the file's is taken"
        )


def _common(data: Mapping[str, object], renamed: Renamed) -> dict[str, object]:
    common: dict[str, object] = {}
    for key in ("supersedes", "superseded_by"):
        names = [renamed.get(name, name) for name in _list(data.get(key))]
        common[key] = list(dict.fromkeys(names))

    legacy = [re.sub(r"\s+", "-", name.strip()) for name in _list(data.get("legacy_ids"))]
    common["legacy_ids"] = list(dict.fromkeys(legacy))
    return common


def _scope(data: Mapping[str, object]) -> dict[str, object]:
    paths = [path.strip() for path in _list(data.get("paths"))]
    scope: dict[str, object] = {"paths": list(dict.fromkeys(filter(None, paths)))}
    scope["tags"] = words(_list(data.get("tags")))
    scope["symbols"] = list(dict.fromkeys(_list(data.get("symbols"))))
    scope["semantic_seed"] = _text(data.get("semantic_seed"))
    for key, value in data.items():
        if key not in scope:
            scope[f"x-{_KEY.sub('-', key)}"] = value

    return {name: value for name, value in scope.items() if value not in ([], "", None)}


def _evidence(value: object) -> list[object]:
    entries: list[object] = []
    for entry in value if isinstance(value, list) else ():
        if not isinstance(entry, Mapping):
            entries.append({"kind": "external", "reference": cut_line(str(entry), 2000)})
            continue

        kind, reference = (
            _text(entry.get("kind")),
            _text(entry.get("reference") or entry.get("ref")),
        )
        is_standard = kind in _EVIDENCE
        label = reference if is_standard else f"{kind}:{reference}"
        entries.append({"kind": kind if is_standard else "external", "reference": label})

    return entries


def _author(name: str) -> dict[str, object] | None:
    if not name.strip():
        return None

    role = "human" if name.lower() in _PEOPLE else "agent"
    if name.startswith("legacy:"):
        role = "import"

    return {"name": cut_line(name, 200), "role": role}


def _times(data: Mapping[str, object], updated: str, now: str, mapped: Mapped) -> dict[str, object]:
    times: dict[str, object] = {}
    created = _moment(data.get("created_at"))
    for ours, theirs, other in (
        ("created_at", "created_at", None),
        ("updated_at", updated, created),
    ):
        value = data.get(theirs)
        moment = _moment(value)
        times[ours] = moment or other or now

        if moment is None:
            if value is not None:
                times[f"x-{ours}"] = value
            mapped.changed.append(
                f"its {theirs} is not a time with a zone, so {ours} is {times[ours]}"
            )

    return times


def _moment(value: object) -> str | None:
    text = _text(value).strip()
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        return None
    if _MOMENT.match(text):
        return text
    if "T" in text or " " in text:
        return format_time(at.replace(tzinfo=at.tzinfo or UTC))

    return None


def _unknown(
    data: Mapping[str, object], standard: frozenset[str], mapped: Mapped
) -> dict[str, object]:
    extra: dict[str, object] = {}
    for key, value in data.items():
        if key not in standard and value not in (None, [], {}, ""):
            name = key if key.startswith("x-") else f"x-{_KEY.sub('-', key)}"
            extra[name] = value
            mapped.changed.append(f"the field {key} is kept as {name}")
    return extra


def _text(value: object) -> str:
    if value is None:
        return ""

    return str(value)


def _list(value: object) -> list[str]:
    if isinstance(value, list):
        return [_text(part) for part in value if _text(part).strip()]
    if _text(value).strip():
        return [_text(value)]

    return []


_STATUS_LINE = re.compile(
    r"\A[ \t]*(?:[-*][ \t]+)?[*_]{0,2}Status[*_]{0,2}[ \t]*:.*$", re.IGNORECASE | re.MULTILINE
)
_RULE = re.compile(r"^[ \t]*(?:-{3,}|\*{3,}|_{3,})[ \t]*$", re.MULTILINE)
_LINK = re.compile(r"\[([^\[\]]{0,300})\]\([^()\s]{1,500}\)")
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class ProseHome:
    """The document entry with a decision's prose."""

    document: Document
    entry: AdrDocument

    @property
    def heading(self) -> str:
        """The `source.heading` of the record."""
        return f"ADR-{self.entry.number}"

    @property
    def local_name(self) -> str:
        """The entry's name among all logs: `feature/ADR-001`."""
        return f"{posixpath.basename(posixpath.dirname(self.document.path))}/{self.heading}"


def find_homes(
    workspace: Workspace,
    decisions: Sequence[tuple[str, ForeignRecord]],
    records: Sequence[Record],
    body_of: Callable[[ForeignRecord], str],
) -> tuple[dict[str, ProseHome], int]:
    """Return the entry of each decision by its new id,
    and the number of entries without a record; `body_of` reads the text of one decision's folder.
    """
    claimed = {
        (record.source.path, record.source.heading)
        for record in records
        if record.source is not None
    }

    entries: dict[str, list[ProseHome]] = defaultdict(list)
    for document in _logs(workspace):
        for entry in document.file.entries:
            home = ProseHome(document, entry)
            if (document.path, home.heading) not in claimed:
                entries[home.heading].append(home)

    by_id: dict[str, list[tuple[str, ForeignRecord]]] = defaultdict(list)
    for record_id, foreign in decisions:
        by_id[foreign.id].append((record_id, foreign))

    homes: dict[str, ProseHome] = {}
    for record_id, foreign in decisions:
        candidates = [
            home
            for home in entries.get(foreign.id, ())
            if _is_home(home, foreign.data, body_of(foreign))
        ]
        if candidates:
            best = max(candidates, key=lambda home: _fit(home, foreign.data))
            competitors = [other for other in by_id[foreign.id] if other[0] != record_id]
            if any(_fit(best, other.data) > _fit(best, foreign.data) for _, other in competitors):
                continue
            homes[record_id] = best
            entries[foreign.id].remove(best)

    named_ids: set[str] = set()
    for _, foreign in decisions:
        named_ids.update(_list(foreign.data.get("legacy_ids")))
    for record in records:
        named_ids.update(record.legacy_ids)

    left = [home.local_name for home in chain.from_iterable(entries.values())]
    spare = sum(name not in named_ids for name in left)
    return homes, spare


def _logs(workspace: Workspace) -> Iterable[Document]:
    for path in sorted(set(decision_paths(workspace))):
        document = Document(path, document_text(workspace.root, path) or "")
        if document.file.format == "log":
            yield document


def _fit(home: ProseHome, data: Mapping[str, object]) -> tuple[bool, bool, float]:
    title = _words(str(data.get("title", "")))
    heading = _words(home.entry.title)
    features = data.get("related_features")
    feature = posixpath.basename(posixpath.dirname(home.document.path))
    shared = len(set(title) & set(heading)) / max(1, len(set(title) | set(heading)))
    return title == heading, isinstance(features, list) and feature in features, shared


def _is_home(home: ProseHome, data: Mapping[str, object], body: str) -> bool:
    feature = posixpath.basename(posixpath.dirname(home.document.path))
    features = data.get("related_features")
    names = [str(name) for name in features] if isinstance(features, list) else []
    text = entry_text(home.document, home.entry)
    document = DecisionText(home.entry.title, (feature,), text)
    record = DecisionText(str(data.get("title", "")), names, body or str(data.get("body") or ""))
    return same_decision(document, record)


_STORE = re.compile(
    r"\.orbit/adrs?\b|\borbit[ .]adr[ .]show\b|\badr store\b|\bbody\.md\b"
    r"|\bsee (?:the )?(?:full|whole) (?:adr|record|text)\b",
    re.IGNORECASE,
)
STUB = 0.5  # most words of an entry that only points to a body, as a part of the body's


def is_stub(body: str, entry: str) -> bool:
    """Say whether a log's entry is one line, or points to the store,
    where the body says much more.
    """
    text = _bare(entry)
    if len(_words(text)) > STUB * len(_prose_words(body)):
        return False
    return len(list(filter(str.strip, text.splitlines()))) <= 1 or _STORE.search(text) is not None


def same_prose(body: str, entry: str) -> bool:
    """Say whether two texts have the same words, apart from status line, rules,
    link targets and markup.
    """
    return _prose_words(body) == _prose_words(entry)


def same_words(title: str, other_title: str) -> bool:
    """Say whether two titles differ in markup and case only."""
    return _words(title) == _words(other_title)


def _prose_words(text: str) -> list[str]:
    return _words(_bare(text))


def _bare(text: str) -> str:
    return _RULE.sub(" ", _LINK.sub(r"\1", _STATUS_LINE.sub(" ", text.strip(), count=1)))


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())
