"""Tables and counts as people read them, and text that can't move their cursor."""

from __future__ import annotations

import json

from orbit_registry.answers.records import record_data, records_table, table
from orbit_registry.cli.output import plural
from orbit_registry.cli.terminal import json_text, visible
from orbit_registry.kinds.table import load_kinds
from orbit_registry.records.record import Record


def record(number: int, title: str) -> Record:
    """Return a decision."""
    data = {"id": f"ADR-{number:04d}", "uid": f"{number:032x}", "status": "accepted", "title": title}
    return Record(load_kinds()["adr"], data, f".orbit/adrs/ADR-{number:04d}/adr.yaml")


def test_columns_are_aligned() -> None:
    """Each as wide as its widest cell, the last one free; a cell of two lines becomes one."""
    assert table(("id", "title"), [("1", "a\nb"), ("100", "c")]) == "ID   TITLE\n1    a b\n100  c"
    assert table(("id",), []) == ""


def test_a_kind_says_which_columns_its_list_has() -> None:
    """The headline stands last, where it may run on; a field that a record lacks is blank."""
    lines = records_table([record(1, "First"), record(2, "Second")], ["id", "status", "title", "date"]).splitlines()

    assert lines[0].split() == ["ID", "STATUS", "DATE", "TITLE"]
    assert lines[1].split() == ["ADR-0001", "accepted", "First"]
    assert records_table([], ["id"]) == "no records"


def test_control_characters_are_shown_not_sent() -> None:
    """A title can't colour, ring or turn the terminal."""
    assert visible("a\tb\nc\x1b[31m\x07\u202e") == "a\tb\nc\\x1b[31m\\x07\\u202e"


def test_what_nobody_sees_or_no_output_takes_is_written_out() -> None:
    """Tags, which spell words for a model, and halves of characters; JSON reads back as the same."""
    assert visible("a\U000e0072\u200b\ud800") == "a\\U000e0072\\u200b\\ud800"
    said = {"é\ud800": ["\udfff\x9b31m\u202e\u2028\U000e0072\x7f"]}
    written = json_text(said)
    assert written.encode().decode() == written
    assert visible(written) == written
    assert json.loads(written) == said


def test_a_count_has_its_noun() -> None:
    """One vote, two votes, three entries."""
    assert [plural(1, "vote"), plural(2, "vote"), plural(3, "entry", "entries")] == ["1 vote", "2 votes", "3 entries"]


def test_json_of_a_record_is_its_file_with_kind_phase_and_path() -> None:
    """Long text comes only where it is asked for."""
    shown = record_data(record(1, "First"))

    assert (shown["kind"], shown["phase"], shown["path"]) == ("adr", "live", ".orbit/adrs/ADR-0001/adr.yaml")
    assert "prose" not in shown
    assert "prose" in record_data(record(1, "First"), prose=True)
