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
from pathlib import Path

from orbit_fleet.lake import Lake, Repository
from orbit_fleet.names import origin_in, public, without_prompts
from orbit_fleet.push import UNCHANGED, first_commit, put, state_of
from orbit_fleet.rows import Row, lake_rows
from orbit_fleet.sources import READABLE, Source
from orbit_registry.errors import (
    AmbiguousIdError,
    ForeignWorkspaceError,
    GitError,
    GitStoppedError,
    InvalidRecordError,
    LakeError,
    OrbitError,
    RefusedError,
    UnreadableFileError,
    UsageError,
    WorkspaceNotFoundError,
    plural,
)
from orbit_registry.exchange.importers.importer import import_from
from orbit_registry.model.kind import load_kinds
from orbit_registry.model.votes import format_time, parse_time
from orbit_registry.operations.import_report import TakeoverReport
from orbit_registry.operations.init import setup_workspace
from orbit_registry.workspace.git import Git, git_settings, ignore_pattern
from orbit_registry.workspace.lock import locked
from orbit_registry.workspace.workspace import Workspace, find_workspace

ORBIT, DOCUMENTS = "orbit", "documents"
"""Readers: of Orbit's records, and of documents by the importer."""
WRITTEN, EMPTY, FAILED = "written", "empty", "failed"
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
    "core.sparseCheckout=true",
    "-c",
    "filter.lfs.smudge=",
    "-c",
    "filter.lfs.process=",
    "-c",
    "filter.lfs.required=false",
)
"""A repository of someone else runs nothing and leads nowhere."""
_FETCHED = "refs/orbit/fetched"
"""The newest commit. Git asks a server for what no reference has, without one for everything."""
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
_OF_A_COMMIT = (AmbiguousIdError, InvalidRecordError, RefusedError, UnreadableFileError, UsageError)
"""What is wrong with a commit, and will be each time that it is read. Another error may be one of
this machine, such as a full disk.
"""
_POINTER = b"version https://git-lfs.github.com/spec/"
"""How a pointer of Git LFS begins."""


@dataclass(frozen=True, slots=True)
class Collected:
    """What became of one repository: `written`, `unchanged`, `empty`, or `failed`."""

    repository: str
    address: str
    outcome: str
    reader: str = ""
    commit: str = ""
    records: int = 0
    renamed_from: str = ""
    left_out: str = ""
    error: str = ""
    hint: str = ""

    def lines(self) -> list[str]:
        """Return what a person should know of it."""
        lines = []
        if self.outcome == FAILED:
            lines.append(f"{self.repository}: {self.error}")
            if self.hint:
                lines.append(f"  {self.hint}")

        if self.left_out:
            lines.append(f"{self.repository}: left out {self.left_out}")
        if self.renamed_from:
            lines.append(f"{self.repository}: {self.renamed_from} before")

        return lines


def collected(
    lake: Lake,
    source: Source,
    cache: Path,
    *,
    head: str = "",
    force: bool = False,
    code: bool = False,
    dry_run: bool = False,
) -> Collected:
    """Fetch a repository, read its records or its documents, and write them into a lake.

    `head` is its newest commit, if that is known; with `code` all its files are checked out.

    If they can't be read, the lake keeps what it has. Two collections can have one cache: one
    waits until the other has read the checkout.

    Raises:
        LakeError: it can't be fetched, or the lake can't be written.
    """
    folder = cache / key_of(source)
    with locked(folder.with_suffix(".lock"), wait=SECONDS):
        commit = fetch(source, folder, head, code=code)
        git = Git(folder)
        try:
            state, rows = _read(source, git, commit, lake.written(source.name).ids)
            state = replace(state, has_code=code)
        except _OF_A_COMMIT as error:
            hint = error.hint or ""
            message = error.message.replace(f"{folder}/", "")
            return Collected(
                source.name, source.shown, FAILED, commit=commit, error=message, hint=hint
            )

        result = put(lake, state, rows, force=force, dry_run=dry_run, is_newest=True)
        outcome = UNCHANGED if result.outcome == UNCHANGED else WRITTEN
        if not state.reader:
            outcome = EMPTY

        done = Collected(source.name, source.shown, outcome, state.reader, commit, len(rows))
        return replace(done, left_out=state.left_out)


def _read(
    source: Source, git: Git, commit: str, ids: Mapping[str, str]
) -> tuple[Repository, list[Row]]:
    """Return the state of a checkout, and a row for each of its records; documents keep the `ids`
    that the lake has.

    Raises:
        OrbitError: a record can't be read.
    """
    workspace, reader, left_out = _workspace(git.folder, source, ids)
    text = git.ask("show", "-s", "--format=%cI", commit)
    committed_at = format_time(parse_time(text)) if text else ""
    state = state_of(workspace, source.name, commit, committed_at)
    state = replace(source.seen(state), reader=reader, left_out=left_out)
    state = replace(state, first_commit=first_commit(git))
    if reader != ORBIT:
        # Two entries may name two folders of one repository, which are no copies of each other.
        state = replace(state, folder=source.folder)

    return state, lake_rows(workspace, state) if reader else []


def key_of(source: Source) -> str:
    """Return the name of a repository's folder in the cache."""
    return hashlib.sha256(f"{source.address}\n{source.branch}".encode()).hexdigest()[:16]


def fetch(source: Source, folder: Path, head: str = "", *, code: bool = False) -> str:
    """Make a folder a checkout of the newest commit of a repository, without what is not read, or
    with its `code`; return the commit.

    Raises:
        LakeError: it can't be fetched.
    """
    while True:
        is_new = not folder.is_dir()
        try:
            _fetch(source, folder, head)
            return _check_out(source, folder, code=code)
        except GitError as error:
            # A killed process, or a full disk, may have left what git can't use. Who was too slow
            # to fetch what is new would be slower with all.
            if not isinstance(error, GitStoppedError):
                shutil.rmtree(folder, ignore_errors=True)

            if is_new or folder.exists():
                message = f"{source.shown} can't be fetched: {public(error.message)}"
                raise LakeError(message, hint=READABLE) from None


def _fetch(source: Source, folder: Path, head: str) -> None:
    git = Git(folder, SECONDS)
    if not (folder / ".git").is_dir():
        folder.mkdir(parents=True, exist_ok=True)
        form = ["--object-format=sha256"] if len(head) == 64 else []
        git.run("init", "--quiet", "--template=", *form)

    # No file has the user and the token of the address: `main` gives them to git.
    git.run("config", "remote.origin.url", source.shown)
    words = ["--quiet", "--force", "--no-tags", "--update-shallow"]
    if origin_in(source.address):
        # Not of a repository on this machine: it may be shallow, and git fetches what that lacks
        # by processes that start each other without an end.
        words.append("--filter=blob:none")

    # A server that knows no filter sends all; git would start itself without an end to ask it for
    # what it has not read so far.
    variables = {"GIT_NO_LAZY_FETCH": "1", **without_prompts()}
    refs = f"+{source.ref}:{_FETCHED}"
    git.run("fetch", *words, "origin", refs, settings=_SETTINGS, variables=variables)


def _check_out(source: Source, folder: Path, *, code: bool) -> str:
    git = Git(folder, SECONDS)
    patterns = ["/*"] if code else list(_PATTERNS)
    if source.folder:
        patterns.append(f"{ignore_pattern(source.folder)}/")

    info = folder / ".git" / "info"
    info.mkdir(exist_ok=True)
    (info / "sparse-checkout").write_text("\n".join(patterns) + "\n", "utf-8")
    words = ("--quiet", "--force", "--detach", _FETCHED)
    git.run("checkout", *words, settings=_SETTINGS, variables=without_prompts())
    git.run("clean", "--quiet", "-ffdx")
    _remove_references(git)
    return git.run("rev-parse", "HEAD").decode().strip()


def _remove_references(git: Git) -> None:
    """Remove files that are others' names: symbolic links, whose text is a path here, and pointers
    of Git LFS.
    """
    links = frozenset(git.links())
    for path in git.tracked() or ():
        file = git.folder / path
        if path in links or _is_pointer(file):
            file.unlink(missing_ok=True)


def _is_pointer(file: Path) -> bool:
    try:
        with file.open("rb") as content:
            return content.read(len(_POINTER)) == _POINTER
    except OSError:
        return False  # it is not checked out


def _workspace(folder: Path, source: Source, ids: Mapping[str, str]) -> tuple[Workspace, str, str]:
    """Return the workspace of a checkout and its reader, "" where there is nothing to read; and the
    documents that could not be read.
    """
    start = folder / source.folder
    if not start.is_dir():
        hint = "correct its `folder` in the list"
        raise RefusedError(f"the repository has no folder {source.folder!r}", hint=hint)

    try:
        workspace = find_workspace(start)
        if workspace.root.is_relative_to(folder):
            return workspace, ORBIT, ""
    except (WorkspaceNotFoundError, ForeignWorkspaceError):
        pass

    # The numbers that an earlier collection gave would count as taken.
    shutil.rmtree(folder / ".git" / "orbit", ignore_errors=True)
    setup_workspace(folder, load_kinds(), adr_folder=source.folder)
    os.chdir(folder)
    report = import_from(start, remembered=ids)
    return find_workspace(folder), DOCUMENTS if report.records else "", _left_out(report)


def _left_out(report: TakeoverReport) -> str:
    """Return which documents of an import could not be read, the first with the reason."""
    unread = [each for each in report.of("left") if each.is_unread]
    if not unread:
        return ""

    more = f"; and {plural(len(unread) - 1, 'other')}" if len(unread) > 1 else ""
    return f"{unread[0].source}: {unread[0].reason}{more}"


def main() -> int:
    """Collect the repository that standard input describes; the answer is one line of JSON."""
    order = json.loads(sys.stdin.read())
    source = Source(**order["source"])
    if source.address != source.shown:
        os.environ.update(git_settings({f"url.{source.address}.insteadOf": source.shown}))

    try:
        answer = collected(
            Lake(order["lake"]),
            source,
            Path(order["cache"]),
            force=order["force"],
            code=order["code"],
            dry_run=order["dry_run"],
            head=order["head"],
        )
    except (OrbitError, OSError) as error:
        hint = str(getattr(error, "hint", None) or "")
        answer = Collected(source.name, source.shown, FAILED, error=str(error), hint=hint)

    sys.stdout.write(f"{json.dumps(asdict(answer))}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
