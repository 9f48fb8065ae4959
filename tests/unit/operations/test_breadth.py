"""Which globs are wide, and at how many files a record finds no place: tests/cases/breadth.yaml."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from orbit_registry.formats.globs import match_any, readable_globs
from orbit_registry.formats.yaml import load
from orbit_registry.model.reach import WIDE_PLACES
from orbit_registry.model.scope import USES, symbol_glob
from orbit_registry.operations.breadth import Breadth
from orbit_registry.operations.glob_counts import Scope

CASES: Any = load((Path(__file__).parents[2] / "cases" / "breadth.yaml").read_text("utf-8"))


def files_of(case: Mapping[str, Any]) -> list[str]:
    """Return the tracked files of a case."""
    return [name.format(number) for name, times in case["files"].items() for number in range(times)]


def scopes_of(case: Mapping[str, Any]) -> dict[str, Scope]:
    """Return the scopes of a case by the records' names, in their order."""
    scopes: dict[str, Scope] = {}
    for record in case["records"]:
        scope = (*record.get("paths", ()), *map(symbol_glob, record.get("symbols", ())))
        if "times" in record:
            scopes |= {f"{record['name']}{number}": scope for number in range(record["times"])}
        else:
            scopes[record["name"]] = scope

    return scopes


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["name"]))
def test_the_wide_globs_are_those_of_the_case(case: Mapping[str, Any]) -> None:
    breadth = Breadth.of(scopes_of(case).values(), files_of(case))
    assert sorted({glob for globs in breadth.wide.values() for glob in globs}) == case["wide"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["name"]))
def test_records_are_counted_at_the_files_that_have_no_place_for_them(
    case: Mapping[str, Any],
) -> None:
    files, scopes = files_of(case), scopes_of(case)
    breadth = Breadth.of(scopes.values(), files)
    withheld = dict(zip(scopes, breadth.withheld([*scopes.values()]), strict=True))

    without_place = {name for names in case["edits"].values() for name in names}
    assert {name for name, count in withheld.items() if count} == without_place
    for name in without_place:
        in_scope = [file for file in files if match_any(readable_globs(scopes[name]), file)]
        assert withheld[name] <= len(in_scope)


def test_the_count_of_files_is_exact() -> None:
    files = [*(f"src/{number}.py" for number in range(40)), "README.md", ".orbit/config.yaml"]
    scopes: list[Scope] = [("src/**",)] * WIDE_PLACES + [("src/**", "src/0.py")]
    breadth = Breadth.of(scopes, files)
    assert breadth.files == 41
    assert breadth.withheld(scopes) == [0] * WIDE_PLACES + [39]


def test_the_order_of_records_decides_and_is_no_part_of_the_judgement() -> None:
    files = [f"src/{number}.py" for number in range(40)]
    scopes: list[Scope] = [("src/**",)] * WIDE_PLACES + [("**",)]
    breadth = Breadth.of(scopes, files)
    assert breadth.withheld(scopes)[-1] == 40
    assert breadth.withheld(scopes[::-1])[0] == 0
    assert breadth.lines() == Breadth.of(scopes[::-1], files[::-1]).lines()


def test_a_package_that_many_files_import_is_wide_as_a_glob_is() -> None:
    files = [f"src/{number}.py" for number in range(100)]
    package, rare = f"{USES}os", f"{USES}redis"
    importers = {package: files[:30], rare: files[:3]}
    scopes: list[Scope] = [(package,)] * WIDE_PLACES
    scopes += [(package, "!src/1*.py"), ("src/0.py", package), (rare,), (package, rare)]
    breadth = Breadth.of(scopes, files, importers)
    wide = {scope: sorted(globs) for scope, globs in breadth.wide.items()}
    assert wide == {
        (package,): [package],
        ("src/0.py", package): [package],
        (package, rare): [package],
    }
    assert breadth.withheld(scopes) == [0] * WIDE_PLACES + [0, 29, 0, 27]
