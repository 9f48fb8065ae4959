"""What commands say where there is no git, no repository or no commit, by the rows of
`tests/cases/without_git.yaml`.
"""

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.files import make_workspace, write, write_learning

from orbit_registry.doors.cli.main import run

TABLE = Path(__file__).parents[1] / "cases/without_git.yaml"
ROWS: list[dict[str, Any]] = yaml.safe_load(TABLE.read_text("utf-8"))


@pytest.mark.parametrize(
    "row", ROWS, ids=lambda row: f"{row['without']}-{' '.join(row['command'])}"
)
def test_a_command_says_what_is_missing(
    tmp_path: Path,
    row: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    root = tmp_path / "project"
    root.mkdir()
    subprocess.run(["git", "init", "-q", "-b", "main", str(root)], check=True)
    make_workspace(root)
    write_learning(root, 1)
    write(root, "src/a.py")
    if row["without"] == "repository":
        shutil.rmtree(root / ".git")
    elif row["without"] == "program":
        (tmp_path / "programs").mkdir()
        monkeypatch.setenv("PATH", str(tmp_path / "programs"))

    monkeypatch.chdir(root)
    code = run(row["command"])

    answer = " ".join("".join(capsys.readouterr()).split())
    for words in row["says"]:
        assert words in answer
    for words in row.get("never", ()):
        assert words not in answer
    assert code == row["code"]
