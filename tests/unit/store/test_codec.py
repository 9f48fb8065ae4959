"""From a file's text to a record, or to what is wrong with it, each at its place."""

from __future__ import annotations

import pytest

from orbit_registry.kinds.table import load_kinds
from orbit_registry.store.codec import decode_record, ordered

KIND = load_kinds()["learning"]
PATH = ".orbit/learnings/L-7k3fq/learning.yaml"
TEXT = """\
# yaml-language-server: $schema=x
schema_version: 1
id: L-7k3fq
uid: 0123456789abcdef0123456789abcdef
status: active
summary: Look before you leap
created_at: 2026-01-01T00:00:00Z
updated_at: 2026-01-01T00:00:00Z
"""


def found(text: str, path: str = PATH) -> list[str]:
    """Return what is wrong with a text as places, codes and words."""
    record, problems = decode_record(text, KIND, path)
    assert (record is None) == bool(problems)
    return [f"{one.location} {one.code} {one.message}" for one in problems]


def test_a_good_text_is_a_record() -> None:
    """All its fields, and the long text where its kind keeps it in a field."""
    record, problems = decode_record(TEXT + "body: |\n  Because.\nx-own: [1]\n", KIND, PATH)

    assert problems == []
    assert record is not None
    assert (record.id, record.title, record.prose, record.path) == (
        "L-7k3fq",
        "Look before you leap",
        "Because.\n",
        PATH,
    )
    assert record.data["x-own"] == [1]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "learning.yaml:1:1 ORB103 the file is empty"),
        ("# only a comment\n", "learning.yaml:1:1 ORB103 the file is empty"),
        ("- a\n", "learning.yaml:1:1 ORB103 the file is not a mapping"),
        ("just text", "learning.yaml:1:1 ORB103 the file is not a mapping"),
        ("a: [\n", "learning.yaml:2:1 ORB102 not valid YAML"),
        ("1: x\n" + TEXT, "learning.yaml:1:1 ORB102 the key `1` is not a text"),
        (TEXT.replace("version: 1", "version: 2"), "learning.yaml:2:1 ORB106 schema_version 2 is newer than this tool"),
        (TEXT.replace("version: 1", "version: 0"), "learning.yaml:2:1 ORB103 `schema_version` is 0"),
        (TEXT.replace("version: 1", "version: true"), "learning.yaml:2:1 ORB103 `schema_version` is true or false"),
        (TEXT + "summaries: x\n", "learning.yaml:9:1 ORB104 unknown field `summaries`"),
        (TEXT.replace("active", "live"), 'learning.yaml:5:1 ORB103 `status` is "live"'),
        (
            TEXT.replace("id: L-7k3fq", "id: L-aaaaa"),
            "learning.yaml:3:1 ORB105 the record L-aaaaa stands in the folder",
        ),
        (TEXT.replace("id: L-7k3fq", "id: 7"), "learning.yaml:3:1 ORB103 `id` is a number, not a text"),
    ],
)
def test_what_is_no_record_is_said_at_its_place(text: str, said: str) -> None:
    """Line and column of the key that is wrong, one code a sort of mistake."""
    assert [one for one in found(text) if said in one]


def test_every_mistake_is_said() -> None:
    """One run shows all of them, not the first alone."""
    text = TEXT.replace("status: active", "status: live\npriority: 300").replace("uid: 0", "uid: Z")

    assert [one.split(" ")[0].rpartition("learning.yaml")[2] for one in found(text)] == [":6:1", ":5:1", ":4:1"]


def test_the_mistake_names_the_record_where_it_can() -> None:
    """A finding of a record that can't be read still says which one."""
    _, problems = decode_record(TEXT + "priority: 300\n", KIND, PATH)
    _, nameless = decode_record(TEXT.replace("id: L-7k3fq", "id: [x]"), KIND, PATH)

    assert [one.record for one in problems] == ["L-7k3fq"]
    assert [one.record for one in nameless] == [None]


def test_new_files_write_known_fields_in_the_schema_s_order() -> None:
    """Own keys come last, in the order they were given."""
    data = {"x-b": 1, "status": "active", "x-a": 2, "id": "L-7k3fq"}

    assert list(ordered(data, KIND.schema.properties)) == ["id", "status", "x-b", "x-a"]
