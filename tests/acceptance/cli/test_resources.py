"""Resources by the command line: taken over, brought up to date, found, and what is refused."""

import json
from pathlib import Path

import pytest
from tests.acceptance.cli.conftest import Shell
from tests.conftest import Git

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
