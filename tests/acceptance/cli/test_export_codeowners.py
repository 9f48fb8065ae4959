"""`orbit export codeowners`: who owns the files of the decisions, in one block of the file."""

from pathlib import Path
from typing import Any

import pytest
from tests.files import commit, make_workspace, write, write_record

from orbit_registry.cli.main import run

BLOCK = """\
# orbit:begin: made by `orbit export codeowners`, changes in here are lost
# ADR-0001
/src/ @ada
# ADR-0002
/src/store/ @example/data ada@example.org @ada
# ADR-0001
/.orbit/adrs/ADR-0001/ @ada
# ADR-0002
/.orbit/adrs/ADR-0002/ @example/data ada@example.org
# orbit:end
"""


def write_decision(root: Path, number: int, deciders: list[str], *paths: str, status: str = "accepted") -> None:
    fields = {"title": f"Decision {number}", "date": "2026-01-01", "feature": "core"}
    name = f".orbit/adrs/ADR-{number:04d}"
    write_record(root, f"{name}/adr.yaml", status=status, deciders=deciders, scope={"paths": list(paths)}, **fields)
    write(root, f"{name}/body.md", "Text.\n")


@pytest.fixture
def owned(git_repo: Path, bare_shell: Any) -> Any:
    """Return a shell in a repository with a wide decision, a narrow one inside it, and a proposed one."""
    make_workspace(git_repo)
    for name in ("src/a.py", "src/store/b.py"):
        write(git_repo, name)
    write_decision(git_repo, 1, ["@ada", "Grace Hopper"], "src/**")
    write_decision(git_repo, 2, ["@example/data", "ada@example.org"], "src/store/**")
    write_decision(git_repo, 3, ["@eve"], "src/**", status="proposed")
    commit(git_repo)
    return bare_shell


def test_a_narrow_scope_names_the_owners_around_it(owned: Any) -> None:
    assert owned("export", "codeowners")[0] == 0
    assert (owned.root / "CODEOWNERS").read_text("utf-8") == BLOCK


def test_the_rest_of_the_file_stays_and_a_second_run_changes_nothing(owned: Any) -> None:
    write(owned.root, ".github/CODEOWNERS", "* @everyone\n")

    owned("export", "codeowners")
    again = owned.data("export", "codeowners")

    assert (owned.root / ".github/CODEOWNERS").read_text("utf-8") == f"* @everyone\n\n{BLOCK}"
    assert (again["file"], again["changes"]) == (".github/CODEOWNERS", [])


@pytest.mark.parametrize(("option", "code"), [("--dry-run", 0), ("--check", 1)])
def test_a_dry_run_and_a_check_write_nothing(owned: Any, option: str, code: int) -> None:
    assert owned("export", "codeowners", option)[0] == code
    assert not (owned.root / "CODEOWNERS").exists()


def test_the_block_goes_with_its_decisions(owned: Any) -> None:
    owned("export", "codeowners")
    for number in (1, 2):
        write_decision(owned.root, number, [], "src/**", status="deprecated")

    assert owned("export", "codeowners")[0] == 0
    assert not (owned.root / "CODEOWNERS").exists()


def test_what_has_no_owner_or_no_pattern_is_listed(owned: Any) -> None:
    write_decision(owned.root, 4, ["Grace Hopper"], "src/**")
    write_decision(owned.root, 5, ["@ada"], "src/**", "!src/a.py")

    data = owned.data("export", "codeowners", "--dry-run")

    assert data["unowned"] == ["ADR-0004"]
    assert [entry["id"] for entry in data["unsaid"]] == ["ADR-0005"]
    assert (
        "/src/ @ada @example/architects"
        in owned.data("export", "codeowners", "--owner", "@example/architects")["lines"]
    )


def test_an_owner_that_is_none_is_refused(owned: Any) -> None:
    assert owned("export", "codeowners", "--owner", "Grace Hopper")[0] == 2


def test_a_project_in_a_folder_writes_at_the_top(git_repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inner = make_workspace(git_repo / "shop")
    write(inner, "src/a.py")
    write_decision(inner, 1, ["@ada"], "src/**")
    commit(git_repo)
    monkeypatch.chdir(inner)

    assert run(["export", "codeowners"]) == 0
    assert "\n/shop/src/ @ada\n" in (git_repo / "CODEOWNERS").read_text("utf-8")
