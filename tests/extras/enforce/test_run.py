"""Checks of records over a work tree: changed lines, limits, the baseline, allowances,
and nothing without a check.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from tests.files import commit, configure, make_workspace, write, write_record

from orbit_enforce.coverage import enforcement
from orbit_registry.checks.engine import CheckOutcome, update_baseline
from orbit_registry.checks.report import render
from orbit_registry.doors.answers.call import Call, Caller
from orbit_registry.doors.answers.match import check_text
from orbit_registry.doors.cli.main import run
from orbit_registry.model.diagnostic import Diagnostic, Location, Severity
from orbit_registry.registry import Registry
from orbit_registry.repository.baseline import apply, baseline_of

Git = Callable[..., str]
NO_PRINT = {
    "id": "no-print",
    "level": "error",
    "in": ["**/*.py"],
    "text": {"words": ["print("]},
    "passes": ["log(1)"],
    "fails": ["print(1)"],
}


BODY = "## Context\n\nA.\n\n## Decision\n\nLog.\n\n## Consequences\n\n- Cost: a logger.\n"


def decide(
    root: Path, *checks: dict[str, Any], status: str = "accepted", number: int = 1, **fields: Any
) -> None:
    path = f".orbit/adrs/ADR-{number:04}/adr.yaml"
    write_record(
        root, path, title="Log through the logger", status=status, checks=[*checks], **fields
    )
    write(root, path.replace("adr.yaml", "body.md"), BODY)


@pytest.fixture
def project(git_repo: Path) -> Path:
    make_workspace(git_repo)
    decide(git_repo, NO_PRINT)
    write(
        git_repo,
        "src/app.py",
        "import os\n\n\ndef f():\n    print(\n        1,\n    )\n\n\ndef g():\n    return 1\n",
    )
    commit(git_repo, "Base")
    return git_repo


def check(root: Path, **options: Any) -> CheckOutcome:
    return Registry.open(root).check(**options)


def places(outcome: CheckOutcome) -> list[str]:
    return [str(row.location) for row in outcome.diagnostics if row.check]


def messages(outcome: CheckOutcome, code: str) -> list[str]:
    return [row.message for row in outcome.diagnostics if row.code == code]


EDITS = {
    "nothing": (lambda text: text, []),
    "another line": (lambda text: text.replace("return 1", "return 2"), []),
    "a line above": (lambda text: "import re\n" + text, []),
    "CRLF": (lambda text: text.replace("return 1", "return 2").replace("\n", "\r\n"), []),
    "the line of the match": (
        lambda text: text.replace("print(", "x = print("),
        ["src/app.py:5:9"],
    ),
    "a new match": (lambda text: text + "    print(2)\n", ["src/app.py:12:5"]),
}


@pytest.mark.parametrize("name", EDITS)
def test_against_a_base_only_changed_lines_count(name: str, project: Path) -> None:
    edit, expected = EDITS[name]
    file = project / "src/app.py"
    write(project, "src/app.py", edit(file.read_text("utf-8")))
    assert places(check(project, against="main")) == expected
    assert len(places(check(project))) == 1 + (name == "a new match")


def test_a_match_of_several_lines_counts_if_one_of_them_changed(project: Path) -> None:
    decide(project, {**NO_PRINT, "text": {"regex": r"print\(\s+\d"}, "fails": ["print(\n  1"]})
    file = project / "src/app.py"
    write(project, "src/app.py", file.read_text("utf-8").replace("        1,", "        2,"))
    assert places(check(project, against="main")) == ["src/app.py:5:5"]


def test_of_equal_lines_the_added_one_is_new(project: Path) -> None:
    write(project, "src/twice.py", "print(1)\n")
    commit(project, "One")
    write(project, "src/twice.py", "print(1)\nx = 1\nprint(1)\n")
    assert places(check(project, against="main")) == ["src/twice.py:3:1"]


def test_a_line_that_a_long_file_repeats_is_old(project: Path) -> None:
    """From 200 lines on, difflib takes a line that is often there for noise,
    unless it is told not to.
    """
    lines = "".join(f"print(1)\nx = {number}\n" for number in range(150))
    write(project, "src/long.py", lines)
    commit(project, "Repeat")
    write(project, "src/long.py", lines.replace("x = 7", "y = 7") + "print(1)\n")
    assert places(check(project, against="main")) == ["src/long.py:301:1"]


def test_the_lines_that_a_change_adds_to_a_long_file_take_little_time(project: Path) -> None:
    write(project, "src/long.py", "print(1)\n" * 20_000)
    commit(project, "Repeat")
    write(project, "src/long.py", "print(1)\n" * 20_000 + "x = 1\nprint(1)\n")
    start = time.process_time()
    assert places(check(project, against="main")) == ["src/long.py:20002:1"]
    assert time.process_time() - start < 10


@pytest.mark.parametrize("name", ["*.py", ":(top)x.py", "ä b.py"])
def test_the_added_line_of_a_file_with_a_strange_name_is_new(name: str, project: Path) -> None:
    write(project, f"sub/{name}", "print(1)\n")
    write(project, "sub/other.py", "print(1)\nprint(1)\n")
    commit(project, "One")
    write(project, f"sub/{name}", "print(1)\nx = 1\nprint(1)\n")
    assert places(check(project, against="main")) == [f"sub/{name}:3:1"]


def test_against_a_base_an_old_allowance_that_allows_nothing_is_old(project: Path) -> None:
    comment = "# orbit: allow ADR-0001 because it printed\n"
    write(project, "src/quiet.py", comment + "x = 1\n")
    commit(project, "Allow")
    write(project, "src/quiet.py", comment + "x = 2\n")
    assert messages(check(project, against="main"), "ORB1007") == []
    assert len(messages(check(project), "ORB1007")) == 1


def test_a_moved_file_brings_nothing_new_and_a_deleted_one_is_gone(project: Path, git: Git) -> None:
    git(project, "mv", "src/app.py", "src/main.py")
    assert places(check(project, against="main")) == []
    (project / "src/main.py").unlink()
    assert places(check(project, against="main")) == []


def test_a_moved_match_is_not_new_and_a_copied_one_is(project: Path) -> None:
    file = project / "src/app.py"
    text = file.read_text("utf-8")
    block = "    print(\n        1,\n    )\n"
    write(project, "src/app.py", text.replace(block, "    pass\n"))
    write(project, "src/other.py", "def h():\n" + block)
    assert places(check(project, against="main")) == []
    write(project, "src/app.py", text)
    assert places(check(project, against="main")) == ["src/other.py:2:5"]


def test_a_check_may_end_with_its_record_where_the_change_breaks_nothing(project: Path) -> None:
    decide(project, NO_PRINT, status="rejected")
    assert messages(check(project, against="main"), "ORB1008") == []


def drop(root: Path) -> None:
    decide(root)


def propose(root: Path) -> None:
    decide(root, NO_PRINT, status="proposed")


def delete(root: Path) -> None:
    shutil.rmtree(root / ".orbit/adrs/ADR-0001")


def drop_line(root: Path) -> None:
    file = root / ".orbit/adrs/ADR-0001/adr.yaml"
    file.write_text(re.sub(r"(?m)^checks:.*\n([- ].*\n)*", "", file.read_text("utf-8")), "utf-8")


@pytest.mark.parametrize(
    ("weaken", "does"),
    [
        (drop, "removes ADR-0001/no-print"),
        (drop_line, "removes ADR-0001/no-print"),
        (propose, "takes back ADR-0001 with its check no-print"),
        (delete, "deletes ADR-0001 with its check no-print"),
    ],
)
def test_a_check_can_not_be_switched_off_by_the_change_that_breaks_it(
    weaken: Callable[[Path], None], does: str, project: Path
) -> None:
    write(project, "src/new.py", "print(1)\n")
    weaken(project)
    (message,) = messages(check(project, against="main"), "ORB1008")
    assert message == f"this change {does} and breaks it at src/new.py:1"


PAIR = {
    "id": "tested",
    "level": "error",
    "in": ["src/*.py"],
    "pair": {"with": ["tests/test_{stem}.py"]},
    "passes": ["src/a.py tests/test_a.py"],
    "fails": ["src/a.py"],
}
NO_JAR = {
    "id": "no-jar",
    "level": "error",
    "path": {"of": ["**/*.jar"]},
    "passes": ["a.py"],
    "fails": ["a.jar"],
}


def test_a_weakened_check_of_names_is_noticed(project: Path) -> None:
    decide(project, NO_JAR)
    commit(project, "No jars")
    decide(project, {**NO_JAR, "path": {"of": ["lib/*.jar"]}, "fails": ["lib/a.jar"]})
    (project / "x.jar").write_bytes(b"\0")
    commit(project, "A jar")
    assert messages(check(project, against="HEAD~1"), "ORB1008") == [
        "this change weakens ADR-0001/no-jar and breaks it at x.jar"
    ]


def test_a_check_that_is_dropped_with_the_file_that_it_needs_is_noticed(project: Path) -> None:
    decide(project, PAIR)
    write(project, "tests/test_app.py", "x = 1\n")
    commit(project, "Pair")
    decide(project)
    (project / "tests/test_app.py").unlink()
    commit(project, "Drop both")
    assert messages(check(project, against="HEAD~1"), "ORB1008") == [
        "this change removes ADR-0001/tested and breaks it at src/app.py"
    ]


def test_a_wrong_name_of_a_source_at_the_base_can_be_corrected(project: Path) -> None:
    configure(project, "extends: [{name: [a], from: ../org}]\n")
    commit(project, "Extend")
    config = project / ".orbit/config.yaml"
    config.write_text(config.read_text("utf-8").replace("[a]", "a"), "utf-8")
    assert places(check(project, against="HEAD")) == []


@pytest.mark.parametrize(
    "fields",
    [
        {"in": None},
        {"level": "fatal"},
        {"passes": 5},
        {"except": 3},
        {"fails": [{"text": "print(1)"}]},
    ],
)
def test_an_invalid_check_can_be_corrected(fields: dict[str, Any], project: Path) -> None:
    decide(project, {**NO_PRINT, **fields})
    commit(project, "An invalid check")
    decide(project, NO_PRINT)
    assert check(project, against="HEAD").ok


def test_an_added_line_is_no_header(project: Path) -> None:
    text = "a = 1\n" * 20
    write(project, "src/new.py", text)
    commit(project, "A file")
    write(project, "src/new.py", "x = 1\n++ b/zzz\n" + text + "print(1)\n")
    assert places(check(project, against="HEAD")) == ["src/new.py:23:1"]


def test_attributes_hide_no_line(project: Path) -> None:
    write(project, "src/twice.py", "print(1)\n")
    commit(project, "One")
    write(project, ".gitattributes", "*.py -diff\n")
    write(project, "src/twice.py", "print(1)\nx = 1\nprint(1)\n")
    assert places(check(project, against="main")) == ["src/twice.py:3:1"]


@pytest.mark.parametrize("content", [b"", b"\0\1"], ids=["empty", "binary"])
def test_a_file_without_lines_is_new_too(content: bytes, project: Path, git: Git) -> None:
    decide(project, NO_JAR)
    (project / "lib.zip").write_bytes(b"zip" * 50)
    commit(project, "No jars")
    (project / "a.jar").write_bytes(content)
    git(project, "mv", "lib.zip", "b.jar")
    commit(project, "Jars")
    assert places(check(project, against="HEAD~1")) == ["a.jar", "b.jar"]


def test_a_deleted_line_that_must_be_is_noticed_and_a_moved_file_is_old(
    project: Path, git: Git
) -> None:
    must = {
        "id": "header",
        "must": "have",
        "in": ["**/*.py"],
        "text": {"words": ["Copyright"], "where": "any"},
    }
    decide(project, {**must, "level": "error", "passes": ["# Copyright"], "fails": ["x"]})
    write(project, "src/new.py", "# Copyright\nx = 1\n")
    commit(project, "Header")
    write(project, "src/new.py", "x = 1\n")
    git(project, "mv", "src/app.py", "src/main.py")
    assert places(check(project, against="HEAD")) == ["src/new.py:1:1"]


def test_what_a_tree_lacked_before_is_old(project: Path) -> None:
    decide(
        project,
        {
            "id": "license",
            "level": "error",
            "must": "have",
            "path": {"of": ["LICENSE"]},
            "passes": ["LICENSE"],
            "fails": ["x"],
        },
        NO_JAR,
    )
    (project / "a.jar").write_bytes(b"\0")
    commit(project, "No license")
    (project / "a.jar").write_bytes(b"\1")
    assert check(project, against="HEAD").ok
    write(project, "LICENSE", "MIT\n")
    commit(project, "A license")
    (project / "LICENSE").unlink()
    commit(project, "None again")
    assert not check(project, against="HEAD~1").ok


def test_a_file_that_can_not_be_parsed_did_not_pass(project: Path) -> None:
    of = {"of": ["mysql"]}
    decide(
        project,
        {
            "id": "imports",
            "in": ["**/*.py"],
            "import": of,
            "passes": ["x = 1"],
            "fails": ["import mysql"],
        },
        {"id": "packages", "dependency": of, "passes": ["x"], "fails": ["mysql"]},
    )
    write(project, "src/old.py", "import mysql\nprint 'x'\n")
    write(project, "package.json", '{"dependencies": {"mysql": "1",}}')
    version = f"Python {sys.version_info[0]}.{sys.version_info[1]}"
    assert messages(check(project), "ORB1004") == [
        "ADR-0001/imports is not run on src/old.py: " + version + " can't parse it",
        "ADR-0001/packages is not run on package.json: the manifest can't be parsed",
    ]


def test_a_check_that_did_not_run_keeps_its_baseline(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    decide(project, {**NO_PRINT, "text": {"regex": r"print\("}})
    update_baseline(Registry.open(project).workspace)
    monkeypatch.setitem(sys.modules, "re2", None)
    shutil.rmtree(project / ".git/orbit")
    assert check(project).resolved == ()
    update_baseline(Registry.open(project).workspace)
    monkeypatch.undo()
    shutil.rmtree(project / ".git/orbit")
    assert places(check(project)) == []


def test_a_string_allows_nothing(project: Path) -> None:
    write(project, "src/app.py", 's = "orbit: allow ADR-0001 because of a string"; print(8)\n')
    assert places(check(project)) == ["src/app.py:1:50"]


PACKAGES = {
    "a name that a keyword has too": ('"x": "1"', '"mysql": "1"', 1),
    "an escaped name": ('"x": "1"', '"my\\u0073ql": "1"', 1),
    "another version": ('"mysql": "1"', '"mysql": "2"', 0),
    "a keyword": ('"x": "1"', '"x": "1"', 0),
}


@pytest.mark.parametrize("name", PACKAGES)
def test_a_dependency_is_new_by_its_name(name: str, project: Path) -> None:
    before, after, expected = PACKAGES[name]
    decide(
        project,
        {
            "id": "no-mysql",
            "level": "error",
            "dependency": {"of": ["mysql"]},
            "passes": ["x"],
            "fails": ["mysql"],
        },
    )
    form = '{\n "name": "a",\n "keywords": ["mysql"],\n "dependencies": {%s}\n}\n'
    write(project, "package.json", form % before)
    commit(project, "Manifest")
    write(project, "package.json", (form % after).replace('"a"', '"b"'))
    assert len(places(check(project, against="HEAD"))) == expected


def test_a_file_that_lacked_what_it_must_have_is_old(project: Path) -> None:
    must = {
        "id": "header",
        "must": "have",
        "in": ["**/*.py"],
        "text": {"words": ["Copyright"], "where": "any"},
    }
    decide(project, {**must, "level": "error", "passes": ["# Copyright"], "fails": ["x"]})
    write(project, "src/app.py", (project / "src/app.py").read_text("utf-8") + "x = 1\n")
    write(project, "src/new.py", "x = 1\n")
    assert places(check(project, against="main")) == ["src/new.py:1:1"]


def test_new_files_and_strange_names_are_seen(project: Path) -> None:
    write(project, 'src/ü "x"\t.py', "print(1)\n")
    commit(project, "A name that git quotes")
    write(project, "src/new.py", "print(1)\n")
    assert places(check(project, against="HEAD~1")) == ["src/new.py:1:1", 'src/ü "x"\t.py:1:1']


def test_what_others_merged_meanwhile_is_theirs(project: Path, git: Git) -> None:
    git(project, "checkout", "-q", "-b", "work")
    git(project, "checkout", "-q", "main")
    write(project, "src/theirs.py", "print(1)\n")
    commit(project, "Theirs")
    git(project, "checkout", "-q", "work")
    write(project, "src/ours.py", "print(1)\n")
    commit(project, "Ours")
    assert places(check(project, against="main")) == ["src/ours.py:1:1"]


def test_the_baseline_holds_matches_by_their_words(project: Path) -> None:
    update_baseline(Registry.open(project).workspace)
    file = project / "src/app.py"
    write(project, "src/app.py", "# a line\n" * 200 + file.read_text("utf-8"))
    assert places(check(project)) == []
    write(project, "src/app.py", "print(0)\n" + file.read_text("utf-8"))
    assert len(places(check(project))) == 1


def test_a_check_lives_and_dies_with_its_record(project: Path) -> None:
    for status in ("superseded", "rejected", "deprecated", "proposed"):
        decide(
            project,
            NO_PRINT,
            status=status,
            **({"superseded_by": ["ADR-0002"]} if status == "superseded" else {}),
        )
        assert places(check(project)) == [], status
    outcome = check(project, proposed=True)
    assert places(outcome) == ["src/app.py:5:5"]
    assert outcome.ok


def test_an_allowance_with_a_reason_is_a_suppression_in_reports(project: Path) -> None:
    reason = "because the logger starts later"
    text = (
        f"print(1)  # orbit: allow ADR-0001 {reason}\n// orbit: allow ADR-0001/no-print\nprint(2)\n"
    )
    write(project, "src/app.py", text)
    outcome = check(project)
    assert [row.code for row in outcome.diagnostics if row.check] == ["ORB1006"]
    results = json.loads(render("sarif", outcome))["runs"][0]["results"]
    suppressed = [result["suppressions"] for result in results if "suppressions" in result]
    assert suppressed == [[{"kind": "inSource", "justification": "the logger starts later"}]]


def test_a_check_has_one_name_in_every_report(project: Path) -> None:
    outcome = check(project)
    name = "ADR-0001/no-print"
    assert f"error {name} `print(`" in render("text", outcome)
    (run,) = json.loads(render("sarif", outcome))["runs"]
    (result,) = [result for result in run["results"] if result["ruleId"] == name]
    assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == name
    (row,) = json.loads(render("gitlab", outcome))
    assert (row["check_name"], row["severity"], row["location"]["lines"]["begin"]) == (
        name,
        "critical",
        5,
    )
    assert [row.rule for row in outcome.diagnostics] == [name]
    assert f"title={name}" in render("github", outcome)
    registry = Registry.open(project)
    call = Call(lambda: registry, caller=Caller("test", "s1"))
    data: Any = check_text(call, "src/new.py", "print(1)").data
    assert [row["check"] for row in data["findings"]] == [name]
    assert name in str(enforcement(registry.workspace, registry.collection.records).as_data())


REPORTS = yaml.safe_load(
    (Path(__file__).parents[2] / "cases/enforce/report_schemas.yaml").read_text("utf-8")
)


@pytest.mark.parametrize("name", REPORTS)
def test_a_report_has_the_form_of_its_standard(name: str, project: Path) -> None:
    configure(project, "site: {base_url: 'https://example.org/why/'}\n")
    update_baseline(Registry.open(project).workspace)
    decide(
        project,
        {**NO_PRINT, "except": ["gone/**"]},
        {**NO_JAR, "level": "advice"},
        NO_PRINT,
        number=1,
    )
    decide(project, {**NO_PRINT, "text": {"regex": "("}}, number=2)
    write(
        project,
        'src/ü "x"\t%.py',
        "print(1)\nprint(2)  # orbit: allow ADR-0001 because it is a demo\n",
    )
    write(
        project,
        "src/bare.py",
        "print(1)  # orbit: allow ADR-0001\n# orbit: allow ADR-0001 because of old code\n",
    )
    (project / "a.jar").write_bytes(b"")
    outcome = check(project)
    assert outcome.allowed
    assert outcome.baselined
    assert {row.code for row in outcome.diagnostics} >= {
        "ORB1001",
        "ORB1003",
        "ORB1005",
        "ORB1006",
        "ORB1007",
    }
    report = json.loads(render(name, outcome))
    validator = jsonschema.Draft202012Validator(
        REPORTS[name], format_checker=jsonschema.FormatChecker()
    )
    assert [error.message for error in validator.iter_errors(report)] == []
    rows = report if name == "gitlab" else report["runs"][0]["results"]
    marks = [str(row.get("fingerprint") or row["partialFingerprints"]) for row in rows]
    assert len(marks) == len({*marks}) > 5


def test_advice_is_one_line_and_never_fails(project: Path) -> None:
    decide(project, {**NO_PRINT, "level": "advice"})
    outcome = check(project)
    assert outcome.ok
    assert "1 note from checks at level advice" in render("text", outcome)
    assert "no-print" not in render("text", outcome)


def test_a_whole_project_may_lack_what_must_be(project: Path) -> None:
    decide(
        project,
        {
            "id": "license",
            "must": "have",
            "path": {"of": ["LICENSE"]},
            "passes": ["LICENSE"],
            "fails": ["README"],
        },
        {
            "id": "rich",
            "must": "have",
            "dependency": {"of": ["rich"]},
            "passes": ["rich"],
            "fails": ["click"],
        },
    )
    write(project, "requirements.txt", "click\n")
    rules = {row.check for row in check(project).diagnostics}
    assert rules == {"ADR-0001/license", "ADR-0001/rich"}


HOSTILE: dict[str, bytes] = {
    "a long line": b"x = " + b"a" * 300_000 + b"\n",
    "parentheses": b"(" * 300_000,
    "braces": b"f({" * 100_000,
    "NUL": b"\0" * 10_000 + b"print(1)",
    "no UTF-8": b"\xff\xfe\xed\xa0\x80 print(1)",
    "open comments": b"/*" * 150_000,
    "open strings": b'"""\'' * 75_000,
    "a long sum": b"if " + b"a+" * 900 + b"a:\n    pass\n",
    "many matches": b"print(;" * 6_000,
    "many imports": b"import a;" * 6_000,
    "open brackets": b"[/" * 150_000,
}
EVIL = (
    {
        "id": "redos",
        "in": ["**"],
        "text": {"regex": "(a+)+$", "where": "any"},
        "passes": ["b"],
        "fails": ["a"],
    },
    {
        "id": "stars",
        "in": ["**"],
        "text": {"regex": "a*a*a*a*ab"},
        "passes": ["b"],
        "fails": ["ab"],
    },
    {
        "id": "words",
        "in": ["**"],
        "text": {"words": ["print("]},
        "passes": ["x"],
        "fails": ["print("],
    },
    {
        "id": "code",
        "in": ["**/*.js"],
        "pattern": {"language": "javascript", "find": "f($$$A)"},
        "passes": ["x"],
        "fails": ["f(1)"],
    },
    {
        "id": "rule",
        "in": ["**/*.js"],
        "passes": ["x"],
        "fails": ["f(f(1))"],
        "pattern": {
            "language": "javascript",
            "rule": {"pattern": "f($$$A)", "has": {"pattern": "f($B)", "stopBy": "end"}},
        },
    },
    {
        "id": "import",
        "in": ["**/*.{py,js}"],
        "import": {"of": ["a"]},
        "passes": [{"at": "a.py", "text": "x"}],
        "fails": [{"at": "a.py", "text": "import a"}],
    },
)


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_take_no_time_and_stop_nothing(name: str, project: Path) -> None:
    decide(project, *EVIL)
    for file in ("evil.js", "evil.py"):
        (project / file).write_bytes(HOSTILE[name])
    start = time.process_time()
    outcome = check(project)
    assert time.process_time() - start < 3
    assert "src/app.py:5:5" in places(outcome)


def test_what_was_not_looked_at_did_not_pass(project: Path) -> None:
    write(project, "big.py", "x = 1\n" * 200_000)
    (message,) = messages(check(project), "ORB1004")
    assert message == "ADR-0001/no-print is not run on big.py: larger than 1,048,576 bytes"
    update_baseline(Registry.open(project).workspace)
    assert messages(check(project), "ORB1004") == [message]


@pytest.mark.parametrize(
    ("level", "severity"), [("error", Severity.ERROR), ("warning", Severity.WARNING)]
)
def test_a_long_sum_hides_no_break_of_a_check_at_level_error(
    level: str, severity: Severity, project: Path
) -> None:
    deep = {
        "kind": "call",
        "has": {"kind": "call", "stopBy": "end", "has": {"kind": "string", "stopBy": "end"}},
    }
    examples = {"passes": ["f(1)"], "fails": ["f(g('a'))"]}
    decide(
        project,
        {"id": "deep", "level": level, "pattern": {"language": "python", "rule": deep}, **examples},
    )
    write(project, "src/sum.py", "_ = " + "x + " * 600 + "x\nf(g('a'))\n")
    rows = [
        (row.code, row.severity)
        for row in check(project).diagnostics
        if row.code.startswith("ORB10")
    ]
    assert rows == [("ORB1004", severity)]


def test_files_are_looked_at_once_a_missing_library_is_there(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    examples = {
        "passes": [{"at": "a.ts", "text": "x"}],
        "fails": [{"at": "a.ts", "text": "import 'os'"}],
    }
    decide(
        project,
        {"id": "os", "level": "error", "in": ["**/*.ts"], "import": {"of": ["os"]}, **examples},
    )
    write(project, "a.ts", "import 'os'\n\n")
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "ast_grep_py", None)
        assert [row.severity for row in check(project).diagnostics if row.code == "ORB1004"] == [
            Severity.WARNING
        ]
    assert places(check(project)) == ["a.ts:1:1"]


def test_links_and_pipes_are_not_followed(project: Path) -> None:
    secret = write(project.parent, "secret.py", "print(1)\n")
    (project / "link.py").symlink_to(secret)
    os.mkfifo(project / "pipe.py")
    assert places(check(project)) == ["src/app.py:5:5"]


def test_unchanged_files_are_answered_from_the_cache(project: Path) -> None:
    first = places(check(project))
    decide(project, {**NO_PRINT, "except": ["src/app.py"]})
    assert places(check(project)) == []
    decide(project, NO_PRINT)
    assert places(check(project)) == first


def test_a_project_without_checks_imports_nothing_of_it(git_repo: Path) -> None:
    make_workspace(git_repo)
    program = (
        "import sys; from orbit_registry.doors.cli.main import run; run(['check']);"
        "print([name for name in sys.modules if 'orbit_enforce.run' in name or name in "
        "('re2', 'ast_grep_py')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=git_repo, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize(
    "comment", ["allow", "allow because it is old", "allow ADR-0001, it is old"]
)
def test_an_allowance_that_cannot_be_read_is_said(comment: str, project: Path) -> None:
    write(project, "src/app.py", f"print(1)  # orbit: {comment}\n")
    assert messages(check(project), "ORB1007") == ["this allowance can't be read"]
    write(project, "src/app.py", f"x = 'orbit: {comment}'\n")
    assert messages(check(project), "ORB1007") == []


def test_a_required_dependency_that_a_change_removes_is_missing(project: Path) -> None:
    need = {
        "id": "log",
        "level": "error",
        "must": "have",
        "dependency": {"of": ["structlog"]},
        "passes": ["structlog"],
        "fails": ["logging"],
    }
    decide(project, need)
    write(project, "requirements.txt", "structlog\n")
    write(project, "tools/requirements.txt", "click\n")
    commit(project, "Depend")
    write(project, "tools/requirements.txt", "click>=8\n")
    assert places(check(project, against="main")) == []
    write(project, "requirements.txt", "click\n")
    assert [row.message for row in check(project, against="main").diagnostics if row.check] == [
        "a missing entry breaks ADR-0001: Log through the logger"
    ]
    write(project, "tools/requirements.txt", "structlog\n")
    assert places(check(project, against="main")) == []


def test_the_baseline_follows_a_renamed_file(project: Path, git: Git) -> None:
    update_baseline(Registry.open(project).workspace)
    git(project, "mv", "src/app.py", "src/main.py")
    assert places(check(project)) == []
    write(project, "src/app.py", "print(1)\n")
    assert places(check(project)) == ["src/main.py:5:5"]


def test_a_comment_at_the_end_of_a_line_allows_that_line_alone(project: Path) -> None:
    comment = "# orbit: allow ADR-0001 because it is a script\n"
    write(project, "src/app.py", f"print(1)  {comment}print(2)\n{comment}print(3)\nprint(4)\n")
    assert places(check(project)) == ["src/app.py:2:1", "src/app.py:5:1"]


def test_a_run_starts_git_alone_and_imports_nothing_of_the_project(project: Path) -> None:
    write(project, "evil.py", "raise SystemExit('imported')\n")
    kinds: tuple[dict[str, Any], ...] = (
        NO_PRINT,
        {
            "id": "module",
            "in": ["**/*.py"],
            "import": {"of": ["evil"]},
            "passes": ["x"],
            "fails": ["import evil"],
        },
        {"id": "layers", "by": {"engine": "import-linter", "rule": "evil"}},
        {"id": "no-mysql", "dependency": {"of": ["mysql"]}, "passes": ["x"], "fails": ["mysql"]},
    )
    decide(project, *kinds)
    program = (
        "import sys\n"
        "def audit(event, values):\n"
        "    if event in ('subprocess.Popen', 'os.exec', 'os.posix_spawn', 'os.system', "
        "'socket.connect'):\n"
        "        print('started', values[0], file=sys.stderr)\n"
        "from orbit_registry.doors.cli.main import run\n"
        "sys.addaudithook(audit)\n"
        "code = run(['check', '--against', 'HEAD'])\n"
        "print('imported', 'evil' in sys.modules, file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=project, capture_output=True, text=True, check=True
    )
    started = {
        line.split()[-1].rpartition("/")[2]
        for line in done.stderr.splitlines()
        if line.startswith("started")
    }
    assert (started, "imported False" in done.stderr) == ({"git"}, True)


def test_a_check_that_can_not_be_run_fails_with_strict_alone(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(project, "src/app.py", "x = 1\n")
    decide(project, {**NO_PRINT, "text": {"regex": r"print\("}})
    commit(project, "A regular expression")
    monkeypatch.setitem(sys.modules, "re2", None)
    monkeypatch.chdir(project)
    assert [
        row.code for row in check(project, against="HEAD").diagnostics if row.code[3:5] == "10"
    ] == ["ORB1004"]
    assert [run(["check", "--against", "HEAD", *words]) for words in ([], ["--strict"])] == [0, 1]


@pytest.mark.parametrize("name", ["ADR-0009", "ADR-0001/other", "ADR-0002", "ADR-0001/no-print"])
def test_an_allowance_that_is_not_needed_is_reported(name: str, project: Path) -> None:
    """ADR-0002 is closed."""
    decide(project, NO_PRINT, number=2, status="rejected")
    write(project, "src/app.py", f"x = 1  # orbit: allow {name} because it is old\n")
    assert messages(check(project), "ORB1007") == [f"`orbit: allow {name}` allows nothing here"]


def test_a_file_needs_its_partner_and_an_old_lack_is_old(project: Path) -> None:
    decide(project, PAIR)
    write(project, "src/b.py", "x = 1\n")
    write(project, "tests/test_b.py", "x = 1\n")
    commit(project, "Pair")
    assert places(check(project)) == ["src/app.py"]
    (project / "tests/test_b.py").unlink()
    write(project, "src/c.py", "x = 1\n")
    commit(project, "Part them")
    assert places(check(project, against="HEAD~1")) == ["src/b.py", "src/c.py"]
    assert Registry.open(project).check_text("src/d.py", "x = 1\n").data["findings"] == []


def test_a_rule_of_another_program_that_is_off_is_reported_with_each_change(project: Path) -> None:
    decide(project, {"id": "layers", "by": {"engine": "import-linter", "rule": "layers"}})
    commit(project, "Layers")
    for options in ({}, {"against": "HEAD"}):
        (message,) = messages(check(project, **options), "ORB1009")
        assert message == "import-linter does not check `layers`: no contract has this id"


def test_a_match_of_white_space_is_shown(project: Path) -> None:
    spaces = {
        "id": "spaces",
        "in": ["**/*.txt"],
        "text": {"regex": "\\t+"},
        "passes": [" x"],
        "fails": ["\tx"],
    }
    decide(project, {**spaces, "level": "error"})
    write(project, "src/a.txt", "\tx\n")
    (row,) = [row for row in check(project).diagnostics if row.check]
    assert row.message == "`\\t` breaks ADR-0001: Log through the logger"


def test_a_manifest_that_can_not_be_read_lacks_nothing(project: Path) -> None:
    decide(
        project,
        {
            "id": "log",
            "must": "have",
            "level": "error",
            "dependency": {"of": ["structlog"]},
            "passes": ["structlog"],
            "fails": ["logging"],
        },
    )
    write(project, "package.json", "{")
    assert [row.code for row in check(project).diagnostics if row.code[:5] == "ORB10"] == [
        "ORB1004"
    ]


def test_files_state_one_value(project: Path) -> None:
    of = {"pyproject.toml": 'version = "{}"', "src/app.py": 'VERSION = "{}"'}
    texts = [f'version = "1"\nVERSION = "{number}"' for number in (1, 2)]
    decide(
        project,
        {
            "id": "version",
            "level": "error",
            "same": {"of": of},
            "passes": texts[:1],
            "fails": texts[1:],
        },
    )
    write(project, "pyproject.toml", 'version = "1.2"\n')
    write(project, "src/app.py", 'VERSION = "1.2"\n')
    commit(project, "Version")
    assert places(check(project)) == []
    write(project, "src/app.py", 'x = 1\nVERSION = "1.3"\n')
    commit(project, "Another")
    (row,) = [row for row in check(project, against="HEAD~1").diagnostics if row.check]
    assert row.message.startswith(
        "`1.3` in `src/app.py`, where `pyproject.toml` has `1.2`, breaks ADR-0001"
    )
    assert places(check(project, against="HEAD")) == []
    write(project, "pyproject.toml", "")
    (row,) = [row for row in check(project, against="HEAD").diagnostics if row.check]
    assert row.message.startswith('`pyproject.toml` without `version = "{}"` breaks ADR-0001')
    assert row.hint == "state the same value in each file, or supersede the decision"
    write(project, "pyproject.toml", "version = '1.2'\n" + "#" * 1_100_000)
    assert [row.message for row in check(project).diagnostics if row.code == "ORB1004"] == [
        (
            "ADR-0001/version is not run: pyproject.toml can't be read, or is larger than "
            "1,048,576 "
            "bytes"
        )
    ]


def test_a_file_that_lacks_what_it_must_have_can_be_allowed(project: Path) -> None:
    must = {
        "id": "header",
        "must": "have",
        "in": ["**/*.py"],
        "text": {"words": ["Copyright"], "where": "any"},
    }
    decide(project, {**must, "level": "error", "passes": ["# Copyright"], "fails": ["x"]})
    write(project, "src/app.py", "x = 1\n\n# orbit: allow ADR-0001 because a tool writes it\n")
    write(project, "src/bare.py", "x = 1  # orbit: allow ADR-0001/header\n")
    write(project, "src/full.py", "# Copyright\n# orbit: allow ADR-0001 because it is there\n")
    rows = [
        (row.code, row.location.path)
        for row in check(project).diagnostics
        if row.code.startswith("ORB10")
    ]
    assert rows == [("ORB1006", "src/bare.py"), ("ORB1007", "src/full.py")]


MANY = 12_000
LONG: dict[str, str] = {
    "one line": "print(1); " * MANY + "# orbit: allow ADR-0001 because x " * MANY,
    "many lines": "print(1)  # orbit: allow ADR-0001 because it is old\n" * MANY,
    "unreadable": "print(1)  # orbit: allow\n" * MANY,
}


@pytest.mark.parametrize("name", LONG)
def test_many_matches_and_allowances_in_a_file_take_linear_time(name: str, project: Path) -> None:
    start = time.process_time()
    data = Registry.open(project).check_text("src/a.py", LONG[name]).data
    assert len(data["findings"]) + data["allowed"] >= MANY
    assert time.process_time() - start < 8  # what compares each with each takes more than 20 s


def test_many_accepted_findings_of_moved_files_take_linear_time() -> None:
    def row(path: str) -> Diagnostic:
        return Diagnostic(
            "ORB1005", Severity.ERROR, "`print(` breaks ADR-0001", Location(path), None, "ADR-0001"
        )

    baseline = baseline_of(row(f"old/{number}.py") for number in range(MANY))
    start = time.process_time()
    result = apply(
        baseline,
        [row(f"new/{number}.py") for number in range(MANY + 1)],
        lambda path: path[:3] == "old",
    )
    assert (len(result.new), len(result.baselined)) == (1, MANY)
    assert time.process_time() - start < 8


def test_sarif_leads_to_the_page_of_the_record(project: Path) -> None:
    configure(project, "site: {base_url: 'https://example.org/why/'}\n")
    (run,) = json.loads(render("sarif", check(project)))["runs"]
    (rule,) = [row for row in run["tool"]["driver"]["rules"] if row["id"] == "ADR-0001/no-print"]
    assert rule["helpUri"] == "https://example.org/why/adrs/ADR-0001/"
