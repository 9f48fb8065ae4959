"""Examines what everything stands on: versions, records, git's settings and the derived files; hooks come after it."""

from __future__ import annotations

import importlib.metadata
import platform
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

from orbit_registry.doctor.finding import Finding
from orbit_registry.errors import GitStoppedError, OrbitError
from orbit_registry.hook.index import MISSING, Index
from orbit_registry.hook.pack import is_whole
from orbit_registry.matching.sync import open_index
from orbit_registry.operations.init import DRIVER, GITATTRIBUTES
from orbit_registry.render.unread import check_command, unread_files, unread_text
from orbit_registry.repository.reader import read_collection
from orbit_registry.repository.votes import BROKEN
from orbit_registry.review.review import approval_command, queue, without_status
from orbit_registry.snapshot.sync import sync
from orbit_registry.workspace.journal import has_unfinished_steps
from orbit_registry.workspace.user_dirs import is_writable, user_home
from orbit_registry.workspace.workspace import ORBIT, Workspace, open_workspace

LIBRARIES = ("duckdb", "ryaml", "jsonschema-rs", "click", "rich")
OLDEST_PYTHON = (3, 11)


def examined(workspace: Workspace) -> Iterator[Finding]:
    """Yield what is found; the index is looked at before anything brings it up to date."""
    yield from versions()
    yield from _records(workspace)
    yield from _other_stores(workspace)
    yield from _git(workspace)
    yield from _derived(workspace)


def versions() -> Iterator[Finding]:
    """Yield the versions of Python, of this package and of the libraries beside it."""
    said = [f"Python {platform.python_version()}"]
    for name in ("orbit-registry", *LIBRARIES):
        try:
            said.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            if name in LIBRARIES:
                yield Finding(
                    "problem", "versions", f"{name} is not installed", sys.prefix, "install orbit-registry again"
                )
    old = sys.version_info < OLDEST_PYTHON
    yield Finding(
        "problem" if old else "ok", "versions", ", ".join(said), sys.executable,
        "use Python 3.11 or newer" if old else "",
    )  # fmt: skip


def _records_of(count: int) -> str:
    return f"{count} record{'' if count == 1 else 's'}"


def _records(workspace: Workspace) -> Iterator[Finding]:
    collection = read_collection(workspace)
    count = len(collection.records)
    live = sum(record.phase == "live" and record.status.pushed for record in collection.records)
    waiting, unknown = len(queue(collection.records)), without_status(collection.records)
    unread = unread_files(collection.problems)
    said = f"{_records_of(count)}: {live} can be shown, {waiting} await review, the status of {len(unknown)} is unknown"
    step = approval_command(unknown) if unknown else "" if live else "orbit learning add, or orbit adr add"
    yield Finding("ok", "workspace", said, str(workspace.root), step)
    if unread:
        said = f"{unread_text(unread)}, the first one {unread[0]}"
        yield Finding("problem", "workspace", said, str(workspace.orbit), check_command(workspace, unread))
    torn = sorted({problem.location.path for problem in collection.problems if problem.code == BROKEN})
    if torn:
        yield Finding(
            "warning", "workspace", f"lines of {', '.join(torn)} are no votes", str(workspace.orbit), "orbit check"
        )
    if has_unfinished_steps(workspace):
        said = "a change was begun and not finished"
        yield Finding(
            "warning", "workspace", said, str(workspace.journal), "any command that writes finishes or undoes it"
        )


def _other_stores(workspace: Workspace) -> Iterator[Finding]:
    """Yield the stores around this one and below it, which hold records that nothing here reads."""
    below = workspace.git.ask("ls-files", "-co", "--exclude-standard", f"*/{ORBIT}/config.yaml") or ""
    inside = [workspace.root / line.removesuffix(f"/{ORBIT}/config.yaml") for line in below.splitlines()]
    around = [one for one in workspace.root.parents if one != user_home() and (one / ORBIT / "config.yaml").is_file()]
    for root in (*around, *inside):
        try:
            count = len(read_collection(open_workspace(root), explain=False).records)
        except OrbitError:
            continue  # it is another tool's
        said = f"a second store holds {count} records, which nothing here reads, pushes or checks"
        yield Finding("warning", "workspace", said, str(root / ORBIT), f"move its folders into {workspace.orbit}")


def _git(workspace: Workspace) -> Iterator[Finding]:
    git = workspace.git
    try:
        top = git.top
    except GitStoppedError as error:
        yield Finding("problem", "git", error.message, str(workspace.root), error.hint)
        return
    if top is None:
        said = "no git repository: nothing is reviewed, and no scope is called broad"
        yield Finding("warning", "git", said, str(workspace.root), "git init")
        return
    yield Finding("ok", "git", f"{git.ask('version') or 'git'}, work tree at {top}")
    held = _text(workspace.root / ".gitattributes").splitlines()
    missing = [line for line in GITATTRIBUTES if line not in held]
    if missing:
        yield Finding("warning", "git", f"lines are missing: {'; '.join(missing)}", ".gitattributes", "orbit init")
    if git.ask("check-ignore", ".orbit/state/log") is None:
        yield Finding("warning", "git", "git does not ignore .orbit/state/, which is this machine's own", ".gitignore",
                      "orbit init")  # fmt: skip
    driver = git.ask("config", f"merge.{DRIVER}.driver")
    if driver is None:
        yield Finding("warning", "git", "this clone has no merge driver for decision logs", ".git/config", "orbit init")
    elif not _starts(driver):
        said = f"the merge driver starts a program that is gone: {driver.split(' -m ')[0]}"
        yield Finding("problem", "git", said, ".git/config", "orbit init")
    elif " -P " not in driver:
        said = "the merge driver imports what stands at the top of the work tree, a stranger's branch too"
        yield Finding("problem", "git", said, ".git/config", "orbit init")
    elif not missing:
        yield Finding("ok", "git", "attributes and merge driver are set")


def _starts(command: str) -> bool:
    """Say whether the program of a command is there, where it is named by its whole path."""
    try:
        first = next(iter(shlex.split(command)), "")
    except ValueError:
        return False
    return not first.startswith("/") or Path(first).exists()


def _derived(workspace: Workspace) -> Iterator[Finding]:
    """Yield how index and snapshot were found, and what bringing them up to date came to."""
    if not is_writable(workspace.state / "log"):
        said = "a hook shows nothing here: it can't keep what a session was shown, for the folder may not be written"
        yield Finding(
            "problem", "derived", said, str(workspace.state), "make the folder writable for whoever runs agents"
        )
    index = open_index(workspace)
    place = workspace.relative(workspace.cache)
    if not isinstance(index, Index):
        found, level = index.reason, "ok" if index.reason == MISSING else "warning"
    elif not is_whole(index):
        found, level = "the push index is damaged", "warning"
    elif index.stale:
        found, level = f"the push index of {_records_of(index.records)} was behind the files", "ok"
    else:
        found, level = f"the push index of {_records_of(index.records)} is current", "ok"
    try:
        done = sync(workspace, rebuild=level != "ok")
    except OrbitError as error:
        yield Finding(
            "problem", "derived", f"{found}; bringing it up to date failed: {error.message}", place, error.hint
        )
        return
    now = "; it was made anew now" if done.index is not None and done.index.built else ""
    yield Finding("ok" if level == "ok" else "warning", "derived", f"{found}{now}", place)
    held = "was built now" if done.built else "is current"
    yield Finding("ok", "derived", f"the snapshot {held}", workspace.relative(done.path))


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8", "replace")
    except OSError:
        return ""
