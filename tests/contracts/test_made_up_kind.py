"""A kind is a folder: one that nobody's code knows gets verbs, checks,
rows and pages by standing there.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.files import configure

from orbit_registry.doors.cli.main import run
from orbit_registry.model.kind import SHIPPED, load_kinds
from orbit_registry.registry import Registry
from orbit_registry.repository.writer import create_record

CASES = Path(__file__).parent.parent / "cases/kinds"


class Shell:
    """Runs `orbit` in a folder, in this process."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self.capsys = capsys

    def json(self, *arguments: str, code: int = 0) -> Any:
        """Run a command that has to end with `code`, and return the data of its JSON."""
        assert code == run([*arguments, "--format", "json"]), self.capsys.readouterr()
        return json.loads(self.capsys.readouterr().out)

    def text(self, *arguments: str, code: int = 0) -> str:
        """Run a command that has to end with `code`, and return what it prints, errors too."""
        ended = run(list(arguments))
        printed = self.capsys.readouterr()
        assert code == ended, printed
        return printed.out + printed.err


@pytest.fixture
def shell(
    git_repo: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Shell:
    monkeypatch.chdir(git_repo)
    result = Shell(capsys)
    result.text("init", "--yes")
    shutil.copytree(CASES / "experiment", git_repo / ".orbit/kinds/experiment")
    return result


def test_the_verbs_come_with_the_folder(shell: Shell) -> None:
    request = [
        "--question",
        "Is it?",
        "--runs",
        "3",
        "--blind",
        "--measure",
        "time",
        "--path",
        "src/**",
        "--yes",
    ]
    first = shell.json("experiment", "add", "--title", "First", *request)["data"]
    second = shell.json(
        "experiment", "add", "--title", "Second", "--question", "Is it now?", "--yes"
    )["data"]

    assert tuple(first[name] for name in ("status", "runs", "blind", "measures")) == (
        "running",
        3,
        True,
        ["time"],
    )
    listed = shell.json("experiment", "list")["data"]
    assert {first["id"], second["id"]} == {record["id"] for record in listed}
    assert "Is it?" in shell.text("show", first["id"])
    assert shell.json("experiment", "update", first["id"], "--runs", "4")["data"]["runs"] == 4
    shell.text("experiment", "supersede", first["id"], "--with", second["id"])
    assert shell.json("show", first["id"])["data"]["status"] == "superseded"
    assert shell.json("experiment", "end", second["id"])["data"][0]["status"] == "ended"
    assert "can't become running" in shell.text("experiment", "start", second["id"], code=1)


def test_its_schema_guards_it_like_any_other(shell: Shell) -> None:
    created = shell.json("experiment", "add", "--title", "One", "--question", "Is it?", "--yes")[
        "data"
    ]
    file = Path(created["path"])
    file.write_text(file.read_text("utf-8") + "run: 3\n", "utf-8")

    text = shell.text("check", code=1)

    line = file.read_text("utf-8").count("\n")
    assert f"{created['path']}:{line}:1: error ORB104 unknown field `run`" in text
    assert "did you mean `runs`?" in text


def test_an_agent_proposes_it_and_a_person_starts_it(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ORBIT_ACTOR", "agent")
    created = shell.json("experiment", "add", "--title", "One", "--question", "Is it?")["data"]
    assert created["path"].startswith(".orbit/state/inbox/experiments/")
    shell.text("experiment", "start", created["id"], code=1)

    monkeypatch.setenv("ORBIT_ACTOR", "human")
    shell.text("experiment", "start", created["id"])

    assert (
        f".orbit/experiments/{created['id']}/experiment.yaml"
        == shell.json("show", created["id"])["data"]["path"]
    )


def test_a_citation_of_it_that_leads_nowhere_is_found(shell: Shell) -> None:
    existing = shell.json(
        "experiment", "add", "--title", "One", "--question", "After X-zz9zz", "--yes"
    )["data"]["id"]
    configure(Path(), 'code: ["src/**"]\n')
    Path("README.md").write_text(f"# Read\n\nX-86, X-shaped, {existing}, and X-yy8yy.\n", "utf-8")
    Path("src").mkdir()
    Path("src/app.py").write_text("# see X-ww7ww\n", "utf-8")

    text = shell.text("check", code=1)

    file = f".orbit/experiments/{existing}/experiment.yaml"
    line = Path(file).read_text("utf-8").splitlines().index("question: After X-zz9zz") + 1
    places = [
        path
        for path, _, remainder in (entry.partition(": error ") for entry in text.splitlines())
        if "ORB305" in remainder
    ]
    assert sorted(places) == sorted([f"{file}:{line}:17", "README.md:3:30", "src/app.py:1:7"])


def test_a_new_number_is_followed_by_citations(shell: Shell) -> None:
    shutil.copytree(CASES / "requirement", ".orbit/kinds/requirement")
    for title in ("It runs", "It stops"):
        shell.text("requirement", "add", "--title", title, "--wording", "See REQ-0001.", "--yes")
    Path("README.md").write_text(
        "REQ-0001, REQ 1, REQs 2 and 1, ADR-0001, REQ-00010 and PRE-REQ-0001\n", "utf-8"
    )

    done = shell.json("requirement", "renumber", "REQ-0001")["data"]

    assert done["to"] == "REQ-0003"
    assert [(entry["path"], entry["column"]) for entry in done["unclear"]] == [
        ("README.md", 11),
        ("README.md", 29),
    ]
    text = "REQ-0003, REQ 1, REQs 2 and 1, ADR-0001, REQ-00010 and PRE-REQ-0001\n"
    assert Path("README.md").read_text("utf-8") == text
    assert shell.json("show", "REQ-0002")["data"]["wording"] == "See REQ-0003."
    assert shell.json("show", "REQ-0001")["data"]["id"] == "REQ-0003"


def test_a_kind_with_its_text_in_a_file_is_read(shell: Shell) -> None:
    shutil.copytree(CASES / "sample", ".orbit/kinds/sample")
    Path("src").mkdir()
    Path("src/app.md").write_text("# One\n\nThe zebra.\n", "utf-8")
    registry = Registry.open()
    fields = {
        "title": "Good",
        "path": "src/app.md",
        "size": "small",
        "scope": {"paths": ["src/**"]},
    }
    kind = registry.workspace.kinds["sample"]
    created = create_record(registry.workspace, kind, registry.author(), fields, attachments={})

    assert "The zebra." in shell.text("show", created.id)
    rows = shell.json("query", "SELECT record_id, body FROM chunks")["data"]
    assert rows == [{"record_id": created.id, "body": "# One\n\nThe zebra."}]
    assert f"- [{created.id}] Good\n  more: src/app.md" in shell.text("match", "src/x.py")
    assert kind.place(created.data) == 2
    assert kind.place({}) == 8
    assert shell.json("search", "zebra")["data"]
    Path("src/app.md").unlink()
    assert "ORB703" in shell.text("check", code=1)


def test_the_site_has_its_page_and_its_index(shell: Shell, tmp_path: Path) -> None:
    pytest.importorskip("material", reason="the site extra is not installed")
    created = shell.json(
        "experiment", "add", "--title", "Is it quick", "--question", "Is it?", "--yes"
    )["data"]

    shell.text("site", "build", "--out", str(tmp_path / "site"))

    page = tmp_path / "site/experiments" / created["id"] / "index.html"
    assert "Is it quick" in page.read_text("utf-8")
    assert created["id"] in (tmp_path / "site/experiments/index.html").read_text("utf-8")


def test_a_kind_can_be_shipped_without_python(git_repo: Path, tmp_path: Path) -> None:
    package = tmp_path / "package/orbit_registry"
    shutil.copytree(SHIPPED.parent, package)
    shutil.copytree(CASES / "experiment", package / "kinds/experiment")
    environment = {**os.environ, "PYTHONPATH": str(package.parent)}

    def orbit(*arguments: str, code: int = 0) -> Any:
        command = [
            sys.executable,
            "-m",
            "orbit_registry.doors.cli.main",
            *arguments,
            "--format",
            "json",
        ]
        ended = subprocess.run(
            command, cwd=git_repo, env=environment, capture_output=True, text=True, check=False
        )
        assert ended.returncode == code, ended
        return json.loads(ended.stdout)

    orbit("init", "--yes", "--schemas")
    assert (git_repo / ".orbit/schemas/experiment.schema.json").is_file()
    created = orbit(
        "experiment", "add", "--title", "One", "--question", "Is it?", "--path", "src/**", "--yes"
    )["data"]
    (git_repo / "README.md").write_text("As X-zz9zz says.\n", "utf-8")
    assert [
        row["code"] for row in orbit("check", code=1)["diagnostics"] if row["severity"] == "error"
    ] == ["ORB305"]
    rows = orbit("query", "SELECT id, kind, phase FROM records")["data"]
    assert [{"id": created["id"], "kind": "experiment", "phase": "live"}] == rows


@pytest.mark.parametrize("name", sorted(folder.name for folder in CASES.iterdir()))
def test_each_case_is_a_whole_kind(name: str) -> None:
    kind = load_kinds(CASES)[name]

    assert name == kind.name
    assert set(kind.initial.values()) <= set(kind.statuses)
