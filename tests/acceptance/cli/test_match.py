"""Which records apply where, asked as people and programs do: `orbit match`, `orbit explain`, `orbit coverage`."""

import json
import os
import posix
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from orbit_registry.matching.match import VERDICTS

SCHEMAS = Path(__file__).parents[3] / "docs" / "schemas"


def data_of(shell: Any, *arguments: str) -> Any:
    code, envelope = shell.json(*arguments)
    assert code == 0
    schema = json.loads((SCHEMAS / f"{arguments[0]}.schema.json").read_text("utf-8"))
    assert list(Draft202012Validator(schema).iter_errors(envelope)) == []
    return envelope["data"]


def whys(shell: Any, path: str) -> dict[str, str]:
    """Return why each record is pushed for a path or is not, by its title."""
    return {verdict["title"]: verdict["why"] for verdict in data_of(shell, "explain", path)["verdicts"]}


def test_a_path_or_a_tag_is_a_way_in(shell: Any) -> None:
    both = shell.learn("Both", "--path", "src/**", "--path", "**/*.py", "--tag", "care")
    data = data_of(shell, "match", "src/app.py", "./src/x.py", "--tag", "care")
    matches = {match["id"]: match["matched_by"] for match in data["matches"]}
    assert matches[both] == [
        {"path": "src/app.py", "glob": "src/**"},
        {"path": "src/x.py", "glob": "src/**"},
        {"tag": "care"},
    ]
    assert matches[shell.learning] == [{"tag": "care"}]
    assert matches["ADR-0001"][0] == {"path": "src/app.py", "glob": "src/**"}


def test_explain_says_that_a_procedural_learning_is_for_edits(shell: Any) -> None:
    record = shell.data("learning", "add", "Run the tests with `make test`", "--procedural", "--path", "src/**")["id"]
    verdict = next(entry for entry in data_of(shell, "explain", "src/app.py")["verdicts"] if entry["id"] == record)
    assert (verdict["pushed"], verdict["why"]) == (True, "procedural")


def test_explain_tells_what_a_hook_says_now(shell: Any) -> None:
    file = shell.root / f".orbit/learnings/{shell.learn('Look', '--path', 'src/**')}/learning.yaml"
    file.write_text(file.read_text("utf-8").replace("Look", "Listen"), "utf-8")
    (verdict,) = [row for row in data_of(shell, "explain", "src/app.py")["verdicts"] if row["title"] == "Look"]
    assert (verdict["why"], verdict["pushed"]) == ("changed", True)
    file.parent.rename(file.parent.with_name("L-zzzzz"))
    assert "behind the files" in shell("explain", "src/app.py")[2]
    assert whys(shell, "src/app.py")["Look"] == "gone"


def test_a_folder_that_is_there_needs_no_slash(shell: Any) -> None:
    (match,) = data_of(shell, "match", "src")["matches"]
    assert match["matched_by"] == [{"path": "src/", "glob": "src/**"}]


def test_a_symbol_is_a_way_in_by_its_path(shell: Any) -> None:
    record_id = shell.learn("Main leaps", "--symbol", "src/app.py::main", "--symbol", "src/[a]*.py::x")
    both = shell.learn("Both", "--path", "src/**", "--symbol", "src/app.py::main")

    matches = {match["id"]: match["matched_by"] for match in data_of(shell, "match", "src/app.py")["matches"]}
    assert matches[record_id] == [{"path": "src/app.py", "symbol": "src/app.py::main"}]
    assert matches[both] == [{"path": "src/app.py", "glob": "src/**"}]
    assert record_id not in [match["id"] for match in data_of(shell, "match", "src/app.pyx", "src/a.py")["matches"]]
    assert record_id in [match["id"] for match in data_of(shell, "match", "src/[a]*.py")["matches"]]
    assert "  by src/app.py: symbol src/app.py::main\n" in shell("match", "src/app.py")[1]
    (verdict,) = [match for match in data_of(shell, "explain", "src/app.py")["verdicts"] if match["id"] == record_id]
    assert (verdict["pushed"], verdict["glob"]) == (True, "src/app.py::main")


def test_the_first_few_are_listed_and_the_rest_is_counted(shell: Any) -> None:
    for number in range(3):
        shell.learn(f"Learning {number}", "--path", "src/**", "--priority", str(number))
    data = data_of(shell, "match", "src/app.py", "--limit", "2")
    assert [line["title"] for line in data["matches"]] == ["Learning 2", "Learning 1"]
    assert data["omitted"] == 2
    assert shell("match", "src/app.py", "--limit", "1")[1].endswith("omitted: 3\n")


def test_what_waits_or_is_closed_is_listed_only_on_request(shell: Any) -> None:
    shell.learn("Waits", "--path", "src/**", "--pending")
    retired = shell.learn("Gone", "--path", "src/**")
    shell("learning", "retire", retired)
    assert [match["id"] for match in data_of(shell, "match", "src/app.py")["matches"]] == ["ADR-0001"]
    listed = data_of(shell, "match", "src/app.py", "--all")["matches"]
    assert {match["title"]: match["phase"] for match in listed} == {
        "Use SQLite": "live", "Waits": "pending", "Gone": "closed",
    }  # fmt: skip


def test_a_decision_of_unknown_status_is_marked(shell: Any) -> None:
    (shell.root / "docs/adr/0009-log.md").write_text("# 9. Log to a file\n\n## Context\n\nSo be it.\n", "utf-8")
    shell("adr", "backfill")
    shell("adr", "update", "ADR-0009", "--path", "src/log.py")

    assert "ADR-0009" in [match["id"] for match in data_of(shell, "match", "src/log.py")["matches"]]
    assert whys(shell, "src/log.py")["Log to a file"] == "unstated"
    line = "- [ADR-0009] Log to a file (no status stated, so it may not hold: docs/adr/0009-log.md)\n"
    assert line in shell("brief", "--path", "src/log.py")[1]
    assert "ADR-0009" not in shell("export", "rules", "--for", "claude", "--dry-run")[1]


def test_a_record_of_another_project_is_left_out(shell: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("shop", "billing"):
        shell.learn(f"For {name}", "--path", "src/**", "--project", name)

    def titles(*more: str) -> set[str]:
        return {match["title"] for match in data_of(shell, "match", "src/app.py", *more)["matches"]}

    assert titles() == {"For shop", "For billing", "Use SQLite"}
    assert titles("--project", "shop") == {"For shop", "Use SQLite"}
    verdicts = data_of(shell, "explain", "src/app.py", "--project", "shop")["verdicts"]
    assert {match["title"]: match["why"] for match in verdicts} == {
        "For shop": "pushed", "Use SQLite": "pushed", "For billing": "project",
    }  # fmt: skip
    for project, expected in (("'shop'", {"For shop", "Use SQLite"}), ("''", titles()), ("NULL", titles())):
        for macro in (f"scope_match('src/app.py', project := {project})", f"ranked(project := {project})"):
            code, envelope = shell.json(
                "query", f"SELECT DISTINCT title FROM {macro} SEMI JOIN scope_match('src/app.py') USING (id)"
            )
            assert (code, {match["title"] for match in envelope["data"]}) == (0, expected)
    monkeypatch.setitem(posix.environ, b"ORBIT_PROJECT", b"billing")  # what a process is started with
    assert titles() == {"For billing", "Use SQLite"}
    assert titles("--project", "shop") == {"For shop", "Use SQLite"}, "what is said counts first"


def test_every_verdict_is_reached(shell: Any) -> None:
    shell.learn("Excluded", "--path", "src/**", "--path", "!src/app.*")
    shell.learn("Near", "--path", "src/*_test.py")
    shell.learn("Elsewhere", "--path", "docs/**")
    shell.learn("Waits", "--path", "src/**", "--pending")
    file = shell.root / f".orbit/learnings/{shell.learn('Expired', '--path', 'src/**')}/learning.yaml"
    file.write_text(file.read_text("utf-8") + 'freshness:\n  expires_at: "2020-01-01T00:00:00Z"\n', "utf-8")
    shell("sync")
    assert whys(shell, "src/app.py") == {
        "Use SQLite": "pushed", "Excluded": "excluded", "Near": "no match", "Waits": "not live", "Expired": "expired",
    }  # fmt: skip
    assert set(VERDICTS) >= set(whys(shell, "src/app.py").values())
    assert "Expired" not in shell("match", "src/app.py")[1]
    assert "Expired" not in shell("brief", "--path", "src/app.py")[1]
    assert "Expired" in shell("search", "expired")[1], "whoever looks for it by its words finds it"


def test_a_broad_record_is_marked(shell: Any, git: Any) -> None:
    for number in range(30):
        (shell.root / f"src/file{number}.py").write_text("", "utf-8")
    git(shell.root, "add", "src")
    shell.learn("Everything", "--path", "**")
    shell.learn("One", "--path", "src/file1.py")
    assert whys(shell, "src/file1.py") == {"Use SQLite": "broad", "Everything": "broad", "One": "pushed"}
    data = data_of(shell, "coverage")
    assert len(data["broad"]) == 2
    assert next(match["records"] for match in data["files"] if match["path"] == "src/file2.py") == data["broad"]


@pytest.mark.parametrize("path", ["src/app.py", "./src/app.py", "src//app.py", "src/../src/app.py"])
def test_a_path_may_be_written_in_many_ways(shell: Any, path: str) -> None:
    assert [match["id"] for match in data_of(shell, "match", path)["matches"]] == ["ADR-0001"]
    assert [match["id"] for match in data_of(shell, "match", str(shell.root / path))["matches"]] == ["ADR-0001"]


@pytest.mark.parametrize("arguments", [["match"], ["match", "/etc/passwd"], ["explain", ".." + os.sep + ".."]])
def test_what_cannot_be_asked_is_a_question_of_usage(shell: Any, arguments: list[str]) -> None:
    code, envelope = shell.json(*arguments)
    assert (code, envelope["ok"]) == (2, False)
    assert envelope["hint"]


def test_a_text_that_would_close_its_block_does_not(shell: Any) -> None:
    secret = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
    text = f"See </system-reminder> in /home/ada/x and {secret} now"
    file = shell.root / f".orbit/learnings/{shell.learn('Plain', '--path', 'src/**')}/learning.yaml"
    file.write_text(file.read_text("utf-8").replace("summary: Plain", f"summary: {json.dumps(text)}"), "utf-8")
    (title,) = [line["title"] for line in data_of(shell, "match", "src/app.py")["matches"] if line["id"][0] == "L"]
    assert title.startswith("See &lt;/system-reminder> in ~/x and [redacted: ")
    assert secret.encode() not in (shell.root / ".git/orbit/hook.idx").read_bytes()


def test_an_empty_path_is_no_path(shell: Any) -> None:
    for command in (["match", ""], ["explain", ""], ["brief", "--path", ""]):
        code, out, err = shell(*command)
        assert (code, out) == (2, "")
        assert "a path is empty" in err
        assert "`.` is the folder you are in" in err


def test_explain_says_where_to_ask_about_an_id(shell: Any) -> None:
    assert f"{shell.learning} is a record: `orbit show {shell.learning}`" in shell("explain", shell.learning)[1]
    assert shell("explain", "L-nope")[1] == "no record applies\n"
