"""What a change does to the files that checks look at: their texts before it, and names that lead
to them.
"""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from orbit_enforce.kind import FILE_LIMIT, Tree, decoded
from orbit_registry.formats.code_tree import UnreadableError
from orbit_registry.repository.change import Change, change_since
from orbit_registry.repository.policy import is_within
from orbit_registry.workspace.git import Git
from orbit_registry.workspace.workspace import ORBIT


class CodeChange(Change):
    """A change, with what it does to the files that checks look at."""

    @cached_property
    def texts(self) -> Mapping[str, str]:
        """The texts of the changed files before the change."""
        return {
            path: _readable(content[:FILE_LIMIT], path)
            for path, content in self.contents(self.before).items()
        }

    def aliases(self, paths: Sequence[str]) -> Iterator[tuple[str, str]]:
        """Yield names under which changed files count too, each with the file: the name before a
        move, and the names that links give; an empty file where a new link leads to what no check
        reads: out of the project, or to the records.
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
            is_read = target.is_relative_to(root) and target != root
            inner = target.relative_to(root).as_posix() if is_read else ""
            if not is_read or is_within(inner, ORBIT):
                if is_new:
                    yield link, ""
                continue

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
        fresh = (path for path in self.earlier if (self.git.folder / path).is_symlink())
        return list(dict.fromkeys([*self.git.links(), *fresh]))

    def tree_before(self, tree: Tree) -> Tree:
        """Return the files before the change; those that it leaves alone are in the tree of
        today.
        """
        unchanged = (path for path in tree.paths if path not in self.earlier)
        paths = [*unchanged, *(path for path in self.before if not path.startswith(f"{ORBIT}/"))]
        return Tree(paths, lambda path: self.texts[path] if path in self.texts else tree.text(path))


def _readable(content: bytes, path: str) -> str:
    try:
        return decoded(content, path)
    except UnreadableError:
        return ""


def code_change_since(git: Git, base: str, untracked: Sequence[str] = ()) -> CodeChange:
    """Return the change of the work tree since a commit."""
    change = change_since(git, base, untracked)
    return CodeChange(change.git, change.base, change.earlier, change.gone)
