"""Resources as a tree of plain files: `{project}/{docs,scripts}/{version|shared|unversioned}/NAME`.

A list outside the repository says which files an export wrote, with their hashes: a later one
removes only those, and none that was edited since.
"""

import contextlib
import hashlib
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from orbit_registry.errors import OrbitError, RefusedError
from orbit_registry.exchange.exporters.rules import Change, apply_changes, differences
from orbit_registry.exchange.resources.intake import KIND, LARGEST, SCRIPT, raw_digest, stored_path
from orbit_registry.formats.secrets import find_secrets
from orbit_registry.model.record import Record
from orbit_registry.repository.reader import read_collection
from orbit_registry.workspace.files import (
    DOCUMENT_LIMIT,
    inside,
    is_inside,
    read_bytes,
    write_atomic,
)
from orbit_registry.workspace.workspace import ORBIT, Workspace

_FOLDERS = {SCRIPT: "scripts"}
_NO_NAME = re.compile(r"[^\w.+ -]+")


@dataclass(frozen=True, slots=True)
class Reference:
    """A tree of files: the changes, and notes on what stays or is left out, and why."""

    folder: Path
    list: Path  # where it is kept what was written there
    files: Mapping[str, bytes]
    changes: tuple[Change, ...]
    executable: frozenset[str]
    notes: tuple[str, ...]


def plan(workspace: Workspace, folder: Path) -> Reference:
    """Return what writing the tree into a folder would do."""
    target = Path(os.path.abspath(folder))  # noqa: PTH100 - a link stays one, to be refused
    name = hashlib.sha256(os.fsencode(target)).hexdigest()[:32]
    listed = workspace.private / "reference" / f"{name}.json"
    is_occupied = target.is_dir() and not listed.is_file() and any(target.iterdir())
    no_folder = target.is_symlink() or (target.exists() and not target.is_dir())
    ours = (
        target.is_relative_to(workspace.orbit)
        or workspace.root.is_relative_to(target)
        or ".git" in target.parts
    )

    if ours or is_occupied or no_folder:
        reason = "other files share the folder"
        if is_occupied and not ours:
            reason = "it holds other files"

        hint = (
            f"name a new or empty folder, outside {ORBIT}; what was exported elsewhere and "
            f"came here goes first"
        )
        raise RefusedError(f"{folder} can't hold the tree: {reason}", hint=hint)

    notes: list[str] = []
    expected, executable = _expected_files(workspace, notes)
    exported = _exported_files(listed, target)
    current: dict[str, bytes | None] = {}

    for path in {*expected, *exported}:
        file = inside(target, path)
        if not os.path.lexists(file):
            current[path] = None
            continue

        content = read_bytes(file, limit=DOCUMENT_LIMIT)
        if content == expected.get(path) or raw_digest(content) == exported.get(path):
            current[path] = content
        else:
            notes.append(f"{path} is not what was written there, and stays")
            expected.pop(path, None)

    changes = tuple(differences(current, expected))
    programs = frozenset(executable & expected.keys())
    return Reference(target, listed, expected, changes, programs, tuple(sorted(notes)))


def write(reference: Reference) -> None:
    """Make the tree what it should be; what a killed run leaves, the next one knows as its own."""
    if not reference.changes:
        return

    digests = {path: raw_digest(content) for path, content in reference.files.items()}
    before = _exported_files(reference.list, reference.folder)
    _save_list(reference, {**before, **digests})
    apply_changes(reference.folder, reference.changes)

    for path in reference.executable:
        file = reference.folder / path
        file.chmod(file.stat().st_mode | 0o111)

    for change in reference.changes:
        if change.content is None:
            _remove_empty_folders(reference.folder, change.path)

    _save_list(reference, digests)


def _remove_empty_folders(folder: Path, path: str) -> None:
    for parent in (folder / path).parents:
        if parent == folder:
            break
        with contextlib.suppress(OSError):  # it holds other files, or is gone
            parent.rmdir()


def _expected_files(workspace: Workspace, notes: list[str]) -> tuple[dict[str, bytes], set[str]]:
    files: dict[str, bytes] = {}
    executable: set[str] = set()
    for record in read_collection(workspace).records.of_kind(KIND):
        source = record.source
        if source is None or record.phase != "live":
            continue

        try:
            file = inside(workspace.root, source.path)
            content = read_bytes(file, limit=LARGEST)
        except OrbitError as error:
            notes.append(f"{record.id} is left out: {error.message}")
            continue

        if any(find_secrets(content.decode("utf-8", "replace"))):
            notes.append(f"{record.id} is left out: its text holds a secret")
            continue

        path = _path_of(record, workspace.name, file.name)
        if path in files:
            path = _with_id(path, record.id)

        files[path] = content
        if os.access(file, os.X_OK):
            executable.add(path)

    return files, executable


def _path_of(record: Record, default: str, name: str) -> str:
    project = _NO_NAME.sub("-", record.text("project") or default).strip(". ") or "project"
    folder = _FOLDERS.get(record.text("type") or "", "docs")
    return f"{project}/{folder}/{stored_path(record.words('versions'), name)}"


def _with_id(path: str, record_id: str) -> str:
    """Return a path whose file's name ends in an id, before its suffix if it has one."""
    stem, dot, suffix = path.rpartition(".")
    if dot and "/" not in suffix:
        return f"{stem}-{record_id}.{suffix}"

    return f"{path}-{record_id}"


def _exported_files(listed: Path, folder: Path) -> dict[str, str]:
    try:
        stored = json.loads(read_bytes(listed, limit=DOCUMENT_LIMIT))
        files = [(str(path), str(digest)) for path, digest in stored["files"].items()]
    except (OrbitError, ValueError, RecursionError, TypeError, KeyError, AttributeError):
        return {}
    return {path: digest for path, digest in files if is_inside(folder, path)}


def _save_list(reference: Reference, files: Mapping[str, str]) -> None:
    listing = {"folder": str(reference.folder), "files": dict(sorted(files.items()))}
    write_atomic(reference.list, json.dumps(listing, indent=2, ensure_ascii=False) + "\n")
