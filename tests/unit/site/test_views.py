"""What a page shows of a record without a template of its own."""

from __future__ import annotations

from orbit_registry.kinds.table import load_kinds
from orbit_registry.records.record import Record
from orbit_registry.site.views import own_fields


def test_only_a_kinds_own_fields_are_shown_as_such() -> None:
    """What every kind has stands elsewhere on the page: no key and no hash reads as a fact."""
    kind = load_kinds()["failure"]
    data: dict[str, object] = dict.fromkeys(kind.schema.properties, "x") | {
        "attempts": 3,
        "target": {"type": "story", "id": "S-1"},
    }
    shown = [label for label, _ in own_fields(Record(kind, data, ".orbit/failures/F-1/failure.yaml"))]
    assert shown == ["Target", "Attempts", "Ttl days"]
