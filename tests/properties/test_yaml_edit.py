"""Edits of YAML text: they mean what was asked for, and no line they are not about changes."""

import copy
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from orbit_registry.formats.yaml import dump, load
from orbit_registry.formats.yaml_edit import rewrite

KEYS = st.text("abcdefgh_", min_size=1, max_size=6)
WORDS = st.one_of(
    st.text(max_size=30),
    st.text("ab \n:#-'\"{}[]|>&*!%@`,?\\\t", max_size=30),
    st.sampled_from(
        [
            "no",
            "yes",
            "null",
            "~",
            "1e3",
            "012",
            "0x10",
            "2026-05-01",
            ".inf",
            "-",
            "---",
            "a: b",
            "# x",
            " x",
        ]
    ),
)
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(-(2**53), 2**53), WORDS)
LISTS = st.lists(SCALARS, max_size=4)
VALUES = st.one_of(SCALARS, LISTS, st.dictionaries(KEYS, st.one_of(SCALARS, LISTS), max_size=3))
MAPPINGS = st.dictionaries(KEYS, VALUES, min_size=1, max_size=5)


@given(MAPPINGS, st.data())
def test_an_edit_changes_only_the_lines_of_its_key(
    data: dict[str, Any], draw: st.DataObject
) -> None:
    name = draw.draw(st.sampled_from(sorted(data)))
    text = (
        "".join(f"# about {key}\n{dump({key: value})}" for key, value in data.items())
        + "# the end\n"
    )
    new = copy.deepcopy(data)
    new[name] = draw.draw(VALUES)

    result = rewrite(text, new)

    assert new == load(result)
    for key, value in data.items():
        if key != name:
            assert f"# about {key}\n{dump({key: value})}" in result
    assert result.endswith("# the end\n")


@given(MAPPINGS, st.data())
def test_an_edit_keeps_line_ends_and_the_byte_order_mark(
    data: dict[str, Any], draw: st.DataObject
) -> None:
    plain = {key: value for key, value in data.items() if "\r" not in repr(value)}
    if not plain:
        return
    name = draw.draw(st.sampled_from(sorted(plain)))
    text = "\ufeff" + dump(plain).replace("\n", "\r\n")
    if load(text) != plain:
        return

    result = rewrite(text, {**plain, name: ["changed", "twice"]})

    assert result.startswith("\ufeff")
    assert result.count("\n") == result.count("\r\n")
    assert load(result) == {**plain, name: ["changed", "twice"]}


@given(MAPPINGS)
def test_an_edit_that_changes_nothing_gives_the_very_text(data: dict[str, Any]) -> None:
    text = dump(data)

    assert text == rewrite(text, copy.deepcopy(data))


@given(MAPPINGS, MAPPINGS, st.data())
def test_several_edits_at_once_mean_what_was_asked_for(
    data: dict[str, Any], more: dict[str, Any], draw: st.DataObject
) -> None:
    text = dump({"scope": {"paths": ["a"]}, **data})
    old = load(text)
    assert isinstance(old, dict)
    new = copy.deepcopy(old)
    new["scope"] = {"paths": ["a", *draw.draw(st.lists(st.text("bcd*/", min_size=1), max_size=2))]}
    new["scope"].update({f"z{name}": value for name, value in more.items()})
    new.update(more)

    assert new == load(rewrite(text, new, order=draw.draw(st.permutations(sorted(new)))))
