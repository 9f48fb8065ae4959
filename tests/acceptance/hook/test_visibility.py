"""Where a record is shown: each door says it in the same words, and the hook does it;
the cases of tests/cases/visibility.yaml in real repositories.
"""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.acceptance.conftest import orbit
from tests.acceptance.hook.conftest import bring_up_to_date
from tests.files import commit, make_workspace, write, write_record
from tests.unit.matching.test_visibility import CASES, check, fields_of, files_of

from orbit_registry.doors.answers.call import Caller
from orbit_registry.doors.mcp.dispatch import reply
from orbit_registry.hook.context import Context
from orbit_registry.hook.index import Index, open_index
from orbit_registry.hook.select import select
from orbit_registry.model.kind import load_kinds
from orbit_registry.model.reach import CODE, TOOL
from orbit_registry.registry import Registry

KINDS = load_kinds()
NOW = 1_770_000_000.0


def repository_of(root: Path, case: Mapping[str, Any]) -> str:
    """Make the workspace of a case, and return the id that it asks about."""
    make_workspace(root, case.get("config", ""))
    for file, text in files_of(case).items():
        if file != ".gitignore":
            write(root, file, text)

    ids = []
    for name, waits, fields in fields_of(case):
        folder = ".orbit/state/inbox" if waits else ".orbit"
        path = f"{folder}/{KINDS[name].plural}/{fields['id']}/{name}.yaml"
        write_record(root, path, **{field: fields[field] for field in fields if field != "id"})
        ids.append(fields["id"])

    commit(root)
    if case.get("without_git"):
        shutil.rmtree(root / ".git")

    return str(ids[0])


def files_that_show(root: Path, record_id: str) -> int:
    """Return at how many files the hook's selection for an edit has a record."""
    index = open_index(str(root))
    assert isinstance(index, Index)

    count = 0
    for path in root.rglob("*"):
        file = path.relative_to(root).as_posix()
        if path.is_dir() or file.startswith((".git/", ".orbit/")):
            continue

        selection = select(index, Context(TOOL, NOW, paths=(file,), task_class=CODE))
        shown = [match.row.id for match in (*selection.matches, *selection.named)]
        dropped = [row.id for row, reason in selection.drops if reason.endswith(" cap")]
        count += record_id in (*shown, *dropped)

    return count


def json_of(root: Path, *words: str) -> Any:
    return json.loads(orbit(root, *words, "--format", "json"))["data"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["name"]))
def test_every_door_says_where_a_record_is_shown(case: Mapping[str, Any], git_repo: Path) -> None:
    record_id = repository_of(git_repo, case)
    (asked,) = json_of(git_repo, "explain", record_id)["records"]
    answer = asked["visibility"]
    check(case, answer)

    assert json_of(git_repo, "show", record_id)["visibility"] == answer
    text = orbit(git_repo, "explain", record_id)
    shown = orbit(git_repo, "show", record_id)
    assert all(line in text and line in shown for line in answer["said"])

    told = reply("show", {"id": record_id}, Caller("a", "s"), lambda: Registry.open(git_repo))
    data: Any = told.structured["data"]
    assert data["visibility"] == answer
    assert all(line in told.text for line in answer["said"])


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["name"]))
def test_the_hook_shows_a_record_where_the_doors_say(
    case: Mapping[str, Any], git_repo: Path
) -> None:
    record_id = repository_of(git_repo, case)
    bring_up_to_date(git_repo)

    now = case.get("undecided", 0) if case.get("waits") else case["files_shown"]
    assert files_that_show(git_repo, record_id) == now + case.get("brought", 0)
