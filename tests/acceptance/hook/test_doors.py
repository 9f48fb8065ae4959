"""One session behind every door: what the hook, the MCP server or a brief showed,
no other one says again.
"""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.acceptance.conftest import orbit
from tests.acceptance.hook.conftest import bring_up_to_date
from tests.acceptance.hook.replies import ids, ids_in
from tests.files import write_learning

from orbit_registry.doors.answers.call import Caller
from orbit_registry.doors.mcp.dispatch import reply
from orbit_registry.registry import Registry

SESSION = "s"
Call = Callable[..., dict[str, Any]]


def hook(call: Call, root: Path, name: str) -> list[str]:
    return ids(call("PreToolUse", tool_name="Edit", tool_input={"file_path": f"{root}/src/{name}"}))


def brief(root: Path, name: str) -> list[str]:
    return ids_in(orbit(root, "brief", "--path", f"src/{name}", "--session", SESSION))


def mcp(root: Path, name: str) -> list[str]:
    """Return what a server of this session adds to the answer of a tool that was asked about a
    file.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ORBIT_SESSION_ID", SESSION)
        arguments = {"query": "nothing of the kind", "path": f"src/{name}"}
        answer = reply(
            "search",
            arguments,
            Caller("some-agent", "mcp-1", hosted=True),
            partial(Registry.open, root),
        )
    return [record["id"] for record in (answer.sidecar.learnings if answer.sidecar else ())]


def test_every_door_leaves_out_what_holds_for_another_project(
    root: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number, name in ((1, "shop"), (2, "billing")):
        write_learning(root, number, project=name)
    bring_up_to_date(root)
    for project, expected in (
        ("", {"L-00001", "L-00002", "L-00003"}),
        ("shop", {"L-00001", "L-00003"}),
    ):
        monkeypatch.setenv("ORBIT_PROJECT", project)
        for door in (
            lambda: hook(call, root, "a.py"),
            lambda: brief(root, "a.py"),
            lambda: mcp(root, "a.py"),
        ):
            call("SessionStart", source="clear")
            assert set(door()) == expected


@pytest.mark.parametrize("first", ["hook", "mcp", "brief"])
def test_a_record_is_shown_once_a_session_by_all_doors(root: Path, call: Call, first: str) -> None:
    doors: dict[str, Callable[[], list[str]]] = {
        "hook": lambda: hook(call, root, "a.py"),
        "mcp": lambda: mcp(root, "a.py"),
        "brief": lambda: brief(root, "a.py"),
    }
    everything = ["L-00001", "L-00002", "L-00003"]

    assert doors[first]() == everything
    assert [doors[name]() for name in doors if name != first] == [[], []]
    assert call("SessionStart", source="compact") == {}
    assert doors["hook"]() == everything
    log = [
        json.loads(line)
        for line in (root / ".orbit/state/log/events.jsonl").read_text("utf-8").splitlines()
    ]
    arguments = [
        record_id for record_id in log if record_id["event"] == "retrieval" and record_id["query"]
    ]
    assert len({record_id["session"] for record_id in arguments}) == 1
    assert [bool(record_id.get("tokens")) for record_id in arguments] == [
        bool(record_id["count"]) for record_id in arguments
    ]
    assert {record_id["surface"] for record_id in arguments if not record_id.get("agent")} == {
        "brief:prompt"
    }
