"""Strict reading of YAML and writing of new text:
what is accepted, what is said of the rest, and where.
"""

import json
import string
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import ryaml
from hypothesis import given
from hypothesis import strategies as st
from tests.files import make_workspace, write_learning

from orbit_registry.formats import yaml_fallback
from orbit_registry.formats.position import Position, YamlProblemError
from orbit_registry.formats.yaml import dump, load, position_in, position_of
from orbit_registry.formats.yaml_nodes import LONGEST

CASES = Path(__file__).parents[2] / "cases" / "yaml"


def rows(name: str) -> list[Any]:
    cases = load((CASES / name).read_text("utf-8"))
    assert isinstance(cases, list)
    return [pytest.param(row, id=row["name"]) for row in cases]


@pytest.fixture(params=["ryaml", "orbit_registry.formats.yaml_fallback"])
def _each_reader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run a test with the reader, and with the one that takes its place."""
    monkeypatch.setattr("orbit_registry.formats.yaml.reader", import_module(request.param))


@pytest.mark.usefixtures("_each_reader")
@pytest.mark.parametrize("case", rows("problems.yaml"))
def test_refused_yaml_has_a_problem_with_a_position(case: dict[str, Any]) -> None:
    with pytest.raises(YamlProblemError) as caught:
        load(case["text"])

    problem = caught.value.problem
    assert case["says"] in problem.message
    assert problem.code == "ORB102"
    assert problem.position is not None
    if "line" in case:
        assert problem.position.line == case["line"]
    if "column" in case:
        assert problem.position.column == case["column"]


@pytest.mark.usefixtures("_each_reader")
@pytest.mark.parametrize("case", rows("values.yaml"))
def test_accepted_yaml_has_the_expected_value(case: dict[str, Any]) -> None:
    assert load(case["text"]) == json.loads(case["json"], strict=False)


NUMBERS = """
007 +5 0o17 0x1F 0b11 1_000 1e3 1. -.5 .5 -0 1E5 0123.5 08 00 1e400 -0x1f Null NULL TRUE nUll =
0.1.2 1e 0x + 1.e5 .e5 +1.5 0o8 ~ 00.5 -007 12:30 2001-01-01 18446744073709551615
-9223372036854775808 1__0 yes Off [1,2,] {a:1} x#c 340282366920938463463374607431768211456
http://a:b
"""


@pytest.mark.parametrize("word", NUMBERS.split())
def test_both_readers_take_a_word_for_the_same(word: str) -> None:
    text = f"a: {word}\n"
    assert yaml_fallback.loads(text) == ryaml.loads(text)


def test_orbit_runs_without_the_fast_reader(tmp_path: Path) -> None:
    make_workspace(tmp_path)
    write_learning(tmp_path, 1)
    words = (
        "import sys; sys.modules['ryaml'] = None; "
        "from orbit_registry.doors.cli.main import run; "
        "sys.exit(run(['check', '--format', 'json']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", words], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["data"]["checked"] == 1


WRITTEN = json.loads((CASES / "texts.json").read_text("utf-8"))

HOSTILE = {
    "brackets": "[" * 100_000,
    "braces": "{a: " * 20_000,
    "dashes": "- " * 50_000,
    "tags in a row": "a: " + "!x " * 20_000,
    "many duplicates": "x: 1\n" * 100_000,
    "a mark at the end of a long line": " " * 1_000_000 + "!",
    "merge signs": "<<" * 10_000 + ":",
    "aliases of aliases": "a: &a [1]\n"
    + "".join(f"{chr(98 + n)}: &{chr(98 + n)} [{f'*{chr(97 + n)},' * 9}]\n" for n in range(20)),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_texts_are_refused(name: str) -> None:
    with pytest.raises(YamlProblemError) as caught:
        load(HOSTILE[name])

    assert caught.value.problem.message


DEEP = {
    "brackets": "a: " + "[" * 1_000_000,
    "braces after simple lines": 'a: "[x]"\nb: ' + "{c: " * 200_000,
    "closed in quotes": "a: " + '["]",' * 150_000,
    "closed in comments": "a: " + "[ # ]\n " * 100_000,
    "a quote that a comment seems to hold": '# \ra: "\nb: "' + "[" * 500_000 + '"\n',
    "after what can't be read": 'a: "x" y\nb: ' + "[" * 500_000,
    "after a control character": "a: \x07\nb: " + "[" * 500_000,
}


@pytest.mark.parametrize("name", DEEP)
def test_deep_nesting_is_refused_before_ryaml_reads_it(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would go over all open brackets at every token: for minutes, and nothing can stop it."""
    monkeypatch.delattr("ryaml.loads")
    with pytest.raises(YamlProblemError) as caught:
        load(DEEP[name])

    assert caught.value.problem.position is not None


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("a:\n" + '  - m: "see [x](y), {z"\n' * 3_000, 3_000),
        ("a: [" + "{b: [1]},\n  " * 3_000 + "]\n", 3_000),
        ("a:\n- |\n" + '  [x](y) {z "q" it\'s\n' * 3_000, 1),
    ],
    ids=["quoted", "shallow", "a block"],
)
def test_many_brackets_are_no_depth(text: str, items: int) -> None:
    value = load(text)

    assert isinstance(value, dict)
    assert len(value["a"]) == items


def test_a_long_text_is_read_without_positions() -> None:
    text = "a: " + "x" * LONGEST + "\nb: 1\n"

    assert load(text) == {"a": "x" * LONGEST, "b": 1}
    assert position_of(text, ("b",)) == Position(1)


@pytest.mark.parametrize(
    ("pointer", "position"),
    [
        ((), (2, 1)),
        (("id",), (2, 1)),
        (("scope",), (3, 1)),
        (("scope", "paths"), (4, 3)),
        (("scope", "paths", 1), (6, 7)),
        (("links", 0, "to"), (7, 29)),
        (("scope", "nothing"), (3, 1)),
        (("scope", "paths", 9), (4, 3)),
        (("nothing",), (2, 1)),
        (("id", "deeper"), (2, 1)),
    ],
)
def test_a_pointer_leads_to_line_and_column(
    pointer: tuple[str | int, ...], position: tuple[int, int]
) -> None:
    text = (
        "# first\nid: x\nscope:\n  paths:\n    - a\n    - b\nlinks: [{rel: related_to,   to: y}]\n"
    )

    assert position_of(text, pointer) == Position(*position)


def test_a_place_in_a_broken_text_is_where_it_breaks() -> None:
    assert position_of("a: [\n", ("a",)).line == 2
    assert position_of("", ("a",)) == Position(1)


@pytest.mark.parametrize("value", WRITTEN, ids=repr)
def test_every_text_is_written_so_that_it_reads_back(value: str) -> None:
    """As a value, as a key and in a list: what goes in comes out,
    whatever YAML would make of it bare.
    """
    data = {"first": value, "list": [value, [value]], "inner": {"x": value}}

    assert load(dump(data)) == data
    if "\n" not in value:
        assert load(dump({value: 1})) == {value: 1}


def test_plain_words_are_written_plain() -> None:
    """Quotes stand only where they are needed, so that diffs read well."""
    data = {
        "title": "Use DuckDB for the snapshot",
        "paths": ["src/app.py"],
        "empty": [],
        "none": None,
        "on": True,
    }

    assert dump(data, comment="about") == (
        "# about\ntitle: Use DuckDB for the snapshot\npaths:\n  - src/app.py\nempty: []\nnone: "
        'null\n"on": true\n'
    )


WORDS = st.text(string.ascii_letters + " #:-\n'\"[]{}é", min_size=1, max_size=20)
KEYS = st.sampled_from(["id", "scope", "paths", "links", "to", "body", "x-a"])
VALUES = st.recursive(
    WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=12,
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
