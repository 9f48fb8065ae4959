"""Inheritance: copies of the records of another repository, fetched with git or from a lake,
pinned by a digest.
"""

import hashlib
import json
import posixpath
import re
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from orbit_fleet.database import query
from orbit_fleet.lake import Lake
from orbit_fleet.rows import refuse_unread
from orbit_registry.errors import (
    ForeignWorkspaceError,
    GitError,
    LakeError,
    UsageError,
    WorkspaceNotFoundError,
    did_you_mean,
)
from orbit_registry.formats.markdown import parse_markdown, path_from_root, split_link
from orbit_registry.formats.yaml import dump, load
from orbit_registry.formats.yaml_edit import rewrite
from orbit_registry.model.ids import is_safe_id
from orbit_registry.model.kind import Kind, KindTable
from orbit_registry.model.record import BODY
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

    def as_data(self) -> dict[str, object]:
        """Return the update as JSON shows it."""
        return asdict(self)


def update(workspace: Workspace, name: str | None, *, dry_run: bool = False) -> list[Update]:
    """Fetch the records that `extends` names, replace their copies and move the pins.

    Raises:
        UsageError: `extends` has no such name, or is empty.
    """
    names = [entry.name for entry in workspace.config.extends]
    if not names:
        hint = (
            "write `extends: [{name: org, from: ADDRESS}]` there; the address is one for "
            "`git clone`"
        )
        raise UsageError(f"{CONFIG} extends no other repository", hint=hint)

    if name is not None and name not in names:
        raise UsageError(
            f"extends has no {name!r}",
            hint=f"{did_you_mean(name, names)}there is {', '.join(names)}",
        )

    chosen = [entry for entry in workspace.config.extends if name in (None, entry.name)]
    fetched = {
        entry.name: copied_files(workspace.kinds, entry.name, _rows(workspace, entry))
        for entry in chosen
    }
    with writing(workspace):
        changes = ChangeSet(workspace)
        updates = [_planned(workspace, changes, entry, fetched[entry.name]) for entry in chosen]
        digests = {each.name: each.digest for each in updates}
        text = changes.text(CONFIG) or ""
        config = load(text)
        assert isinstance(config, dict)

        entries = [
            {**entry, "digest": digests.get(entry["name"], entry.get("digest", ""))}
            for entry in config["extends"]
        ]
        entries = [{key: value for key, value in entry.items() if value} for entry in entries]
        changes.put(
            f"{INHERITED}/.gitattributes", "* -text\n"
        )  # other line ends would be another copy
        changes.put(
            CONFIG, rewrite(text, {**config, "extends": entries}, order=config_schema().properties)
        )

        if not dry_run:
            write_step(workspace, UPDATE, changes.changes, taken_over=True)

    return updates


def _planned(
    workspace: Workspace, changes: ChangeSet, entry: Extension, files: Mapping[str, str]
) -> Update:
    """Put the new copy of a source into a change set, and return what changes."""
    folder = f"{INHERITED}/{entry.name}"
    before = [path.removeprefix(f"{folder}/") for path in walk(workspace.root, folder)]
    for path in {*before, *files}:
        changes.put(f"{folder}/{path}", files.get(path))

    touched = {change.path.removeprefix(f"{folder}/") for change in changes.changes}
    old, new, changed = (
        {path.split("/")[1] for path in paths if path.count("/") == 2}
        for paths in (before, files, touched)
    )
    return Update(
        entry.name,
        entry.public_address,
        entry.digest,
        copy_digest(
            (path, hashlib.sha256(text.encode()).hexdigest()) for path, text in files.items()
        ),
        len(new),
        tuple(sorted(new - old)),
        tuple(sorted(changed & new & old)),
        tuple(sorted(old - new)),
    )


def _rows(workspace: Workspace, entry: Extension) -> Iterator[Mapping[str, str]]:
    """Yield kind, data and long text of each record that a source publishes."""
    if entry.repository:
        answer = query(
            Lake(entry.address),
            f"SELECT {', '.join(_COLUMNS)} FROM records ORDER BY id",
            entry.repository,
        )
        if any(row[1] is None for row in answer.rows):
            hint = "push it with this version: `orbit fleet push DEST --force`"
            raise LakeError(f"{entry.name}: an older Orbit pushed {entry.repository}", hint=hint)

        yield from (
            dict(zip(_COLUMNS, (str(value or "") for value in row), strict=True))
            for row in answer.rows
        )
        return

    with tempfile.TemporaryDirectory(prefix="orbit-extends-") as folder:
        clone = Path(folder).resolve() / "source"
        arguments = (
            "--quiet",
            "--depth=1",
            "--no-tags",
            "--template=",
            "--",
            entry.address,
            str(clone),
        )
        try:
            Git(workspace.root).run(
                "clone", *arguments, settings=("-c", "protocol.ext.allow=never")
            )
        except GitError as error:
            hint = "see that the address is right and that you may read it: `git ls-remote ADDRESS`"
            cause = without_user(error.message)
            raise LakeError(
                f"{entry.name}: {entry.public_address} can't be fetched: {cause}", hint=hint
            ) from None

        try:
            source = find_workspace(
                clone
            )  # it follows no link, which could lead to records of this machine
        except (WorkspaceNotFoundError, ForeignWorkspaceError) as error:
            hint = "run `orbit init` in that repository, and commit its records"
            raise LakeError(
                f"{entry.name}: {entry.public_address} has no records of Orbit", hint=hint
            ) from error

        unfiltered = not source.config.publish.is_set
        reading = Reading(source)
        refuse_unread(reading, f"{entry.name}: ")
        rows = shared_rows(source, reading, unfiltered=unfiltered, only_shown=True)
        yield from map(json.loads, rows.shared.get("records", ()))


def copied_files(
    kinds: KindTable, source: str, rows: Iterable[Mapping[str, str]]
) -> dict[str, str]:
    """Return the files of a copy by their paths in it:
    those that are shown to agents, or were closed.
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
        copy = _copied(kind, data, chosen)

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


def _copied(kind: Kind, data: Mapping[str, object], ids: Mapping[str, object]) -> dict[str, object]:
    """Return the data of a record without what means nothing outside its repository."""
    copy = {name: value for name, value in data.items() if name not in _LOCAL}
    copy |= {
        name: [each for each in list_in(data, name) if each in ids]
        for name in ID_LISTS
        if name in data
    }

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
    edits: list[tuple[int, int, str]] = []
    for link in parse_markdown(text).links if "]" in text else ():
        if _ELSEWHERE.match(link.target):
            continue

        copy = copies.get(path_from_root(split_link(link.target)[0], posixpath.dirname(origin)))
        target = link.target_span if copy and link.kind != "image" else None
        if copy and target and link.span.start < target.start < link.span.end:
            span, words = target, posixpath.relpath(copy, posixpath.dirname(path))
        else:
            span, words = link.span, link.text

        edits.append((span.start, span.end, words))

    pieces, end = [], 0
    for start, stop, words in sorted(edits):
        if start >= end:  # a picture in a link that is words alone went with it
            pieces += [text[end:start], words]
            end = stop

    return "".join([*pieces, text[end:]])


def _cited(kinds: KindTable, source: str, ids: Mapping[str, object], text: str) -> str:
    """Return a text in which copied records are cited by the ids that they have here."""
    pieces, end = [], 0
    for citation in in_text(text, "record.md", kinds.id_forms):
        if citation.id in ids:
            pieces += [text[end : citation.span.start], f"{source}:"]
            end = citation.span.start
    return "".join([*pieces, text[end:]])
