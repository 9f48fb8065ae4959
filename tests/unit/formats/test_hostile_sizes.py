"""Texts and records that are short to write, and of which a reader whose time grows with the square
of their size would not see the end before the test is stopped.
"""

import json
import time

import pytest
from tests.files import WHEN

from orbit_registry.formats.common_markdown import common_markdown
from orbit_registry.formats.markdown_html import render_html
from orbit_registry.formats.position import YamlProblemError
from orbit_registry.formats.toml import load_toml
from orbit_registry.formats.wording import without_markup
from orbit_registry.formats.yaml import load
from orbit_registry.judgements.in_force import read_together
from orbit_registry.model.kind import load_kinds
from orbit_registry.model.record import Record
from orbit_registry.repository.starters import starts_in

COMMENTS = "<!--" * 400_000
KEY = "a" + ".a" * 400_000 + " = 1\n"

MARKS = {
    "attributes": "<A" + " a={}" * 800,
    "spaced attributes": "<A" + "  a" * 1_300,
    "attributes of an opened tag": "a <A" + " a={}" * 400 + ">" + "<A" + " a={}" * 400,
    "braces": "<A a=" + "{" * 4_000,
    "braces in pairs": "<A a={" + "{}" * 2_000,
    "tags": "<A/>" * 1_000 + "<",
    "a hint": "{% hint " + "a" * 4_000 + " %}",
    "an export": "export const " + "a " * 2_000,
    "an export of blanks": "export const a" + " " * 4_000 + "x",
    "attributes of a line": "{:" + " .a" * 1_300,
    "attributes without blanks": "{:" + ".a" * 2_000,
    "an import": "import" + " " * 4_000,
    "an import of names": "import a" + " " * 4_000,
}
"""Lines of the longest kind that is read, almost a mark of another generator."""


@pytest.mark.timeout(20)
@pytest.mark.parametrize("line", MARKS.values(), ids=MARKS)
def test_a_line_that_is_almost_a_mark_costs_no_more_than_others(line: str) -> None:
    started = time.process_time()
    common_markdown("\n".join([line] * 10))
    assert time.process_time() - started < 0.5


@pytest.mark.timeout(20)
@pytest.mark.parametrize(("before", "after"), [(":::note a", "b\n:::"), ("# a", "b}")])
def test_a_title_of_many_blanks_costs_no_more_than_others(before: str, after: str) -> None:
    started = time.process_time()
    render_html(f"{before}{' ' * 40_000}{after}", lambda code, _: code)
    assert time.process_time() - started < 1


def test_starts_of_comments_without_an_end_are_text() -> None:
    assert without_markup(COMMENTS) == COMMENTS
    assert without_markup(f"a<!-- b -->c {COMMENTS}") == f"ac {COMMENTS}"


def test_a_key_of_too_many_parts_is_not_read() -> None:
    with pytest.raises(ValueError, match="too many parts"):
        load_toml(KEY)

    with pytest.raises(ValueError, match=r"line 2: the key `a\.a\.a"):
        load_toml(f"x = 1\n[{KEY[:400_000]}]\n")

    assert load_toml(f"x = '{KEY[:1_000]}'\ny = ['{KEY[:1_000]}']")
    assert not starts_in("pyproject.toml", KEY).starting


SCRIPTS = {
    "texts without an end": f"<<{'A' * 200}" + "\n" * 9_000,
    "options of git": "git" + " -c" * 500 + " x",
    "long options of git": "git" + " --x" * 400 + " x",
    "quotes": '\\"' * 200_000 + "'",
    "brackets": "(if)" * 100_000,
    "blank lines": "\n" * 20_000,
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_ahead_of_the_gate_is_read_once(name: str) -> None:
    script = SCRIPTS[name] + "\norbit check" * 100
    steps = json.dumps({"jobs": {"a": {"steps": [{"run": script}]}}})
    assert starts_in(".github/workflows/gate.yml", steps).starting


ALIASES = {
    "behind a colon": '{"a":&a "TEXT",MANY}',
    "in lists": "[&a 'TEXT',MANY]",
    "behind a colon in brackets": "[{'x':&a 'TEXT'},{MANY}]",
}


@pytest.mark.parametrize("name", ALIASES)
def test_a_long_text_is_not_written_out_many_times(name: str) -> None:
    is_list = name == "in lists"
    many = ",".join("*a" if is_list else f'"{number}":*a' for number in range(60))
    text = ALIASES[name].replace("TEXT", "x" * 100_000).replace("MANY", many)
    with pytest.raises(YamlProblemError, match="aliases expand without bound"):
        load(text)


def test_a_long_circle_of_records_replaces_none() -> None:
    kind = load_kinds()["learning"]
    names = [f"L-{number:05d}" for number in range(3_000)]
    records: list[Record] = []
    for name, later in zip(names, [*names[1:], names[0]], strict=True):
        data = {"id": name, "uid": name, "status": "active", "created_at": WHEN}
        path = f".orbit/learnings/{name}/learning.yaml"
        records.append(Record(kind, {**data, "superseded_by": [later]}, path))

    assert not any(record.is_replaced for record in read_together(records))
