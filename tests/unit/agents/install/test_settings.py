"""Our entries in every agent's settings: what is put in comes out again,
and every other byte stays.
"""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orbit_registry.agents.agent import hook_agents, load_agent
from orbit_registry.agents.install.settings import MARK, JsonSettings, format_of, without_comments
from orbit_registry.errors import RefusedError

COMMAND = f"/venv/bin/python -I -S -E '/a b/launch.py' claude 2>/dev/null || : {MARK}"
FORMAT = format_of(load_agent("claude").settings["local"])
FILES: dict[str, JsonSettings] = {}
for name in hook_agents():
    for scope, file in load_agent(name).settings.items():
        settings_format = format_of(file)
        if isinstance(settings_format, JsonSettings) and settings_format not in FILES.values():
            FILES[f"{name} {scope}"] = settings_format
HANDLER = {"type": "command", "command": "audit", "bash": "audit"}
THEIRS = {"matcher": "Bash", "hooks": [HANDLER]}
TEXTS = [
    "{}",
    "{}\n",
    "{\n}\n",
    "{ }",
    '{"hooks": {}}',
    '{"hooks": {\n  }}\n',
    '{\n  "model": "x"\n}\n',
    '{\r\n\t"hooks": {\r\n\t\t"Stop": []\r\n\t},\r\n\t"a": [1,2]\r\n}',
    '{"hooks":{"PreToolUse":[]}}',
    '{"hooks":{"PreToolUse":[\n]}}',
    '\ufeff{"a": 1}',
    '{"a": "}{", "hooks": {"PreToolUse": [' + json.dumps(THEIRS) + "]}}",
    json.dumps(
        {"hooks": {"SessionStart": [THEIRS], "PreToolUse": [THEIRS, THEIRS]}, "x": {}}, indent=2
    )
    + "\n",
    '{"a": 1, "a": 2, "hooks": {"Stop": []}, "hooks": {"PreToolUse": []}}',
    '{"hooks": {"enabled": true, "disabled": ["x"]}}',
]
SPACES = st.text(alphabet=" \n\t\r", max_size=3)
COMMENTS = st.one_of(
    SPACES,
    SPACES,
    st.sampled_from([" /* a, b */ ", '// "hooks": {}\n', "\n  // it's mine\n  ", "/**/"]),
)
each_format = pytest.mark.parametrize("settings", FILES.values(), ids=FILES)


@st.composite
def settings_texts(draw: st.DrawFn, settings: JsonSettings) -> str:
    spaces = COMMENTS if settings.spec.comments else SPACES

    def written(value: Any) -> str:
        if isinstance(value, dict):
            items = [
                (
                    f"{draw(spaces)}{json.dumps(key)}{draw(spaces)}:{draw(spaces)}{written(item)}"
                    f"{draw(spaces)}"
                )
                for key, item in value.items()
            ]
            return "{" + (",".join(items) or draw(spaces)) + "}"
        if isinstance(value, list):
            return (
                "["
                + (
                    ",".join(f"{draw(spaces)}{written(item)}{draw(spaces)}" for item in value)
                    or draw(spaces)
                )
                + "]"
            )
        return json.dumps(value)

    groups = st.lists(st.just(THEIRS if settings.spec.grouped else HANDLER), max_size=2)
    hooks = st.dictionaries(st.sampled_from([*settings.spec.events, "another"]), groups, max_size=3)
    odd = ["model", 'a"}', "env", "// no comment", "/* none */"]
    data = draw(
        st.dictionaries(st.sampled_from(odd), st.sampled_from([1, "x // y", {}, []]), max_size=2)
    )
    if draw(st.booleans()):
        data["hooks"] = draw(hooks)
    data |= settings.spec.head
    return draw(spaces) + written(dict(draw(st.permutations(list(data.items()))))) + draw(spaces)


@pytest.mark.parametrize("text", TEXTS)
def test_what_is_put_in_comes_out_again(text: str) -> None:
    installed = FORMAT.with_entries(text, COMMAND, "settings")
    assert FORMAT.is_current(installed, COMMAND, "settings")
    assert FORMAT.without_entries(installed, "settings") == text


@each_format
@given(data=st.data())
def test_any_settings_come_back(settings: JsonSettings, data: st.DataObject) -> None:
    text = data.draw(settings_texts(settings))
    installed = settings.with_entries(text, COMMAND, "settings")
    before, after = json.loads(without_comments(text)), json.loads(without_comments(installed))
    for event, groups in before.get("hooks", {}).items():
        assert after["hooks"][event][: len(groups)] == groups
    assert {key: after[key] for key in before if key != "hooks"} == {
        key: before[key] for key in before if key != "hooks"
    }
    assert settings.is_current(installed, COMMAND, "settings")
    assert settings.with_entries(installed, COMMAND, "settings") == installed
    assert settings.without_entries(installed, "settings") == text


@each_format
def test_a_file_that_is_ours_alone_goes(settings: JsonSettings) -> None:
    installed = settings.with_entries(None, COMMAND, "settings")
    assert settings.is_current(installed, COMMAND, "settings")
    assert settings.without_entries(installed, "settings") is None
    grown = installed.replace("{", '{\n  "model": "x",', 1)
    assert json.loads(settings.without_entries(grown, "settings") or "") == {
        "model": "x",
        **settings.spec.head,
    }


@each_format
def test_another_versions_entries_are_replaced(settings: JsonSettings) -> None:
    event = next(iter(settings.spec.events))
    text = json.dumps(
        {"hooks": {event: [THEIRS if settings.spec.grouped else HANDLER]}, **settings.spec.head}
    )
    old = settings.with_entries(text, f"/old/python {MARK}", "settings")
    assert not settings.is_current(old, COMMAND, "settings")
    installed = settings.with_entries(old, COMMAND, "settings")
    assert installed == settings.with_entries(text, COMMAND, "settings")
    assert "/old/python" not in installed


def test_comments_stay_where_ours_goes() -> None:
    settings = format_of(load_agent("gemini").settings["user"])
    installed = settings.with_entries('{\n  "a": 1 // one\n}\n', COMMAND, "settings")
    commented = installed.replace('"hooks": {', '// ours\n  "hooks": {', 1).replace(
        "\n}", "\n  // last\n}"
    )
    remaining = settings.without_entries(commented, "settings") or ""
    assert [word for word in ("// one", "// ours", "// last") if word not in remaining] == []
    assert json.loads(without_comments(remaining)) == {"a": 1}
    alone = "// mine\n" + settings.with_entries(None, COMMAND, "settings")
    assert (settings.without_entries(alone, "settings") or "").startswith("// mine\n")


def test_ours_beside_theirs_in_one_group_is_taken_out_alone() -> None:
    ours = {"type": "command", "command": COMMAND}
    group = {"matcher": "Edit", "hooks": [ours, HANDLER, ours]}
    remaining = FORMAT.without_entries(json.dumps({"hooks": {"PreToolUse": [group]}}), "settings")
    assert json.loads(remaining or "") == {
        "hooks": {"PreToolUse": [{"matcher": "Edit", "hooks": [HANDLER]}]}
    }


@each_format
@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "3", '{"hooks": []}', '{"hooks": {"EVENT": 1}}', "/* x {}", "[" * 100_000],
)
def test_what_is_no_settings_is_refused(settings: JsonSettings, text: str) -> None:
    text = text.replace("EVENT", next(iter(settings.spec.events)))
    with pytest.raises(RefusedError, match="my settings"):
        settings.with_entries(text, COMMAND, "my settings")
    with pytest.raises(RefusedError, match="my settings"):
        settings.without_entries(text, "my settings")


def test_comments_are_refused_where_an_agent_reads_none() -> None:
    """They would have to be lost or to break the file, so the error names their place."""
    with pytest.raises(RefusedError, match="my settings:1:1"):
        FORMAT.with_entries("// x\n{}", COMMAND, "my settings")


def test_a_file_that_its_agent_would_not_read_is_refused() -> None:
    """Cursor reads no file without its version: putting a hook there would look like success."""
    settings = format_of(load_agent("cursor").settings["user"])
    with pytest.raises(RefusedError, match='my settings has no `"version": 1`'):
        settings.with_entries("{}", COMMAND, "my settings")
