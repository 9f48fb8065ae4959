"""Reads the files of an `.orbit/` that danieljhkim/orbit wrote, as they stand; what they mean is `orbit_fields`'.

adrs/<status>/ADR-0001/{adr.yaml, body.md}
learnings/L-0001/{learning.yaml, votes.jsonl, comments.jsonl}      also L20260517-1, the older ids
learnings/L-0001.yaml, learnings/superseded/L-0001.yaml             the oldest, flat form
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from orbit_registry.errors import OrbitError
from orbit_registry.formats.position import YamlProblemError
from orbit_registry.formats.yaml import load
from orbit_registry.workspace.files import TEMPORARY, read_text
from orbit_registry.workspace.workspace import RESERVED_NAMES

STATUSES = ("accepted", "superseded", "proposed", "deleted")
"""The status folders; where one id stands in two of them, the first in this order keeps it."""
ASIDE = "imported-from-orbit"
_ID = {"adr": re.compile(r"ADR-\d+\Z"), "learning": re.compile(r"L-?\d+(?:-\d+)?\Z")}
_RECORD = {"adr": "adr.yaml", "learning": "learning.yaml"}
_OURS_BY_UID = re.compile(r"(?m)^uid: [\"']?[0-9a-f]{32}\b")
_BLOCK = re.compile(r":[ \t]+[|>][0-9+-]{0,2}[ \t]*(?:#.*)?\Z|^[ \t]*-[ \t]+[|>][0-9+-]{0,2}[ \t]*\Z")
_DASHES = re.compile(r" *(?:- +)+(?=[^\s:|>]+:)")
_PLURAL = {"adr": "adrs", "learning": "learnings"}


@dataclass(frozen=True, slots=True)
class ForeignRecord:
    """One foreign record: its files (paths from the `.orbit/`) and what its YAML says, or why that can't be read."""

    kind: str
    path: str
    """The YAML file."""
    folder: str | None
    """The record's folder; None in the flat form."""
    siblings: tuple[str, ...]
    """The other files of the folder, from it."""
    data: Mapping[str, object] = field(default_factory=dict)
    text: str = ""
    status_folder: str | None = None
    problem: str | None = None

    @property
    def id(self) -> str:
        """The id it has: the one in the file, else that of its folder."""
        folder_name = (self.folder or self.path.removesuffix(".yaml")).rpartition("/")[2]
        return str(self.data.get("id") or folder_name)


@dataclass(slots=True)
class OrbitLayout:
    """A whole foreign `.orbit/`."""

    root: Path
    adrs: list[ForeignRecord] = field(default_factory=list)
    learnings: list[ForeignRecord] = field(default_factory=list)
    strays: list[str] = field(default_factory=list)
    """Files where only records should stand, from the `.orbit/`."""
    others: list[str] = field(default_factory=list)
    """What stands beside the records and is none of ours."""
    hidden: list[str] = field(default_factory=list)
    """Hidden files and folders among the records."""

    @property
    def records(self) -> list[ForeignRecord]:
        """Every record, in the order in which ids are given."""
        return [*self.adrs, *self.learnings]


def find_orbit(path: Path) -> Path | None:
    """Return the `.orbit/` of another tool that a path means: itself, or the one in it; None where there is none."""
    for folder in (path / ".orbit", path, path.parent):
        if folder.is_dir() and any(_has_foreign(folder, kind) for kind in _RECORD):
            return folder
        if folder.name == ".orbit" and folder.is_dir():
            return None
    return None


def read_layout(orbit: Path) -> OrbitLayout:
    """Return every foreign record below an `.orbit/`; a file that can't be read is a record with a problem."""
    layout = OrbitLayout(orbit)
    for kind, records in (("adr", layout.adrs), ("learning", layout.learnings)):
        records += (record for record in _records(orbit, kind, layout.strays) if not _is_ours(orbit, record))
    layout.adrs.sort(key=lambda record: (record.id, STATUSES.index(record.status_folder or STATUSES[0]), record.path))
    layout.learnings.sort(key=lambda record: (record.id, record.path))
    for folder in (*_PLURAL.values(), *(f"adrs/{status}" for status in STATUSES), "learnings/superseded"):
        if (orbit / folder).is_dir():
            layout.hidden += sorted(
                f"{folder}/{here.name}" for here in (orbit / folder).iterdir() if _is_hidden(here.name)
            )
    for name in sorted(entry.name for entry in orbit.iterdir()):
        if name not in RESERVED_NAMES and name not in _PLURAL.values():
            layout.others.append(name)
    return layout


def _is_hidden(name: str) -> bool:
    return name.startswith(".") and not name.startswith(TEMPORARY)


def _is_ours(orbit: Path, record: ForeignRecord) -> bool:
    """Say whether a record is ours already; one that can't be read is, where it stands in our layout and not theirs."""
    if record.problem is not None:
        return record.status_folder is None and record.folder is not None and (orbit / "config.yaml").exists()
    return "uid" in record.data


def _has_foreign(orbit: Path, kind: str) -> bool:
    """Say whether a folder of records holds at least one foreign one."""
    strays: list[str] = []
    return any(not _is_ours(orbit, record) for record in _records(orbit, kind, strays))


def _records(orbit: Path, kind: str, strays: list[str]) -> Iterator[ForeignRecord]:
    top = _PLURAL[kind]
    yield from _folder(orbit, kind, top, None, strays)
    for name in STATUSES:
        if (orbit / top / name).is_dir() and not (orbit / top / name).is_symlink():
            yield from _folder(orbit, kind, f"{top}/{name}", name, strays)


def _folder(orbit: Path, kind: str, top: str, status: str | None, strays: list[str]) -> Iterator[ForeignRecord]:
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
            if _RECORD[kind] in siblings:
                other_files = tuple(file for file in siblings if file != _RECORD[kind])
                yield _read(orbit, kind, f"{path}/{_RECORD[kind]}", path, other_files, status)
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
    orbit: Path, kind: str, path: str, folder: str | None, siblings: tuple[str, ...], status: str | None
) -> ForeignRecord:
    try:
        text = read_text(orbit / path)
        if _OURS_BY_UID.search(text):
            return ForeignRecord(kind, path, folder, siblings, {"uid": ""}, text, status)
        data = load(text)
    except YamlProblemError as error:
        position = error.problem.position
        where = f"line {position.line}, column {position.column}: " if position else ""
        return ForeignRecord(
            kind, path, folder, siblings, status_folder=status, problem=f"{where}{error.problem.message}"
        )
    except OrbitError as error:
        message = error.message.replace(f"{orbit}{os.sep}", "")
        return ForeignRecord(kind, path, folder, siblings, status_folder=status, problem=message)
    if not isinstance(data, dict):
        return ForeignRecord(kind, path, folder, siblings, status_folder=status, problem="the file holds no mapping")
    return ForeignRecord(kind, path, folder, siblings, data, text, status)


def has_comment(text: str) -> bool:
    """Say whether a YAML text has a comment outside block texts; one too many is said rather than one too few."""
    if "#" not in text:
        return False
    block: int | None = None
    for line in text.splitlines():
        bare = line.lstrip(" ")
        indent = len(line) - len(bare)
        if block is not None and (not bare or indent > block):
            continue
        block = None
        if bare.startswith("#") or re.search(r"(?<!\S)#", re.sub(r"'[^']*'|\"(?:[^\"\\]|\\.)*\"", "", bare)):
            return True
        if _BLOCK.search(line):
            dashes = _DASHES.match(line)
            block = dashes.end() if dashes else indent
    return False
