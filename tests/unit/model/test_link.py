"""The vocabulary of links: closed, each with one inverse, said in any spelling a person uses."""

from __future__ import annotations

import json

from orbit_registry.model.ids import INVERSES, relation
from orbit_registry.model.schema import ENVELOPE


def test_each_word_names_one_relation_from_one_end() -> None:
    """The inverse of an inverse is the relation, and no word has two meanings; one reads the same from both ends."""
    for rel, inverse in INVERSES.items():
        assert relation(rel) == (rel, False)
        assert relation(inverse.replace("_", "-").upper()) == (rel, inverse != rel)
    assert len({*INVERSES, *INVERSES.values()}) == 2 * len(INVERSES) - 1


def test_records_may_state_every_relation_but_supersession() -> None:
    """The schema of records has the same words."""
    schema = json.loads(ENVELOPE.read_text("utf-8"))["properties"]["links"]["items"]["properties"]["rel"]["enum"]
    assert [*schema] == [rel for rel in INVERSES if rel != "supersedes"]
