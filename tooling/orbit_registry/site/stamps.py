"""Stamps (time, size, inode) of a build's inputs and outputs:
while all are equal there is nothing to do.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Set
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from orbit_registry.errors import GitError
from orbit_registry.model.record import BODY
from orbit_registry.repository.votes import NAME as VOTES
from orbit_registry.workspace.workspace import Workspace, git_folder

if TYPE_CHECKING:
    from orbit_registry.site.stage import BuildContext

SKEW_NS = 60 * 10**9  # by how much the clock of a network disk may be ahead
TICK_NS = 20 * 10**6  # by how much the time of a file that is written now may be behind ours


def stamp_of(path: str) -> str:
    """Return a text that changes when a file, or the list of names in a folder, does."""
    try:
        info = os.stat(path)
    except (OSError, ValueError):
        return "-"
    return f"{info.st_mtime_ns}-{info.st_size}-{info.st_ino}"


def stamps_of(
    inputs: Iterable[str], outputs: Iterable[str], started_ns: int
) -> dict[str, str] | None:
    """Return stamps by path; None where an input changed after the build started,
    and may have been read before.
    """
    stamps = {path: stamp_of(path) for path in inputs}
    times = (int(stamp.partition("-")[0]) for stamp in stamps.values() if stamp != "-")
    # A time to come was set by hand: no edit of now has it, and one that follows has another.
    if any(started_ns - TICK_NS <= moment <= time.time_ns() + SKEW_NS for moment in times):
        return None

    return stamps | {path: stamp_of(path) for path in outputs}


def untracked_files(workspace: Workspace, out: Path) -> list[str]:
    """Return the files that git would add now, without those of the site."""
    site = (
        [workspace.relative(out)]
        if out.is_relative_to(workspace.root) and out != workspace.root
        else []
    )
    try:
        return without_records(workspace, workspace.git.untracked(without=site))
    except GitError:
        return []


def without_records(workspace: Workspace, paths: Iterable[str]) -> list[str]:
    """Return the paths outside the folders of records, which have stamps."""
    folders = tuple(f"{workspace.relative(workspace.folder_of(kind))}/" for kind in workspace.kinds)
    return [path for path in paths if not path.startswith(folders)]


def renderers() -> list[str]:
    """Return the main file of each package that makes HTML of a text:
    a new version may make other HTML.
    """
    specs = map(find_spec, ("markdown_it", "mdit_py_plugins", "nh3", "pygments", "pymdownx"))
    return [spec.origin for spec in specs if spec is not None and spec.origin is not None]


def inputs_of(context: BuildContext, out: Path) -> Iterator[str]:
    """Yield every file and folder whose change can change the site, which goes to `out`."""
    # To find that nothing changed takes half the time without these.
    from orbit_registry.operations.freshness.evaluate import dependency_files
    from orbit_registry.site.config import overrides
    from orbit_registry.site.documents import UNSEARCHED
    from orbit_registry.site.home import README

    workspace, sources, reading = (
        context.registry.workspace,
        context.sources,
        context.registry.reading,
    )
    root = str(workspace.root)
    yield from (f"{workspace.orbit}/config.yaml", *renderers())

    for top in [overrides(), workspace.orbit / "kinds", *(kind.folder for kind in workspace.kinds)]:
        yield from _tree(top, out)

    yield from (str(workspace.folder_of(kind)) for kind in workspace.kinds)
    git = git_folder(workspace.root)
    if git is not None:  # what is tracked, the commit of links, the remote and the newest tag
        yield from (
            str(git / name)
            for name in ("index", "HEAD", "logs/HEAD", "config", "packed-refs", "refs/tags")
        )

    for entry in reading.entries:
        folder = f"{root}/{entry.folder}"  # which changes when a file comes or goes there
        yield from (folder, f"{root}/{entry.path}")
        yield from [f"{folder}/{VOTES}"] * entry.has_votes + [f"{folder}/{BODY}"] * entry.has_body

    files = (
        "mkdocs.yml",
        README,
        *context.citing,
        *context.checked,
        *dependency_files(workspace, context.ground),
        *reading.documents,
    )

    problems = (problem.location.path for problem in context.collection.problems)
    for path in (
        *files,
        *problems,
        *sources.publication.rests_on,
        *sources.site.probed,
        *sources.site.assets,
    ):
        yield f"{root}/{path}"

    for top in sources.folders:
        yield from _tree(top, out, UNSEARCHED)

    if sources.user_config:
        yield from _tree(workspace.root / sources.user_config.docs, out)


def _tree(top: Path, out: Path, without: Set[str] = frozenset({"__pycache__"})) -> Iterator[str]:
    yield str(top)
    for parent, folders, files in os.walk(top):
        visible = (name for name in folders if not name.startswith(".") and name not in without)
        folders[:] = [name for name in visible if f"{parent}/{name}" != str(out)]
        yield from (f"{parent}/{name}" for name in (*folders, *files))
