"""Facts about the files that the search box reads."""

from __future__ import annotations

import json

from orbit_registry.search.index import Index, counts_of
from orbit_registry.site.finder import DATA, Entry, files, paths, shard_of


def test_a_word_stands_in_its_file_with_what_its_term_weighs() -> None:
    """Of a record's parts the best counts, and a record that the box does not show has no weight."""
    texts = {("a", 0): "Locked", ("a", 1): "locks and locks", ("b", 0): "locks", ("c", 0): "keys"}
    index = Index({key: counts_of(("", "", text)) for key, text in texts.items()})
    entries = [Entry(path, path.upper(), path, "u/", ("in force", ""), "", ("old",)) for path in "bc"]
    made = dict(files([Entry("a", "A", "a", "u/", ("in force", ""), "", ()), entries[0]], index))

    assert list(made) == paths(2)
    assert json.loads(made[DATA])["names"] == {"old": [1]}
    held = json.loads(made[f"search/words/{shard_of('locks', len(made) - 1)}.json"])
    assert held["words"]["locks"] == held["words"]["locked"] == "lock"
    weights = [round(weight * 100) for _, weight in index.weights("lock")]
    assert held["terms"]["lock"] == [0, max(weights[:2]), 1, weights[2]]
    assert not any('"keys"' in text for name, text in made.items() if name != DATA)


def test_more_records_have_more_files() -> None:
    """A power of two, within bounds."""
    assert [len(paths(number)) - 1 for number in (0, 1024, 1025, 100_000)] == [16, 16, 32, 256]
