"""Scopes that cover more than a fifth of the tracked files, which are for briefs, not for tool calls."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

from orbit_registry.hook.matcher import Program, fits, program

SHARE = 0.2
FEWEST_FILES = 20
"""Fewest files of a project in which a fifth of them says something."""


class Breadth:
    """The tracked files, and how many of them globs match; `entries` are compiled globs."""

    def __init__(self, files: Sequence[str], entries: Mapping[str, str]) -> None:
        self._files, self._entries = sorted(files), entries
        self._bounds: dict[str, int] = {}
        self._masks: dict[str, int] = {}

    def is_broad(self, globs: Iterable[str]) -> bool:
        """Say whether a scope matches more than a fifth of the files."""
        most = len(self._files) * SHARE
        included = [glob for glob in globs if not glob.startswith("!")]
        few = len(self._files) < FEWEST_FILES
        if few or sum(self._bound(glob) for glob in included) <= most:
            return False
        mask = 0
        for glob in included:
            mask |= self._mask(glob)
        for glob in globs:
            if glob.startswith("!"):
                mask &= ~self._mask(glob)
        return mask.bit_count() > most

    def _asked(self, alternative: str) -> Program | None:
        """Return the pattern to try on the files of `_places`; None if all of them match."""
        decides, text, _, depth, *keys = alternative.split("\x1f")
        return None if decides == "1" and not depth and keys[0][0] == "d" else program(text)

    def _bound(self, glob: str) -> int:
        bound = self._bounds.get(glob)
        if bound is None:
            bound = self._bounds[glob] = sum(
                len(self._places(alternative)) for alternative in self._entries[glob].split("\x1e")
            )
        return bound

    def _places(self, alternative: str) -> Sequence[int]:
        """Return the positions of the files that an alternative may match: the shortest list."""
        _, _, extension, _, *keys = alternative.split("\x1f")
        listed: Sequence[int] = self._by_extension.get(extension, ()) if extension else range(len(self._files))
        for key in keys:
            if key[0] in "bs":
                narrower: Sequence[int] = self._by_name.get(key, ())
            elif key[0] == "p":
                position = self._first(range(len(self._files)), key[1:])
                narrower = range(position, position + (self._files[position : position + 1] == [key[1:]]))
            else:
                narrower = self._below(listed, key[1:])
            listed = min(listed, narrower, key=len)
        return listed

    def _below(self, listed: Sequence[int], folder: str) -> Sequence[int]:
        if not folder:
            return listed
        return listed[self._first(listed, f"{folder}/") : self._first(listed, f"{folder}0")]  # "0" comes after "/"

    def _first(self, listed: Sequence[int], text: str) -> int:
        return bisect_left(listed, text, key=self._files.__getitem__)

    @cached_property
    def _by_extension(self) -> dict[str, list[int]]:
        positions: dict[str, list[int]] = {}
        for position, file in enumerate(self._files):
            _, dot, extension = file.rpartition("/")[2].rpartition(".")
            if dot:
                positions.setdefault(f".{extension}", []).append(position)
        return positions

    @cached_property
    def _by_name(self) -> dict[str, list[int]]:
        positions: dict[str, list[int]] = {}
        for position, file in enumerate(self._files):
            *folders, name = file.split("/")
            positions.setdefault(f"b{name}", []).append(position)
            for folder in dict.fromkeys(folders):
                positions.setdefault(f"s{folder}", []).append(position)
        return positions

    def _mask(self, glob: str) -> int:
        """Return the files that a glob matches, a bit for each position."""
        mask = self._masks.get(glob)
        if mask is None:
            bits = bytearray(len(self._files) // 8 + 1)
            for alternative in self._entries[glob].split("\x1e"):
                needed = self._asked(alternative)
                for position in self._places(alternative):
                    if needed is None or fits(needed, self._files[position]):
                        bits[position >> 3] |= 1 << (position & 7)
            mask = self._masks[glob] = int.from_bytes(bits, "little")
        return mask
