"""The signs of a change and of a whole history, read from git.

A history is that of the first parents: what a merge brings is the work of one pull request, and a
branch of ten commits is one step.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from orbit_registry.errors import OrbitError
from orbit_registry.lifecycle.signs import LONGEST_FILE, Sign, SignKind, has_text, signs_in
from orbit_registry.lifecycle.unwritten import added, key_of
from orbit_registry.workspace.files import inside, read_bytes
from orbit_registry.workspace.git import Git
from orbit_registry.workspace.git_log import Commit, commits_touching
from orbit_registry.workspace.workspace import ORBIT, Workspace

CHUNK = 500
"""Commits that are read at once."""

Signs = Mapping[str, Sequence[Sign]]
"""The signs of a tree, by the file that has them."""


@dataclass(frozen=True, slots=True)
class Step:
    """A commit, the signs that no file had before, and those of them that are news."""

    commit: Commit
    first: Sequence[Sign]
    news: Sequence[Sign]


def brought_by(
    workspace: Workspace, base: str, changed: Iterable[str]
) -> tuple[list[Sign], list[Sign]] | None:
    """Return the signs of a tree before and after a change; None if it brings none."""
    paths = [path for path in changed if not path.startswith(f"{ORBIT}/")]
    now = {path: _signs_now(workspace, path) for path in paths}
    if not any(now.values()):
        return None

    tree = signs_at(workspace.git, base)
    return signs_of(tree), signs_of({**tree, **now})


def signs_at(git: Git, revision: str) -> dict[str, Sequence[Sign]]:
    """Return the signs of a tree."""
    files = git.files_at(revision, ".").items()
    return {path: signs for (path, _), signs in _read(git, files).items() if signs}


def signs_of(tree: Signs) -> list[Sign]:
    """Return the signs of all files of a tree."""
    return list(chain.from_iterable(tree.values()))


def first_parents(git: Git, most: int) -> list[str]:
    """Return the newest commits of the first parents, the oldest first."""
    options = ("--first-parent", "--reverse", f"--max-count={most}")
    return git.run("rev-list", *options, "HEAD").decode().split()


def steps(
    git: Git, commits: Sequence[str], base: str | None, progress: Callable[[int, int], None]
) -> Iterator[Step]:
    """Yield the steps of commits that follow each other, the oldest first.

    What the tree of `base` has is known; None: the first commit begins the history.
    """
    tree = {} if base is None else signs_at(git, base)
    keys = Counter(map(key_of, signs_of(tree)))

    for start in range(0, len(commits), CHUNK):
        progress(start, len(commits))
        last = commits[start : start + CHUNK][-1]
        revisions = last if base is None else f"{base}..{last}"
        base = last

        chunk = list(commits_touching(git, ["."], revisions))
        changes = chain.from_iterable(commit.changes for commit in chunk)
        read = _read(git, changes)
        for commit in reversed(chunk):
            files = {path: read[path, blob] for path, blob in commit.changes}
            yield _step(commit, files, tree, keys)


def _step(
    commit: Commit,
    files: Signs,
    tree: dict[str, Sequence[Sign]],
    keys: Counter[tuple[SignKind, str]],
) -> Step:
    """Take the files of a commit into the tree."""
    brought = signs_of(files)
    first = [sign for sign in brought if not keys[key_of(sign)]]
    is_news = first or any(sign.kind is SignKind.PERMISSION for sign in brought)
    before = signs_of(tree) if is_news else []

    for path, signs in files.items():
        keys.subtract(map(key_of, tree.pop(path, ())))
        keys.update(map(key_of, signs))
        if signs:
            tree[path] = signs

    news = added(before, signs_of(tree)) if is_news else []
    return Step(commit, first, news)


def _signs_now(workspace: Workspace, path: str) -> Sequence[Sign]:
    file = workspace.root / path
    if not file.is_file() or not has_text(path):
        if file.is_file():
            return signs_in(path)

        return ()

    try:
        content = read_bytes(inside(workspace.root, path), limit=LONGEST_FILE)
    except OrbitError:
        return ()

    return signs_in(path, _text(content))


def _read(git: Git, files: Iterable[tuple[str, str]]) -> dict[tuple[str, str], Sequence[Sign]]:
    """Return the signs of files by path and blob; an empty blob has none."""
    rows = list(dict.fromkeys(files))
    blobs = [blob for path, blob in rows if blob and has_text(path)]
    texts = git.blobs(blobs, check=False, limit=LONGEST_FILE)
    return {
        (path, blob): signs_in(path, _text(texts.get(blob, b""))) if blob else ()
        for path, blob in rows
    }


def _text(content: bytes) -> str:
    if b"\0" in content:
        return ""

    return content.decode("utf-8-sig", "replace")
