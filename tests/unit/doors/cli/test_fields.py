"""Options made of a kind's schema, edits made of options, and tables as people read them."""

import json
import shlex
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click
import pytest

from orbit_registry.doors.answers.arguments import Argument
from orbit_registry.doors.answers.record_fields import (
    changed_edit,
    evidence_from,
    fields_from,
    part_arguments,
    setting_from,
)
from orbit_registry.doors.answers.table import by_method
from orbit_registry.doors.cli.operations import parameter_of
from orbit_registry.errors import RefusedError
from orbit_registry.formats.untrusted import json_text, visible
from orbit_registry.model.kind import Kind, load_kinds

CASES = Path(__file__).parents[3] / "cases" / "kinds"
KINDS = list(load_kinds(CASES))
LEARNING = load_kinds()["learning"]
each_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)


def parts(method: str, kind: Kind) -> list[Argument]:
    operation = by_method(method)
    assert operation is not None
    arguments = operation.arguments(kind)
    return [part for each in arguments for part in part_arguments(each, kind)]


def fields(method: str, *arguments: str) -> dict[str, dict[str, object]]:
    """Return the fields that the options of a learning's command make, by argument."""
    options = [each for each in parts(method, LEARNING) if "part_of" in each.schema]
    params = [parameter_of(each, LEARNING) for each in options]
    command = click.Command("x", params=params, callback=lambda **values: values)
    values: dict[str, Any] = command.main(list(arguments), standalone_mode=False)

    made: dict[str, dict[str, object]] = {}
    for whole in ("fields", "removed"):
        of_whole = [each for each in options if each.schema["part_of"] == whole]
        made[whole] = fields_from(LEARNING, {each.public: values[each.name] for each in of_whole})

    return made


def edit(*arguments: str) -> Callable[[dict[str, object]], Mapping[str, object]]:
    return changed_edit(**fields("record_update", *arguments))


@each_kind
def test_no_option_stands_for_two_fields(kind: Kind) -> None:
    for method in ("record_new", "record_update"):
        flags: list[str] = []
        for part in parts(method, kind):
            if "part_of" in part.schema:
                flags += [flag for words in part.flags for flag in words.split("/")]

        assert len(flags) == len(set(flags))
        assert not {"--id", "--uid", "--status", "--created-at", "--supersedes"} & set(flags)


def test_options_become_fields() -> None:
    assert fields("record_new", "--summary", "Leap")["fields"] == {"summary": "Leap"}
    made = fields(
        "record_new",
        *shlex.split(
            "--summary Leap --confidence high --procedural --priority 7 --context a "
            "--context b --path src/**"
        ),
        *shlex.split(
            "--tag t --label l --evidence file:src/x.py:12 --legacy-id old/1 "
            "--distinct-from L-00000"
        ),
        *("--set", "project=site", "--set", "x-own={a: [1]}"),
    )

    assert made["fields"] == {
        "summary": "Leap",
        "confidence": "high",
        "procedural": True,
        "priority": 7,
        "contexts": ["a", "b"],
        "scope": {"paths": ["src/**"], "tags": ["t"]},
        "labels": ["l"],
        "evidence": [{"kind": "file", "reference": "src/x.py:12"}],
        "legacy_ids": ["old/1"],
        "distinct_from": ["L-00000"],
        "project": "site",
        "x-own": {"a": [1]},
    }


HELD: dict[str, Any] = {
    "summary": "Leap",
    "labels": ["a", "b"],
    "scope": {"paths": ["x", "y"], "tags": ["t"], "agents": ["g"]},
}


@pytest.mark.parametrize(
    ("arguments", "changed"),
    [
        ([], {}),
        (["--summary", "Look"], {"summary": "Look"}),
        (["--label", "c", "--label", "a"], {"labels": ["a", "b", "c"]}),
        (["--remove-label", "a"], {"labels": ["b"]}),
        (["--remove-label", "a", "--remove-label", "b"], {"labels": None}),
        (["--path", "z"], {"scope": {"paths": ["x", "y", "z"], "tags": ["t"], "agents": ["g"]}}),
        (["--remove-path", "x"], {"scope": {"paths": ["y"], "tags": ["t"], "agents": ["g"]}}),
        (
            ["--add-path", "z", "--add-tag", "u"],
            {"scope": {"paths": ["x", "y", "z"], "tags": ["t", "u"], "agents": ["g"]}},
        ),
        (
            ["--symbol", "a.py::b", "--semantic-seed", "s"],
            {"scope": {**HELD["scope"], "symbols": ["a.py::b"], "semantic_seed": "s"}},
        ),
        (
            ["--path", "z", "--remove-path", "x"],
            {"scope": {"paths": ["y", "z"], "tags": ["t"], "agents": ["g"]}},
        ),
        (["--remove-tag", "t"], {"scope": {"paths": ["x", "y"], "agents": ["g"]}}),
        (["--evidence", "task:T-1"], {"evidence": [{"kind": "task", "reference": "T-1"}]}),
        (["--set", "x-own=1"], {"x-own": 1}),
        (["--no-procedural"], {"procedural": False}),
    ],
)
def test_an_update_changes_what_it_names(arguments: list[str], changed: dict[str, Any]) -> None:
    result = edit(*arguments)(dict(HELD))

    expected = {**HELD, **changed}
    assert result == {name: value for name, value in expected.items() if value is not None}


@pytest.mark.parametrize(
    ("option", "name", "words"),
    [
        ("--remove-label", "c", "`a`, `b`"),
        ("--remove-path", "z", "`x`, `y`"),
        ("--remove-symbol", "a.py::b", "nothing"),
        ("--remove-evidence", "task:T-2", "`task:T-1`"),
    ],
)
def test_removing_what_is_not_there_names_what_is(option: str, name: str, words: str) -> None:
    """A slip is not passed over as if it were done."""
    with pytest.raises(RefusedError) as caught:
        edit(option, name)({**HELD, "evidence": [{"kind": "task", "reference": "T-1"}]})
    assert name in caught.value.message
    assert words in str(caught.value.hint)


def test_evidence_is_removed_by_what_it_names() -> None:
    without = edit("--remove-path", "x")({"summary": "Leap", "scope": {"paths": ["x"]}})
    assert without == {"summary": "Leap"}
    current: dict[str, object] = {
        "evidence": [
            {"kind": "task", "reference": "T-1", "x-note": "n"},
            {"kind": "file", "reference": "a:1"},
        ]
    }
    entry = edit("--remove-evidence", "task:T-1")(current)
    none = edit("--remove-evidence", "file:a:1")(dict(entry))

    assert entry == {"evidence": [{"kind": "file", "reference": "a:1"}]}
    assert none == {}


def test_a_reference_may_hold_colons() -> None:
    assert evidence_from("external: https://example.org/x") == {
        "kind": "external",
        "reference": "https://example.org/x",
    }


@pytest.mark.parametrize(
    ("text", "setting"),
    [
        ("a=1", ("a", 1)),
        ("a=", ("a", None)),
        ("a=b=c", ("a", "b=c")),
        (" a = [x] ", ("a", ["x"])),
        ("a={b: c}", ("a", {"b": "c"})),
    ],
)
def test_a_setting_is_a_field_and_yaml(text: str, setting: tuple[str, object]) -> None:
    assert setting_from(text) == setting


def test_control_characters_are_shown_not_sent() -> None:
    assert visible("a\tb\nc\x1b[31m\x07\u202e") == "a\tb\nc\\x1b[31m\\x07\\u202e"


def test_what_nobody_sees_or_no_output_takes_is_written_out() -> None:
    assert visible("a\U000e0072\u200b\ud800") == "a\\U000e0072\\u200b\\ud800"
    text = {"é\ud800": ["\udfff\x9b31m\u202e\u2028\U000e0072\x7f"]}
    stored = json_text(text)
    assert stored.encode().decode() == stored
    assert visible(stored) == stored
    assert json.loads(stored) == text
