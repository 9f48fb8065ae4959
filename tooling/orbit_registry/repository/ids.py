"""Allocation of sequence numbers that no branch, remote, work tree or process has used.

The next number is one above every number in the working tree (records, documents), in local and
remote-tracking refs, and in the claims in git's common folder, which all work trees share.
"""

import contextlib
import json
import os
import re
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

from orbit_registry.errors import GitError, OrbitError, RefusedError
from orbit_registry.formats.adr.file_names import number_of_path
from orbit_registry.model.ids import sequence_id, sequence_number
from orbit_registry.model.kind import Kind
from orbit_registry.repository.codec import data_in
from orbit_registry.repository.documents import LOG_NAME, decision_paths
from orbit_registry.workspace.files import DOCUMENT_LIMIT, read_bytes, write_atomic
from orbit_registry.workspace.git import REFUSED, Git, how_to_allow
from orbit_registry.workspace.lock import locked
from orbit_registry.workspace.workspace import ORBIT, Workspace

_HEADING = re.compile(rb"(?m)^#{1,6}[ \t]*(?:\[)?ADR[- ]?(\d{1,6})\b")
# highest number that counts: after one of twenty digits, all new ones would have as many
_MOST = 999_999


@dataclass(frozen=True, slots=True)
class Allocation:
    """A reserved id, and the highest one before it, in words; empty for the first."""

    id: str
    above: str


@dataclass(frozen=True, slots=True)
class _SeenNumber:
    number: int
    where: str


def allocate(
    workspace: Workspace,
    kind: Kind,
    count: int = 1,
    *,
    above: int = 0,
    dry_run: bool = False,
) -> list[Allocation]:
    """Reserve the next numbers above `above` and all that were ever used;
    a dry run only names them.

    Raises:
        RefusedError: git does not say which numbers branches have.
    """
    git = workspace.git
    if git.is_refused:
        raise RefusedError(
            f"{REFUSED}, so the numbers of its branches are unknown; none was taken",
            hint=how_to_allow(git),
        )

    claims = _claims_file(workspace, kind)
    with nullcontext() if dry_run else locked(claims.with_suffix(".lock")):
        highest = max(
            seen_numbers(workspace, kind),
            key=lambda entry: entry.number,
            default=_SeenNumber(0, ""),
        )
        top = max(highest.number, above)
        if not dry_run:
            claim = {"highest": top + count, "root": str(workspace.root), "at": int(time.time())}
            write_atomic(claims, json.dumps(claim))

    words = ""
    if highest.number:
        words = f"{sequence_id(kind.prefix, highest.number)}{highest.where}"

    numbers = range(top + 1, top + count + 1)
    return [Allocation(sequence_id(kind.prefix, number), words) for number in numbers]


def new_ids(
    workspace: Workspace,
    kind: Kind,
    count: int,
    avoid: Collection[int] = (),
    *,
    dry_run: bool = False,
) -> list[str]:
    """Return `count` new ids above every number there is and those of `avoid`."""
    above = max(avoid, default=0)
    allocations = allocate(workspace, kind, count, above=above, dry_run=dry_run)
    return [allocation.id for allocation in allocations]


def release(workspace: Workspace, kind: Kind, record_id: str) -> None:
    """Give back the number reserved last, if it was not used; otherwise it is lost."""
    claims = _claims_file(workspace, kind)
    with (
        contextlib.suppress(OrbitError, OSError, ValueError, KeyError, TypeError),
        locked(claims.with_suffix(".lock")),
    ):
        claim = json.loads(claims.read_text(encoding="utf-8"))
        if sequence_id(kind.prefix, claim["highest"]) == record_id:
            write_atomic(claims, json.dumps({**claim, "highest": claim["highest"] - 1}))


def _claims_file(workspace: Workspace, kind: Kind) -> Path:
    name = f"{kind.name}.json"
    common = workspace.git.common_dir
    if common is None:
        return workspace.state / "claims" / name

    return common / "orbit" / name


def numbers_of_folders(workspace: Workspace, kind: Kind) -> set[int]:
    """Return the numbers of a kind's record folders in the working tree."""
    numbers: set[int] = set()
    for pending in (False, True):
        folder = workspace.folder_of(kind, pending=pending)
        with contextlib.suppress(OSError):
            numbers.update(_numbers_in((entry.name for entry in os.scandir(folder)), kind))

    return numbers


def _numbers_in(names: Iterable[str], kind: Kind) -> Iterator[int]:
    for name in names:
        number = sequence_number(name, kind.prefix)
        if number is not None and number <= _MOST:
            yield number


IN_THE_TREE = "in the working tree"


def seen_numbers(workspace: Workspace, kind: Kind) -> Iterator[_SeenNumber]:
    """Yield every used number of a kind and where it was seen."""
    for number in numbers_of_folders(workspace, kind):
        yield _SeenNumber(number, f" {IN_THE_TREE}")

    if kind.in_document:
        yield from _in_documents(workspace)

    yield from _in_refs(workspace, kind)
    yield from _in_claims(_claims_file(workspace, kind), str(workspace.root))


def _in_documents(workspace: Workspace) -> Iterator[_SeenNumber]:
    for path in decision_paths(workspace):
        if path.rpartition("/")[2] != LOG_NAME:
            number = number_of_path(path)
            if number is not None and number.isdigit() and int(number) <= _MOST:
                yield _SeenNumber(int(number), f" in {path}")

        with contextlib.suppress(OrbitError):
            content = read_bytes(workspace.root / path, limit=DOCUMENT_LIMIT)
            for heading in _HEADING.finditer(content):
                yield _SeenNumber(int(heading[1]), f" in {path}")


def _in_claims(claims: Path, here: str) -> Iterator[_SeenNumber]:
    try:
        data = json.loads(claims.read_text(encoding="utf-8"))
        highest, root = data["highest"], data["root"]
    except (OSError, ValueError, KeyError, TypeError):
        return

    if isinstance(highest, int) and 0 < highest <= _MOST:
        where = f" taken in {root}"
        if root == here:
            where = f", used in this clone before and not there any more; `rm {claims}` frees it"

        yield _SeenNumber(highest, where)


def _in_refs(workspace: Workspace, kind: Kind) -> Iterator[_SeenNumber]:
    git = workspace.git
    if git.top is None:
        return

    with contextlib.suppress(GitError):
        for ref, names in git.names_on_refs(f"{ORBIT}/{kind.plural}").items():
            highest = max(_numbers_in(names, kind), default=None)
            if highest is not None:
                age = _fetch_age(git.common_dir, ref)
                yield _SeenNumber(highest, f" on {short_name(ref)}{age}")


def branches_with_another(git: Git, kind: Kind, uids: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the branches and tags that have another record under an id; `uids` has ours, by id."""
    names: dict[str, tuple[str, str]] = {}
    for ref, ids in git.names_on_refs(f"{ORBIT}/{kind.plural}").items():
        for record_id in sorted(uids.keys() & set(ids)):
            file = f"{git.prefix}{ORBIT}/{kind.file_of(record_id)}"
            names[f"{ref}:{file}"] = record_id, short_name(ref)

    branches: dict[str, list[str]] = {}
    for name, content in git.blobs(names, check=False).items():
        record_id, branch = names[name]
        data = data_in(content.decode("utf-8", "replace"))
        if data is not None and data.get("uid") != uids[record_id]:
            branches.setdefault(record_id, []).append(branch)

    return branches


def short_name(ref: str) -> str:
    """Return a branch or tag as people call it."""
    return ref.removeprefix("refs/heads/").removeprefix("refs/remotes/").removeprefix("refs/tags/")


def _fetch_age(common_dir: Path | None, ref: str) -> str:
    if common_dir is None or not ref.startswith("refs/remotes/"):
        return ""

    try:
        hours = (time.time() - (common_dir / "FETCH_HEAD").stat().st_mtime) / 3600
    except OSError:
        return ""

    if hours < 1:
        return f", fetched {hours * 60:.0f} min ago"

    return f", fetched {hours:.0f} h ago"
