"""Edits of YAML text that people wrote by hand:
comments, order, quoting and style stay as they were.
"""

from typing import Any

import pytest

from orbit_registry.formats.position import YamlProblemError
from orbit_registry.formats.yaml import load
from orbit_registry.formats.yaml_edit import rewrite

WRITTEN = """\
# yaml-language-server: $schema=../schema.json
id: L-7k3fq      # the id
status: 'active'
summary: "Look before \\"you\\" leap"   # one line

# where
scope:
    paths:       # four spaces
        - src/**
        # about lib
        - lib/**
    tags: [a, b]   # flow
body: |
  One.

  Two.
links:
- {rel: related_to, to: ADR-0001}
- rel: amends
  to: ADR-0002
x-own: {deep: [1, 2]}
empty:
last: 1  # no line break after me"""


def edited(**changes: Any) -> dict[str, Any]:
    value = load(WRITTEN)
    assert isinstance(value, dict)
    return {**value, **changes}


def changed_lines(new: dict[str, Any]) -> tuple[list[str], list[str]]:
    """Return the lines that an edit takes away, and those it adds;
    it has to mean what was asked for.
    """
    result = rewrite(WRITTEN, new)
    assert load(result) == new
    before, after = WRITTEN.splitlines(), result.splitlines()
    return [line for line in before if line not in after], [
        line for line in after if line not in before
    ]


@pytest.mark.parametrize(
    ("changes", "removed", "added"),
    [
        ({"status": "retired"}, ["status: 'active'"], ["status: 'retired'"]),
        ({"status": "it's"}, ["status: 'active'"], ["status: 'it''s'"]),
        ({"id": "L-00000"}, ["id: L-7k3fq      # the id"], ["id: L-00000      # the id"]),
        (
            {"summary": 'A "b" \\ c'},
            ['summary: "Look before \\"you\\" leap"   # one line'],
            ['summary: "A \\"b\\" \\\\ c"   # one line'],
        ),
        (
            {"scope": {"paths": ["src/**", "lib/**", "new/**"], "tags": ["a", "b"]}},
            [],
            ['        - "new/**"'],
        ),
        ({"scope": {"paths": ["lib/**"], "tags": ["a", "b"]}}, ["        - src/**"], []),
        (
            {"scope": {"paths": ["src/**", "lib/**"], "tags": ["a", "c"]}},
            ["    tags: [a, b]   # flow"],
            ["    tags: [a, c]   # flow"],
        ),
        ({"body": "One.\n\nTwo.\n\nThree.\n"}, [], ["  Three."]),
        (
            {
                "links": [
                    {"rel": "related_to", "to": "ADR-0009"},
                    {"rel": "amends", "to": "ADR-0002"},
                ]
            },
            ["- {rel: related_to, to: ADR-0001}"],
            ["- {rel: related_to, to: ADR-0009}"],
        ),
        ({"x-own": {"deep": [1, 2, 3]}}, ["x-own: {deep: [1, 2]}"], ["x-own: {deep: [1, 2, 3]}"]),
        ({"empty": "full"}, ["empty:"], ["empty: full"]),
        ({"last": 2}, ["last: 1  # no line break after me"], ["last: 2  # no line break after me"]),
        ({"new": ["a"]}, [], ["new:", "  - a"]),
    ],
)
def test_an_edit_changes_its_own_lines(
    changes: dict[str, Any], removed: list[str], added: list[str]
) -> None:
    assert changed_lines(edited(**changes)) == (removed, added)


@pytest.mark.parametrize(
    "name", ["id", "status", "scope", "body", "links", "x-own", "empty", "last"]
)
def test_a_key_that_goes_takes_its_lines_along(name: str) -> None:
    new = edited()
    del new[name]

    removed, added = changed_lines(new)

    assert added == []
    assert not any(line.startswith("# ") for line in removed)


def test_a_new_key_takes_its_place_in_the_order() -> None:
    text = "id: x\nsummary: y\nlast: z\n"

    result = rewrite(
        text,
        {"id": "x", "summary": "y", "last": "z", "status": "a"},
        order=["id", "status", "summary"],
    )

    assert result == "id: x\nstatus: a\nsummary: y\nlast: z\n"


def test_the_first_key_may_be_new() -> None:
    assert rewrite("# head\nb: 1\n", {"a": 0, "b": 1}, order=["a", "b"]) == "# head\na: 0\nb: 1\n"


@pytest.mark.parametrize(
    ("text", "new", "result"),
    [
        ("a: >-\n  folded\n  text\nb: 1\n", {"a": "plain", "b": 1}, "a: plain\nb: 1\n"),
        ("a: one\n  two\nb: 1\n", {"a": "three", "b": 1}, "a: three\nb: 1\n"),
        ("a:\n  - - x\n    - y\n", {"a": [["x", "z"]]}, "a:\n  -\n    - x\n    - z\n"),
        ("a: {}\n", {"a": {"b": 1}}, "a: {b: 1}\n"),
        ("a: []\n", {"a": ["b"]}, "a: [b]\n"),
        ("a: [x]\n", {"a": []}, "a: []\n"),
        ("a:\n  b: 1\n", {"a": {}}, "a: {}\n"),
        ("a:\n  - b\n", {"a": []}, "a: []\n"),
        ("{a: 1}\n", {"a": 2}, "{a: 2}\n"),
        ("'a': 1\n\"b\": 2\n", {"a": 1, "b": 3}, "'a': 1\n\"b\": 3\n"),
        ("a: 1\n---\n", None, None),
        ("---\na: 1\n...\n", {"a": 2}, "---\na: 2\n...\n"),
        ("a: 1\n...\n", {"a": 1, "b": 2}, "a: 1\nb: 2\n...\n"),
        ("? a\n: 1\n", {"a": 2}, "? a\n: 2\n"),
    ],
)
def test_unusual_forms_are_edited_or_refused(
    text: str, new: dict[str, Any] | None, result: str | None
) -> None:
    if new is None:
        with pytest.raises(YamlProblemError):
            rewrite(text, {"a": 2})
    else:
        assert rewrite(text, new) == result


@pytest.mark.parametrize(
    "text", ["", "- a\n", "just text\n", "a: &x [1]\nb: *x\nc: *x\n", "a: &x 1\nb: *x\nc: [1]\n"]
)
def test_forms_that_cannot_be_edited_are_refused(text: str) -> None:
    new = {"a": [1, 2], "b": [1], "c": [1]}

    with pytest.raises(YamlProblemError) as caught:
        rewrite(text, new)

    assert caught.value.problem.position is not None
