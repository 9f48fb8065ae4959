"""Follows files that moved: asks git for renames and says what a path or glob of before is now; writes nothing."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime

from orbit_registry.store.git import Git
from orbit_registry.text.glob_syntax import Glob, parse_glob
from orbit_registry.text.globs import matches

_RENAME = re.compile(r"R\d*\Z")
_UNWRITABLE = re.compile("[\x00-\x1f\x7f\ud800-\udfff]")
"""What no record names: one such file would keep the names of all others from being corrected."""
_SPECIAL = re.compile(r"[*?\[\]{}]")


class Renames:
    """Which files were renamed, and to what in the end; `files` are those that are there now."""

    def __init__(self, pairs: Iterable[tuple[str, str]], files: Iterable[str]) -> None:
        self._files = frozenset(files)
        ends: dict[str, str] = {}
        starts: dict[str, set[str]] = {}
        for old, new in pairs:
            carried = starts.pop(old, set()) | {old}
            ends.update((one, new) for one in carried)
            starts.setdefault(new, set()).update(carried)
        self._ends = {
            old: new
            for old, new in ends.items()
            if new in self._files and old not in self._files and not _UNWRITABLE.search(new)
        }

    def __bool__(self) -> bool:
        return bool(self._ends)

    def path(self, text: str) -> str | None:
        """Return where a file or folder is now; None where git knows of no move, or it went several ways."""
        if text in self._ends:
            return self._ends[text]
        folder = text.rstrip("/")
        inside = {old: new for old, new in self._ends.items() if old.startswith(f"{folder}/")}
        target = _common_folder(folder, inside)
        return None if target is None else target + ("/" if text.endswith("/") else "")

    def glob(self, text: str) -> str | None:
        """Return the glob that matches what this one matched before; None where that can't be said."""
        parsed = parse_glob(text)
        if not isinstance(parsed, Glob) or parsed.exclude:
            return None
        matched = {old: new for old, new in self._ends.items() if matches(parsed, old)}
        for candidate in _candidates(text, parsed, matched):
            known = parse_glob(candidate)
            if isinstance(known, Glob) and any(matches(known, file) for file in matched.values()):
                return candidate
        return None


def renames_since(git: Git, since: datetime, files: Iterable[str]) -> Renames:
    """Return the renames that git finds in the history of HEAD since a moment, and in the work tree, oldest first.

    Raises:
        GitError: git is missing, or takes too long.
    """
    options = ("-M", "--diff-filter=R", "--name-status", "-z", "--relative")
    history = git.run("log", "--reverse", f"--since={since.isoformat()}", "--format=", *options, "HEAD", check=False)
    present = git.run("diff", *options, "HEAD", check=False)
    return Renames((*_pairs(history), *_pairs(present)), files)


def _pairs(answer: bytes) -> Iterator[tuple[str, str]]:
    words = [word.strip("\n") for word in answer.decode("utf-8", "surrogateescape").split("\0")]
    place = 0
    while place + 2 < len(words):
        if _RENAME.match(words[place]):
            yield words[place + 1], words[place + 2]
            place += 3
        else:
            place += 1


def _candidates(text: str, glob: Glob, matched: Mapping[str, str]) -> Iterator[str]:
    """Yield what the glob may be now: the file itself, its folder elsewhere, or its file name changed."""
    if not _SPECIAL.search(text) and text in matched:
        yield matched[text]
    prefix = glob.literal_prefix
    folder = _common_folder(prefix, matched) if prefix else None
    if folder is not None and text.startswith(f"{prefix}/"):
        yield f"{folder}{text[len(prefix) :]}" if folder else text[len(prefix) + 1 :]
    start, slash, name = text.rpartition("/")
    if name and not _SPECIAL.search(name) and matched:
        names = {new.rpartition("/")[2] for new in matched.values()}
        if len(names) == 1:
            yield f"{start}{slash}{names.pop()}"


def _common_folder(folder: str, moved: Mapping[str, str]) -> str | None:
    """Return where most of a folder's files are now, each under the name it had below the folder."""
    found: Counter[str] = Counter()
    for old, new in moved.items():
        rest = old[len(folder) + 1 :] if folder else old
        if new.endswith(f"/{rest}"):
            found[new[: -len(rest) - 1]] += 1
    if not found:
        return None
    target, count = found.most_common(1)[0]
    return target if count * 2 > len(moved) and target != folder else None
