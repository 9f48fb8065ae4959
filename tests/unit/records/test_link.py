"""Links between records: a closed vocabulary whose every word reads well from the other end."""

from __future__ import annotations

from orbit_registry.kinds.table import load_kinds
from orbit_registry.records.link import INVERSES


def test_schema_and_vocabulary_are_one() -> None:
    """What a file may say is what the engine knows; supersession alone is derived from its own fields."""
    allowed = load_kinds()["adr"].schema.document["properties"]["links"]["items"]["properties"]["rel"]["enum"]

    assert set(allowed) == set(INVERSES) - {"supersedes"}


def test_each_inverse_is_unlike_the_others() -> None:
    """From an inverse one can tell the relation; only `related_to` reads the same from both ends."""
    assert len(set(INVERSES.values())) == len(INVERSES)
    assert [name for name, inverse in INVERSES.items() if name == inverse] == ["related_to"]
