"""What an agent has loaded from rule files by itself is not said again by its hook."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.acceptance.hook.conftest import dispatched

from orbit_registry.doors.cli.main import run

Call = Callable[..., dict[str, Any]]


@pytest.fixture
def rule(root: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Export the rules of the three learnings for `src/**` and return the path of their file."""
    monkeypatch.chdir(root)
    assert run(["export", "rules", "--agent", "claude"]) == 0
    (file,) = (root / ".claude/rules/orbit").glob("*.md")
    return str(file)


def edited(root: Path, call: Call, **more: object) -> bool:
    return bool(
        call("PreToolUse", tool_name="Edit", tool_input={"file_path": f"{root}/src/a.py"}, **more)
    )


def test_what_a_rule_file_said_is_not_said_again(root: Path, rule: str, call: Call) -> None:
    loaded = {"file_path": rule, "memory_type": "Project", "load_reason": "path_glob_match"}
    assert call("InstructionsLoaded", **loaded) == {}
    assert not edited(root, call)
    assert edited(root, call, session="another")
    first = dispatched(root)[0]
    assert (first["event"], first["ids"]) == ("loaded", ["L-00001", "L-00002", "L-00003"])
    assert call("PreCompact", trigger="auto") == {}
    assert edited(root, call)


def test_other_instructions_are_none_of_ours(
    root: Path, rule: str, call: Call, tmp_path: Path
) -> None:
    outside = tmp_path / "outside.md"
    outside.write_bytes(Path(rule).read_bytes())
    (root / "link.md").symlink_to(rule)
    (root / "CLAUDE.md").write_text("# Records: L-00001\n", "utf-8")
    for file in (outside, root / "link.md", root / "CLAUDE.md", root / "none.md"):
        assert call("InstructionsLoaded", file_path=str(file), load_reason="session_start") == {}
    assert dispatched(root) == []
    assert edited(root, call)
