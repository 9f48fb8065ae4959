"""A loose form of an id never reaches a record of another kind, and a decision is never written without a text."""

from pathlib import Path
from typing import Any

import pytest


@pytest.mark.parametrize(
    "words", ["learning vote 1 --task T-1", "rule update adr-0001 --tag x", "learning retire ADR-1"]
)
def test_a_loose_id_of_another_kind_is_refused(shell: Any, words: str) -> None:
    code, _, errors = shell(*words.split())
    assert (code, "ADR-0001 is a decision" in errors) == (2, True)


def test_an_empty_text_is_refused(shell: Any) -> None:
    Path(shell.body).write_text(" \n", "utf-8")
    code, _, errors = shell("adr", "add", "Use DuckDB", "--body-file", shell.body)
    assert (code, "the text is empty" in errors) == (2, True)


def test_a_file_that_is_no_text_is_named_once_with_its_line(shell: Any) -> None:
    file = f".orbit/learnings/{shell.learning}/learning.yaml"
    Path(file).write_bytes(b"id: x\n\xff")
    assert (
        shell("list")[2] == f"1 record could not be read: {file}:2:1: not valid UTF-8 (byte 0xff); run `orbit check`\n"
    )
    assert f"can't be read: {file}:2:1: not valid UTF-8 (byte 0xff)\n" in shell("show", shell.learning)[2]
    Path("docs/adr/0001-use-sqlite.md").write_bytes(b"# \xff")
    assert "its document can't be read: docs/adr/0001-use-sqlite.md:1:3: not valid UTF-8" in shell("show", "1")[2]


def test_a_record_in_a_folder_of_another_name_is_found_by_its_id(shell: Any) -> None:
    Path(f".orbit/learnings/{shell.learning}").rename(".orbit/learnings/other")
    assert f"the record {shell.learning} is in the folder other/" in shell("show", shell.learning)[2]


@pytest.mark.parametrize("any_id", ["1", "adr-1", "adr-0001", "ADR-0001"])
def test_a_broken_record_is_named_with_its_file(shell: Any, any_id: str) -> None:
    file = Path(".orbit/adrs/ADR-0001/adr.yaml")
    file.write_text(file.read_text("utf-8").replace("title: ", "title: ["), "utf-8")
    code, _, errors = shell("show", any_id)
    assert (code, f"ADR-0001 can't be read: {file}:" in errors) == (1, True)
