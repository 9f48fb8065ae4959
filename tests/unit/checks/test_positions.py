"""Where a value stands in a record's text."""

import string

from hypothesis import given
from hypothesis import strategies as st

from orbit_registry.checks.context import position_in
from orbit_registry.formats.yaml import dump, position_of

WORDS = st.text(string.ascii_letters + " #:-\n'\"[]{}é", min_size=1, max_size=20)
KEYS = st.sampled_from(["id", "scope", "paths", "links", "to", "body", "x-a"])
VALUES = st.recursive(
    WORDS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=12
)


def pointers(value: object, above: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    ways = [above] if above else []
    if isinstance(value, dict):
        for key, inner in value.items():
            ways += pointers(inner, (*above, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            ways += pointers(inner, (*above, index))
    return ways


@given(st.dictionaries(KEYS, VALUES, min_size=1, max_size=4))
def test_the_quick_way_gives_what_the_parser_gives(data: dict[str, object]) -> None:
    text = dump(data)
    for pointer in pointers(data):
        assert position_in(text, pointer) == position_of(text, pointer), (text, pointer)
