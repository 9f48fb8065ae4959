"""The first hour and the first week: what a command says of a record is what the hook does with it,
and where an agent gets nothing, a door says why.
"""

import json
from pathlib import Path

import pytest
from tests.acceptance.conftest import orbit
from tests.acceptance.hook.conftest import run_client
from tests.acceptance.hook.replies import ids
from tests.acceptance.hook.test_breadth import Git, shown, tried, with_history
from tests.files import commit, make_workspace, write, write_learning

from orbit_registry.doors.answers.call import Caller
from orbit_registry.doors.cli.main import run
from orbit_registry.doors.mcp.dispatch import reply
from orbit_registry.registry import Registry

DECISION = (
    "# {number}. {title}\n\n## Status\n\nAccepted\n\n## Context\n\nDisks fail.\n\n"
    "## Decision\n\nWe {title}.\n\n## Consequences\n\n- Cost: a server.\n"
)
NO_PATH = "it names no path, and no file cites it"


@pytest.fixture
def adopted(git_repo: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a project that has just adopted three decisions, none of which names a path."""
    monkeypatch.setenv("ORBIT_ACTOR", "human")
    for number, title in enumerate(("keep one ledger", "count in cents", "lock files"), start=1):
        name = title.replace(" ", "-")
        text = DECISION.format(number=number, title=title)
        write(git_repo, f"docs/adr/{number:04d}-{name}.md", text)

    write(git_repo, "src/pay.py", "total = 0\n")
    commit(git_repo)
    orbit(git_repo, "init", "--yes")
    return git_repo


def decided(root: Path, title: str, *words: str) -> str:
    """Add a decision whose text is complete, and return what the command says."""
    body = write(
        root.parent, "body.md", DECISION.format(number=9, title=title).partition("ed\n\n")[2]
    )
    return orbit(root, "adr", "new", title, "--body-file", str(body), *words)


def prompted(root: Path, prompt: str) -> list[str]:
    payload = {"cwd": str(root), "session_id": "p", "hook_event_name": "UserPromptSubmit"}
    printed = run_client(root, json.dumps({**payload, "prompt": prompt}).encode())
    return ids(json.loads(printed)) if printed else []


def test_the_scope_of_the_first_steps_is_said_and_shown(
    git_repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ORBIT_ACTOR", "human")
    root = with_history(git_repo, "src/web/page.py", "src/importer/read.py")
    assert "shown at edits of 3 files" in decided(root, "Use Redis", "--path", "src/**")
    assert shown(root, "src/importer/read.py", "s") == {"ADR-0001"}


def test_a_busy_file_is_said_and_shown(git_repo: Path) -> None:
    root = with_history(git_repo, "src/importer/read.py", "src/web/page.py")
    said = orbit(root, "learning", "new", "Read closes it", "--path", "src/importer/read.py")
    assert "shown at edits of 1 file" in said
    assert len(shown(root, "src/importer/read.py", "s")) == 1


def test_a_record_that_finds_no_place_says_so_when_it_is_written(git_repo: Path) -> None:
    make_workspace(git_repo)
    for number in range(40):
        write(git_repo, f"src/m{number}.py")
    for number in range(10):
        write_learning(git_repo, number, priority=200 - number)
    commit(git_repo)

    said = orbit(git_repo, "learning", "new", "Close files", "--path", "src/**")
    record_id = said.split()[0]
    reason = "only wide globs lead to it there (`src/**` covers 40 of 42 tracked files)"
    assert f"but at no edit: {reason}" in said
    assert record_id not in shown(git_repo, "src/m0.py", "s")

    orbit(git_repo, "learning", "update", record_id, "--path", "src/m0.py")
    assert record_id in shown(git_repo, "src/m0.py", "t")


def test_a_decision_without_a_path_says_so_at_each_door(adopted: Path) -> None:
    said = decided(adopted, "Use Redis")
    assert f"but at no edit: {NO_PATH}: `orbit adr update ADR-0004 --path GLOB`" in said
    assert NO_PATH in orbit(adopted, "explain", "ADR-0004")
    assert NO_PATH in orbit(adopted, "show", "ADR-0004")
    assert shown(adopted, "src/pay.py", "s") == set()
    assert prompted(adopted, "Should we use Redis here?") == ["ADR-0004"]

    orbit(adopted, "adr", "update", "ADR-0004", "--path", "src/**")
    assert "shown at edits of 1 file" in orbit(adopted, "explain", "ADR-0004")
    assert shown(adopted, "src/pay.py", "t") == {"ADR-0004"}


def test_an_adoption_says_how_many_decisions_no_edit_shows(adopted: Path) -> None:
    counted = "3 of 3 accepted decisions are shown at no edit"
    assert f"{counted}; suggestions for " in orbit(adopted, "import", ".")
    answer = orbit(adopted, "import", ".", "--dry-run", "--format", "json")
    assert json.loads(answer)["data"]["shown_at_no_edit"] == []

    commit(adopted)
    said = tried(adopted)
    assert "no edit of a file here shows a record" in said
    assert f"ADR-0001, ADR-0002, ADR-0003: {NO_PATH}" in said


def test_the_site_lists_the_decisions_that_no_edit_shows(adopted: Path) -> None:
    orbit(adopted, "import", ".")
    orbit(adopted, "adr", "update", "ADR-0003", "--path", "src/**")
    orbit(adopted, "site", "build", "--out", str(adopted.parent / "site"))
    counted = "2 of 3 accepted decisions are shown at no edit"

    health = (adopted.parent / "site/health/index.html").read_text("utf-8")
    listed = health.partition('id="unscoped"')[2].partition("<h2")[0]
    assert "Nothing needs attention" not in health
    assert counted in listed
    assert [number for number in (1, 2, 3) if f">ADR-000{number}</span>" in listed] == [1, 2]

    paths = (adopted.parent / "site/paths/index.html").read_text("utf-8")
    assert f'data-orbit-overlooked="{counted}"' in paths
    assert f'<a href="../health/#unscoped">{counted}</a>' in paths


def test_a_trial_after_an_adoption_shows_what_code_cites(adopted: Path) -> None:
    write(adopted, "src/pay.py", "# see ADR-0002\ntotal = 0\n")
    commit(adopted)
    said = orbit(adopted, "import", ".")
    assert "2 of 3 accepted decisions are shown at no edit" in said
    commit(adopted)

    assert "at an edit of src/pay.py" in tried(adopted)
    explained = orbit(adopted, "explain", "ADR-0002")
    assert "shown at edits of 1 file that cites it" in explained


def test_a_renamed_folder_keeps_its_records_and_says_so(git_repo: Path, git: Git) -> None:
    make_workspace(git_repo)
    write(git_repo, "shop/orders/pay.py", "total = 0\n" * 9)
    write_learning(git_repo, 1, scope={"paths": ["shop/orders/**"]})
    commit(git_repo)
    git(git_repo, "mv", "shop/orders", "shop/checkout")
    commit(git_repo)

    assert "shown at edits of 1 file" in orbit(git_repo, "explain", "L-00001")
    assert "git saw `shop/orders/**` renamed" in orbit(git_repo, "explain", "shop/checkout/pay.py")
    assert shown(git_repo, "shop/checkout/pay.py", "s") == {"L-00001"}


def test_explain_reads_the_files_as_they_are(git_repo: Path) -> None:
    make_workspace(git_repo)
    write(git_repo, "src/a.py")
    commit(git_repo)
    assert "no record applies" in orbit(git_repo, "explain", "src/a.py")

    write_learning(git_repo, 1)
    assert "matches and is shown" in orbit(git_repo, "explain", "src/a.py").partition("L-00001")[2]


@pytest.mark.parametrize("command", ["explain", "match"])
def test_a_path_without_records_says_how_many_no_edit_shows(
    adopted: Path,
    command: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    orbit(adopted, "import", ".")
    monkeypatch.chdir(adopted)
    assert run([command, "src/pay.py"]) == 0
    counted = "3 of 3 accepted decisions are shown at no edit"
    assert capsys.readouterr().err == f"note: {counted}: `orbit scope suggest` proposes globs\n"


def test_explain_of_a_document_says_where_its_decision_is_shown(adopted: Path) -> None:
    orbit(adopted, "import", ".")
    for name in ("docs/adr/0001-keep-one-ledger.md", ".orbit/adrs/ADR-0001/adr.yaml", "1"):
        said = orbit(adopted, "explain", name)
        assert said.startswith("ADR-0001  keep one ledger\n")
        assert NO_PATH in said


def test_a_trial_of_one_file_says_what_its_edit_gets(git_repo: Path) -> None:
    make_workspace(git_repo)
    for name in ("src/a.py", "lib/b.py", "docs/c.md"):
        write(git_repo, name)
    write_learning(git_repo, 1)
    write_learning(
        git_repo, 2, scope={"paths": ["lib/**"]}, freshness={"expires_at": "2026-01-02T00:00:00Z"}
    )
    write_learning(git_repo, 3, scope={"paths": ["lib/**"]}, pending=True)
    commit(git_repo)
    orbit(git_repo, "hook", "install", "claude")

    def trial(file: str) -> str:
        return orbit(git_repo, "hook", "test", "claude", "--file", file)

    assert "- [L-00001] Learning 00001" in trial("src/a.py").partition("at an edit of src/a.py")[2]
    silent = trial("lib/b.py").partition("an edit of lib/b.py shows no record:")[2]
    assert "L-00002: lib/**: matches, but its time is over" in silent
    assert "L-00003: lib/**: matches, but is candidate and waits for review" in silent
    assert "no path of a record matches it" in trial("docs/c.md")
    assert "no path of a record matches it" in trial("not/yet.py")


def test_a_change_says_where_its_new_records_are_shown(adopted: Path) -> None:
    commit(adopted)
    decided(adopted, "Use Redis")
    decided(adopted, "Use Postgres", "--path", "src/**")
    for form in ("text", "markdown"):
        said = orbit(adopted, "diff", "HEAD", "--format", form)
        assert NO_PATH in said
        assert "shown at edits of 1 file" in said


def test_an_agent_that_proposes_a_decision_is_told_where_it_will_be_shown(adopted: Path) -> None:
    fields = {"title": "Use Redis", "body": DECISION.format(number=9, title="use Redis")}
    for is_sure in (False, True):
        arguments: dict[str, object] = {"kind": "adr", "fields": fields, "confirm": is_sure}
        told = reply("add", arguments, Caller("a", "s"), lambda: Registry.open(adopted))
        assert not told.is_error, told.text
        assert (
            f"when accepted, shown at prompts and briefs with its words, but at no edit: {NO_PATH}"
            in told.text
        )
        data = told.structured["data"]
        assert isinstance(data, dict)
        assert data["visibility"]["cause"] == "no path"
