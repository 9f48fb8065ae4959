"""Resources by the command line: taken over, brought up to date, found, and what is refused."""

import json
import os
from pathlib import Path

import pytest
from tests.acceptance.cli.conftest import Shell
from tests.conftest import Git
from tests.files import events

from orbit_registry.resources.intake import raw_digest

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
GUIDE = "# Deploying\n\nHow it goes.\n\n## Steps\n\nFirst the zebra.\n"


@pytest.fixture
def files(shell: Shell, git: Git) -> Shell:
    Path("docs").mkdir(exist_ok=True)
    Path("docs/deploy.md").write_text(GUIDE, "utf-8")
    Path("tools").mkdir()
    Path("tools/hi.sh").write_text('#!/bin/sh\necho "hi $1"\n', "utf-8")
    Path("tools/hi.sh").chmod(0o755)
    git(shell.root, "add", ".")
    git(shell.root, "commit", "-qm", "Add files")
    return shell


@pytest.mark.parametrize("head", ["Deploying\n=========\n", ".. _top:\n\n***********\n Deploying\n***********\n"])
def test_a_document_in_rst_has_its_first_heading_as_title(files: Shell, head: str) -> None:
    Path("docs/index.rst").write_text(f"{head}\nHow it goes.\n\nSteps\n-----\n\nFirst.\n", "utf-8")
    assert files.data("import", "doc", "docs/index.rst")["title"] == "Deploying"


def test_a_document_is_kept_as_it_was(files: Shell, git: Git) -> None:
    commit = git(files.root, "log", "-1", "--format=%H").strip()
    Path("other.txt").write_text("x", "utf-8")
    git(files.root, "add", "other.txt")
    git(files.root, "commit", "-qm", "Something else")

    data = files.data("import", "doc", "docs/deploy.md", "--tag", "deploy")

    assert data["versions"] == ["unversioned"]
    assert data["source_ref"] == commit
    assert data["title"] == "Deploying"
    copy = Path(f".orbit/resources/{data['id']}/unversioned/deploy.md")
    assert copy.read_text("utf-8") == GUIDE
    assert not copy.is_symlink()
    assert files("check")[0] == 0
    assert "First the zebra." in files("show", data["id"])[1]


def test_the_same_import_twice_changes_nothing(files: Shell, git: Git) -> None:
    first = [
        files.data("import", "doc", "docs/deploy.md", "--version", "2"),
        files.data("import", "script", "tools/hi.sh"),
    ]
    git(files.root, "add", ".")

    again = [
        files.data("import", "doc", "docs/deploy.md", "--version", "2"),
        files.data("import", "script", "tools/hi.sh"),
    ]

    assert [data["id"] for data in again] == [data["id"] for data in first]
    assert [data["added"] for data in again] == [False, False]
    assert git(files.root, "diff", "--stat") == ""
    other = files.data("import", "doc", "docs/deploy.md", "--version", "3", "--version", "4")
    assert other["added"]
    assert other["file"] == "shared/deploy.md"


def test_what_was_retired_is_taken_over_anew(files: Shell) -> None:
    first = files.data("import", "doc", "docs/deploy.md")
    assert files("resource", "retire", first["id"])[0] == 0

    again = files.data("import", "doc", "docs/deploy.md")

    assert again["id"] != first["id"]
    assert (again["phase"], files.data("show", first["id"])["status"]) == ("live", "retired")


def test_a_document_changes_when_it_is_refreshed(files: Shell, git: Git) -> None:
    data = files.data("import", "doc", "docs/deploy.md")
    copy = Path(f".orbit/resources/{data['id']}/unversioned/deploy.md")
    Path("docs/deploy.md").write_text(GUIDE.replace("zebra", "okapi"), "utf-8")
    assert "zebra" in copy.read_text("utf-8")
    assert [row["body"] for row in files.data("query", "SELECT body FROM chunks")] == [GUIDE.strip()]
    assert any("not committed" in note for note in files.data("refresh", data["id"], "--dry-run")["notes"])
    git(files.root, "commit", "-qam", "Replace the animal")

    planned = files.data("refresh", data["id"], "--dry-run")
    assert "zebra" in copy.read_text("utf-8")
    done = files.data("refresh", data["id"])

    head = git(files.root, "log", "-1", "--format=%H").strip()
    assert (planned["old_ref"], planned["new_ref"]) == (data["source_ref"], head)
    assert "-First the zebra.\n+First the okapi.\n" in done["diff"] == planned["diff"]
    assert done["source_ref"] == head
    assert "okapi" in copy.read_text("utf-8")
    assert done["freshness"]["verified_by"] == done["created_by"]["name"]
    assert files.data("refresh", data["id"])["changed"] is False
    (event,) = events(files.root, "refreshed")
    assert (event["id"], event["by"], event["old_ref"]) == (data["id"], done["created_by"]["name"], data["source_ref"])


def test_a_shallow_clone_does_not_know_the_last_commit(
    files: Shell, git: Git, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = files.data("import", "doc", "docs/deploy.md")
    git(files.root, "add", ".")
    git(files.root, "commit", "-qm", "Take it over")
    git(tmp_path, "clone", "-q", "--depth", "1", files.root.as_uri(), "shallow")
    monkeypatch.chdir(tmp_path / "shallow")
    assert "no history before" not in str(data["notes"])

    other = files.data("import", "script", "tools/hi.sh")
    code, answer = files.json("refresh", data["id"])

    assert "this clone holds no history before" in str(other["notes"])
    assert "this clone holds no history before" in str(answer["data"]["notes"])
    assert (code, answer["data"]["changed"], answer["data"]["source_ref"]) == (0, False, data["source_ref"])


def test_versions_are_changed_together_with_the_place(files: Shell) -> None:
    data = files.data("import", "doc", "docs/deploy.md")

    done = files.data("refresh", data["id"], "--version", "2.1")

    folder = Path(f".orbit/resources/{data['id']}")
    assert (done["versions"], done["file"]) == (["2.1"], "2.1/deploy.md")
    assert [path.name for path in folder.iterdir() if path.is_dir()] == ["2.1"]
    code, _, message = files("refresh", data["id"], "--version", "2", "--version", "unversioned")
    assert code == 2
    assert "no other version" in message
    assert [row["version"] for row in files.data("query", "SELECT version FROM versions")] == ["2.1"]


def test_a_document_that_moved_keeps_its_record(files: Shell, git: Git) -> None:
    data = files.data("import", "doc", "docs/deploy.md")
    git(files.root, "mv", "docs/deploy.md", "docs/release.md")
    git(files.root, "commit", "-qm", "Rename")
    hint = f"orbit refresh {data['id']} --path NEW"
    assert hint in files("refresh", data["id"])[2]
    assert hint in files("check")[1]
    (stale,) = files.data("stale")
    assert stale["do"][0] == f"orbit refresh {data['id']} --path FILE"

    done = files.data("refresh", data["id"], "--path", "docs/release.md")

    assert (done["text"]["taken_from"], done["file"]) == ("docs/release.md", "unversioned/release.md")
    assert done["source_ref"] == git(files.root, "log", "-1", "--format=%H").strip()
    folder = Path(f".orbit/resources/{data['id']}")
    assert [path.name for path in folder.rglob("*.md")] == ["release.md"]
    assert files("check")[0] == 0


def test_a_script_is_compared_with_what_was_taken_over_alone(files: Shell, git: Git) -> None:
    script = Path("tools/hi.sh")
    script.write_text("#!/bin/sh\necho never committed\n", "utf-8")
    data = files.data("import", "script", "tools/hi.sh")
    script.write_text("#!/bin/sh\necho other\n", "utf-8")
    git(files.root, "commit", "-qam", "Say another thing")

    done = files.data("refresh", data["id"])
    assert (done["changed"], done["diff"]) == (True, "")
    assert any("not known any more" in note for note in done["notes"])

    script.write_text("#!/bin/sh\necho third\n", "utf-8")
    git(files.root, "commit", "-qam", "Say a third thing")
    assert "-echo other\n+echo third\n" in files.data("refresh", data["id"])["diff"]


def test_a_refresh_makes_no_second_record_of_a_document(files: Shell) -> None:
    first, second = (files.data("import", "doc", "docs/deploy.md", "--version", version)["id"] for version in "23")
    Path("tools/ho.sh").write_text("#!/bin/sh\n", "utf-8")
    scripts = [files.data("import", "script", f"tools/{name}.sh")["id"] for name in ("hi", "ho")]

    answers = [
        files("refresh", second, "--version", "2"),
        files("refresh", scripts[1], "--path", "tools/hi.sh"),
    ]

    assert [code for code, _, _ in answers] == [1, 1]
    assert [record in message for record, (_, _, message) in zip((first, scripts[0]), answers, strict=True)] == [
        True,
        True,
    ]


def test_a_second_import_says_what_it_does_not_take(files: Shell) -> None:
    files.data("import", "doc", "docs/deploy.md", "--title", "Deploy", "--tag", "deploy", "--path", "src/**")
    again = ("--title", "Release", "--tag", "release", "--path", "src/**", "--chunks", "fixed")

    same = files.data("import", "doc", "docs/deploy.md", "--title", "Deploy", "--tag", "deploy")
    other = files.data("import", "doc", "docs/deploy.md", *again)

    assert (same["notes"], other["title"]) == ([], "Deploy")
    assert [note.partition(":")[0] for note in other["notes"]] == ["chunking, scope, title"]


def test_an_export_believes_no_list_that_came_with_a_clone(files: Shell, git: Git, tmp_path: Path) -> None:
    data, target = files.data("import", "doc", "docs/deploy.md"), tmp_path / "reference"
    assert files("export", "reference", str(target))[0] == 0
    (listed,) = (files.root / ".git/orbit/reference").iterdir()
    (target / "mine.txt").write_text("mine", "utf-8")
    content = json.dumps({"files": {"mine.txt": raw_digest(b"mine")}})
    listed.unlink()
    files("resource", "retire", data["id"])
    for forged in (target / ".orbit-reference.json", files.root / ".orbit/state/reference" / listed.name):
        forged.parent.mkdir(exist_ok=True)
        forged.write_text(content, "utf-8")

    assert files("export", "reference", str(target))[0] == 1
    assert (target / "mine.txt").read_text("utf-8") == "mine"


def test_a_script_is_read_where_it_stands(files: Shell) -> None:
    data = files.data("import", "script", "tools/hi.sh", "--version", "1", "--version", "2")
    assert [path.name for path in Path(f".orbit/resources/{data['id']}").iterdir()] == ["resource.yaml"]
    assert "zebra" not in str(files.data("query", "SELECT body FROM chunks"))

    Path("tools/hi.sh").write_text("#!/bin/sh\necho zebra\n", "utf-8")

    assert "zebra" in files.data("query", "SELECT body FROM chunks")[0]["body"]
    assert "zebra" in files("show", data["id"])[1]
    assert data["versions"] == ["1", "2"]


def test_an_agents_import_waits_for_review(files: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ORBIT_ACTOR", "agent")
    data = files.data("import", "doc", "docs/deploy.md")
    assert data["phase"] == "pending"
    assert data["path"].startswith(".orbit/state/inbox/")
    monkeypatch.setenv("ORBIT_ACTOR", "human")

    assert files("resource", "promote", data["id"])[0] == 0

    assert Path(f".orbit/resources/{data['id']}/unversioned/deploy.md").read_text("utf-8") == GUIDE
    assert not Path(f".orbit/state/inbox/resources/{data['id']}").exists()
    Path("docs/deploy.md").write_text("# Other\n", "utf-8")
    monkeypatch.setenv("ORBIT_ACTOR", "agent")
    code, _, message = files("refresh", data["id"])
    assert code == 1
    assert "is active" in message


def test_a_preview_shows_the_chunks_and_writes_nothing(files: Shell) -> None:
    data = files.data("import", "doc", "docs/deploy.md", "--preview", "--chunks", "headers")

    assert data["strategy"] == "headers"
    assert [(chunk["first_line"], chunk["last_line"], chunk["breadcrumb"]) for chunk in data["chunks"]] == [
        (1, 7, "Deploying … Steps")
    ]
    assert not Path(".orbit/resources").exists()


def test_the_resources_are_a_tree_of_plain_files(files: Shell, tmp_path: Path) -> None:
    files.data("import", "doc", "docs/deploy.md", "--version", "2.1")
    files.data("import", "doc", "docs/deploy.md", "--version", "3", "--version", "4")
    files.data("import", "script", "tools/hi.sh")
    waiting = files.data("import", "doc", "docs/adr/0001-use-sqlite.md", "--pending")
    target = tmp_path / "reference"

    planned = files.data("export", "reference", str(target), "--dry-run")
    assert not target.exists()
    done = files.data("export", "reference", str(target))

    expected = ["docs/2.1/deploy.md", "docs/shared/deploy.md", "scripts/unversioned/hi.sh"]
    assert done["files"] == planned["files"] == [f"{files.root.name}/{path}" for path in expected]
    files_there = [path for path in target.rglob("*") if path.is_file() and not path.name.startswith(".")]
    assert sorted(path.relative_to(target).as_posix() for path in files_there) == done["files"]
    assert not any(path.is_symlink() for path in target.rglob("*"))
    assert os.access(target / done["files"][2], os.X_OK)
    assert waiting["phase"] == "pending"
    assert files.data("export", "reference", str(target))["changes"] == []


def test_the_tree_holds_every_text_and_no_secret(files: Shell, tmp_path: Path) -> None:
    Path("tools/deploy.md").write_text("# Tools\n", "utf-8")
    ids = [files.data("import", "doc", f"{folder}/deploy.md")["id"] for folder in ("docs", "tools")]
    script = files.data("import", "script", "tools/hi.sh")["id"]
    Path("tools/hi.sh").write_text(f"#!/bin/sh\ncurl -H {TOKEN}\n", "utf-8")
    target = tmp_path / "reference"

    data = files.data("export", "reference", str(target))

    assert {path.read_text("utf-8") for path in target.rglob("*.md")} == {GUIDE, "# Tools\n"}
    assert any(path.endswith(tuple(f"deploy-{record}.md" for record in ids)) for path in data["files"])
    assert list(target.rglob("*.sh")) == []
    assert data["notes"] == [f"{script} is left out: its text holds a secret"]


def test_an_export_takes_back_what_it_wrote_and_no_more(files: Shell, tmp_path: Path) -> None:
    removed, edited = files.data("import", "doc", "docs/deploy.md"), files.data("import", "script", "tools/hi.sh")
    target = tmp_path / "reference"
    files("export", "reference", str(target))
    doc, script = target / "repo/docs/unversioned/deploy.md", target / "repo/scripts/unversioned/hi.sh"
    script.write_text("mine now", "utf-8")
    (target / "own.txt").write_text("mine", "utf-8")
    for row in (removed, edited):
        files("resource", "retire", row["id"])

    data = files.data("export", "reference", str(target))

    assert [(row["what"], row["path"]) for row in data["changes"]] == [("remove", "repo/docs/unversioned/deploy.md")]
    assert "is not what was written there" in data["notes"][0]
    assert not doc.parent.parent.exists()
    assert (script.read_text("utf-8"), (target / "own.txt").read_text("utf-8")) == ("mine now", "mine")


def test_an_export_leads_nowhere_else(files: Shell, tmp_path: Path) -> None:
    files.data("import", "script", "tools/hi.sh")
    target, outside = tmp_path / "reference", tmp_path / "outside"
    outside.mkdir()
    (outside / "keep.txt").write_text("keep", "utf-8")
    assert files("export", "reference", str(target))[0] == 0
    (listed,) = (files.root / ".git/orbit/reference").iterdir()
    digest = raw_digest(b"keep")
    listed.write_text(json.dumps({"files": {"../outside/keep.txt": digest, "/etc/passwd": digest}}), "utf-8")

    assert files("export", "reference", str(target))[0] == 0
    assert (outside / "keep.txt").exists()
    (target / "repo").rename(target / "moved")
    (target / "repo").symlink_to(outside)
    assert files("export", "reference", str(target))[0] == 1
    assert [path.name for path in outside.iterdir()] == ["keep.txt"]
    assert files("export", "reference", ".orbit/x")[0] == 1
