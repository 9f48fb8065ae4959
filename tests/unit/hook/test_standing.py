"""What may stand in a file that an agent loads by its path alone."""

import pytest

from orbit_registry.hook import index as reader
from orbit_registry.hook.select import standing_reason


@pytest.mark.parametrize(
    ("field", "value", "flags", "reason"),
    [
        (None, "", 0, ""),
        (None, "", reader.BROAD, ""),
        (None, "", reader.PROCEDURAL, "procedural"),
        (reader.GATE, "relevant_and_linked", 0, ""),
        (reader.AGENTS, "reviewer", 0, ""),
        (reader.EXPIRES_AT, "99", reader.EXPIRES, "expired"),
        (reader.EXPIRES_AT, "101", reader.EXPIRES, ""),
    ],
)
def test_a_standing_file_holds_what_its_path_alone_leads_to(
    field: int | None, value: str, flags: int, reason: str
) -> None:
    values = [""] * reader.FIELDS
    if field is not None:
        values[field] = value
    assert standing_reason(reader.Row(0, values, flags), 100) == reason
