"""Lessons about how to work are shown for work on code, alike at a prompt and in a brief."""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.acceptance.conftest import orbit
from tests.acceptance.hook.conftest import bring_up_to_date, run_client
from tests.acceptance.hook.replies import ids
from tests.files import commit, make_workspace, write_learning

CASES = Path(__file__).resolve().parents[2] / "cases" / "judgements" / "may_show.yaml"
DATA: Mapping[str, Any] = yaml.safe_load(CASES.read_text("utf-8"))
LESSONS = {*DATA["lessons"]}


@pytest.fixture(scope="module")
def project(_first_commit: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a project with the lessons; all cases ask it, each in a session of its own."""
    folder = tmp_path_factory.mktemp("may-show") / "repo"
    root = make_workspace(Path(shutil.copytree(_first_commit, folder)))
    for record_id, summary in DATA["lessons"].items():
        code = record_id.partition("-")[2]
        write_learning(root, code, summary=summary, procedural=True, scope={"tags": ["upload"]})

    commit(root)
    bring_up_to_date(root)
    return root


def _at_prompt(root: Path, text: str) -> set[str]:
    payload = {
        "cwd": str(root),
        "session_id": text,
        "hook_event_name": "UserPromptSubmit",
        "prompt": text,
    }
    printed = run_client(root, json.dumps(payload).encode())
    reply = json.loads(printed or b"{}")
    return LESSONS.intersection(ids(reply))


def _in_brief(root: Path, text: str) -> set[str]:
    answer = json.loads(orbit(root, "brief", text, "--session", f"b{text}", "--format", "json"))
    return LESSONS.intersection(match["id"] for match in answer["data"]["matches"])


@pytest.mark.parametrize("text", DATA["shown"])
def test_work_on_code_is_shown_how_it_is_done_here(project: Path, text: str) -> None:
    shown = _at_prompt(project, text)
    assert shown
    assert shown <= _in_brief(project, text)


@pytest.mark.parametrize("text", DATA["shown when asked for"])
def test_a_brief_has_no_floor_of_words(project: Path, text: str) -> None:
    assert _at_prompt(project, text) == set()
    assert _in_brief(project, text)


@pytest.mark.parametrize("text", DATA["withheld"])
def test_other_work_and_what_is_unsure_is_not(project: Path, text: str) -> None:
    assert _at_prompt(project, text) == set()
    assert _in_brief(project, text) == set()
