"""The outputs of the gate: the same findings in each format,
and nothing in them that a reader would choke on.
"""

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from orbit_registry.checks.engine import CheckOutcome
from orbit_registry.checks.report import (
    FORMATS,
    counts,
    next_commands,
    render,
    render_codes,
    with_codes,
)
from orbit_registry.formats.position import Position
from orbit_registry.formats.untrusted import json_text
from orbit_registry.model.diagnostic import Diagnostic, Location, Severity, envelope
from orbit_registry.model.schema import read_schema
from orbit_registry.repository.baseline import BaselineFinding

SCHEMA = Path(__file__).resolve().parents[3] / "docs" / "schemas" / "check.schema.json"

ERROR = Diagnostic(
    "ORB301",
    Severity.ERROR,
    "it has a link to L-00000, and no record has that id",
    Location(".orbit/learnings/L-7k3fq/learning.yaml", Position(11, 5)),
    "correct the id",
    "L-7k3fq",
    (Location("docs/a b.md", Position(2, 1)),),
)
WARNING = Diagnostic(
    "ORB702",
    Severity.WARNING,
    "ADR-0002 has no record",
    Location("docs/é.md", Position(1, 1)),
    "fix",
    fixable=True,
)
NOTE = Diagnostic("ORB290", Severity.NOTE, "not checked", Location(".orbit/config.yaml"))
GONE = BaselineFinding("ORB502", "a", "", "gone")
OUTCOME = CheckOutcome(
    (ERROR, WARNING, NOTE), (WARNING,), (WARNING,), 12, (GONE,), "main at 0123456789"
)
CLEAN = CheckOutcome((), checked_count=3)
HOSTILE = Diagnostic(
    "ORB405",
    Severity.ERROR,
    "]]> & <b> \x1b[31m \u202e ::error::x % \r\n two\x00 lines",
    Location("docs/a,b:c%\n::d.md", Position(3, 7)),
    "a \"hint\" with 'quotes'",
)

GITLAB_FORM = Draft202012Validator(
    {
        "type": "array",
        "items": {
            "type": "object",
            "required": ["description", "check_name", "fingerprint", "severity", "location"],
            "properties": {
                "description": {"type": "string"},
                "check_name": {"type": "string"},
                "fingerprint": {"type": "string", "minLength": 1},
                "severity": {"enum": ["info", "minor", "major", "critical", "blocker"]},
                "location": {
                    "type": "object",
                    "required": ["path", "lines"],
                    "properties": {
                        "path": {"type": "string", "not": {"pattern": r"^\./"}},
                        "lines": {
                            "type": "object",
                            "required": ["begin"],
                            "properties": {"begin": {"type": "integer", "minimum": 1}},
                        },
                    },
                },
            },
        },
    }
)
"""What GitLab demands of a report of Code Quality."""

TEXTS = st.text(st.characters(exclude_categories=()), max_size=60)
DIAGNOSTICS = st.builds(
    Diagnostic,
    st.sampled_from(["ORB101", "ORB301", "ORB702"]),
    st.sampled_from(list(Severity)),
    TEXTS,
    st.builds(
        Location, TEXTS, st.none() | st.builds(Position, st.integers(1, 9), st.integers(1, 9))
    ),
    st.none() | TEXTS,
    st.none() | TEXTS,
)


def sarif(outcome: CheckOutcome) -> Any:
    log = json.loads(render("sarif", outcome))
    assert log["version"] == "2.1.0"
    assert log["$schema"].startswith("https://")
    (run,) = log["runs"]
    return run


def test_text_shows_hidden_characters_as_escapes() -> None:
    text = render("text", CheckOutcome((HOSTILE,)))
    assert "\\u001b[31m \\u202e" in text
    assert all(character.isprintable() or character == "\n" for character in text)


def as_json(outcome: CheckOutcome) -> Any:
    """Return an outcome as the command prints it."""
    rows = [each.as_dict() for each in outcome.diagnostics]
    following = next_commands(outcome)
    answer = envelope(counts(outcome), ok=outcome.ok, diagnostics=rows, next_commands=following)
    return json.loads(json_text(answer))


def test_json_follows_its_published_schema() -> None:
    schema = read_schema(SCHEMA)
    for outcome in (OUTCOME, CLEAN, CheckOutcome((HOSTILE,))):
        assert schema.problems(as_json(outcome)) == []
    data = as_json(OUTCOME)
    assert (data["ok"], data["data"]["errors"], data["data"]["baselined"]) == (False, 1, 1)
    assert data["next"] == ["orbit check --fix", "orbit check --all", "orbit baseline update"]


def test_sarif_marks_what_the_baseline_knows() -> None:
    run = sarif(CheckOutcome((ERROR, ERROR), (WARNING,)))
    assert [result.get("baselineState") for result in run["results"]] == [None, None, "unchanged"]
    assert run["results"][2]["suppressions"][0]["kind"] == "external"
    assert len({result["partialFingerprints"]["orbit/v1"] for result in run["results"]}) == 3


def test_a_report_for_gitlab_has_the_fields_that_it_demands() -> None:
    rows = json.loads(render("gitlab", CheckOutcome((ERROR, ERROR, WARNING, NOTE, HOSTILE))))
    assert list(GITLAB_FORM.iter_errors(rows)) == []
    assert len({row["fingerprint"] for row in rows}) == len(rows) == 5


def test_annotations_are_one_command_a_line() -> None:
    lines = render("github", CheckOutcome((HOSTILE, WARNING, NOTE))).splitlines()
    assert lines[0].startswith(
        "::error file=docs/a%2Cb%3Ac%25%0A%3A%3Ad.md,line=3,col=7,title=ORB405::]]> & <b> "
    )
    assert [line.split(" ")[0] for line in lines[1:3]] == ["::warning", "::notice"]
    assert len(lines) == 4


def test_junit_counts_and_fails_for_errors_only() -> None:
    root = ElementTree.fromstring(render("junit", OUTCOME))
    (suite,) = root.findall("testsuite")
    assert (root.tag, suite.get("tests"), suite.get("failures")) == ("testsuites", "3", "1")
    assert len(suite.findall("testcase")) == 3
    failure = suite.find("testcase/failure")
    assert failure is not None
    assert failure.get("type") == "ORB301"
    clean = ElementTree.fromstring(render("junit", CLEAN))
    assert len(clean.findall("testsuite/testcase")) == 1
    assert clean.find("testsuite/testcase/failure") is None


@given(st.lists(DIAGNOSTICS, max_size=4))
def test_no_text_breaks_a_format(diagnostics: list[Diagnostic]) -> None:
    outcome = CheckOutcome(tuple(diagnostics))
    for name in FORMATS:
        render(name, outcome).encode("utf-8")
    assert len(as_json(outcome)["diagnostics"]) == len(diagnostics)
    assert len(sarif(outcome)["results"]) == len(diagnostics)
    assert ElementTree.fromstring(render("junit", outcome)).tag == "testsuites"
    assert len(render("github", outcome).split("\n")) == len(diagnostics) + 2


def test_errors_come_first_and_five_of_a_code_are_listed() -> None:
    many = (*[NOTE] * 900, ERROR, *[WARNING] * 600, ERROR)
    lines = render("text", CheckOutcome(many, checked_count=2)).splitlines()
    listed = [line for line in lines if not line.startswith("    ")][:-1]

    severities = ["error", "error", *["warning"] * 5, *["note"] * 5]
    assert [line.split(": ")[1].split()[0] for line in listed] == severities
    assert f"    … and 895 more {NOTE.code}: `orbit check --code {NOTE.code}`" in lines
    part = with_codes(CheckOutcome(many), [NOTE.code])
    of_code = render_codes("text", CheckOutcome(many), part, "orbit check").splitlines()
    assert of_code[-2:] == [
        "0 records checked: 900 notes",
        "602 findings have other codes: `orbit check`",
    ]
    assert lines[-1].startswith("2 records checked: 2 errors, 600 warnings, 900 notes")
    assert as_json(CheckOutcome(many))["diagnostics"][1501]["severity"] == "error"
