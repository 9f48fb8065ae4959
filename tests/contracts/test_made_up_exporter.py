"""An exporter of rules is one module in `orbit_registry/exporters`."""

import sys
from pathlib import Path

import pytest

from orbit_registry import exporters
from orbit_registry.cli.main import run

MODULE = """
from orbit_registry.exporters.rules import Language, RuleFormat


def head(globs):
    return f"applies: {' '.join(globs)}\\n"


LANGUAGE = Language(lambda alternative: alternative.text, lambda alternative: ())
EXPORTERS = (RuleFormat("madeup", ".madeup", "orbit-", ".rule", False, LANGUAGE, head),)
"""


@pytest.mark.usefixtures("git_repo")
def test_a_new_module_is_an_exporter(
    tmp_path: Path, git_repo: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "modules"
    folder.mkdir()
    (folder / "madeup.py").write_text(MODULE, "utf-8")
    monkeypatch.setattr(exporters, "__path__", [*exporters.__path__, str(folder)])
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.chdir(git_repo)
    (git_repo / "src").mkdir()
    (git_repo / "src/dates.py").touch()
    assert run(["init", "--yes"]) == 0
    assert run(["learning", "add", "--summary", "Parse dates strictly", "--path", "src/**", "--yes"]) == 0

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
