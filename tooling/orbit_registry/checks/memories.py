"""What single questions remember of earlier runs: the files that globs match, the texts that are nearly the same."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from orbit_registry.checks.matching import count_matches
from orbit_registry.checks.members import digest
from orbit_registry.search.kept import KeptIndex
from orbit_registry.search.similarity import Pair
from orbit_registry.store.cache import code_stamp
from orbit_registry.store.kept import KeptValue
from orbit_registry.store.workspace import Workspace


class Counts:
    """How many files each glob matches, while the files are the same."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def __call__(self, texts: Collection[str], files: Sequence[str]) -> Mapping[str, int]:
        """Return what `matching.count_matches` does, matching only globs that are new."""
        kept = KeptValue(self._workspace, "matches", digest(code_stamp(), files))
        known = {text: count for text, count in kept.value.items() if isinstance(count, int)}
        new = [text for text in texts if text not in known]
        if new:
            counted = count_matches(new, files)
            known |= {text: counted.get(text, 0) for text in new}
            kept.keep(dict(known))
        return {text: count for text in texts if (count := known[text])}


class Near:
    """The pairs of texts that are nearly the same: remembered while no text changed, else computed from what is."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def __call__(
        self, kind: str, said: Mapping[str, str], text_of: Callable[[str], str], threshold: float
    ) -> Sequence[Pair]:
        """Return the pairs of keys whose texts are `threshold` alike; `said` has a hash of each text."""
        pairs = KeptValue(self._workspace, f"near-{kind}", digest(code_stamp(), threshold, sorted(said.items())))
        rows = pairs.value.get("pairs")
        if isinstance(rows, list):
            return [Pair(str(a), str(b), float(score)) for a, b, score in rows]
        kept = KeptIndex(self._workspace, kind)
        index = kept.of(said, text_of)
        found = index.pairs(threshold)
        pairs.keep({"pairs": [[pair.a, pair.b, pair.score] for pair in found]})
        kept.keep(index, said)
        return found
