"""What single questions remember of earlier runs: the files that globs match, the texts that are nearly the same."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from orbit_registry.checks.matching import count_matches
from orbit_registry.store.cache import code_stamp
from orbit_registry.store.kept import KeptValue, digest
from orbit_registry.store.workspace import Workspace

_FEW_FILES = 100
_SPECIAL = re.compile(r"[*?\[{]")


class Counts:
    """How many files each glob matches: only globs and files that are new, or gone, are matched."""

    def __init__(self, workspace: Workspace) -> None:
        self._kept = KeptValue(workspace, "matches", code_stamp())

    def __call__(self, texts: Collection[str], files: Sequence[str]) -> Mapping[str, int]:
        """Return what `matching.count_matches` does."""
        held: Mapping[str, Any] = self._kept.value
        before, known = held.get("files", []), dict(held.get("counts", {}))
        if before != list(files):
            now, then = Counter(files), Counter(before)
            added, gone = list((now - then).elements()), list((then - now).elements())
            if len(added) + len(gone) > _FEW_FILES:
                known = {}
            for sign, some in ((1, added), (-1, gone)):
                for text, count in count_matches(_reaching(known, some), some).items():
                    known[text] += sign * count
        new = [text for text in texts if text not in known]
        if new:
            counted = count_matches(new, files)
            known |= {text: counted.get(text, 0) for text in new}
        if new or before != list(files):
            self._kept.keep({"files": list(files), "counts": known})
        return {text: count for text in texts if (count := known[text])}


def _reaching(texts: Iterable[str], files: Sequence[str]) -> list[str]:
    """Return the globs that can match one of a few files, by how they begin; parsing all would cost more."""
    starts = ((text, text[: found.start()] if (found := _SPECIAL.search(text)) else text) for text in texts)
    return [text for text, start in starts if any(file.startswith(start) for file in files)]


class Near:
    """The pairs of texts that are nearly the same: remembered while no text changed, else computed from what is."""

    def __init__(
        self, workspace: Workspace, text_of: Callable[[str], str], threshold: float, is_steady: Callable[[], bool]
    ) -> None:
        """`is_steady` says, once the texts were read, whether they are those of the hashes: only then is it kept."""
        self._workspace, self._text_of, self._threshold, self._is_steady = workspace, text_of, threshold, is_steady

    def __call__(self, kind: str, said: Mapping[str, str]) -> Sequence[Sequence[Any]]:
        """Return the pairs of keys whose texts are nearly the same, each with how alike; `said` hashes each text."""
        from orbit_registry.search.similarity import KeptIndex  # those who count matches do without

        pairs, remembered = self._remembered(kind, said)
        if remembered is not None:
            return remembered
        kept = KeptIndex(self._workspace, kind)
        index = kept.of(said, self._text_of)
        found: list[list[object]] = [[pair.a, pair.b, pair.score] for pair in index.pairs(self._threshold)]
        if self._is_steady():
            pairs.keep({"pairs": found})
            kept.keep(index, said)
        return found

    def _remembered(self, kind: str, said: Mapping[str, str]) -> tuple[KeptValue, list[list[object]] | None]:
        """Return where the pairs of these very texts are kept, and those that are."""
        key = digest(code_stamp(), self._threshold, sorted(said.items()))
        kept = KeptValue(self._workspace, f"near-{kind}", key)
        rows = kept.value.get("pairs")
        return kept, rows if isinstance(rows, list) else None
