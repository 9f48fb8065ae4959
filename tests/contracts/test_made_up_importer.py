"""An importer is one module in `orbit_registry/importers`."""

from pathlib import Path

import pytest

from orbit_registry import importers
from orbit_registry.importers.importer import import_from

MODULE = """
from orbit_registry.operations.import_report import Outcome, TakeoverReport


class NotesImporter:
    name = "notes"

    def detects(self, path):
        return (path / "notes.txt").is_file()

    def run(self, path, start, *, assume, dry_run):
        return TakeoverReport(self.name, str(path), dry_run, (Outcome("taken", "notes.txt", "L-00000", ""),), ())


IMPORTERS = (NotesImporter(),)
"""


@pytest.mark.parametrize("source", ["notes", "auto"])
def test_a_new_module_is_an_importer(source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    modules, project = tmp_path / "modules", tmp_path / "project"
    modules.mkdir()
    project.mkdir()
    (modules / "notes.py").write_text(MODULE, "utf-8")
    (project / "notes.txt").write_text("Keep the queue short.\n", "utf-8")
    monkeypatch.setattr(importers, "__path__", [*importers.__path__, str(modules)])

    report = import_from(project, source, start=project)

    assert (report.format, report.records) == ("notes", ("L-00000",))
