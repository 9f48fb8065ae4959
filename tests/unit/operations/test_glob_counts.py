"""How many files each glob matches: a counter with a cache answers as one that counts anew."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from orbit_registry.operations.glob_counts import count_matches, counter_in
from orbit_registry.workspace.cache import Cache

GLOBS = [
    "src/**",
    "src/*.py",
    "docs/**",
    "**/*.md",
    "!src/b.py",
    "lib/{a,b}.py",
    "gone/**",
    "[",
    "",
]
FILES = [f"src/{name}.py" for name in "abcdefghijklmnopqrstuvwxyz"]
STEPS: dict[str, Sequence[tuple[Sequence[str], Sequence[str]]]] = {
    "nothing changed": [(GLOBS, FILES), (GLOBS, FILES)],
    "a file came": [(GLOBS, FILES), (GLOBS, [*FILES, "docs/a.md"])],
    "a file went": [(GLOBS, FILES), (GLOBS, FILES[1:])],
    "a file was renamed": [(GLOBS, FILES), (GLOBS, ["lib/a.py", *FILES[1:]])],
    "the last file of a glob went": [(GLOBS, [*FILES, "docs/a.md"]), (GLOBS, FILES)],
    "a file is in conflict, once for each side": [
        (GLOBS, FILES),
        (GLOBS, [*FILES, FILES[0], FILES[0]]),
        (GLOBS, FILES),
    ],
    "a file and a glob came": [(GLOBS[1:], FILES), (GLOBS, [*FILES, "src/new.py"])],
    "a glob went and came back, with a file between": [
        (GLOBS, FILES),
        (GLOBS[1:], [*FILES, "src/new.py"]),
        (GLOBS, [*FILES, "src/new.py"]),
    ],
    "most files changed": [(GLOBS, FILES), (GLOBS, [f"docs/{name}.md" for name in "abc"])],
    "no file is left": [(GLOBS, FILES), (GLOBS, []), (GLOBS, FILES)],
}


@pytest.mark.parametrize("name", STEPS)
def test_a_counter_with_a_cache_answers_as_one_that_counts_anew(name: str, tmp_path: Path) -> None:
    for globs, files in STEPS[name]:
        count = counter_in(Cache(tmp_path / "cache.sqlite", "1"), "test")
        assert count(globs, files) == count_matches(globs, files), files


def test_counters_of_one_name_in_turns_with_other_files(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache.sqlite", "1")
    for files in (FILES, FILES[1:], FILES, [*FILES, "a\udcff.md"], FILES[2:]):
        count = counter_in(cache, "test")
        assert count(GLOBS, files) == count_matches(GLOBS, files)
