"""Facts about the files that the search box reads."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from orbit_registry.site.finder import FILES, Entry, files

text = st.lists(st.sampled_from(["cache", "Locking", "locks", "UTC", "a-b", "L-7k3fq"]), max_size=4).map(" ".join)
entry = st.tuples(st.just("L-7k3fq"), text, st.just("u/"), st.just(""), st.just(""), text, text, st.just(()))


@given(held=st.lists(st.tuples(entry, st.none() | entry), max_size=6))
def test_files_of_an_earlier_build_become_those_of_now(held: list[tuple[Entry, Entry | None]]) -> None:
    """Where a few records say something else, their terms alone move, and each byte is as if all were looked at."""
    now = [new or old for old, new in held]
    before = dict(files([old for old, _ in held]))
    then = {number: old for number, (old, new) in enumerate(held) if new is not None}
    assert list(files(now, before, then)) == list(files(now))
    assert tuple(before) == FILES
