"""Where resources are met: in search, in what is pushed, in the gate, on the site."""

from pathlib import Path

import pytest
from tests.acceptance.cli.conftest import Shell
from tests.conftest import Git
from tests.files import commit

HOSTILE = "#!/bin/sh\n# <script>alert(1)</script> <img src=x onerror=alert(1)>\n# ```\necho zebra\n"


@pytest.fixture
def script(shell: Shell, git: Git) -> str:
    """Return the id of a script that is committed, taken over and applies to the sources."""
    Path("tools").mkdir()
    Path("tools/hi.sh").write_text(HOSTILE, "utf-8")
    commit(shell.root, "Add a script")
    return str(shell.data("import", "script", "tools/hi.sh", "--title", "Say hi", "--path", "src/**")["id"])


def test_a_script_that_changed_is_in_doubt(shell: Shell, script: str) -> None:
    assert shell("check")[0] == 0
    Path("tools/hi.sh").write_text(HOSTILE + "# more\n", "utf-8")

    assert f"ORB807 tools/hi.sh has changed since {script} was taken from it" in shell("check")[1]
    (stale,) = shell.data("stale")
    assert (stale["id"], stale["cause"]) == (script, "source")
    assert stale["do"][0] == f"orbit refresh {script}"
    shell("sync")
    assert "may be out of date: source" in shell("match", "src/app.py")[1]
    assert shell("refresh", script)[0] == 0
    shell("sync")
    assert "may be out of date" not in shell("match", "src/app.py")[1]
    assert shell("check")[0] == 0

    Path("tools/hi.sh").unlink()
    code, output, _ = shell("check")
    assert code == 1
    assert f"{script} has its text in tools/hi.sh, which is not there" in output


def test_its_page_shows_the_text_and_runs_none_of_it(shell: Shell, script: str, tmp_path: Path) -> None:
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


LONG = "\n\n".join(f"## Part {name}\n\n{f'All of {name}. ' * 120}" for name in ("setup", "rollback", "audit"))


@pytest.mark.parametrize("command", [["show"], ["resource", "show"]])
def test_a_chunk_that_a_hit_names_can_be_shown(shell: Shell, command: list[str]) -> None:
    Path("guide.md").write_text(LONG, "utf-8")
    resource = shell.data("import", "doc", "guide.md")["id"]
    (hit,) = shell.data("search", "rollback")["hits"]
    name = f"{resource}#{hit['chunk']['code']}"

    data = shell.data(*command, name)

    assert f"orbit show {name}" in shell.json("search", "rollback")[1]["next"]
    assert name in shell("search", "rollback")[1]
    assert (data["id"], data["chunk"]) == (resource, hit["chunk"])
    assert data["prose"].startswith("## Part rollback")
    assert shell(*command, f"{resource}#part-rollback")[1] == shell(*command, name)[1]
    assert shell(*command, name)[1].startswith(f"{name}  {hit['chunk']['breadcrumb']}\n")
