"""The files and folders that a site is made from."""

from __future__ import annotations

import os
from collections.abc import Iterator, Set
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from orbit_registry.model.record import BODY
from orbit_registry.repository.votes import NAME as VOTES
from orbit_registry.workspace.workspace import git_folder

if TYPE_CHECKING:
    from orbit_registry.site.stage import BuildContext


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
