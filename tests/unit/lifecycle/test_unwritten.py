"""What a change brings that looks like a decision, and when it is silent."""

import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from orbit_registry.doors.answers.table import commands
from orbit_registry.doors.cli.operations import command_of
from orbit_registry.lifecycle.signs import Sign, signs_in
from orbit_registry.lifecycle.unwritten import Candidate, unwritten
from orbit_registry.model.kind import load_kinds
from orbit_registry.model.record import Record

TABLE = Path(__file__).parents[2] / "cases/lifecycle/unwritten.yaml"
DATA: Mapping[str, Any] = yaml.safe_load(TABLE.read_text("utf-8"))
CASES: list[Mapping[str, Any]] = DATA["cases"]
ADR = load_kinds()["adr"]
NEW = command_of(commands()["adr new"].load())


def _signs(files: Mapping[str, str]) -> list[Sign]:
    return [sign for path, text in files.items() for sign in signs_in(path, text)]


def _record(number: int, given: str | Mapping[str, Any]) -> Record:
    fields = {"title": given} if isinstance(given, str) else given
    data = {
        "id": f"ADR-{number:04d}",
        "title": fields["title"],
        "status": fields.get("status", "accepted"),
        "scope": {"uses": fields.get("uses", [])},
    }
    return Record(ADR, data, f".orbit/adrs/{data['id']}/adr.yaml", fields.get("says", ""))


def _candidates(case: Mapping[str, Any]) -> list[Candidate]:
    before = {**DATA["common"], **case.get("before", {})}
    after = {**before, **case["after"]}
    for path in case.get("gone", ()):
        del after[path]

    records = [_record(number, given) for number, given in enumerate(case.get("records", ()), 1)]
    return unwritten(_signs(before), _signs(after), records)


def test_the_table_is_large_enough() -> None:
    assert len(CASES) >= 50
    assert sum(not case["named"] for case in CASES) >= 30


@pytest.mark.parametrize("case", CASES, ids=[str(number) for number in range(len(CASES))])
def test_it_names_what_no_record_explains(case: Mapping[str, Any]) -> None:
    rows = _candidates(case)
    assert [list(each.names) for each in rows] == case["named"]
    assert [name for each in rows for name in each.more] == case.get("more", [])
    assert case.get("title", "") in [*(each.title for each in rows), ""]


def _commands() -> Iterator[list[str]]:
    for case in CASES:
        for candidate in _candidates(case):
            yield shlex.split(candidate.command)


def test_each_command_has_words_that_it_takes() -> None:
    for words in _commands():
        assert words[:3] == ["orbit", "adr", "new"]
        context = NEW.make_context("new", words[3:], help_option_names=["-h", "--help"])
        assert context.params["title"]
        assert context.params["paths"] or context.params["uses"]
