"""Which records become rules, under which globs, and what each format makes of them."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from orbit_registry.doors.answers import exports
from orbit_registry.errors import RefusedError
from orbit_registry.exchange.exporters import plugin, rule_files
from orbit_registry.exchange.exporters.rule_files import CLAUDE
from orbit_registry.exchange.exporters.rules import (
    Rule,
    UnsupportedGlob,
    block_of,
    exported,
    rules_for,
    with_block,
)
from orbit_registry.formats.globs import Glob, parse_glob
from orbit_registry.formats.yaml import load
from orbit_registry.hook.index import Index, read_index
from orbit_registry.hook.observe import loaded_ids
from orbit_registry.hook.render import END, START
from orbit_registry.hook.session import tokens
from orbit_registry.matching.pack import SYMBOL, Part, pack
from orbit_registry.model import fields
from orbit_registry.model.reach import TOKENS

FORMATS = {exporter.agent: exporter for exporter in rule_files.EXPORTERS}
CASES: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[3] / "cases/exporters/rule_globs.json").read_text("utf-8")
)["cases"]


def index_of(records: Mapping[str, Mapping[str, Any]]) -> Index:
    parts = []
    for name, data in records.items():
        row = [""] * fields.FIELDS
        row[fields.ID], row[fields.PATH], row[fields.PHASE] = name, f"{name}.yaml", "live"
        row[fields.TEASER] = data.get("teaser", f"- [{name}] words")
        row[fields.EXPIRES_AT] = str(data.get("expires_at", ""))
        row[fields.GLOBS] = fields.LIST.join(data.get("globs", ()))
        flags = fields.BROAD if data.get("broad") else 0
        flags |= fields.EXPIRES if "expires_at" in data else 0
        flags |= fields.PROCEDURAL if data.get("procedural") else 0
        parts.append(Part(tuple(row), flags, data.get("pushed", True)))
    index = read_index(pack(parts), "/nowhere")
    assert isinstance(index, Index)
    return index


def rules_of(
    records: Mapping[str, Mapping[str, Any]], agent: str = "claude"
) -> tuple[list[Rule], list[UnsupportedGlob]]:
    return rules_for(exported(index_of(records), 100), FORMATS[agent].spell)


@pytest.mark.parametrize("agent", FORMATS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["name"]))
def test_a_scope_is_exported_in_the_agents_globs(case: Mapping[str, Any], agent: str) -> None:
    rules, unsupported = rules_of({"L-1": {"globs": case["globs"]}}, agent)
    expected = case["said"][agent]
    if isinstance(expected, str):
        assert rules == []
        assert expected in unsupported[0].reason
    else:
        assert [list(rule.globs) for rule in rules] == [expected]
        assert unsupported == []


def test_only_what_holds_is_pushed_and_names_paths_is_exported() -> None:
    scope = {"globs": ["src/**"]}
    rules, _ = rules_of(
        {
            "yes": scope,
            "waits": {**scope, "pushed": False},
            "over": {**scope, "expires_at": 99},
            "how": {**scope, "procedural": True},
            "nowhere": {},
        }
    )
    assert [[row.values[fields.ID] for row in rule.rows] for rule in rules] == [["yes"]]


def test_each_scope_has_one_file_with_a_stable_name() -> None:
    rules, _ = rules_of(
        {
            "a": {"globs": ["src/**", "lib/**"]},
            "b": {"globs": ["web/**"]},
            "c": {"globs": ["lib/**", "src/**"]},
            "d": {"globs": ["src/**"], "broad": True},
        }
    )
    assert {rule.name: [row.values[fields.ID] for row in rule.rows] for rule in rules} == {
        "project": ["d"],
        "lib-8c166355": ["a", "c"],
        "web-0ace8d95": ["b"],
    }


def test_a_symbol_is_the_file_that_holds_it() -> None:
    rules, _ = rules_of({"a": {"globs": [f"{SYMBOL}src/a[1].py::f"]}}, "copilot")
    assert rules[0].globs == ("src/a[[]1].py",)


@pytest.mark.parametrize("agent", FORMATS)
def test_a_rule_file_has_at_most_a_thousand_tokens(agent: str) -> None:
    rules, _ = rules_of(
        {f"L-{n}": {"globs": ["src/**"], "teaser": f"- [L-{n}] " + "x" * 300} for n in range(100)},
        agent,
    )
    text = FORMATS[agent].text(rules[0])
    assert f"omitted: {100 - len(rules[0].rows)}" in text
    assert tokens(text.partition(START)[2]) <= TOKENS
    assert len(text) <= 12_000


@pytest.mark.parametrize("agent", FORMATS)
@given(
    words=st.text(st.characters(codec="utf-8", exclude_characters="\0")),
    glob=st.text(st.characters(codec="utf-8"), min_size=1, max_size=30),
)
def test_no_record_breaks_out_of_its_file(agent: str, words: str, glob: str) -> None:
    globs = [row for row in (glob, "src/**") if isinstance(parse_glob(row), Glob)]
    rules, _ = rules_of(
        {"L-1": {"globs": globs, "teaser": f"- [L-1] {words}\n---\n{END}\n# x\n---\n"}}, agent
    )
    for rule in rules:
        text = FORMATS[agent].text(rule)
        lines = text.split("\n")
        assert (text.count(START), text.count(END)) == (1, 1)
        assert lines.count("---") in (0, 2)
        assert len([line for line in lines if line.startswith("<!--")]) == 1
        if agent in ("claude", "copilot") and rule.globs:
            ids = load("\n".join(lines[1 : lines.index("---", 1)]))
            assert ids == (
                {"paths": list(rule.globs)}
                if agent == "claude"
                else {"applyTo": ",".join(rule.globs)}
            )


def test_the_mark_of_a_file_names_its_records(tmp_path: Path) -> None:
    rules, _ = rules_of(
        {name: {"globs": ["src/**"]} for name in ("ADR-0001", "L-7k3fq", "x --> y")}
    )
    file = tmp_path / "rule.md"
    file.write_text(CLAUDE.text(rules[0]), "utf-8")
    assert loaded_ids(str(file)) == ["ADR-0001", "L-7k3fq"]
    (tmp_path / "other.md").write_text("# Rules\n\n- L-1\n", "utf-8")
    (tmp_path / "link.md").symlink_to(file)
    assert [
        loaded_ids(str(tmp_path / name)) for name in ("other.md", "link.md", "none.md", "a\0b")
    ] == [[]] * 4


def agents_block(records: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the block of `AGENTS.md` for made-up records."""
    index = index_of(records)
    return block_of(exported(index, 100))[0]


def test_agents_md_says_each_scope_once_in_words() -> None:
    text = agents_block(
        {
            "L-1": {"globs": ["src/**", "!src/gen/**"]},
            "L-2": {"globs": ["x"], "broad": True},
            "L-3": {"globs": ["src/**", "!src/gen/**"]},
            "L-4": {"globs": ["lib/**"]},
            "L-5": {"globs": ["src/**", "!src/gen/**"]},
            "L-6": {"globs": ["lib/**"]},
        }
    )
    assert text.splitlines()[4:13] == [
        "Where a file matches `src/**` and not `src/gen/**`:",
        "- [L-1] words",
        "- [L-3] words",
        "- [L-5] words",
        "Where you work on this project:",
        "- [L-2] words",
        "Where a file matches `lib/**`:",
        "- [L-4] words",
        "- [L-6] words",
    ]


@given(
    st.binary(max_size=60),
    st.binary(max_size=60),
    st.text(st.characters(codec="utf-8", exclude_characters="\0")),
)
def test_a_block_keeps_every_byte_around_it(before: bytes, after: bytes, words: str) -> None:
    assume(b"<!-- orbit:" not in before + after)  # half a block is refused
    first, second = (
        agents_block({"L-1": {"globs": ["src/**"], "teaser": f"- [L-1] {line}"}})
        for line in (words, "<!-- orbit:end -->")
    )
    content = with_block(before + first.encode() + after, first)
    assert content == before + first.encode() + after
    assert with_block(content, second) == before + second.encode() + after
    bare = with_block(content, "")
    around = before + after
    if before.endswith(b"\n\n") and after == b"\n":  # as an export adds a block
        around = before[:-1]
    assert bare == (around if around.strip() else None)
    added = with_block(before, first)
    assert added is not None
    assert added.startswith(before)
    assert with_block(added, first) == added


@pytest.mark.parametrize(
    "text",
    ["<!-- orbit:begin -->\n", "<!-- orbit:end -->\n", "<!-- orbit:end --> <!-- orbit:begin -->"],
)
def test_half_a_block_is_never_guessed_at(text: str) -> None:
    with pytest.raises(RefusedError, match="one beginning and one end") as refused:
        with_block(text.encode(), "x")
    assert "remove what is left" in refused.value.hint


def test_the_command_offers_skills_for_every_agent() -> None:
    """The command states the names, so that its help loads no exporter."""
    assert set(exports.SKILL_AGENTS) == set(plugin.FOLDERS)
