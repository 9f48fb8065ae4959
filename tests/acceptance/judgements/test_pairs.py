"""A pair of alike decisions stays one finding, and says nothing where one amends the other."""

import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.acceptance.conftest import orbit
from tests.files import commit, make_workspace, write

from orbit_registry.formats.wording import without_citations

TEXT = (
    "# {number}. {title}\n\n## Status\n\nAccepted\n{relation}\n## Context\n\nThe queue of the shop "
    "holds orders until the bank answers, which takes a minute on bad days.\n\n## Decision\n\n"
    "Orders wait in a table of the database, and a worker takes the oldest one each second.{more}"
    "\n\n## Consequences\n\nA slow bank fills the table.\n"
)


@pytest.fixture
def adopted(git_repo: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    make_workspace(git_repo)
    monkeypatch.setenv("ORBIT_ACTOR", "human")
    return git_repo


def _adopt(root: Path, relation: str = "") -> None:
    first = TEXT.format(number=1, title="Orders wait in a table", relation="", more="")
    more = " Two workers run."
    second = TEXT.format(number=2, title="Orders wait for two", relation=relation, more=more)
    write(root, "docs/adr/0001-orders-wait.md", first)
    write(root, "docs/adr/0002-orders-wait-for-two.md", second)
    orbit(root, "import", "docs/adr")
    commit(root)


def _pairs(root: Path, *words: str) -> list[tuple[str, str]]:
    answer = json.loads(orbit(root, "check", "--all", "--format", "json", *words))
    return [
        (row["record"], row["hint"])
        for row in answer["diagnostics"]
        if row["code"] in ("ORB601", "ORB602")
    ]


def test_a_new_scope_makes_no_new_finding_of_an_old_pair(adopted: Path) -> None:
    _adopt(adopted)
    [(record, hint)] = _pairs(adopted)
    assert record == "ADR-0002"
    assert "supersede ADR-0001 --with ADR-0002" in hint

    orbit(adopted, "adr", "update", "ADR-0001", "--add-path", "docs/**")
    assert _pairs(adopted) == [(record, hint)]
    assert "ORB60" not in orbit(adopted, "check")


def test_a_decision_may_say_nearly_what_it_amends(adopted: Path) -> None:
    _adopt(adopted, "\nAmends [ADR-0001](0001-orders-wait.md)\n")
    assert _pairs(adopted) == []


def test_the_exit_code_is_that_of_the_findings_that_are_asked_for(adopted: Path) -> None:
    _adopt(adopted)
    write(adopted, ".orbit/learnings/L-7k3fq/learning.yaml", "summary: [\n")
    orbit(adopted, "check", code=1)
    printed = orbit(adopted, "check", "--all", "--code", "ORB602")
    assert "`orbit check --all`" in printed
    orbit(adopted, "check", "--code", "ORB102", code=1)


def test_what_has_the_form_of_an_id_is_explained_or_refused(adopted: Path) -> None:
    _adopt(adopted)
    assert "shown" in orbit(adopted, "explain", "ADR-0001")
    assert "ADR-0009" in orbit(adopted, "explain", "ADR-0009", code=1)


@pytest.mark.parametrize(
    ("old", "new"),
    [("docs/adr", "docs/decisions"), ("docs/adr/0001-orders-wait.md", "docs/adr/0001-orders.md")],
)
def test_a_moved_document_or_folder_has_the_command_that_follows_it(
    adopted: Path, git: Callable[..., str], old: str, new: str
) -> None:
    _adopt(adopted)
    git(adopted, "checkout", "-q", "-b", "work")
    git(adopted, "mv", old, new)
    commit(adopted)

    command = f"orbit adr backfill --moved {old} {new}"
    printed = orbit(adopted, "check", "--against", "main", code=1)
    assert f"`{command}`" in printed
    assert "ORB412" not in printed

    orbit(adopted, *command.split()[1:])
    orbit(adopted, "check", "--against", "main")


def test_a_status_with_an_amendment_states_one_status(adopted: Path) -> None:
    text = TEXT.format(number=1, title="Orders wait", relation="", more="")
    status = "Proposed; amended in part by [ADR-0002](0002-two.md)"
    write(adopted, "docs/adr/0001-wait.md", text.replace("Accepted", status))
    write(adopted, "docs/adr/0002-two.md", TEXT.format(number=2, title="T", relation="", more="."))
    report = orbit(adopted, "import", "docs/adr", "--verbose")
    assert "and then" not in report
    assert "proposed" in orbit(adopted, "show", "ADR-0001")


def test_a_change_counts_a_file_once_however_many_globs_lead_to_it(adopted: Path) -> None:
    _adopt(adopted)
    words = ["adr", "update", "ADR-0001", "--path", "src/**", "--path", "src/a.py"]
    write(adopted, "src/a.py", "x = 1\n")
    orbit(adopted, *words)
    commit(adopted)
    write(adopted, "src/a.py", "x = 1  # see ADR-0001\n")
    printed = orbit(adopted, "diff", "HEAD")
    assert ": 1 file)" in printed


@pytest.mark.parametrize("blank", [" ", "\t"])
def test_a_long_run_of_blanks_takes_linear_time(blank: str) -> None:
    def seconds(count: int) -> float:
        text = f"x{blank * count}x"
        began = time.process_time()
        assert without_citations(text) == text
        return time.process_time() - began

    assert seconds(80_000) < 1
