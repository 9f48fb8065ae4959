"""What may stand in a file that an agent loads by its path alone."""

import pytest

from orbit_registry.hook.select import standing_reason
from orbit_registry.model import fields


@pytest.mark.parametrize(
    ("field", "value", "flags", "reason"),
    [
        (None, "", 0, ""),
        (None, "", fields.BROAD, ""),
        (None, "", fields.PROCEDURAL, "procedural"),
        (fields.GATE, "relevant_and_linked", 0, ""),
        (fields.AGENTS, "reviewer", 0, ""),
        (fields.EXPIRES_AT, "99", fields.EXPIRES, "expired"),
        (fields.EXPIRES_AT, "101", fields.EXPIRES, ""),
    ],
)
def test_a_standing_file_holds_what_its_path_alone_leads_to(
    field: int | None, value: str, flags: int, reason: str
) -> None:
    values = [""] * fields.FIELDS
    if field is not None:
        values[field] = value
    assert standing_reason(fields.Row(0, values, flags), 100) == reason
