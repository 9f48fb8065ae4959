"""What every check brings along: its own code, words, a section of the docs,
a failing and a passing case.
"""

import re
from collections import Counter
from pathlib import Path

import pytest

from orbit_registry.checks.check import DOCS, Check, all_checks, check_of

ROOT = Path(__file__).resolve().parents[2]
CASES = ROOT / "tests" / "cases" / "checks"
HEADINGS = ("What.", "Why.", "Example.", "How to fix.", "Fix available?")
LONGEST_HINT = 120
FIXED_BY_THE_STORE = {"ORB702", "ORB706"}

each_check = pytest.mark.parametrize("check", all_checks(), ids=lambda check: check.code)


def section_of(code: str) -> str:
    check = check_of(code)
    text = (ROOT / check.docs.partition("#")[0]).read_text("utf-8") if check else ""
    match = re.search(rf"^## {code}\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    return match[1] if match else ""


def test_codes_and_names_are_unique() -> None:
    assert [
        code for code, count in Counter(check.code for check in all_checks()).items() if count > 1
    ] == []
    assert [
        name for name, count in Counter(check.name for check in all_checks()).items() if count > 1
    ] == []


@each_check
def test_a_check_speaks_for_itself(check: Check) -> None:
    assert re.fullmatch(r"ORB[1-9]\d{2,3}", check.code)
    assert re.fullmatch(r"[a-z]+(?:-[a-z]+)*", check.name)
    assert check.summary.endswith(".")
    assert check.hint
    assert not check.hint.endswith(".")
    assert len(check.hint) <= LONGEST_HINT


@each_check
def test_a_check_has_a_section_in_the_docs(check: Check) -> None:
    section = section_of(check.code)
    assert f"`{check.name}`" in section
    assert [part for part in HEADINGS if f"**{part}**" not in section] == []
    mends = check.fix is not None or check.code in FIXED_BY_THE_STORE
    assert ("**Fix available?** Yes" in section) is mends


def test_the_table_of_families_has_every_check() -> None:
    rows = re.findall(
        r"(?m)^\| (\d+)xx [^|]+\| (.+) \|$", (ROOT / DOCS / "index.md").read_text("utf-8")
    )
    listed = [
        (code, name, family)
        for family, cell in rows
        for code, name in re.findall(r"\[(ORB\d+)\]\S+ (\S+)", cell)
    ]
    assert listed == [(check.code, check.name, check.code[3:-2]) for check in all_checks()]


@each_check
def test_a_check_has_a_failing_and_a_passing_case(check: Check) -> None:
    names = (
        [path.name for path in (CASES / check.code).iterdir()]
        if (CASES / check.code).is_dir()
        else []
    )
    assert [name for name in names if name.startswith("pass")], "no passing case"
    failing = [name for name in names if name.startswith("fail")]
    assert failing, "no failing case"
    assert [
        name for name in failing if not (CASES / check.code / name / "expected.json").is_file()
    ] == []


def test_no_case_outlives_its_check() -> None:
    assert {path.name for path in CASES.iterdir() if path.is_dir()} == {
        check.code for check in all_checks()
    }
