"""Keeps the similarity index of a kind's records from run to run, sealed as every cache; it compares nothing itself."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping

from orbit_registry.search.similarity import SimilarityIndex
from orbit_registry.store.cache import code_stamp
from orbit_registry.store.kept import KeptValue
from orbit_registry.store.workspace import Workspace


class KeptIndex:
    """The index of a kind as the last run left it."""

    def __init__(self, workspace: Workspace, kind: str) -> None:
        self._kept = KeptValue(workspace, f"terms-{kind}", code_stamp())

    @property
    def is_empty(self) -> bool:
        """Say whether nothing is kept, so that an index has to be made of every text."""
        return not self._kept.value

    def of(self, said: Mapping[str, str], text_of: Callable[[str], str]) -> SimilarityIndex:
        """Return an index of texts, whose keys and hashes `said` has; only those that were not kept are asked for."""
        index = SimilarityIndex.from_state(self._kept.value.get("state"))
        seen = self._kept.value.get("texts")
        if index is None or not isinstance(seen, dict):
            return SimilarityIndex((key, text_of(key)) for key in said)
        for key in seen.keys() - said.keys():
            index.remove(key)
        for key, hashed in said.items():
            if seen.get(key) != hashed:
                index.put(key, text_of(key))
        return index

    def keep(self, index: SimilarityIndex, said: Mapping[str, str]) -> None:
        """Keep an index of texts with their hashes for the next run; a disk that refuses is let be."""
        value = {"state": index.to_state(), "texts": dict(said)}
        if value != self._kept.value:
            self._kept.keep(value)


def hash_of(text: str) -> str:
    """Return what tells a text from another."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
