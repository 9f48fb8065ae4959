"""Inheritance: copies of the records of another repository, fetched with git or from a lake,
pinned by a digest.
"""

import hashlib
import json
import posixpath
import re
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from orbit_fleet.engines import query
from orbit_fleet.lake import Lake
from orbit_fleet.names import origin_in
from orbit_fleet.rows import refuse_unread
from orbit_fleet.sources import READABLE
from orbit_registry.errors import (
    ForeignWorkspaceError,
    GitError,
    LakeError,
    RefusedError,
    UsageError,
    WorkspaceNotFoundError,
    did_you_mean,
    plural,
)
from orbit_registry.formats.links import path_from_root, split_link
from orbit_registry.formats.markdown import parse_markdown
from orbit_registry.formats.yaml import dump, load
from orbit_registry.formats.yaml_edit import rewrite
from orbit_registry.model.ids import is_safe_id
from orbit_registry.model.kind import Kind, KindTable
from orbit_registry.model.record import BODY
from orbit_registry.operations.citation_rewrite import spliced
from orbit_registry.operations.citations import in_text
from orbit_registry.repository.codec import decode_record, list_in, mapping_in, ordered
from orbit_registry.repository.guard import UPDATE, write_step
from orbit_registry.repository.inherited import ID_LISTS, copy_digest, is_inheritable
from orbit_registry.repository.reader import Reading
from orbit_registry.repository.writer import ChangeSet, writing
from orbit_registry.snapshot.export import shared_rows
from orbit_registry.workspace.config import Extension, config_schema, without_user
from orbit_registry.workspace.files import walk
from orbit_registry.workspace.git import Git
from orbit_registry.workspace.workspace import CONFIG, INHERITED, Workspace, find_workspace

_COLUMNS = ("kind", "data", "body", "path", "source_path")
_ELSEWHERE = re.compile(
    r"[A-Za-z][A-Za-z0-9+.-]*:|//|#"
)  # how a link begins that leads to no file of the source
_LOCAL = (
    "source",
    "legacy_ids",
    "evidence",
    "approval",
)  # fields that say something of the source's files alone


@dataclass(frozen=True, slots=True)
class Update:
    """What an update of one source changed, or would change."""

    name: str
    address: str
    before: str  # the pinned digest
    digest: str
    records: int
    added: tuple[str, ...]
    changed: tuple[str, ...]
    gone: tuple[str, ...]
    through: tuple[str, ...] = ()  # the sources that pass it on

    def as_data(self) -> dict[str, object]:
        """Return the update as JSON shows it."""
        return asdict(self)

    def text(self) -> str:
        """Return the update for people: counts, the ids that changed, the new digest."""
        name, total = self.name, plural(self.records, "record")
        if self.through:
            name += f" through {' and '.join(self.through)}"

        if self.digest == self.before and not (self.added or self.changed or self.gone):
            return f"{name}: nothing changed, {total}"

        counts = f"{len(self.added)} added, {len(self.changed)} changed, {len(self.gone)} gone"
        lines = [f"{name}: {counts}, {total} in all"]
        for mark, ids in (("+", self.added), ("~", self.changed), ("-", self.gone)):
            lines += [f"  {mark} {self.name}:{record_id}" for record_id in ids]

        return "\n".join([*lines, f"  {self.digest}"])


Files = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class _Copy:
    """A source with the files of its copy, by their paths in it."""

    entry: Extension
    files: Files


@dataclass(frozen=True, slots=True)
class _Fetched:
    """What a source has: its own records, and the copies that it inherits itself."""

    copy: _Copy
    passed_on: tuple[_Copy, ...] = ()


def update(workspace: Workspace, name: str | None, *, dry_run: bool = False) -> list[Update]:
    """Fetch the records that `extends` names, with those that their sources inherit; replace the
    copies and move the pins.

    Raises:
        UsageError: `extends` has no such name, or is empty.
        RefusedError: two sources pass on different copies of one.
    """
    entries = workspace.config.extends
    direct = [entry for entry in entries if not entry.through]
    _refuse_name(name, [entry.name for entry in direct])
    chosen = [entry for entry in direct if name in (None, entry.name)]
    fetched = [_fetch(workspace, entry) for entry in chosen]
    others = [entry for entry in direct if entry not in chosen]

    with writing(workspace):
        remaining = [_as_before(workspace, entry) for entry in others]
        passed_on = _passed_on([*fetched, *remaining], direct)
        before = {entry.name: entry.digest for entry in entries}
        copies = [*(each.copy for each in fetched), *passed_on]
        names = {copy.entry.name for copy in copies}
        for entry in entries:
            if entry.through and entry.name not in names:
                copies.append(_Copy(entry, {}))  # no source passes it on any more

        changes = ChangeSet(workspace)
        updates = [_planned(workspace, changes, copy, before) for copy in copies]
        changes.put(f"{INHERITED}/.gitattributes", "* -text\n")  # other line ends are another copy
        _put_pins(changes, updates, passed_on)
        if not dry_run:
            write_step(workspace, UPDATE, changes.changes, taken_over=True)

    return updates


def _refuse_name(name: str | None, names: Sequence[str]) -> None:
    if not names:
        hint = (
            "write `extends: [{name: org, from: ADDRESS}]` there; the address is one for "
            "`git clone`"
        )
        raise UsageError(f"{CONFIG} extends no other repository", hint=hint)

    if name is not None and name not in names:
        hint = f"{did_you_mean(name, names)}there is {', '.join(names)}"
        raise UsageError(f"extends has no {name!r}", hint=hint)


def _as_before(workspace: Workspace, entry: Extension) -> _Fetched:
    """Return a source that is not fetched now, with the copies that it passed on before."""
    passed_on = []
    for other in workspace.config.extends:
        if entry.name in other.through:
            passed_on.append(_Copy(other, _copy_in(workspace, other.name)))

    return _Fetched(_Copy(entry, {}), tuple(passed_on))


def _copy_in(workspace: Workspace, name: str) -> Files:
    """Return the files of a copy that a repository has."""
    folder = f"{INHERITED}/{name}"
    files = {}
    for path in walk(workspace.root, folder):
        text = (workspace.root / path).read_bytes().decode("utf-8")
        files[path.removeprefix(f"{folder}/")] = text

    return files


def _passed_on(sources: Sequence[_Fetched], direct: Sequence[Extension]) -> list[_Copy]:
    """Return the copies that sources pass on, each once; one that is named here is not taken.

    Raises:
        RefusedError: two of them have one name and are not the same.
    """
    here = {entry.name: entry for entry in direct}
    result: dict[str, _Copy] = {}
    for source in sources:
        parent = source.copy.entry.name
        for copy in source.passed_on:
            entry = copy.entry
            if entry.name in here:
                _refuse_another(here[entry.name], entry, parent)
                continue

            through: tuple[str, ...] = (parent,)
            before = result.get(entry.name)
            if before is not None:
                _refuse_different(before.entry, entry, parent)
                through = (*before.entry.through, parent)

            result[entry.name] = replace(copy, entry=replace(entry, through=through))

    return list(result.values())


def _refuse_another(ours: Extension, theirs: Extension, parent: str) -> None:
    if _identity(ours) == _identity(theirs):
        return

    message = (
        f"{parent} inherits {theirs.name} from {theirs.public_address}, and {ours.name} is "
        f"{ours.public_address} here"
    )
    raise RefusedError(message, hint=f"give {ours.name} another name in `extends`")


def _refuse_different(first: Extension, second: Extension, parent: str) -> None:
    if first.digest == second.digest:
        return

    message = (
        f"{first.through[0]} inherits {first.name} at {first.digest[:19]}, and {parent} inherits "
        f"{second.name} at {second.digest[:19]}"
    )
    hint = f"name {first.name} in `extends` here: then this repository pins the one that counts"
    raise RefusedError(message, hint=hint)


def _identity(entry: Extension) -> tuple[str, str]:
    return origin_in(entry.address) or entry.address, entry.repository


def _put_pins(changes: ChangeSet, updates: Sequence[Update], passed_on: Sequence[_Copy]) -> None:
    """Write the digests to the configuration, and the sources that others pass on."""
    text = changes.text(CONFIG) or ""
    config = load(text)
    assert isinstance(config, dict)
    digests = {each.name: each.digest for each in updates}

    entries = []
    for entry in config["extends"]:
        if not entry.get("through"):
            digest = digests.get(entry["name"], entry.get("digest"))
            entries.append({**entry, "digest": digest} if digest else entry)

    for copy in passed_on:
        entry = {"name": copy.entry.name, "from": copy.entry.public_address}
        if copy.entry.repository:
            entry["repository"] = copy.entry.repository
        through = {"digest": copy.entry.digest, "through": list(copy.entry.through)}
        entries.append({**entry, **through})

    new = {**config, "extends": entries}
    changes.put(CONFIG, rewrite(text, new, order=config_schema().properties))


def _planned(
    workspace: Workspace, changes: ChangeSet, copy: _Copy, pins: Mapping[str, str]
) -> Update:
    """Put the new copy of a source into a change set, and return what changes."""
    entry = copy.entry
    folder = f"{INHERITED}/{entry.name}"
    before = [path.removeprefix(f"{folder}/") for path in walk(workspace.root, folder)]
    for path in {*before, *copy.files}:
        changes.put(f"{folder}/{path}", copy.files.get(path))

    touched = {change.path.removeprefix(f"{folder}/") for change in changes.changes}
    old, new, changed = (_records_in(paths) for paths in (before, copy.files, touched))
    return Update(
        entry.name,
        entry.public_address,
        pins.get(entry.name, ""),
        _digest_of(copy.files),
        len(new),
        tuple(sorted(new - old)),
        tuple(sorted(changed & new & old)),
        tuple(sorted(old - new)),
        entry.through,
    )


def _records_in(paths: Iterable[str]) -> set[str]:
    return {path.split("/")[1] for path in paths if path.count("/") == 2}


def _digest_of(files: Files) -> str:
    hashes = {path: hashlib.sha256(text.encode()).hexdigest() for path, text in files.items()}
    return copy_digest(hashes.items())


def _fetch(workspace: Workspace, entry: Extension) -> _Fetched:
    """Return what a source publishes, and what it inherits."""
    if entry.repository:
        rows = _lake_rows(entry)
        return _Fetched(_Copy(entry, copied_files(workspace.kinds, entry.name, rows)))

    with tempfile.TemporaryDirectory(prefix="orbit-extends-") as folder:
        source = _clone(workspace, entry, Path(folder).resolve() / "source")
        passed_on = tuple(_inherited_by(source, entry.name))
        others: set[str] = set()
        for copy in passed_on:
            others.update(f"{copy.entry.name}:{each}" for each in _records_in(copy.files))

        reading = Reading(source)
        refuse_unread(reading, f"{entry.name}: ")
        unfiltered = not source.config.publish.is_set
        shared = shared_rows(source, reading, unfiltered=unfiltered, only_shown=True).shared
        rows = [json.loads(row) for row in shared.get("records", ())]
        kinds = workspace.kinds.with_sources(copy.entry.name for copy in passed_on)
        files = copied_files(kinds, entry.name, rows, others)
        return _Fetched(_Copy(entry, files), passed_on)


def _inherited_by(source: Workspace, name: str) -> Iterator[_Copy]:
    """Yield the copies that a source has, as it pins them.

    Raises:
        RefusedError: a copy is not the one that is pinned.
    """
    for entry in source.config.extends:
        files = _copy_in(source, entry.name)
        if _digest_of(files) != entry.digest:
            message = f"{name} has another copy of {entry.name} than the one that it pins"
            raise RefusedError(message, hint="run `orbit fleet update` there, and commit it")

        yield _Copy(entry, files)


def _lake_rows(entry: Extension) -> list[Mapping[str, str]]:
    """Return kind, data and long text of each record that a repository of a lake has."""
    select = f"SELECT {', '.join(_COLUMNS)} FROM records ORDER BY id"
    answer = query(Lake(entry.address), select, entry.repository)
    if any(row[1] is None for row in answer.rows):
        hint = "push it with this version: `orbit fleet push DEST --force`"
        raise LakeError(f"{entry.name}: an older Orbit pushed {entry.repository}", hint=hint)

    result: list[Mapping[str, str]] = []
    for row in answer.rows:
        texts = (str(value or "") for value in row)
        result.append(dict(zip(_COLUMNS, texts, strict=True)))

    return result


def _clone(workspace: Workspace, entry: Extension, clone: Path) -> Workspace:
    words = ("--quiet", "--depth=1", "--no-tags", "--template=", "--", entry.address, str(clone))
    try:
        settings = ("-c", "protocol.ext.allow=never")
        Git(workspace.root).run("clone", *words, settings=settings)
    except GitError as error:
        cause = without_user(error.message)
        message = f"{entry.name}: {entry.public_address} can't be fetched: {cause}"
        raise LakeError(message, hint=READABLE) from None

    try:
        return find_workspace(clone)  # follows no link, which could lead to records of this machine
    except (WorkspaceNotFoundError, ForeignWorkspaceError) as error:
        hint = "run `orbit init` in that repository, and commit its records"
        message = f"{entry.name}: {entry.public_address} has no records of Orbit"
        raise LakeError(message, hint=hint) from error


def copied_files(
    kinds: KindTable,
    source: str,
    rows: Iterable[Mapping[str, str]],
    others: Set[str] = frozenset(),
) -> dict[str, str]:
    """Return the files of a copy by their paths in it: those that are shown to agents, or were
    closed. `others` are ids of records that the source inherits itself.
    """
    chosen: dict[str, tuple[Kind, dict[str, object], Mapping[str, str]]] = {}
    for row in rows:
        data = json.loads(row["data"])
        kind = next(
            (each for each in kinds if each.name == row["kind"] and is_inheritable(each)), None
        )
        status = kind.statuses.get(data["status"]) if kind is not None else None
        if kind is None or status is None or not is_safe_id(data["id"]):
            continue
        if status.pushed or (status.phase == "closed" and not kind.is_rejection(status)):
            chosen[data["id"]] = kind, data, row

    homes = Counter(row["source_path"] for _, _, row in chosen.values())
    copies = {
        row["source_path"]: f"{posixpath.dirname(kind.file_of(record_id))}/{BODY}"
        for record_id, (kind, _, row) in chosen.items()
        if homes[row["source_path"]] == 1  # a link to a log names no record
    }

    files: dict[str, str] = {}
    for record_id, (kind, data, row) in chosen.items():
        path = kind.file_of(record_id)
        text = _with_links(row["body"], row["source_path"] or row["path"], path, copies)
        text = _cited(kinds, source, chosen, text)
        copy = _copied(kind, data, chosen.keys() | others)

        if kind.in_record:
            copy[kind.prose] = text

        yaml_text = dump(ordered(copy, kind.schema.properties))
        if decode_record(yaml_text, kind, path, explain=False)[0] is None:
            hint = "upgrade Orbit here, or push the records with the version that is here"
            raise LakeError(f"{source}: this Orbit can't read {record_id}", hint=hint)

        files[path] = yaml_text

        if kind.in_document and text:
            files[f"{path.rpartition('/')[0]}/{BODY}"] = f"{text}\n"

    return files


def _copied(kind: Kind, data: Mapping[str, object], ids: Set[str]) -> dict[str, object]:
    """Return the data of a record without what means nothing outside its repository."""
    copy = {name: value for name, value in data.items() if name not in _LOCAL}
    for name in ID_LISTS:
        if name in data:
            copy[name] = [each for each in list_in(data, name) if each in ids]

    links = (
        link
        for link in list_in(data, "links")
        if isinstance(link, Mapping) and link.get("to") in ids
    )
    copy["links"] = list(links)
    copy["freshness"] = {
        key: value for key, value in mapping_in(data, "freshness").items() if key != "fingerprint"
    }
    return {name: value for name, value in copy.items() if value not in ([], {})}


def _with_links(text: str, origin: str, path: str, copies: Mapping[str, str]) -> str:
    """Return a text in which links to files of the source lead to their copies;
    others are their words alone.
    """
    edits = {}
    for link in parse_markdown(text).links if "]" in text else ():
        if _ELSEWHERE.match(link.target):
            continue

        copy = copies.get(path_from_root(split_link(link.target)[0], posixpath.dirname(origin)))
        target = link.target_span if copy and link.kind != "image" else None
        if copy and target and link.span.start < target.start < link.span.end:
            span, words = target, posixpath.relpath(copy, posixpath.dirname(path))
        else:
            span, words = link.span, link.text

        # A picture in a link that is words alone goes with it.
        edits[span.start, span.end] = words

    return spliced(text, edits)


def _cited(kinds: KindTable, source: str, ids: Mapping[str, object], text: str) -> str:
    """Return a text in which copied records are cited by the ids that they have here."""
    edits = {}
    for citation in in_text(text, "record.md", kinds.id_forms):
        if citation.id in ids:
            edits[citation.span.start, citation.span.start] = f"{source}:"

    return spliced(text, edits)
