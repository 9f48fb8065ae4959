"""What a change does to the files that checks look at:
those before it, and the lines that it adds.
"""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from orbit_enforce.kind import FILE_LIMIT, Tree, UnreadableError, decoded
from orbit_registry.workspace.git import Git
from orbit_registry.workspace.workspace import ORBIT

_DIFF = [
    "--no-color",
    "--no-ext-diff",
    "--no-textconv",
    "-a",
    "--ignore-cr-at-eol",
    "-U0",
    "--inter-hunk-context=0",
]
_ADDED = re.compile(
    rb"^@@ -\S+ \+(\d+)(?:,(\d+))? @@", re.MULTILINE
)  # other lines start with a sign or a letter


@dataclass(frozen=True)
class Change:
    """What `--against` compares with: a commit, and the files that differ from it."""

    git: Git
    base: str
    earlier: Mapping[str, str]
    """Each file that the change adds, edits or moves, with its name before; empty for a new one."""
    gone: Sequence[str]

    @property
    def before(self) -> list[str]:
        """The files that the change edits, moves or deletes, by their names before it."""
        return list(dict.fromkeys([*filter(None, self.earlier.values()), *self.gone]))

    def contents(self, paths: Sequence[str]) -> dict[str, bytes]:
        """Return files as they were before the change."""
        names = {f"{self.base}:{self.git.prefix}{path}": path for path in paths}
        return {
            names[name]: content for name, content in self.git.blobs(names, check=False).items()
        }

    @cached_property
    def texts(self) -> Mapping[str, str]:
        """The texts of the changed files before the change."""
        return {
            path: _readable(content[:FILE_LIMIT], path)
            for path, content in self.contents(self.before).items()
        }

    def aliases(self, paths: Sequence[str]) -> Iterator[tuple[str, str]]:
        """Yield names under which changed files count too, each with the file: the name before a
        move, and the names that links give; an empty file where a new link leaves the project.
        """
        for path, old in self.earlier.items():
            if old not in ("", path):
                yield old, path

        yield from self._same_names(paths)

        root = self.git.folder.resolve()
        for link in self._links:
            try:
                target = (root / link).resolve(strict=True)
            except (OSError, RuntimeError):  # it leads nowhere, or in a circle
                continue

            is_new = link in self.earlier
            if not target.is_relative_to(root) or target == root:
                if is_new:
                    yield link, ""
                continue

            inner = target.relative_to(root).as_posix()
            for path in paths if is_new else self.earlier:
                if path == inner or path.startswith(f"{inner}/"):
                    yield link + path[len(inner) :], path

    def _same_names(self, paths: Iterable[str]) -> Iterator[tuple[str, str]]:
        """Yield the files that a change deletes, each with the one that it adds under the same
        name, which no other file has: to git a file that is rewritten by half is a new one.
        """
        gone = {posixpath.basename(path): path for path in self.gone}
        if not gone:
            return

        counts = Counter(map(posixpath.basename, (*paths, *self.gone)))
        for path, old in self.earlier.items():
            name = posixpath.basename(path)
            if not old and name in gone and counts[name] == 2:
                yield gone[name], path

    @cached_property
    def _links(self) -> list[str]:
        """The symbolic links that git tracks, and the new ones."""
        rows = self.git.run("ls-files", "-s", "-z").split(b"\0")
        links = [row.partition(b"\t")[2] for row in rows if row.startswith(b"120000 ")]
        names = [link.decode("utf-8", "surrogateescape") for link in links]
        fresh = (path for path in self.earlier if (self.git.folder / path).is_symlink())
        return list(dict.fromkeys([*names, *fresh]))

    def tree_before(self, tree: Tree) -> Tree:
        """Return the files before the change; those that it leaves alone are in the tree of
        today.
        """
        unchanged = (path for path in tree.paths if path not in self.earlier)
        paths = [*unchanged, *(path for path in self.before if not path.startswith(f"{ORBIT}/"))]
        return Tree(paths, lambda path: self.texts[path] if path in self.texts else tree.text(path))

    def added_lines(self, path: str, text: str) -> set[int]:
        """Return the numbers of the lines of a file that it did not have before."""
        if not (before := self.earlier[path]):
            return set(range(1, text.count("\n") + 2))
        hunks = self.git.run(
            "diff", *_DIFF, f"{self.base}:{self.git.prefix}{before}", "--", f":(literal){path}"
        )
        rows = ((int(first), int(count or 1)) for first, count in _ADDED.findall(hunks))
        return {line for first, count in rows for line in range(first, first + count)}


def _readable(content: bytes, path: str) -> str:
    try:
        return decoded(content, path)
    except UnreadableError:
        return ""


def change_since(git: Git, base: str, untracked: Sequence[str] = ()) -> Change:
    """Return the change of the work tree since a commit."""
    earlier, gone = dict.fromkeys(untracked, ""), []
    fields = iter(
        git.run_names("diff", "--name-status", "-z", "--find-renames", "--relative", base, "--")
    )
    for status in fields:
        name = next(fields)
        if status == "D":
            gone.append(name)
        elif status[0] in "RC":
            earlier[next(fields)] = name
        else:
            earlier[name] = "" if status == "A" else name

    return Change(git, base, earlier, gone)
