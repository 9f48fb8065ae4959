"""Push of a repository into a lake: its records as one file, then what is known of it."""

from __future__ import annotations

import contextlib
import hashlib
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from orbit_fleet.lake import Lake, Repository, valid_repository
from orbit_fleet.names import origin_of, repository_name, source_repository
from orbit_fleet.rows import PARTS, Row, lake_rows
from orbit_registry.errors import RefusedError, UsageError, plural
from orbit_registry.model.votes import format_time, parse_time
from orbit_registry.workspace.config import without_user
from orbit_registry.workspace.files import TEMPORARY
from orbit_registry.workspace.git import Git
from orbit_registry.workspace.lock import locked
from orbit_registry.workspace.workspace import Workspace

PUSHED, UNCHANGED, OLDER = "pushed", "unchanged", "older"
_COMMIT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}\Z")
_HASH = re.compile(r"[0-9a-f]{7,40}\Z")


@dataclass(frozen=True, slots=True)
class PushResult:
    """What a push wrote, or would write."""

    repository: Repository
    outcome: str  # `pushed`, `unchanged`, or `older` where the lake has a newer commit
    rows: Mapping[str, int]  # rows of the repository by view
    changed: int = 0
    removed: int = 0

    def as_data(self) -> dict[str, object]:
        """Return the result as JSON shows it."""
        each = self.repository
        return {
            "repository": each.repository,
            "commit": each.commit,
            "committed_at": each.committed_at,
            "pushed_at": each.pushed_at,
            "records": each.records,
            "digest": each.digest,
            "schema_version": each.schema_version,
            "rows": dict(self.rows),
            "outcome": self.outcome,
            "records_written": self.changed,
            "records_removed": self.removed,
        }

    def text(self, dry_run: bool) -> str:
        """Return the result for people."""
        state = self.repository
        name = f"{state.repository} at {state.commit[:12]}"
        total = plural(state.records, "record")
        if self.outcome == UNCHANGED:
            return f"{name}: nothing changed, {total} in the lake"

        if self.outcome == OLDER:
            return f"{name}: the lake has this newer commit; --force pushes the older one"

        would = "would be " if dry_run else ""
        done = f"{plural(self.changed, 'record')} {would}written, {self.removed} removed"
        rows = ", ".join(f"{count} in {table}" for table, count in self.rows.items()) or "none"
        return f"{name}: {done}, {total} in all\nrows: {rows}"


def push(
    workspace: Workspace,
    lake: Lake,
    *,
    repository: str | None = None,
    commit: str | None = None,
    force: bool = False,
    dry_run: bool = False,
) -> PushResult:
    """Write the records of a repository, if they differ from those that the lake has.

    Raises:
        RefusedError: the records have uncommitted changes, or the lake has another repository of
            this name.
    """
    name = valid_repository(repository or repository_name(workspace))
    commit_name, committed_at = commit_of(workspace, commit)
    state = state_of(workspace, name, commit_name, committed_at)
    return put(lake, state, lake_rows(workspace, state), force=force, dry_run=dry_run)


def put(
    lake: Lake,
    state: Repository,
    records: Sequence[Row],
    *,
    force: bool = False,
    dry_run: bool = False,
    is_newest: bool = False,
) -> PushResult:
    """Write rows of records under the name of a repository; an older commit replaces no newer one,
    unless it is the newest of its branch, whose history may have been written anew.

    Raises:
        RefusedError: the lake has another repository of this name.
    """
    with _turn(lake, state.repository):
        before = lake.repository(state.repository)
        if before is not None and not force:
            _refuse_another(before, state)

        state = _joined(state, before, records)
        rows = _counts(records)
        written = lake.written(state.repository)
        is_same = before is not None and written.digest == state.digest == before.digest

        if before is not None and not force:
            is_older = state.committed_at < before.committed_at and not is_newest
            if is_older and before.commit:
                same = replace(before, last_seen_at=state.last_seen_at)
                return PushResult(same, UNCHANGED if is_same else OLDER, rows)

            if is_same:
                state = replace(state, pushed_at=before.pushed_at)
                if not dry_run:
                    lake.note(state)
                return PushResult(state, UNCHANGED, rows)

        earlier = written.digests
        changed = [row for row in records if earlier.get(str(row["record_id"])) != row["digest"]]
        removed = earlier.keys() - {str(row["record_id"]) for row in records}
        count = len(records) if force else len(changed)
        result = PushResult(state, PUSHED, rows, count, len(removed))
        if not dry_run:
            lake.write(state, records)

        return result


@contextlib.contextmanager
def _turn(lake: Lake, name: str) -> Iterator[None]:
    """Let one process at a time write a repository of a lake in a folder.

    An object store has no lock: there the last writer wins, whole.
    """
    root = Path(lake.store.root)
    if not lake.store.is_local or not root.is_dir():
        yield
        return

    key = hashlib.sha256(name.encode()).hexdigest()[:16]
    with locked(root / f"{TEMPORARY}locks" / f"{key}.lock", wait=600):
        yield


def _refuse_another(before: Repository, state: Repository) -> None:
    if not before.origin or before.origin == state.origin:
        return

    here = state.origin or "one without a remote"
    message = f"the lake has another repository {state.repository}: {before.origin}, not {here}"
    hint = "give this one another name with --repository; after a move, --force takes the name over"
    raise RefusedError(message, hint=hint)


def _joined(state: Repository, before: Repository | None, records: Sequence[Row]) -> Repository:
    """Return the state of a repository with what the lake knew of it before."""
    lines = [f"{row['record_id']} {row['digest']}" for row in records]
    digest = hashlib.sha256("\n".join([*lines, state.extends]).encode()).hexdigest()
    state = replace(state, records=len(records), digest=digest)
    if before is None:
        return state

    return replace(
        state,
        first_seen_at=before.first_seen_at or state.first_seen_at,
        first_commit=state.first_commit or before.first_commit,
        forge_id=state.forge_id or before.forge_id,
        is_fork=state.is_fork or before.is_fork,
        is_archived=state.is_archived,
        is_expected=state.is_expected or before.is_expected,
        renamed_from=state.renamed_from or before.renamed_from,
    )


def _counts(records: Sequence[Row]) -> dict[str, int]:
    counts = {"records": len(records)}
    for part in PARTS:
        lists = [row[part] for row in records]
        counts[part] = sum(len(entries) for entries in lists if isinstance(entries, list))

    return {table: count for table, count in counts.items() if count}


def state_of(workspace: Workspace, name: str, commit: str, committed_at: str) -> Repository:
    """Return what a checkout says of its repository."""
    git = workspace.git
    now = format_time(datetime.now(UTC))
    extends = [
        f"{source_repository(each)} {each.digest[7:19]}" for each in workspace.config.extends
    ]
    forge = str(workspace.config.setting("site", "forge") or "")
    return Repository(
        repository=name,
        address=without_user(git.origin() or ""),
        origin=origin_of(git),
        folder=git.prefix.strip("/"),
        commit=commit,
        committed_at=committed_at,
        pushed_at=now,
        first_seen_at=now,
        last_seen_at=now,
        extends=", ".join(extends),
        reader="orbit",
        orbit_version=version("orbit-registry"),
        first_commit=first_commit(git),
        forge=forge.removeprefix("auto"),
        has_code=True,
    )


def first_commit(git: Git) -> str:
    """Return the first commit of a repository's history; "" if the checkout lacks it."""
    if git.ask("rev-parse", "--is-shallow-repository") != "false":
        return ""

    roots = git.ask("rev-list", "--max-parents=0", "HEAD") or ""
    if roots:
        return roots.splitlines()[-1]

    return ""


def commit_of(workspace: Workspace, name: str | None) -> tuple[str, str]:
    """Return the commit that the records are those of, and its time; refuse uncommitted changes.

    Raises:
        RefusedError: the records have uncommitted changes.
        UsageError: the name is no commit that is checked out.
    """
    git = workspace.git
    head = git.commit("HEAD")
    commit = head if name is None else git.commit(name)
    if commit != head and (commit is not None or (name is not None and _HASH.match(name))):
        message = f"{name!r} is not the commit that is checked out"
        raise UsageError(message, hint="check it out first, or leave out --commit")

    if commit is not None:
        folders = (".orbit", workspace.config.adr.folder)
        answer = git.run("status", "--porcelain", "--", *folders)
        changes = answer.decode("utf-8", "replace").splitlines()
        if changes:
            message = f"the records have uncommitted changes: {changes[0][3:]}"
            raise RefusedError(message, hint="commit them first, or name the state with --commit")

    if commit is None and (name is None or not _COMMIT.match(name)):
        missing = "there is no commit" if shutil.which("git") else "git is not installed"
        message = missing if name is None else f"{name!r} names no commit"
        raise UsageError(message, hint="commit the records, or name the state: --commit 2026-11-26")

    text = git.ask("show", "-s", "--format=%cI", commit) if commit else None
    time = parse_time(text) if text else datetime.now(UTC)
    return commit or str(name), format_time(time)
