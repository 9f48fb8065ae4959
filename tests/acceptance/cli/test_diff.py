"""`orbit diff`: what a reviewer of a pull request learns about the records."""

import re
from typing import Any

import pytest
from tests.conftest import Git
from tests.files import commit, configure, write, write_learning, write_record


@pytest.fixture
def changed(shell: Any, git: Git) -> Any:
    """Return a shell on a branch that edits a file, a decision and two learnings, while main moves on."""
    write_learning(shell.root, "narrw", scope={"paths": ["src/app.py"]})
    write_learning(shell.root, "g0nes", scope={"paths": ["docs/**"]})
    write(shell.root, "src/other.py", "z = 1\n")
    commit(shell.root)
    git(shell.root, "checkout", "-qb", "work")
    write(shell.root, "src/app.py", "x = 2\n")
    git(shell.root, "rm", "-qr", ".orbit/learnings/L-g0nes")
    shell("adr", "update", "ADR-0001", "--path", "src/*.py", "--title", "Use SQLite 3")
    shell("adr", "add", "--title", "Use one writer", "--body-file", shell.body)
    commit(shell.root)
    git(shell.root, "checkout", "-q", "main")
    write(shell.root, "src/later.py", "y = 1\n")
    commit(shell.root)
    git(shell.root, "checkout", "-q", "work")
    return shell


def changes(data: dict[str, Any]) -> dict[str, tuple[str, list[str]]]:
    return {entry["id"]: (entry["change"], [field["name"] for field in entry["fields"]]) for entry in data["records"]}


def test_the_change_begins_where_the_branch_left_the_base(changed: Any) -> None:
    data = changed.data("diff", "main..work")

    assert "src/app.py" in data["files"]
    assert "src/later.py" not in data["files"]
    assert changes(data) == {
        "ADR-0001": ("changed", ["title", "scope"]),
        "ADR-0003": ("added", []),
        "L-g0nes": ("removed", []),
    }


def test_a_copy_is_added_and_a_broken_record_is_not_removed(changed: Any, git: Git) -> None:
    records = changed.root / ".orbit/learnings"
    write(changed.root, ".orbit/learnings/L-c0py1/learning.yaml",
          (records / "L-narrw/learning.yaml").read_text("utf-8").replace("L-narrw", "L-c0py1"))  # fmt: skip
    write(changed.root, ".orbit/adrs/ADR-0003/adr.yaml", "title: [")
    data = changed.data("diff", "work")

    assert changes(data) == {"L-c0py1": ("added", []), "ADR-0003": ("unreadable", [])}


def test_narrow_scopes_come_first(changed: Any) -> None:
    assert [match["id"] for match in changed.data("diff", "main")["matches"]] == ["L-narrw", "ADR-0001"]


def test_another_commit_than_the_checked_out_one_is_compared(changed: Any, git: Git) -> None:
    expected = changed.data("diff", "main..work")
    git(changed.root, "checkout", "-q", "main")

    assert changed.data("diff", "main..work") == expected
    assert not (changed.root / ".orbit/adrs/ADR-0003").exists()


def test_without_an_end_the_work_tree_is_compared(changed: Any) -> None:
    write_learning(changed.root, "fresh")
    write_learning(changed.root, "nb0xx", pending=True)  # in the local inbox, which no pull request has

    assert changes(changed.data("diff", "main"))["L-fresh"] == ("added", [])
    assert "L-nb0xx" not in changes(changed.data("diff", "main"))
    assert "L-fresh" not in changes(changed.data("diff", "main..work"))


def test_a_number_that_another_branch_took_is_named(changed: Any, git: Git) -> None:
    git(changed.root, "checkout", "-qb", "other", "main")
    fields = {"title": "Use a queue", "status": "accepted", "date": "2026-01-01", "feature": "core"}
    write_record(changed.root, ".orbit/adrs/ADR-0003/adr.yaml", **fields)
    commit(changed.root)
    git(changed.root, "branch", "same", "work")

    assert changed.data("diff", "main..work")["collisions"] == [
        {"id": "ADR-0003", "record": ".orbit/adrs/ADR-0003/adr.yaml", "branches": ["other"]}
    ]


def test_only_findings_of_the_change_are_listed(shell: Any) -> None:
    write_record(shell.root, ".orbit/learnings/L-00001/learning.yaml", status="active", summary="")
    commit(shell.root)
    write_record(shell.root, ".orbit/learnings/L-00002/learning.yaml", status="active", summary="")

    findings = shell.json("diff", "HEAD")[1]["diagnostics"]

    assert {finding["path"] for finding in findings if finding["severity"] == "error"} == {
        ".orbit/learnings/L-00002/learning.yaml"
    }


@pytest.mark.parametrize(
    ("title", "shown"),
    [
        ("<img src=x onerror=alert(1)> & co", r"\<img src=x onerror=alert(1)\> \& co"),
        ("[click](javascript:1) `x` **b**", r"\[click\](javascript:1) \`x\` \*\*b\*\*"),
        ("ping @ops, fixes #12", "ping @\u200bops, fixes #\u200b12"),
        ("see https://example.org", "see https:\u200b//example.org"),
    ],
)
def test_a_hostile_title_is_plain_words_in_the_comment(shell: Any, title: str, shown: str) -> None:
    write_learning(shell.root, "00001", summary=title)
    write(shell.root, "src/app.py", "x = 2\n")

    out = shell("diff", "HEAD", "--format", "markdown")[1]

    assert out.startswith("<!-- orbit-diff -->\n")
    assert out.count(shown) == 2  # it is added, and it applies to the edited file
    assert title in [match["title"] for match in shell.data("diff", "HEAD")["matches"]]
    assert shell("diff", "HEAD")[1].count(title) == 2


@pytest.mark.parametrize("revisions", ["", "..HEAD"])
def test_an_empty_base_is_refused(shell: Any, revisions: str) -> None:
    assert shell("diff", revisions)[0] == 2


def test_links_lead_to_the_site_or_into_the_repository(changed: Any, git: Git) -> None:
    git(changed.root, "remote", "add", "origin", "git@github.com:example/shop.git")
    configure(changed.root, "site: {base_url: 'https://shop.example.org/'}\n")
    commit(changed.root)

    links = dict(re.findall(r"\[([A-Z]+-\w+)\]\((\S+)\)", changed("diff", "main", "--format", "markdown")[1]))

    commit_id = git(changed.root, "rev-parse", "HEAD").strip()
    assert links["L-narrw"] == "https://shop.example.org/learnings/L-narrw/"
    assert links["ADR-0003"] == f"https://github.com/example/shop/blob/{commit_id}/.orbit/adrs/ADR-0003/adr.yaml"


def test_long_lists_are_folded(shell: Any) -> None:
    for number in range(12):
        write_learning(shell.root, number)

    assert "<details><summary>and 2 more</summary>" in shell("diff", "HEAD", "--format", "markdown")[1]
    assert "and 2 more" in shell("diff", "HEAD")[1]


@pytest.mark.parametrize("revisions", ["nowhere", "HEAD..nowhere", "--help=x"])
def test_an_unknown_revision_is_a_wrong_call(shell: Any, revisions: str) -> None:
    assert shell("diff", "--", revisions)[0] == 2


def test_a_repository_without_records_at_the_base_has_only_new_ones(bare_shell: Any) -> None:
    bare_shell("init", "--yes")
    write_learning(bare_shell.root, "00001")

    assert changes(bare_shell.data("diff", "HEAD")) == {"L-00001": ("added", [])}
