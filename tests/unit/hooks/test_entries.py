"""Our entries in Claude Code's settings: what is put in comes out again, and every other byte stays."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orbit_registry.errors import RefusedError
from orbit_registry.hooks.agent import MARK
from orbit_registry.hooks.agents.claude import EVENTS, FORMAT

COMMAND = f"/venv/bin/python -I -S -E '/a b/launch.py' claude 2>/dev/null || : {MARK}"
THEIRS = {"matcher": "Bash", "hooks": [{"type": "command", "command": "audit"}]}
TEXTS = [
    "{}", "{}\n", "{\n}\n", "{ }", '{"hooks": {}}', '{"hooks": {\n  }}\n', '{\n  "model": "x"\n}\n',
    '{\r\n\t"hooks": {\r\n\t\t"Stop": []\r\n\t},\r\n\t"a": [1,2]\r\n}', '{"hooks":{"PreToolUse":[]}}',
    '{"hooks":{"PreToolUse":[\n]}}', '\ufeff{"a": 1}',
    '{"a": "}{", "hooks": {"PreToolUse": [' + json.dumps(THEIRS) + "]}}",
    json.dumps({"hooks": {"SessionStart": [THEIRS], "PreToolUse": [THEIRS, THEIRS]}, "x": {}}, indent=2) + "\n",
    '{"a": 1, "a": 2, "hooks": {"Stop": []}, "hooks": {"PreToolUse": []}}',
]  # fmt: skip
SPACES = st.text(alphabet=" \n\t\r", max_size=3)


@st.composite
def settings_texts(draw: st.DrawFn) -> str:
    """Make settings with odd spacing anywhere."""

    def written(value: Any) -> str:
        if isinstance(value, dict):
            items = [
                f"{draw(SPACES)}{json.dumps(key)}{draw(SPACES)}:{draw(SPACES)}{written(one)}{draw(SPACES)}"
                for key, one in value.items()
            ]
            return "{" + (",".join(items) or draw(SPACES)) + "}"
        if isinstance(value, list):
            return (
                "[" + (",".join(f"{draw(SPACES)}{written(one)}{draw(SPACES)}" for one in value) or draw(SPACES)) + "]"
            )
        return json.dumps(value)

    groups = st.lists(st.just(THEIRS), max_size=2)
    hooks = st.dictionaries(st.sampled_from([*EVENTS, "Stop"]), groups, max_size=3)
    data = draw(
        st.dictionaries(st.sampled_from(["model", 'a"}', "env"]), st.sampled_from([1, "x", {}, []]), max_size=2)
    )
    if draw(st.booleans()):
        data["hooks"] = draw(hooks)
    return draw(SPACES) + written(data) + draw(SPACES)


@pytest.mark.parametrize("text", TEXTS)
def test_what_is_put_in_comes_out_again(text: str) -> None:
    """Installing and taking out gives the very bytes of before, whatever style they are in."""
    made = FORMAT.with_entries(text, COMMAND, "settings")
    assert FORMAT.is_current(made, COMMAND, "settings")
    assert FORMAT.without_entries(made, "settings") == text


@given(settings_texts())
def test_any_settings_come_back(text: str) -> None:
    """The same holds for settings of any shape; theirs stay theirs in between, and once is as good as twice."""
    made = FORMAT.with_entries(text, COMMAND, "settings")
    before, after = json.loads(text), json.loads(made)
    for event, groups in before.get("hooks", {}).items():
        assert after["hooks"][event][: len(groups)] == groups
    assert FORMAT.is_current(made, COMMAND, "settings")
    assert FORMAT.with_entries(made, COMMAND, "settings") == made
    assert FORMAT.without_entries(made, "settings") == text


def test_a_file_that_is_ours_alone_goes() -> None:
    """What was made where nothing was leaves nothing; what its owner added since stays."""
    made = FORMAT.with_entries(None, COMMAND, "settings")
    assert FORMAT.without_entries(made, "settings") is None
    grown = made.replace("{", '{\n  "model": "x",', 1)
    assert json.loads(FORMAT.without_entries(grown, "settings") or "") == {"model": "x"}


def test_another_versions_entries_are_replaced() -> None:
    """An interpreter that moved leaves no second hook behind, and theirs stay where they are."""
    text = '{"hooks": {"PreToolUse": [' + json.dumps(THEIRS) + "]}}"
    old = FORMAT.with_entries(text, f"/old/python {MARK}", "settings")
    made = FORMAT.with_entries(old, COMMAND, "settings")
    assert made == FORMAT.with_entries(text, COMMAND, "settings")
    assert "/old/python" not in made


def test_ours_beside_theirs_in_one_group_is_taken_out_alone() -> None:
    """A group that its owner put our command into keeps the rest."""
    ours = {"type": "command", "command": COMMAND}
    group = {"matcher": "Edit", "hooks": [ours, THEIRS["hooks"][0], ours]}
    left = FORMAT.without_entries(json.dumps({"hooks": {"PreToolUse": [group]}}), "settings")
    assert json.loads(left or "") == {"hooks": {"PreToolUse": [{"matcher": "Edit", "hooks": THEIRS["hooks"]}]}}


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "3", '{"hooks": []}', '{"hooks": {"PreToolUse": 1}}', "// x\n{}", "[" * 100_000]
)
def test_what_is_no_settings_is_refused(text: str) -> None:
    """One error that names the file; there is nothing to write then."""
    with pytest.raises(RefusedError, match="my settings"):
        FORMAT.with_entries(text, COMMAND, "my settings")
    with pytest.raises(RefusedError, match="my settings"):
        FORMAT.without_entries(text, "my settings")
