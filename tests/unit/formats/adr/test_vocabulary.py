"""Words and dates of the vocabulary, and what a status says in every wording that we met."""

import json
from pathlib import Path
from typing import get_args

import pytest

from orbit_registry.formats.adr import vocabulary
from orbit_registry.formats.adr.model import Rel, Status
from orbit_registry.formats.adr.status_line import normalise_status
from orbit_registry.formats.adr.vocabulary import date_orders, read_date


def test_a_word_means_one_thing_within_its_table() -> None:
    """A word listed under two names would mean the last of them, whichever that is."""
    for table in ("statuses", "keys", "months", "sections"):
        meanings: dict[str, set[str]] = {}
        for name, words in vocabulary.VOCABULARY[table].items():
            for word in words.split(","):
                meanings.setdefault(vocabulary.plain(word.strip()), set()).add(name)
        assert {word: names for word, names in meanings.items() if len(names) > 1} == {}, table


def test_statuses_and_relations_are_those_of_the_model() -> None:
    """A misspelt name in the data would give a status that no record has."""
    assert set(vocabulary.VOCABULARY["statuses"]) == {*get_args(Status)} - {"unknown"}
    assert {
        *vocabulary.VOCABULARY["verbs"],
        *(row[0] for row in vocabulary.VOCABULARY["verbs_behind"]),
    } <= {*get_args(Rel)}
    assert all(
        set(language.statuses) == set(vocabulary.VOCABULARY["statuses"])
        for language in vocabulary.languages()
    )


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("17/08/2020", "2020-08-17"),
        ("17-8-2020", "2020-08-17"),
        ("08/17/2020", "2020-08-17"),
        ("31/12/1999", "1999-12-31"),
        ("03/04/2026", None),
        ("12/12/2026", "2026-12-12"),
        ("01/1/2026", "2026-01-01"),
        ("1/11/2026", None),
        ("13/13/2026", None),
        ("{ 2024-06-20 }", "2024-06-20"),
        ("[17/08/2020]", "2020-08-17"),
        ("17/13/2020", None),
        ("31/02/2020", None),
        ("17/08/20", None),
        ("17/08/2020/1", None),
    ],
)
def test_slashes_are_read_where_they_are_clear(text: str, date: str | None) -> None:
    assert read_date(text) == date


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("30 Oct 18", "2018-10-30"),
        ("2018-Oct-05", "2018-10-05"),
        ("30 Foo 18", None),
        ("3 May 20:30 2024", None),
        ("3 June 10 people", None),
        ("15 March 99", None),
    ],
)
def test_a_month_in_words_needs_no_full_year(text: str, date: str | None) -> None:
    assert read_date(text) == date


def test_dates_of_a_folder_tell_their_order() -> None:
    dates = [
        ("a", "17/04/2020"),
        ("a", "03/04/2020"),
        ("b", "04/17/2020"),
        ("c", "11/11/2020"),
        ("d", "2020-04-17"),
    ]
    assert date_orders(dates) == {"a": "day", "b": "month"}
    assert date_orders([("a", "17/04/2020"), ("a", "04/17/2020")]) == {}
    assert [read_date("03/04/2020", order) for order in ("day", "month", None)] == [
        "2020-04-03",
        "2020-03-04",
        None,
    ]


WORDINGS = json.loads((Path(__file__).parents[3] / "cases/adr_statuses.json").read_text("utf-8"))


def test_a_status_is_understood_or_unknown() -> None:
    for raw, status, targets in WORDINGS:
        actual, related = normalise_status(raw)
        assert (actual, [list(target) for target in related]) == (status, targets), raw
