"""A check is one function in one file: the gate, its formats and its options find it there."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from orbit_registry.checks import rules
from orbit_registry.checks.check import all_checks, check_of
from orbit_registry.cli.main import run

CHECK = '''
from orbit_registry.checks.check import check
from orbit_registry.model.diagnostic import Severity


@check("ORB199", Severity.WARNING, "write it in lower case")
def shouting(context):
    """A title shouts."""
    for record in context.records:
        if record.title.isupper():
            yield shouting.at(context.at(record, record.kind.headline), f"{record.id} shouts", record=record)
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
