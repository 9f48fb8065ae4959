"""What a change does to the files of a project: their names before it, and what lines it adds."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from orbit_registry.workspace.git import Git
from orbit_registry.workspace.git_log import steps_since

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
        return self.git.contents(self.base, paths)

    def added_lines(self, path: str, text: str) -> set[int]:
        """Return the numbers of the lines of a file that it did not have before."""
        if not (before := self.earlier[path]):
            return set(range(1, text.count("\n") + 2))
        hunks = self.git.run(
            "diff", *_DIFF, f"{self.base}:{self.git.prefix}{before}", "--", f":(literal){path}"
        )
        lines: set[int] = set()
        for first, count in _ADDED.findall(hunks):
            lines.update(range(int(first), int(first) + int(count or 1)))

        return lines


def change_since(git: Git, base: str, untracked: Sequence[str] = ()) -> Change:
    """Return the change of the work tree since a commit."""
    earlier = dict.fromkeys(untracked, "")
    gone: list[str] = []
    for step in steps_since(git, base):
        if step.after:
            earlier[step.after] = step.before
        else:
            gone.append(step.before)

    return Change(git, base, earlier, gone)
