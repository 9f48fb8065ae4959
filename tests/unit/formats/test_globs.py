"""The scope globs: the vectors of tests/cases/globs.yaml, and what holds for every glob."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from orbit_registry.formats.globs import MAX_PATH, Glob, GlobIndex, match_any, matches, parse_glob
from orbit_registry.formats.position import Position, Problem
from orbit_registry.formats.yaml import load

ROOT = Path(__file__).resolve().parents[3]
VECTORS: Any = load((ROOT / "tests" / "cases" / "globs.yaml").read_text("utf-8"))


def parsed(text: str) -> Glob:
    glob = parse_glob(text)
    assert isinstance(glob, Glob), glob
    return glob


# Small alphabets, so that globs and paths meet.
PIECES = st.sampled_from(
    [
        "a",
        "b",
        "ab",
        ".",
        ".rs",
        "*",
        "**",
        "?",
        "/",
        "/**/",
        "/**",
        "[ab]",
        "[!a]",
        "[.-0]",
        "{a,b}",
        "{a/b,.rs,*}",
    ]
)
GLOBS = (
    st.lists(PIECES, min_size=1, max_size=7)
    .map("".join)
    .map(parse_glob)
    .filter(lambda glob: isinstance(glob, Glob))
)
PATHS = st.lists(st.sampled_from(["a", "b", "ab", ".rs", "/", ".", "0", "\n"]), max_size=8).map(
    "".join
)


def test_a_glob_matches_as_its_vector_says() -> None:
    for text, path, expected in VECTORS["cases"]:
        glob = parsed(text)
        assert matches(glob, path) is expected, (text, path)
        assert (re.fullmatch(glob.regex, path) is not None) is expected, (text, path)
        assert GlobIndex([("key", [glob])]).match(path) == ([("key", text)] if expected else []), (
            text,
            path,
        )


@pytest.mark.parametrize(("text", "path", "expected"), VECTORS["spellings"])
def test_a_letter_matches_in_both_spellings(text: str, path: str, expected: bool) -> None:
    glob = parsed(text)
    assert matches(glob, path) is expected
    assert bool(GlobIndex([("key", [glob])]).match(path)) is expected


@pytest.mark.parametrize(("texts", "path", "expected"), VECTORS["scopes"])
def test_scope_vector(texts: list[str], path: str, expected: str | None) -> None:
    globs = [parsed(text) for text in texts]
    assert match_any(globs, path) == expected
    assert GlobIndex([("key", globs)]).match(path) == (
        [] if expected is None else [("key", expected)]
    )


@pytest.mark.parametrize(("text", "column", "words"), VECTORS["invalid"])
def test_invalid_vector(text: str, column: int, words: str) -> None:
    problem = parse_glob(text)
    assert isinstance(problem, Problem)
    assert problem.position == Position(1, column)
    assert words in problem.message
    assert problem.hint


@pytest.mark.parametrize(
    "text",
    [
        "a" * 1025,
        "{" * 1000,
        "{,a}" * 250,
        "[" * 1000,
        "{a,b}" * 200,
        "a**" * 340,
        "x{" + "a," * 400 + "}",
        "}" * 999,
    ],
)
def test_hostile_text_is_refused(text: str) -> None:
    assert isinstance(parse_glob(text), Problem)


@given(st.text(max_size=40))
def test_any_text_is_a_glob_or_a_problem(text: str) -> None:
    result = parse_glob(text)
    assert isinstance(result, Problem) or result.text == text


@given(GLOBS, PATHS)
@example(parse_glob("**/*/a**"), "a/a")
def test_the_regular_expression_agrees(glob: Glob, path: str) -> None:
    assert matches(glob, path) == (re.fullmatch(glob.regex, path) is not None)


@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.lists(st.tuples(GLOBS, st.booleans()), max_size=4)),
        max_size=6,
    ),
    PATHS,
)
def test_the_index_agrees(items: list[tuple[int, list[tuple[Glob, bool]]]], path: str) -> None:
    scopes = [
        (
            key,
            [
                parsed("!" + glob.text) if exclude and glob.text[0] != "!" else glob
                for glob, exclude in globs
            ],
        )
        for key, globs in items
    ]
    matched = [(key, match_any(globs, path)) for key, globs in scopes]
    assert GlobIndex(scopes).match(path) == [
        (key, text) for key, text in matched if text is not None
    ]


def test_a_path_beyond_the_limit_matches_nothing() -> None:
    glob = parsed("**")
    assert matches(glob, "x" * MAX_PATH)
    assert not matches(glob, "x" * (MAX_PATH + 1))
    assert GlobIndex([("key", [glob])]).match("x" * (MAX_PATH + 1)) == []


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("*a" * 30 + "b", lambda n: "a" * n),
        ("*[ab]" * 30 + "c", lambda n: "a" * n),
        ("*" + "?" * 20 + "b*", lambda n: "a" * n),
        ("**/a/" * 20 + "b", lambda n: "a/" * n + "c"),
        ("**/*a*a/*a*a/" * 10 + "b", lambda n: "aaaa/" * n + "c"),
        ("**/*/" * 20 + "**/b", lambda n: "a/" * n),
        ("a**a**a**b", lambda n: "a/" * n),
        ("{*a,*b,**/c/}" * 3 + "d", lambda n: "ab" * n),
    ],
)
def test_hostile_globs_answer(text: str, path: Callable[[int], str]) -> None:
    """A glob on which backtracking would never end gives its answer for the longest path."""
    longest = path(MAX_PATH)[:MAX_PATH]
    assert matches(parsed(text), longest) is matches(parsed(text), longest[-400:])
