"""What the index answers, and what becomes of one that is missing, torn, foreign or damaged."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orbit_registry.formats.globs import Glob, match_any, parse_glob
from orbit_registry.formats.yaml import load
from orbit_registry.hook import index as reader
from orbit_registry.hook.context import Context
from orbit_registry.hook.index import Index, NoIndex, open_index, read_index
from orbit_registry.hook.project import index_file
from orbit_registry.hook.select import select
from orbit_registry.model.reach import TOOL

ROOT = Path(__file__).parents[3]
VECTORS: Any = load((ROOT / "tests/cases/globs.yaml").read_text("utf-8"))
Make = Callable[[Iterable[Iterable[str]]], Index]

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
    .filter(lambda text: isinstance(parse_glob(text), Glob))
)
SCOPES = st.lists(
    st.lists(st.one_of(GLOBS, GLOBS.map(lambda glob: f"!{glob}")), max_size=4), max_size=8
)
PATHS = st.lists(st.sampled_from(["a", "b", "ab", ".rs", "/", ".", "0", "\n"]), max_size=8).map(
    "".join
)


def globs_of(scope: Iterable[str]) -> list[Glob]:
    return [glob for text in scope if isinstance(glob := parse_glob(text), Glob)]


def found(index: Index, path: str) -> list[tuple[int, str]]:
    """Return what an index finds: the record's number and the glob, as brute force says it."""
    hits = index.match(path)
    return [(hit >> 32, index.glob_of(index.row(hit >> 32), hit)) for hit in hits]


def test_the_index_answers_every_vector(make_index: Make) -> None:
    for text, path, expected in VECTORS["cases"]:
        assert bool(make_index([[text]]).match(path)) is expected, (text, path)


@given(scopes=SCOPES, paths=st.lists(PATHS, min_size=1, max_size=40))
def test_the_index_agrees_with_brute_force(
    make_index: Make, scopes: list[list[str]], paths: list[str]
) -> None:
    index = make_index(scopes)
    parsed = [globs_of(scope) for scope in scopes]
    for path in paths:
        expected = [
            (number, text)
            for number, globs in enumerate(parsed)
            if (text := match_any(globs, path))
        ]
        assert found(index, path) == expected


def test_what_is_not_pushed_is_asked_for_by_name(make_bytes: Any) -> None:
    index = in_memory(make_bytes([["src/**"], ["src/*"], ["src/x"]], lambda number: number != 0))
    assert [index.row(hit >> 32).id for hit in index.match("src/x")] == ["L-00001", "L-00002"]
    assert [index.row(hit >> 32).id for hit in index.match("src/x", True)] == [
        "L-00001",
        "L-00002",
        "L-00000",
    ]


@pytest.mark.parametrize(
    "path", ["", "/", "a" * 5000, "\udcff/x", "a//b", "\0", "../x", "é/日本.md"]
)
def test_any_text_may_be_asked(make_index: Make, path: str) -> None:
    index = make_index([["src/**"], ["**/*.py"]])
    assert index.match(path) == []


def in_memory(content: bytes) -> Any:
    return read_index(content, "/")


@pytest.mark.parametrize("length", [1, 8, 100, 320, 328, 400])
def test_a_torn_index_is_none(make_bytes: Any, length: int) -> None:
    index = in_memory(make_bytes([["src/**"]])[:length])
    assert isinstance(index, NoIndex)
    assert not index
    assert index.reason


@given(data=st.data())
def test_a_changed_head_is_no_index(make_bytes: Any, data: st.DataObject) -> None:
    content = bytearray(make_bytes([["src/**"], ["**/*.py"]]))
    start, end = (int.from_bytes(content[at : at + 8], "little") for at in (0, 8))
    position = data.draw(st.integers(start, end - 1))
    content[position] ^= data.draw(st.integers(1, 255))
    assert isinstance(in_memory(bytes(content)), NoIndex)


@given(data=st.data())
def test_a_damaged_body_shows_no_other_text(
    make_bytes: Any, make_index: Make, data: st.DataObject
) -> None:
    from orbit_registry.matching.pack import is_whole

    scopes = [["src/**"], ["**/*.py", "!src/g*"], ["*/a_*/x.py"]]
    content = bytearray(make_bytes(scopes))
    for _ in range(data.draw(st.integers(1, 5))):
        position = data.draw(st.integers(0, len(content) - 1))
        content[position] = data.draw(st.integers(0, 255))
    is_intact = bytes(content) == make_bytes(scopes)
    index = in_memory(bytes(content))
    if isinstance(index, NoIndex):
        assert not is_intact
        return

    assert is_whole(index) is is_intact
    whole = make_index(scopes)
    for number in range(3):
        with suppress(*reader.DAMAGE):
            assert index.row(number).values == whole.row(number).values
    for path in ("src/a.py", "src/a_b/x.py", "x"):
        with suppress(*reader.DAMAGE):
            assert len(select(index, Context(TOOL, 0.0, paths=(path,))).matches) <= 3


def placed(root: Path, content: bytes) -> Path:
    (root / ".git").mkdir(exist_ok=True)
    file = Path(index_file(str(root)))
    file.parent.mkdir()
    file.write_bytes(content)
    return file


def test_an_index_may_not_be_a_link(make_bytes: Any, tmp_path: Path) -> None:
    file = placed(tmp_path, make_bytes([["src/**"]]))
    assert isinstance(open_index(str(tmp_path)), Index)
    file.symlink_to(file.rename(tmp_path / "elsewhere.idx"))
    assert isinstance(open_index(str(tmp_path)), NoIndex)


def test_each_project_has_an_index_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/cache")
    assert index_file(str(tmp_path)) == f"/cache/orbit-registry/hook{tmp_path}/hook-18.idx"
    top, tree = tmp_path / "top", tmp_path / "tree"
    (top / ".git/worktrees/tree").mkdir(parents=True)
    tree.mkdir()
    assert index_file(str(top)) == f"{top}/.git/orbit/hook-18.idx"
    assert index_file(str(top / "a/b")) == f"{top}/.git/orbit/below/a/b/hook-18.idx"
    for index_path in (f"{top}/.git/worktrees/tree", "../top/.git/worktrees/tree"):
        (tree / ".git").write_text(f"gitdir: {index_path}\n", "utf-8")
        (top / ".git/worktrees/tree/HEAD").unlink(missing_ok=True)
        assert index_file(str(tree)).startswith("/cache/")  # its repository was moved away
        (top / ".git/worktrees/tree/HEAD").write_text("ref: refs/heads/tree\n", "utf-8")
        assert (
            Path(index_file(str(tree))).resolve() == top / ".git/worktrees/tree/orbit/hook-18.idx"
        )
    for text in ("gitdir: /nowhere\n", "", "\0"):
        (tree / ".git").write_text(text, "utf-8")
        assert index_file(str(tree)) == f"/cache/orbit-registry/hook{tree}/hook-18.idx"
    (tree / ".git").unlink()
    (tree / ".git").symlink_to(top / ".git")
    assert Path(index_file(str(tree))).resolve() == top / ".git/orbit/hook-18.idx"
