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
