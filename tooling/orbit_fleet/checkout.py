"""Checkout of one repository in the cache, and its records written into a lake.

Each runs in another process: what one repository does to it, others don't notice.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from orbit_fleet.lake import Lake, Repository
from orbit_fleet.names import origin_in
from orbit_fleet.push import PUSHED, first_commit, put, state_of
from orbit_fleet.rows import Row, lake_rows
from orbit_fleet.sources import READABLE, Source
from orbit_registry.errors import (
    ForeignWorkspaceError,
    GitError,
    LakeError,
    OrbitError,
    WorkspaceNotFoundError,
)
from orbit_registry.importers.importer import import_from
from orbit_registry.model.kind import load_kinds
from orbit_registry.model.votes import format_time, parse_time
from orbit_registry.operations.init import setup_workspace
from orbit_registry.workspace.config import without_user
from orbit_registry.workspace.git import Git
from orbit_registry.workspace.lock import locked
from orbit_registry.workspace.workspace import Workspace, find_workspace

ORBIT, DOCUMENTS = "orbit", "documents"
"""Readers: of Orbit's records, and of documents by the importer."""
EMPTY, FAILED = "empty", "failed"
SECONDS = 600.0
"""How long git may take to fetch a repository, with its history, and how long another collection
of it is waited for.
"""
_SETTINGS = (
    "-c",
    "protocol.ext.allow=never",
    "-c",
    "core.symlinks=false",
    "-c",
    "filter.lfs.smudge=",
    "-c",
    "filter.lfs.process=",
    "-c",
    "filter.lfs.required=false",
)
"""A repository of someone else runs nothing and leads nowhere."""
_PATTERNS = (
    "/.orbit/",
    ".adr-dir",
    ".log4brains.yml",
    "*.md",
    "*.markdown",
    "*.mdx",
    "*.rst",
    "*.adoc",
    "*.txt",
)
"""What is read of a repository, as git's sparse checkout writes it."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a repository: `written`, `unchanged`, `older`, `empty`, or `failed` where the
    records of this commit can't be read.
    """

    outcome: str
    reader: str
    commit: str
    records: int = 0
    error: str = ""
    hint: str = ""


def collected(
    lake: Lake, source: Source, cache: Path, *, force: bool = False, dry_run: bool = False
) -> Outcome:
    """Fetch a repository, read its records or its documents, and write them into a lake.

    If they can't be read, the lake keeps what it has. Two collections can have one cache: one
    waits until the other has read the checkout.

    Raises:
        LakeError: it can't be fetched, or the lake can't be written.
    """
    folder = cache / key_of(source)
    with locked(folder.with_suffix(".lock"), wait=SECONDS):
        fetch(source, folder)
        return _written(lake, source, folder, force=force, dry_run=dry_run)


def _written(lake: Lake, source: Source, folder: Path, *, force: bool, dry_run: bool) -> Outcome:
    """Read a checkout, and write its records into a lake."""
    git = Git(folder)
    commit = git.commit("HEAD")
    if commit is None:
        if not dry_run:
            lake.note(_known(Repository(source.name), source))
        return Outcome(EMPTY, "", "")

    try:
        state, rows = _read(source, git, commit, lake.written(source.name).ids)
    except OrbitError as error:
        return Outcome(FAILED, "", commit, error=error.message, hint=error.hint or "")

    result = put(lake, state, rows, force=force, dry_run=dry_run)
    outcome = result.outcome if state.reader else EMPTY
    return Outcome("written" if outcome == PUSHED else outcome, state.reader, commit, len(rows))


def _read(
    source: Source, git: Git, commit: str, ids: Mapping[str, str]
) -> tuple[Repository, list[Row]]:
    """Return the state of a checkout, and a row for each of its records; documents keep the `ids`
    that the lake has.

    Raises:
        OrbitError: a record can't be read.
    """
    workspace, reader = _workspace(git.folder, source, ids)
    text = git.ask("show", "-s", "--format=%cI", commit)
    committed_at = format_time(parse_time(text)) if text else ""
    state = state_of(workspace, source.name, commit, committed_at)
    state = replace(_known(state, source), reader=reader, first_commit=first_commit(git))

    rows = lake_rows(workspace, commit=commit, origin=state.origin) if reader else []
    return state, rows


def _known(state: Repository, source: Source) -> Repository:
    """Return a repository's state with what its source says."""
    now = format_time(datetime.now(UTC))
    return replace(
        state,
        address=source.shown,
        origin=source.origin,
        first_seen_at=state.first_seen_at or now,
        last_seen_at=now,
        orbit_version=version("orbit-registry"),
        forge_id=source.forge_id,
        is_fork=source.is_fork,
        is_archived=source.is_archived,
        is_expected=True,
        source=source.named_by,
    )


def key_of(source: Source) -> str:
    """Return the name of a repository's folder in the cache."""
    return hashlib.sha256(f"{source.address}\n{source.branch}".encode()).hexdigest()[:16]


def fetch(source: Source, folder: Path) -> None:
    """Make a folder a checkout of the newest commit of a repository, without what is not read.

    Raises:
        LakeError: it can't be fetched.
    """
    try:
        if not (folder / ".git").is_dir():
            _clone(source, folder)
        else:
            _fetch(source, folder)
        _check_out(source, folder)
    except GitError as error:
        cause = without_user(error.message)
        raise LakeError(f"{source.shown} can't be fetched: {cause}", hint=READABLE) from None


def _clone(source: Source, folder: Path) -> None:
    # A clone that was killed is no clone: it gets its name when it is whole.
    part = folder.with_name(f".part-{folder.name}")
    shutil.rmtree(part, ignore_errors=True)
    shutil.rmtree(folder, ignore_errors=True)
    words = ["--quiet", "--no-checkout", "--single-branch", "--no-tags", "--template="]
    if origin_in(source.address):
        # Not of a repository on this machine: it may be shallow, and git fetches what that lacks
        # by processes that start each other without an end.
        words.append("--filter=blob:none")

    if source.branch:
        words += ["--branch", source.branch]

    target = ("--", source.address, str(part))
    Git(part.parent, SECONDS).run("clone", *words, *target, settings=_SETTINGS)
    part.rename(folder)


def _fetch(source: Source, folder: Path) -> None:
    git = Git(folder, SECONDS)
    git.run("remote", "set-url", "origin", source.address)
    git.run("fetch", "--quiet", "--force", "--prune", "--no-tags", "origin", settings=_SETTINGS)


def _check_out(source: Source, folder: Path) -> None:
    git = Git(folder, SECONDS)
    name = f"origin/{source.branch}" if source.branch else "origin/HEAD"
    commit = git.commit(name)
    if commit is None:
        git.run("update-ref", "-d", "HEAD", check=False)
        return

    patterns = [*_PATTERNS, f"/{source.folder}/"] if source.folder else list(_PATTERNS)
    info = folder / ".git" / "info"
    info.mkdir(exist_ok=True)
    (info / "sparse-checkout").write_text("\n".join(patterns) + "\n", "utf-8")
    git.run("config", "core.sparseCheckout", "true")
    git.run("config", "core.symlinks", "false")
    git.run("checkout", "--quiet", "--force", "--detach", commit, settings=_SETTINGS)
    git.run("clean", "--quiet", "-ffdx")
    _remove_links(git)


def _remove_links(git: Git) -> None:
    """Remove symbolic links, which are files with a path as their text here."""
    rows = (row.partition("\t") for row in git.run_names("ls-files", "-s", "-z"))
    for head, _, path in rows:
        if head.startswith("120000 "):
            (git.folder / path).unlink(missing_ok=True)


def _workspace(folder: Path, source: Source, ids: Mapping[str, str]) -> tuple[Workspace, str]:
    """Return the workspace of a checkout and its reader; "" where there is nothing to read."""
    try:
        workspace = find_workspace(folder / source.folder)
        if workspace.root.is_relative_to(folder):
            return workspace, ORBIT
    except (WorkspaceNotFoundError, ForeignWorkspaceError):
        pass

    # The numbers that an earlier collection gave would count as taken.
    shutil.rmtree(folder / ".git" / "orbit", ignore_errors=True)
    setup_workspace(folder, load_kinds(), adr_folder=source.folder)
    os.chdir(folder)
    report = import_from(folder / source.folder, remembered=ids)
    return find_workspace(folder), DOCUMENTS if report.records else ""


def main() -> int:
    """Collect the repository that standard input describes; the answer is one line of JSON."""
    order = json.loads(sys.stdin.read())
    lake = Lake(order["lake"])
    try:
        outcome = collected(
            lake,
            Source(**order["source"]),
            Path(order["cache"]),
            force=order["force"],
            dry_run=order["dry_run"],
        )
    except OrbitError as error:
        _say({"error": error.message, "hint": error.hint or ""})
        return 0

    _say(asdict(outcome))
    return 0


def _say(answer: Mapping[str, object]) -> None:
    sys.stdout.write(f"{json.dumps(answer)}\n")


if __name__ == "__main__":
    sys.exit(main())
