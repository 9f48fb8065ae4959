"""Renames: until the records are corrected, an edit at the new path shows what it showed before."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.acceptance.conftest import orbit
from tests.acceptance.hook.conftest import bring_up_to_date, run_client
from tests.acceptance.hook.replies import ids
from tests.files import commit, make_workspace, write_learning
from tests.unit.checks.test_renames import CASES, put, take

from orbit_registry.formats.globs import match_any, readable_globs
from orbit_registry.matching.explain import explain
from orbit_registry.workspace.workspace import open_workspace

Git = Callable[..., str]


def shown(root: Path, path: str, session: str) -> list[str]:
    """Return the ids that the first edit of a file in a session shows."""
    payload = {
        "cwd": str(root),
        "session_id": session,
        "hook_event_name": "PreToolUse",
        "tool_name": "Edit",
        "tool_input": {"file_path": f"{root}/{path}"},
    }
    printed = run_client(root, json.dumps(payload).encode())
    return ids(json.loads(printed)) if printed else []


def sources(root: Path, git: Git) -> list[str]:
    return [name for name in git(root, "ls-files").split() if not name.startswith(".")]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["case"])
def test_an_edit_shows_the_record_where_its_files_are_now(
    git_repo: Path, git: Git, case: dict[str, Any]
) -> None:
    put(make_workspace(git_repo), "README", *case["files"])
    axis = "paths" if "paths" in case else "symbols"
    write_learning(git_repo, "7k3fq", scope={axis: case[axis]})
    commit(git_repo)
    for step in (*case.get("base", ()), *case["steps"]):
        take(git_repo, step)
    bring_up_to_date(git_repo)

    followed = readable_globs(text.partition("::")[0] for text in case["becomes"])
    for number, path in enumerate(sources(git_repo, git)):
        expected = ["L-7k3fq"] if match_any(followed, path) else []
        assert shown(git_repo, path, f"s{number}") == expected, path


def test_explain_names_the_rename_until_it_is_fixed(git_repo: Path, git: Git) -> None:
    put(make_workspace(git_repo), "shop/orders/a.py", "shop/orders/made/b.py")
    write_learning(
        git_repo,
        "7k3fq",
        scope={"paths": ["shop/orders/**", "!shop/orders/made/**"]},
        evidence=[{"kind": "file", "reference": "shop/orders/a.py"}],
    )
    commit(git_repo)
    git(git_repo, "mv", "shop/orders", "shop/checkout")
    bring_up_to_date(git_repo)

    reason = "matches and is shown; git saw `shop/orders/**` renamed to `shop/checkout/**`"
    assert f"shop/orders/**: {reason}: run `orbit check --fix`" in orbit(
        git_repo, "explain", "shop/checkout/a.py"
    )
    (excluded,) = explain(open_workspace(git_repo), "shop/checkout/made/b.py")
    assert (excluded.key, excluded.glob) == ("excluded", "!shop/orders/made/**")

    orbit(git_repo, "check", "--fix")
    bring_up_to_date(git_repo)
    (fixed,) = explain(open_workspace(git_repo), "shop/checkout/a.py")
    assert (fixed.text, fixed.glob) == ("matches and is shown", "shop/checkout/**")


def test_rule_files_hold_the_globs_that_records_state(git_repo: Path, git: Git) -> None:
    put(make_workspace(git_repo), "shop/orders/a.py", "shop/pay.py")
    write_learning(git_repo, "7k3fq", scope={"paths": ["shop/orders/**", "shop/pay.py"]})
    commit(git_repo)
    git(git_repo, "mv", "shop/orders", "shop/checkout")

    orbit(git_repo, "export", "rules", "--agent", "agents-md")
    text = (git_repo / "AGENTS.md").read_text("utf-8")
    assert "`shop/orders/**`" in text
    assert "\x1d" not in text


def test_no_rename_is_followed_before_the_first_commit(git_repo: Path, git: Git) -> None:
    put(make_workspace(git_repo), "shop/orders/a.py")
    write_learning(git_repo, "7k3fq", scope={"paths": ["shop/orders/**"]})
    commit(git_repo)
    git(git_repo, "mv", "shop/orders", "shop/checkout")
    subprocess.run(["git", "update-ref", "-d", "HEAD"], cwd=git_repo, check=True)
    bring_up_to_date(git_repo)
    assert shown(git_repo, "shop/checkout/a.py", "s") == []


STALE = "matches, but may be out of date, so agents see one line that says so"


@pytest.mark.parametrize(
    ("removed", "reason"),
    [
        ([], "matches and is shown"),
        (["git rm -q lib/a.py"], STALE),
        (["git rm -q lib/a.py", "git commit -qm Remove"], STALE),
    ],
    ids=["never there", "removed", "removed in a commit"],
)
def test_a_scope_waits_for_its_first_file_and_is_stale_after_its_last(
    git_repo: Path, removed: list[str], reason: str
) -> None:
    put(make_workspace(git_repo), "src/a.py", *(["lib/a.py"] if removed else []))
    write_learning(git_repo, "7k3fq", scope={"paths": ["lib/**"]})
    commit(git_repo)
    for step in removed:
        subprocess.run(step.split(), cwd=git_repo, check=True)
    bring_up_to_date(git_repo)

    (answer,) = explain(open_workspace(git_repo), "lib/b.py")
    assert answer.text == reason
