"""Where a payload's paths are, and which of them are the project's; whatever is written there, nothing leads out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orbit_registry.push.call import LONGEST_PATH, MOST_PATHS, in_project, named_paths, words_of

PIECES = st.sampled_from(["/", "..", ".", "a", "b", "\\", "C:", "~", " ", "é", "\udc80", "//", "p", "r"])


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("git status --short", []),
        ("sed -n '1,5p' src/a.py|head>out.txt", ["src/a.py", "out.txt"]),
        ("pytest tests/x.py::test_y src/b.py:12:3", ["tests/x.py::test_y", "src/b.py"]),
        ("curl https://example.org/a.py", []),
        ("cmd --file=src/a.py; cat ./x $(ls lib/)", ["src/a.py", "./x", "lib/"]),
        ("Mend @src/a.py, please. Then (docs/b.md)!", ["src/a.py", "docs/b.md"]),
        ("src\\a.py", ["src\\a.py"]),
        ("", []),
    ],
)
def test_words_that_may_be_paths_are_found(said: str, words: list[str]) -> None:
    """A word with a slash or a dot inside is one; options, addresses and plain words are none."""
    assert words_of(said) == words


def test_no_more_than_a_bounded_number_is_taken() -> None:
    """A command or an input that names thousands costs no more than one that names a few."""
    assert len(words_of(" ".join(f"a/{number}" for number in range(5000)))) == MOST_PATHS
    assert len(named_paths({"paths": [f"a/{number}" for number in range(5000)]})) == MOST_PATHS
    assert in_project("/r", "/r", "a" * (LONGEST_PATH + 1)) is None


@pytest.mark.parametrize(
    ("folder", "said", "path"),
    [
        ("/p/r", "src/a.py", "src/a.py"),
        ("/p/r/src", "a.py", "src/a.py"),
        ("/p/r", "/p/r/./src//x/../a.py", "src/a.py"),
        ("/p/r", "src/", "src/"),
        ("/p/r/src", "../../r/b", "b"),
        ("/p/r", "/p/r", None),
        ("/p/r", "/p/rx/a.py", None),
        ("/p/r", "../a.py", None),
        ("/p/r", "/../../etc/passwd", None),
        ("C:\\r", "c:\\R\\src\\a.py", "src/a.py"),
        ("C:\\r", "D:\\r\\a.py", None),
        ("/p/r", "src\\a.py", "src/a.py"),
        ("/p/r", "a\0b", None),
        ("/p/r", "", None),
    ],
)
def test_a_path_counts_from_the_project(folder: str, said: str, path: str | None) -> None:
    """It is normal, without a way round, or it is none of the project's."""
    assert in_project("/p/r", folder, said) == path


@given(st.lists(PIECES, max_size=12).map("".join), st.lists(PIECES, max_size=4).map("".join))
def test_nothing_leads_out(said: str, folder: str) -> None:
    """Whatever is written, a path of the project has no upward step, no empty name and no slash in front."""
    path = in_project("/p/r", folder, said)
    if path is not None:
        names = path.removesuffix("/").split("/")
        assert path
        assert not {"", ".", ".."} & set(names)
