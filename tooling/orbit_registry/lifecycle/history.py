"""The history of a project, as signs: what each commit brought, the oldest first.

It follows the first parents: what a merge brings is the work of one pull request, and a branch of
ten commits is one step.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from orbit_registry.errors import OrbitError
from orbit_registry.lifecycle.signs import LONGEST_FILE, Sign, SignKind, has_text, signs_in
from orbit_registry.lifecycle.unwritten import added, plain_name
from orbit_registry.workspace.files import inside, read_bytes
from orbit_registry.workspace.git import Git
from orbit_registry.workspace.workspace import ORBIT, Workspace

CHUNK = 500
"""Commits whose files are read at once."""

Progress = Callable[[int, int], None]
Key = tuple[SignKind, str]
Signs = Mapping[str, Sequence[Sign]]
"""The signs of a tree, by the file that has them."""


@dataclass(frozen=True, slots=True)
class Step:
    """A commit of the first parents, the signs that no file had before, and those that are news."""

    commit: str
    at: float
    subject: str
    first: tuple[Sign, ...]
    news: tuple[Sign, ...]


@dataclass(frozen=True, slots=True)
class _Change:
    path: str
    blob: str
    """Empty: the file is gone, or is no plain file."""


def signs_at(git: Git, revision: str) -> dict[str, list[Sign]]:
    """Return the signs of a tree."""
    files = git.files_at(revision, ".")
    read = _signs_of(git, [_Change(path, blob) for path, blob in files.items()])
    return {change.path: signs for change, signs in read.items() if signs}


def brought_by(
    workspace: Workspace, base: str, changed: Iterable[str]
) -> tuple[list[Sign], list[Sign]] | None:
    """Return the signs of the tree before a change, and of the files now; None if none is new."""
    git = workspace.git
    paths = [path for path in changed if not path.startswith(f"{ORBIT}/")]
    now = {path: _signs_now(workspace, path) for path in paths}
    if not any(now.values()):
        return None

    tree = signs_at(git, base)
    before = _all(tree)
    keys = set(map(_key, before))
    brought = _all(now)
    is_new = any(_key(sign) not in keys or sign.kind is SignKind.PERMISSION for sign in brought)
    return (before, _all({**tree, **now})) if is_new else None


def _signs_now(workspace: Workspace, path: str) -> list[Sign]:
    if not (workspace.root / path).is_file():
        return []
    if not has_text(path):
        return signs_in(path)

    try:
        content = read_bytes(inside(workspace.root, path), limit=LONGEST_FILE)
    except OrbitError:
        return []

    return signs_in(path, _text(content))


def steps(
    git: Git, commits: Sequence[str], progress: Progress = lambda done, of: None
) -> Iterator[Step]:
    """Yield the steps of a history, the oldest first; `commits` follow each other.

    What the parent of the first one has is known, not news.
    """
    parent = git.ask("rev-parse", "--verify", "--quiet", f"{commits[0]}^") if commits else None
    tree: dict[str, Sequence[Sign]] = {}
    if parent is not None:
        tree.update(signs_at(git, parent))

    keys = Counter(map(_key, _all(tree)))

    for start in range(0, len(commits), CHUNK):
        progress(start, len(commits))
        chunk = commits[start : start + CHUNK]
        changes = _changes(git, chunk, parent)
        parent = chunk[-1]
        read = _signs_of(git, list(chain.from_iterable(changes.values())))
        for name, at, subject in _heads(git, chunk):
            rows = {change.path: read.get(change, []) for change in changes[name]}
            first, news = _taken(tree, keys, rows)
            yield Step(name, at, subject, tuple(first), tuple(news))


def _taken(
    tree: dict[str, Sequence[Sign]],
    keys: Counter[Key],
    rows: Mapping[str, Sequence[Sign]],
) -> tuple[list[Sign], list[Sign]]:
    """Take a commit's files into the tree; return the signs that no file had, and the news."""
    brought = _all(rows)
    first = [sign for sign in brought if not keys[_key(sign)]]
    is_news = first or any(sign.kind is SignKind.PERMISSION for sign in brought)
    before = _all(tree) if is_news else []

    for path, signs in rows.items():
        keys.subtract(map(_key, tree.pop(path, ())))
        keys.update(map(_key, signs))
        if signs:
            tree[path] = signs

    return first, added(before, _all(tree)) if is_news else []


def _all(tree: Signs) -> list[Sign]:
    return list(chain.from_iterable(tree.values()))


def _key(sign: Sign) -> Key:
    return sign.kind, plain_name(sign.name)


def _heads(git: Git, commits: Sequence[str]) -> Iterator[tuple[str, float, str]]:
    """Yield the hash, time and subject of commits, in their order."""
    listed = "".join(f"{name}\n" for name in commits).encode()
    options = ("--no-walk=unsorted", "-z", "--stdin", "--format=%H%x09%ct%x09%s")
    for row in git.run_fields("log", *options, stdin=listed):
        if row:
            name, at, subject = row.split("\t", 2)
            yield name, float(at), subject


def _changes(git: Git, commits: Sequence[str], parent: str | None) -> Mapping[str, list[_Change]]:
    """Return what commits change, each against the one before it; the first against `parent`."""
    before = [parent, *commits[:-1]]
    pairs = [f"{name} {old}" if old else name for name, old in zip(commits, before, strict=True)]
    stdin = "".join(f"{pair}\n" for pair in pairs).encode()
    options = ("--stdin", "--root", "-r", "-z", "--no-renames", "--relative")
    texts = git.run_fields("diff-tree", *options, stdin=stdin)

    changes: dict[str, list[_Change]] = {name: [] for name in commits}
    current = changes[commits[0]]
    index = 0
    while index < len(texts):
        text = texts[index].lstrip("\n")
        if not text.startswith(":"):
            current = changes.get(text[:64].split(" ")[0].strip(), current)
            index += 1
            continue

        _, mode, _, blob, _ = text.split(" ")
        is_file = mode in ("100644", "100755")
        current.append(_Change(texts[index + 1], blob if is_file else ""))
        index += 2

    return changes


def _signs_of(git: Git, changes: Sequence[_Change]) -> dict[_Change, list[Sign]]:
    """Return the signs of files, each read once."""
    wanted = {change.blob for change in changes if change.blob and has_text(change.path)}
    texts = git.blobs(wanted, check=False)

    signs: dict[_Change, list[Sign]] = {}
    for change in dict.fromkeys(changes):
        text = _text(texts.get(change.blob, b""))
        signs[change] = signs_in(change.path, text) if change.blob else []

    return signs


def _text(content: bytes) -> str:
    return "" if b"\0" in content else content.decode("utf-8-sig", "replace")
