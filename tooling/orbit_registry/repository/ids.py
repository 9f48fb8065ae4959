"""Allocation of sequence numbers that no branch, remote, work tree or process has used.

The next number is one above every number in the working tree (records, documents), in local and remote-tracking refs,
and in the claims in git's common folder, which all work trees share.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import time
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from orbit_registry.errors import GitError, OrbitError
from orbit_registry.formats.adr.file_names import number_of_path
from orbit_registry.model.ids import sequence_id, sequence_number
from orbit_registry.model.kind import Kind
from orbit_registry.repository.documents import LOG_NAME, decision_paths
from orbit_registry.workspace.files import DOCUMENT_LIMIT, read_bytes, write_atomic
from orbit_registry.workspace.lock import locked
from orbit_registry.workspace.workspace import ORBIT, Workspace

_HEADING = re.compile(rb"(?m)^#{1,6}[ \t]*(?:\[)?ADR[- ]?(\d{1,6})\b")
_MOST = 999_999
"""Highest number that a heading or a claim may reserve; only a record may have a higher one."""


@dataclass(frozen=True, slots=True)
class Allocation:
    """A reserved id, and the highest one before it, in words; empty for the first."""

    id: str
    above: str


@dataclass(frozen=True, slots=True)
class _SeenNumber:
    number: int
    where: str


def allocate(workspace: Workspace, kind: Kind, count: int = 1) -> list[Allocation]:
    """Reserve the next `count` numbers of a kind; they are never given out again."""
    folder = claims_folder(workspace)
    claims = folder / f"{kind.name}.json"
    with locked(folder / f"{kind.name}.lock"):
        highest = _highest(workspace, kind, claims)
        claim = {"highest": highest.number + count, "root": str(workspace.root), "at": int(time.time())}
        write_atomic(claims, json.dumps(claim))
    return [_above(kind, highest, highest.number + 1 + index) for index in range(count)]


def new_ids(
    workspace: Workspace, kind: Kind, count: int, avoid: Collection[int] = (), *, dry_run: bool = False
) -> list[str]:
    """Return `count` new ids above every number there is and those of `avoid`; a dry run reserves none of them."""
    top = max(avoid, default=0)
    if dry_run:
        top = max(top, _highest(workspace, kind, claims_folder(workspace) / f"{kind.name}.json").number)
        return [sequence_id(kind.prefix, top + index + 1) for index in range(count)]
    ids = [allocation.id for allocation in allocate(workspace, kind, count)]
    missing = top - (sequence_number(ids[0], kind.prefix) or 0) + 1 if ids else 0
    if missing > 0:  # the numbers below the highest to avoid are reserved too, and not given to anyone
        ids += [allocation.id for allocation in allocate(workspace, kind, missing)]
    return ids[-count:]


def release(workspace: Workspace, kind: Kind, record_id: str) -> None:
    """Give back the number reserved last, if it was not used; otherwise it is lost."""
    folder = claims_folder(workspace)
    claims = folder / f"{kind.name}.json"
    with (
        contextlib.suppress(OrbitError, OSError, ValueError, KeyError, TypeError),
        locked(folder / f"{kind.name}.lock"),
    ):
        claim = json.loads(claims.read_text(encoding="utf-8"))
        if sequence_id(kind.prefix, claim["highest"]) == record_id:
            write_atomic(claims, json.dumps({**claim, "highest": claim["highest"] - 1}))


def next_number(workspace: Workspace, kind: Kind) -> Allocation:
    """Return the next number without reserving it."""
    highest = _highest(workspace, kind, claims_folder(workspace) / f"{kind.name}.json")
    return _above(kind, highest, highest.number + 1)


def _highest(workspace: Workspace, kind: Kind, claims: Path) -> _SeenNumber:
    return max(seen_numbers(workspace, kind, claims), key=lambda number: number.number, default=_SeenNumber(0, ""))


def _above(kind: Kind, highest: _SeenNumber, number: int) -> Allocation:
    above = f"{sequence_id(kind.prefix, highest.number)} {highest.where}" if highest.number else ""
    return Allocation(sequence_id(kind.prefix, number), above)


def claims_folder(workspace: Workspace) -> Path:
    """Return the folder of claims: in git's common folder, else in the state."""
    common = workspace.git.common_dir
    return (common / "orbit") if common is not None else (workspace.state / "claims")


def seen_numbers(workspace: Workspace, kind: Kind, claims: Path) -> Iterator[_SeenNumber]:
    """Yield every used number of a kind and where it was seen."""
    for parent in (workspace.folder_of(kind), workspace.folder_of(kind, pending=True)):
        with contextlib.suppress(OSError):
            for entry in os.scandir(parent):
                number = sequence_number(entry.name, kind.prefix)
                if number is not None:
                    yield _SeenNumber(number, "in the working tree")
    if kind.in_document:
        yield from _in_documents(workspace)
    yield from _in_claims(claims)
    yield from _in_refs(workspace, kind)


def _in_documents(workspace: Workspace) -> Iterator[_SeenNumber]:
    for path in decision_paths(workspace):
        number = number_of_path(path) if path.rpartition("/")[2] != LOG_NAME else None
        if number is not None and number.isdigit() and int(number) <= _MOST:
            yield _SeenNumber(int(number), f"in {path}")
        with contextlib.suppress(OrbitError):
            for heading in _HEADING.finditer(read_bytes(workspace.root / path, limit=DOCUMENT_LIMIT)):
                yield _SeenNumber(int(heading[1]), f"in {path}")


def _in_claims(claims: Path) -> Iterator[_SeenNumber]:
    try:
        data = json.loads(claims.read_text(encoding="utf-8"))
        highest, root = data["highest"], data["root"]
    except (OSError, ValueError, KeyError, TypeError):
        return
    if isinstance(highest, int) and 0 < highest <= _MOST:
        yield _SeenNumber(highest, f"claimed in {root}")


def _in_refs(workspace: Workspace, kind: Kind) -> Iterator[_SeenNumber]:
    git = workspace.git
    if git.top is None:
        return
    refs = git.refs()
    prefix = workspace.root.resolve().relative_to(git.top.resolve()).as_posix()
    base = "" if prefix == "." else f"{prefix}/"
    with contextlib.suppress(GitError):
        for ref, names in git.names(refs, f"{base}{ORBIT}/{kind.plural}").items():
            numbers = [number for name in names if (number := sequence_number(name, kind.prefix)) is not None]
            if numbers:
                yield _SeenNumber(max(numbers), f"on {_short_name(ref)}{_fetch_age(git.common_dir, ref)}")


def _short_name(ref: str) -> str:
    return ref.removeprefix("refs/heads/").removeprefix("refs/remotes/").removeprefix("refs/tags/")


def _fetch_age(common_dir: Path | None, ref: str) -> str:
    """Return the age of the last fetch of a remote branch, in words."""
    if common_dir is None or not ref.startswith("refs/remotes/"):
        return ""
    try:
        hours = (time.time() - (common_dir / "FETCH_HEAD").stat().st_mtime) / 3600
    except OSError:
        return ""
    return f", fetched {hours * 60:.0f} min ago" if hours < 1 else f", fetched {hours:.0f} h ago"
