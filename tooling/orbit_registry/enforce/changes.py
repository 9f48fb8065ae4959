"""Files that a change touches, and the lines that it adds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from orbit_registry.workspace.git import Git


@dataclass(frozen=True, slots=True)
class Change:
    """What `--against` compares with: a commit, and the files that differ from it."""

    base: str
    earlier: Mapping[str, str]
    """Each file that the change adds, edits or moves, with its name before; empty for a new one."""
    gone: Sequence[str]

    @property
    def before(self) -> list[str]:
        """The files that the change edits, moves or deletes, by their names before it."""
        return list(dict.fromkeys([*filter(None, self.earlier.values()), *self.gone]))


def change_since(git: Git, base: str, untracked: Sequence[str] = ()) -> Change:
    """Return the change of the work tree since a commit."""
    earlier, gone = dict.fromkeys(untracked, ""), []
    fields = iter(git.run_names("diff", "--name-status", "-z", "--find-renames", "--relative", base, "--"))
    for status in fields:
        name = next(fields)
        if status == "D":
            gone.append(name)
        elif status[0] in "RC":
            earlier[next(fields)] = name
        else:
            earlier[name] = "" if status == "A" else name
    return Change(base, earlier, gone)


def added_lines(before: str, after: str) -> set[int]:
    """Return the numbers of the lines of a text that an earlier one does not have."""
    old, new = (text.removesuffix("\n").split("\n") for text in (before, after))
    steps = SequenceMatcher(None, old, new).get_opcodes()
    return {line for what, _, _, start, end in steps if what != "equal" for line in range(start + 1, end + 1)}
