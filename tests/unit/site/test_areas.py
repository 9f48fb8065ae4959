"""Areas: which of a project's own words divides its decisions."""

from __future__ import annotations

from typing import Any

import pytest

from orbit_registry.model.kind import load_kinds
from orbit_registry.model.record import Record
from orbit_registry.site.areas import areas_of

ADR = load_kinds()["adr"]


def _decisions(values: list[dict[str, Any]]) -> list[Record]:
    records = []
    for number, value in enumerate(values, start=1):
        name = f"ADR-{number:04}"
        data = {"id": name, "title": "T", "status": "accepted", **value}
        records.append(Record(ADR, data, f".orbit/adrs/{name}/adr.yaml"))

    return records


def _scoped(*axis: str) -> list[dict[str, Any]]:
    return [{"scope": {"paths": [glob]}} for glob in axis]


def _tagged(*tags: list[str]) -> list[dict[str, Any]]:
    return [{"scope": {"tags": names}} for names in tags]


@pytest.mark.parametrize(
    ("values", "names"),
    [
        ([{"feature": name} for name in ("core", "core", "shop", "shop")], "core core shop shop"),
        (_tagged(["a"], ["b", "a"], ["b"], ["b"], ["a"]), "a b b b a"),
        (_scoped("src/api/**", "src/api/x.py", "src/ui/*", "src/ui/b/**"), "api api ui ui"),
        ([{"feature": "all"}, {"feature": "all"}, {"feature": "all"}], ""),
        (_tagged(["a"], ["b"], ["c"], ["d"]), ""),
        (_tagged(["a"], ["a"], ["b"], ["b"], [], [], [], [], []), ""),
        ([{}, {}], ""),
    ],
)
def test_decisions_are_divided_by_the_first_word_that_does(
    values: list[dict[str, Any]], names: str
) -> None:
    records = _decisions(values)
    areas = areas_of(records)
    assert " ".join(areas[record.path].name for record in records if record.path in areas) == names
