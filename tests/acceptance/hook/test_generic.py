"""The hook for any tool, and the plugin of OpenCode that speaks as one:
what goes in and out, and where it stands.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.acceptance.conftest import orbit
from tests.acceptance.hook.conftest import bring_up_to_date
from tests.files import write_learning

from orbit_registry.agents.agent import load_agent

HERE = Path(__file__).resolve().parents[3]
OPENCODE = HERE / "tests/cases/push/opencode"
CALL, REPLY = (
    json.loads((HERE / f"docs/schemas/hook-{entry}.schema.json").read_text("utf-8"))
    for entry in ("call", "reply")
)
PATIENT = {"ORBIT_HOOK_DEADLINE_MS": "60000"}


def installed(root: Path, name: str, *arguments: str) -> Path:
    printed = orbit(root, "hook", "install", name, *arguments, "--format", "json")
    return Path(json.loads(printed)["data"]["path"])


def test_the_installed_script_is_the_hook(root: Path) -> None:
    file = installed(root, "generic")
    assert "context" in json.loads(
        called(["sh", str(file)], root, {"event": "tool", "paths": ["src/a.py"]})
    )
    status = subprocess.run(
        ["git", "status", "--short"], cwd=root, check=True, capture_output=True, text=True
    ).stdout
    assert status == ""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in PATIENT.items():
            patch.setenv(name, value)
        for verb in ("test", "uninstall"):
            orbit(root, "hook", verb, "generic")
    assert not file.exists()


def called(command: list[str], root: Path, call: object) -> bytes:
    environment = {**os.environ, **PATIENT}
    return subprocess.run(
        command,
        input=json.dumps(call).encode(),
        cwd=root,
        env=environment,
        check=True,
        capture_output=True,
    ).stdout


@pytest.mark.parametrize("name", ["generic", "opencode"])
def test_a_file_of_somebody_else_is_left(root: Path, name: str) -> None:
    file = root / load_agent(name).settings["local"].path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(b"mine\r\n")
    for verb in ("install", "uninstall"):
        assert "is not ours" in orbit(root, "hook", verb, name, code=1)
    assert file.read_bytes() == b"mine\r\n"


def test_a_plugin_of_another_place_is_replaced(root: Path) -> None:
    file = installed(root, "opencode", "--scope", "project")
    text = file.read_bytes()
    installed(root, "opencode", "--scope", "project")
    assert file.read_bytes() == text
    assert str(sys.executable).encode() not in text
    file.write_bytes(text.replace(b'const COMMAND = "', b'const COMMAND = "true; '))
    states = json.loads(orbit(root, "hook", "status", "--format", "json"))["data"]["hooks"]
    [state] = [
        entry for entry in states if (entry["agent"], entry["scope"]) == ("opencode", "project")
    ]
    assert (state["installed"], state["current"]) == (True, False)
    installed(root, "opencode", "--scope", "project")
    assert file.read_bytes() == text
    orbit(root, "hook", "uninstall", "opencode", "--scope", "project")
    assert not file.exists()


@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node: it runs the plugin")
@pytest.mark.parametrize("broken", [False, True])
def test_the_plugin_of_opencode_runs(root: Path, tmp_path: Path, broken: bool) -> None:
    write_learning(root, 1, scope={"paths": ["lib/**"]})
    write_learning(root, 8, pending=True)
    bring_up_to_date(root)
    plugin = tmp_path / "plugin.mjs"
    text = installed(root, "opencode").read_text("utf-8")
    assert len(text.splitlines()) <= 80
    plugin.write_text(text.replace(sys.executable, "/nowhere/python") if broken else text, "utf-8")
    command = [
        "node",
        str(OPENCODE / "drive.mjs"),
        str(plugin),
        str(root),
        str(OPENCODE / "sequence.json"),
    ]
    done = subprocess.run(
        command, env={**os.environ, **PATIENT}, check=True, capture_output=True, text=True
    )
    events = json.loads(done.stdout)
    _, system, env, first, second, patch, odd, _, forgotten, again, _, nobody = events["outputs"]

    assert events["exports"] == ["OrbitPlugin"]
    assert env == {"env": {"ORBIT_SESSION_ID": "ses_1"}}
    assert (second["output"], odd, forgotten, nobody) == (
        "Edit applied.",
        {"title": "", "metadata": {}},
        {"system": []},
        {"system": []},
    )
    if broken:
        assert (system["system"], first["output"], patch["output"], events["shown"]) == (
            ["You are OpenCode"],
            "Edit applied.",
            "Success.",
            [],
        )
        return
    assert len(system["system"]) == 2
    assert all(entry in system["system"][1] for entry in ("L-00002", "L-00003"))
    assert first["output"].startswith("Edit applied.\n\n<project-notes>")
    assert ["L-00001" in entry["output"] for entry in (first, second, patch, again)] == [
        True,
        False,
        True,
        True,
    ]
    assert events["shown"] == [
        {"message": "1 record awaits review: orbit review", "variant": "info"}
    ]
