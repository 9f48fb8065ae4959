"""Paths that name a file of the project in another way: through a link, or in another work tree.

Most calls name none, and load nothing of this.
"""

from posix import lstat, readlink

from orbit_registry.hook.call import PROJECT, in_project, normal_path
from orbit_registry.hook.files import KIND, LINK, git_folder, work_tree

MOST_LINKS = 40


def paths_of(root: str, folder: str, text: str) -> list[str]:
    """Return a path as globs see it from the root: that of the file, then as it was written.

    Empty for a file of no work tree of the project.
    """
    as_written = in_project(root, folder, text)
    path = f"{root}/{as_written}" if as_written is not None else _absolute(folder, text)
    if not path or text.strip() == PROJECT:
        return []

    paths = [] if as_written is None else [as_written]
    inside = place_of(root, path)
    if inside and inside not in paths:
        paths.insert(0, inside)

    return paths


def place_of(root: str, path: str) -> str:
    """Return the path from the root of the file that an absolute path leads to, here or in another
    work tree; empty for a file of neither.
    """
    real, real_root = real_path(path), real_path(root)
    inside = _in_work_tree(real_root, real) or _below(real_root, real)
    end = "/" if path.endswith("/") else ""
    return inside and inside + end


def real_path(path: str) -> str:
    """Return an absolute path without links in it; what is not there yet stays."""
    names = normal_path(path).split("/")[:0:-1]
    real = ""
    links = 0
    while names:
        name = names.pop()
        if name == "..":
            real = real.rpartition("/")[0]
            continue
        if name in ("", "."):
            continue

        target = _target(f"{real}/{name}")
        if not target or links >= MOST_LINKS:
            real = f"{real}/{name}"
            continue

        links += 1
        names += target.split("/")[::-1]
        if target.startswith("/"):
            real = ""

    return real


def _target(path: str) -> str:
    try:
        if lstat(path).st_mode & KIND == LINK:
            return readlink(path)

        return ""
    except (OSError, ValueError):
        return ""


def _absolute(folder: str, text: str) -> str:
    path = in_project("", folder, text)
    if path is None:
        return ""

    return f"/{path}"


def _below(folder: str, path: str) -> str:
    if path.startswith(f"{folder}/"):
        return path[len(folder) + 1 :]

    return ""


def _in_work_tree(root: str, path: str) -> str:
    """Return a path of any work tree of the project's repository as the project has it."""
    ours, theirs = work_tree(root), work_tree(path.rpartition("/")[0])
    if not ours or not theirs:
        return ""

    git = _git_of(ours)
    if not git or git != _git_of(theirs):
        return ""

    return _below(theirs + root[len(ours) :], path)


def _git_of(top: str) -> str:
    """Return git's folder that all work trees of a repository share; empty if it was moved."""
    git = git_folder(top)
    if not git:
        return ""

    git = real_path(git)
    common, is_tree, _ = git.rpartition("/worktrees/")
    if is_tree:
        return common

    return git
