"""The words in `vocabulary.yaml` are found by what they mean."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

from orbit_registry.formats.adr import vocabulary
from orbit_registry.formats.adr.model import Rel, Status


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
    assert {*vocabulary.VOCABULARY["verbs"], *(row[0] for row in vocabulary.VOCABULARY["verbs_behind"])} <= {
        *get_args(Rel)
    }
    assert all(set(language.statuses) == set(vocabulary.VOCABULARY["statuses"]) for language in vocabulary.languages())


def test_the_words_of_a_list_are_separated() -> None:
    """A comma that is missing at a line's end makes one word of two."""
    for words in vocabulary.VOCABULARY["statuses"].values():
        assert [word for word in words.split(",") if re.search(r"\S\s+\S", word.strip())] == []
    assert Path(vocabulary.__file__).with_name("vocabulary.yaml").is_file()
