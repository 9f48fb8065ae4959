"""A check, an exporter or an importer is one module: commands find it in its folder."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from orbit_registry.checks import rules
from orbit_registry.checks.check import all_checks, check_of
from orbit_registry.doors.cli.main import run
from orbit_registry.exchange import exporters, importers
from orbit_registry.exchange.importers.importer import import_from

CHECK = '''
from orbit_registry.checks.check import check
from orbit_registry.model.diagnostic import Severity


@check("ORB199", Severity.WARNING, "write it in lower case")
def shouting(context):
    """A title shouts."""
    for record in context.records:
        if record.title.isupper():
            where = context.at(record, record.kind.headline)
            yield shouting.at(where, f"{record.id} shouts", record=record)
'''


@pytest.fixture
def made_up(git_repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Add a folder with a made-up check to the rules, and a learning that it finds."""
    folder = tmp_path / "rules"
    folder.mkdir()
    (folder / "shouting.py").write_text(CHECK, "utf-8")
    monkeypatch.setattr(rules, "__path__", [*rules.__path__, str(folder)])
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.chdir(git_repo)
    assert run(["init", "--yes"]) == 0
    assert run(["learning", "add", "--summary", "PARSE DATES STRICTLY", "--path", "**"]) == 0
    all_checks.cache_clear()
    yield
    all_checks.cache_clear()
    sys.modules.pop(f"{rules.__name__}.shouting")


@pytest.mark.usefixtures("made_up")
def test_a_check_is_found_by_its_file(capsys: pytest.CaptureFixture[str]) -> None:
    def findings(output_format: str) -> Any:
        capsys.readouterr()
        assert run(["check", "--format", output_format]) == 0
        return json.loads(capsys.readouterr().out)

    (finding,) = [row for row in findings("json")["diagnostics"] if row["code"] == "ORB199"]
    assert (finding["severity"], finding["hint"]) == ("warning", "write it in lower case")

    (sarif,) = findings("sarif")["runs"]
    (rule,) = [rule for rule in sarif["tool"]["driver"]["rules"] if rule["id"] == "ORB199"]
    assert rule["properties"]["docs"] == "docs/reference/checks/shouting.md#orb199"
    assert "ORB199" in [result["ruleId"] for result in sarif["results"]]

    config = Path(".orbit/config.yaml")
    config.write_text(f"{config.read_text('utf-8')}checks: {{ignore: [ORB199]}}\n", "utf-8")
    assert "ORB199" not in [row["code"] for row in findings("json")["diagnostics"]]
    assert check_of("ORB199") is not None


EXPORTER = """
from orbit_registry.exchange.exporters.rules import RuleFormat


def head(globs):
    return f"applies: {' '.join(globs)}\\n"


def spelling(alternative):
    return alternative.text


EXPORTERS = (RuleFormat("madeup", ".madeup", "orbit-", ".rule", False, spelling, head),)
"""


@pytest.mark.usefixtures("git_repo")
def test_a_new_module_is_an_exporter(
    tmp_path: Path,
    git_repo: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder = tmp_path / "modules"
    folder.mkdir()
    (folder / "madeup.py").write_text(EXPORTER, "utf-8")
    monkeypatch.setattr(exporters, "__path__", [*exporters.__path__, str(folder)])
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.chdir(git_repo)
    (git_repo / "src").mkdir()
    (git_repo / "src/dates.py").touch()
    assert run(["init", "--yes"]) == 0
    assert (
        run(["learning", "add", "--summary", "Parse dates strictly", "--path", "src/**", "--yes"])
        == 0
    )

    assert run(["export", "rules", "--agent", "madeup", "--check"]) == 1
    assert run(["export", "rules", "--agent", "madeup"]) == 0
    (file,) = (git_repo / ".madeup").iterdir()
    text = file.read_text("utf-8")
    assert text.startswith("applies: src/**\n")
    assert "Parse dates strictly" in text
    assert run(["export", "rules", "--agent", "madeup", "--check"]) == 0

    capsys.readouterr()
    assert run(["export", "rules", "--agent", "none"]) == 2
    assert "madeup" in capsys.readouterr().err
    sys.modules.pop(f"{exporters.__name__}.madeup")


IMPORTER = """
from orbit_registry.operations.import_report import Outcome, TakeoverReport


class NotesImporter:
    name = "notes"

    def detects(self, path):
        return (path / "notes.txt").is_file()

    def run(self, path, start, *, assume, dry_run):
        return TakeoverReport(self.name, str(path), dry_run, (Outcome("taken", "notes.txt", "L-00000", ""),), ())


IMPORTERS = (NotesImporter(),)
"""  # noqa: E501


@pytest.mark.parametrize("source", ["notes", "auto"])
def test_a_new_module_is_an_importer(
    source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    modules, project = tmp_path / "modules", tmp_path / "project"
    modules.mkdir()
    project.mkdir()
    (modules / "notes.py").write_text(IMPORTER, "utf-8")
    (project / "notes.txt").write_text("Keep the queue short.\n", "utf-8")
    monkeypatch.setattr(importers, "__path__", [*importers.__path__, str(modules)])

    report = import_from(project, source, start=project)

    assert (report.format, report.records) == ("notes", ("L-00000",))
