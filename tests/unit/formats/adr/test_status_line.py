"""What a status says, in every wording that was met so far."""

import json
from pathlib import Path

import pytest

from orbit_registry.formats.adr.status_line import normalise_status

WORDINGS = json.loads((Path(__file__).parents[3] / "cases/adr_statuses.json").read_text("utf-8"))


@pytest.mark.parametrize(("raw", "status", "targets"), WORDINGS, ids=[raw[:40] for raw, _, _ in WORDINGS])
def test_a_status_is_understood_or_unknown(raw: str, status: str, targets: list[list[str]]) -> None:
    actual, related = normalise_status(raw)

    assert (actual, [list(target) for target in related]) == (status, targets)
