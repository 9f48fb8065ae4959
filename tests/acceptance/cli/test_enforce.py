"""`orbit enforce` and `orbit coverage --enforced` on a small project."""

from pathlib import Path
from typing import Any

import pytest
from tests.files import commit, write
from tests.unit.enforce.test_run import NO_PRINT, decide

CHECK = 'checks:\n  - id: a\n    in: ["**/*.py"]\n    text: {words: [%s]}\n    passes: [x]\n    fails: ["print(1)"]\n'


@pytest.fixture
def root(shell: Any) -> Path:
    path: Path = shell.root
    decide(path, {**NO_PRINT, "level": "advice"}, status="proposed", number=9)
    write(path, "src/app.py", "print(1)\nprint(2)  # orbit: allow ADR-0009 because it is a demo\n")
    return path


@pytest.mark.usefixtures("root")
def test_a_proposed_check_can_be_tried(shell: Any) -> None:
    data = shell.data("enforce", "try", "ADR-0009/no-print")
    assert data == {"checks": ["ADR-0009/no-print"], "matches": 1, "allowed": 1, "problems": 0}
    assert "src/app.py:1:1: note ADR-0009/no-print" in shell("enforce", "try", "ADR-0009")[1]
    code, _, error = shell("enforce", "try", "ADR-0009/nope")
    assert (code, "has no check `nope`" in error) == (1, True)


def test_a_record_with_several_checks_asks_for_one(root: Path, shell: Any) -> None:
    decide(root, NO_PRINT, {**NO_PRINT, "id": "second"}, number=9)
    code, _, error = shell("enforce", "replay", "ADR-0009")
    assert (code, "several checks: name one\n  hint: its checks: ADR-0009/no-print, ADR-0009/second" in error) == (
        1,
        True,
    )


def test_a_file_can_hold_checks_to_try(root: Path, shell: Any) -> None:
    write(root, "draft.yaml", CHECK % '"print("')
    assert shell.data("enforce", "try", "--file", "draft.yaml")["matches"] == 2
    write(root, "draft.yaml", CHECK % "prnt")
    code, out, _ = shell("enforce", "try", "--file", "draft.yaml")
    assert (code, "ORB1002" in out) == (1, True)
    write(root, "draft.yaml", "checks: 3\n")
    assert "`checks` is a number, not a list" in shell("enforce", "try", "--file", "draft.yaml")[2]


def test_coverage_counts_the_decisions_that_are_enforced(root: Path, shell: Any) -> None:
    decide(root, NO_PRINT, number=9)
    data = shell.data("coverage", "--enforced")
    assert (data["share"], data["counts"]["enforced"], data["counts"]["unclassified"]) == (0.333, 1, 2)
    assert "33% of the decisions" in shell("coverage", "--enforced")[1]


def test_a_check_is_replayed_labelled_and_promoted(root: Path, shell: Any) -> None:
    decide(root, {**NO_PRINT, "level": "advice"}, number=9, date="2000-01-01")
    commit(root, "Decide")
    data = shell.data("enforce", "replay", "ADR-0009/no-print")
    (kept, allowed) = data["kept"]
    assert (data["introduced"], kept["path"], kept["text"]) == (2, "src/app.py", "print(")
    assert shell.data("enforce", "label", "ADR-0009/no-print", kept["key"], "false")["true"] is False
    assert shell.data("enforce", "promote", "ADR-0009/no-print") == {"check": "ADR-0009/no-print", "level": "warning"}
    code, _, error = shell("enforce", "promote", "ADR-0009")
    assert (code, f"orbit enforce label ADR-0009/no-print {allowed['key']}" in error) == (1, True)


@pytest.mark.usefixtures("root")
def test_a_code_that_is_none_is_refused(shell: Any) -> None:
    for name in ("ORB9999", "ADR-0009/nope"):
        code, _, error = shell("check", "--code", name)
        assert (code, f"no finding has the code '{name}'" in error) == (2, True)
    assert shell("check", "--code", "adr-0009/NO-PRINT")[0] == 0


def test_explain_names_the_checks_that_look_at_a_file(root: Path, shell: Any) -> None:
    decide(root, NO_PRINT, number=9)
    decide(root, NO_PRINT, number=8, status="proposed")
    assert [row["name"] for row in shell.data("explain", "src/app.py")["checks"]] == ["ADR-0009/no-print"]
    assert "checked by ADR-0009/no-print (error): Log through the logger" in shell("explain", "src/app.py")[1]
    assert shell.data("explain", "docs/app.js")["checks"] == []


def test_a_closed_record_has_nothing_to_try(root: Path, shell: Any) -> None:
    decide(root, NO_PRINT, status="superseded", number=9)
    code, _, error = shell("enforce", "try", "ADR-0009")
    assert (code, "ADR-0009 is superseded, so its checks never run" in error) == (2, True)


def test_a_pair_is_tried_and_never_replayed(root: Path, shell: Any) -> None:
    pair = {"id": "tested", "in": ["src/**"], "pair": {"with": ["tests/test_{stem}.py"]}}
    decide(root, {**pair, "passes": ["src/a.py tests/test_a.py"], "fails": ["src/a.py"]}, number=9)
    write(root, "src/app.py", "x = 1\n")
    assert "`src/app.py` without `tests/test_app.py` breaks ADR-0009" in shell("enforce", "try", "ADR-0009")[1]
    code, _, error = shell("enforce", "replay", "ADR-0009")
    assert (code, "it does not look for what a file alone must not have" in error) == (2, True)
