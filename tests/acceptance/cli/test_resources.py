"""Resources by the command line: inputs without an end, exports that lead elsewhere,
pages of hostile texts.
"""

import contextlib
import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.acceptance.cli.conftest import Shell
from tests.conftest import Git
from tests.files import commit

from orbit_registry.exchange.resources.intake import raw_digest

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


def test_an_export_believes_no_list_that_came_with_a_clone(
    files: Shell, git: Git, tmp_path: Path
) -> None:
    data, target = files.data("import", "doc", "docs/deploy.md"), tmp_path / "reference"
    assert files("export", "reference", str(target))[0] == 0
    (listed,) = (files.root / ".git/orbit/reference").iterdir()
    (target / "mine.txt").write_text("mine", "utf-8")
    content = json.dumps({"files": {"mine.txt": raw_digest(b"mine")}})
    listed.unlink()
    files("resource", "retire", data["id"])
    for forged in (
        target / ".orbit-reference.json",
        files.root / ".orbit/state/reference" / listed.name,
    ):
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
    listed.write_text(
        json.dumps({"files": {"../outside/keep.txt": digest, "/etc/passwd": digest}}), "utf-8"
    )

    assert files("export", "reference", str(target))[0] == 0
    assert (outside / "keep.txt").exists()
    (target / "repo").rename(target / "moved")
    (target / "repo").symlink_to(outside)
    assert files("export", "reference", str(target))[0] == 1
    assert [path.name for path in outside.iterdir()] == ["keep.txt"]
    assert files("export", "reference", ".orbit/x")[0] == 1


@pytest.mark.parametrize(
    "command",
    [
        "import doc - --title T",
        "learning add --summary S --path x.py --body-file -",
        "learning add --summary S --path x.py --body-file /dev/stdin",
    ],
)
def test_an_input_without_an_end_is_not_read_to_it(shell: Shell, command: str) -> None:
    ours = [sys.executable, "-m", "orbit_registry.doors.cli.main", *command.split()]
    with subprocess.Popen(ours, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(b"x" * 2_000_000)
        try:  # the pipe is still open
            code = process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
        output = process.stderr.read().decode()
        with contextlib.suppress(BrokenPipeError):
            process.stdin.close()

    assert code == 1, output
    assert "more than 1,000,000 bytes" in output
    assert not Path(".orbit/resources").exists()


HOSTILE = "#!/bin/sh\n# <script>alert(1)</script> <img src=x onerror=alert(1)>\n# ```\necho zebra\n"


@pytest.fixture
def script(shell: Shell, git: Git) -> str:
    """Return the id of a script that is committed, taken over and applies to the sources."""
    Path("tools").mkdir()
    Path("tools/hi.sh").write_text(HOSTILE, "utf-8")
    commit(shell.root, "Add a script")
    return str(
        shell.data("import", "script", "tools/hi.sh", "--title", "Say hi", "--path", "src/**")["id"]
    )


def test_its_page_shows_the_text_and_runs_none_of_it(
    shell: Shell, script: str, tmp_path: Path
) -> None:
    pytest.importorskip("material", reason="the site extra is not installed")
    Path("guide.md").write_text("# Guide\n\n## Steps\n\n<script>alert(2)</script> go\n", "utf-8")
    doc = shell.data("import", "doc", "guide.md", "--version", "2.1")["id"]

    Path("docs/deploying.md").write_text("# How we deploy\n\n## Roll back\n\nThen.\n", "utf-8")
    shell("import", "doc", "docs/deploying.md", "--version", "1.0")
    new = shell.data("import", "doc", "docs/deploying.md", "--version", "2.0")["id"]
    decision = Path("docs/adr/0001-use-sqlite.md")
    links = "[a](../deploying.md) [b](../deploying.md#roll-back) [c](../../tools/hi.sh#L2)"
    decision.write_text(f"{decision.read_text('utf-8')}\n{links}\n", "utf-8")

    assert shell("site", "build", "--out", str(tmp_path / "site"))[0] == 0

    linking = (tmp_path / "site/adrs/ADR-0001/index.html").read_text("utf-8")
    assert f'href="../../resources/{new}/#s-roll-back"' in linking
    assert linking.count(f'href="../../resources/{new}/"') == 1
    assert linking.count(f'href="../../resources/{script}/"') == 1
    page = (tmp_path / "site/resources" / script / "index.html").read_text("utf-8")
    assert "echo zebra" in page
    assert "&lt;script&gt;alert(1)" in page
    other = (tmp_path / "site/resources" / doc / "index.html").read_text("utf-8")
    assert 'id="s-steps"' in other
    assert "versions 2.1" in other
    for text in (page, other):
        assert "<script>alert" not in text
        assert "<img src=x" not in text
