"""Globs proposed for a scope: from clues to as few globs as say it,
and from a text to the files it names.
"""

import time

import pytest

from orbit_registry.matching.suggest import (
    LIKELY,
    MOST_GLOBS,
    SURE,
    Clue,
    Tree,
    clues_in_text,
    propose,
)

FILES = [
    "README.md",
    "src/app.py",
    "src/store/index.py",
    "src/store/lock.py",
    "src/store/read.py",
    "src/store/write.py",
    "src/web/index.py",
    "src/web/page.ts",
    "tests/test_lock.py",
    "docs/adr/0001-a.md",
    *(f"lib/part{number}/main.rs" for number in range(30)),
]
TREE = Tree(FILES, frozenset({"docs/adr/0001-a.md"}))


def clue(path: str, weight: float = SURE, words: str = "") -> Clue:
    return Clue(path, words or path, weight)


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("The lock in `src/store/lock.py` is held.", ["src/store/lock.py"]),
        ("See ./src/store/lock.py, and src/app.py.", ["src/store/lock.py", "src/app.py"]),
        ("Everything below src/store/ and src/web", ["src/store/", "src/web/"]),
        ("the end of a path: store/lock.py", ["src/store/lock.py"]),
        ("a name that one file has: page.ts", ["src/web/page.ts"]),
        ("a name that two have: index.py", []),
        ("a glob: src/**/*.ts", ["src/**/*.ts"]),
        ("a glob of nothing: src/**/*.rb", []),
        ("https://example.org/src/app.py", []),
        ("and/or, e.g. 3.5, ../src/app.py", []),
        ("its own page: docs/adr/0001-a.md, the README.md", []),
    ],
)
def test_a_text_names_files(text: str, paths: list[str]) -> None:
    assert [clue.path for clue in clues_in_text(text, TREE)] == paths


@pytest.mark.parametrize(
    ("clues", "globs"),
    [
        ([], []),
        ([clue("src/app.py")], ["src/app.py"]),
        ([clue("src/app.py", LIKELY)], []),
        ([clue("src/app.py", LIKELY, "one"), clue("src/app.py", LIKELY, "two")], ["src/app.py"]),
        ([clue("src/app.py", LIKELY, "one"), clue("src/app.py", LIKELY, "one")], []),
        ([clue("src/store/")], ["src/store/**"]),
        ([clue("src/store/"), clue("src/store/lock.py")], ["src/store/**"]),
        ([clue(f"src/store/{name}.py") for name in ("index", "lock", "read")], ["src/store/**"]),
        (
            [clue(f"src/store/{name}.py") for name in ("index", "lock")],
            ["src/store/index.py", "src/store/lock.py"],
        ),
        ([clue("src/web/index.py"), clue("src/web/page.ts")], ["src/web/**"]),
        ([clue("lib/")], []),
        ([clue("gone.py")], []),
        ([clue("src/**/*.ts")], ["src/**/*.ts"]),
    ],
)
def test_clues_become_globs(clues: list[Clue], globs: list[str]) -> None:
    assert sorted(proposal.glob for proposal in propose(clues, TREE)) == globs


def test_the_best_founded_come_first() -> None:
    paths = [f"lib/part{number}/main.rs" for number in range(9)]
    clues = [
        clue(path, words=f"{path} {count}")
        for number, path in enumerate(paths)
        for count in range(number + 1)
    ]
    proposals = propose(clues, TREE)
    assert [proposal.glob for proposal in proposals] == paths[::-1][:MOST_GLOBS]
    assert proposals[0].files == 1
    assert proposals[0].reasons[0].startswith("lib/part8/main.rs")


@pytest.mark.parametrize("sign", ["+a.", "{,", "*", "a/", "@", "["])
def test_a_long_run_of_signs_takes_linear_time(sign: str) -> None:
    def seconds(count: int) -> float:
        text = sign * count + " src/app.py"
        runs = []
        for _ in range(3):
            began = time.process_time()
            assert "src/app.py" in {clue.path for clue in clues_in_text(text, TREE)}
            runs.append(time.process_time() - began)
        return min(runs)

    assert seconds(40_000) < 10 * seconds(10_000) + 0.1
