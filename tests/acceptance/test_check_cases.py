"""Every check on its cases, small workspaces as files: what `expected.json` lists is found, and
nothing else.

`_base/` is committed first, `_against/` is what the other branch adds meanwhile, the rest is the
work tree.
"""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.files import commit

from orbit_loop.loop import check_loop
from orbit_registry.checks.engine import CheckOutcome
from orbit_registry.model.diagnostic import Severity
from orbit_registry.registry import Registry

Git = Callable[..., str]
CASES = Path(__file__).resolve().parents[1] / "cases" / "checks"
CONFIG = "format: orbit-registry\nschema_version: 1\n"
RESERVED = frozenset({"expected.json", "_options.json", "_base", "_against", "_change", "fixed"})


def cases(prefix: str) -> list[Path]:
    """Return the case folders whose name begins with `pass` or `fail`."""
    return sorted(path for path in CASES.glob(f"ORB*/{prefix}*") if path.is_dir())


def options_of(case: Path) -> dict[str, Any]:
    """Return how a case is run: `against`, `git` (false: in no repository),
    `remove` (files gone since the base), `events` (a file of events, which alone is looked at),
    `history` (commits after the base: the message of a folder, or the revision that one reverts).
    """
    file = case / "_options.json"
    options: dict[str, Any] = json.loads(file.read_text("utf-8")) if file.exists() else {}
    return options


def build(case: Path, root: Path, git: Git) -> Path:
    """Lay a case out as a workspace at `root`."""
    options = options_of(case)
    root.mkdir()
    if options.get("git", True):
        git(root, "init", "-q", "-b", "main")
        if (case / "_base").is_dir():
            _lay(case / "_base", root)
        _commit(root, git, "Base")
        if (case / "_against").is_dir():
            _lay(case / "_against", root)
            _commit(root, git, "Theirs")
            git(root, "checkout", "-q", "-b", "work", "HEAD~1")
    for step in options.get("history", ()):
        if "reverts" in step:
            git(root, "revert", "--no-edit", step["reverts"])
        else:
            _lay(case / step["folder"], root)
            _commit(root, git, step["message"])
    _lay(case, root)
    for name in options.get("remove", ()):
        (root / name).unlink()
        (root / name).parent.rmdir()
    config = root / ".orbit" / "config.yaml"
    if not config.exists():
        config.parent.mkdir(exist_ok=True)
        config.write_text(CONFIG, "utf-8")
    return root


def _commit(root: Path, git: Git, message: str) -> None:
    commit(root, message)


def _lay(source: Path, root: Path) -> None:
    for entry in source.iterdir():
        if entry.name in RESERVED:
            continue
        if entry.is_dir():
            shutil.copytree(entry, root / entry.name, dirs_exist_ok=True)
        else:
            shutil.copy(entry, root / entry.name)


def check(case: Path, root: Path, git: Git) -> CheckOutcome:
    """Lay a case out and run the gate on it; with `events`, a file of theirs,
    the gate of the loop.
    """
    build(case, root, git)
    if "events" in options_of(case):
        return check_loop(Registry.open(root).workspace, root / options_of(case)["events"])
    return Registry.open(root).check(against=options_of(case).get("against"))


def name_of(case: Path) -> str:
    return f"{case.parent.name}-{case.name}"


@pytest.mark.parametrize("case", cases("fail"), ids=name_of)
def test_a_failing_case_gives_what_it_lists(case: Path, tmp_path: Path, git: Git) -> None:
    diagnostics = check(case, tmp_path / "case", git).diagnostics
    rows = [
        {
            "code": diagnostic.code,
            "severity": diagnostic.severity.value,
            "path": diagnostic.location.path,
            "line": diagnostic.location.position.line if diagnostic.location.position else None,
        }
        for diagnostic in diagnostics
    ]
    expected = json.loads((case / "expected.json").read_text("utf-8"))
    hints = [diagnostic.pop("hint", "") for diagnostic in expected]
    assert rows == expected
    assert [
        hint
        for hint, diagnostic in zip(hints, diagnostics, strict=True)
        if hint not in diagnostic.hint
    ] == []
    assert case.parent.name in {diagnostic.code for diagnostic in diagnostics}
    assert all(diagnostic.hint for diagnostic in diagnostics)


@pytest.mark.parametrize("case", cases("pass"), ids=name_of)
def test_a_passing_case_is_clean(case: Path, tmp_path: Path, git: Git) -> None:
    diagnostics = check(case, tmp_path / "case", git).diagnostics
    assert [
        str(diagnostic) for diagnostic in diagnostics if diagnostic.code == case.parent.name
    ] == []
    allowed = {"pass-unreadable-target"}
    assert (
        case.name in allowed
        or [str(diagnostic) for diagnostic in diagnostics if diagnostic.severity is Severity.ERROR]
        == []
    )


@pytest.mark.parametrize(
    "case", [case for case in cases("fail") if (case / "fixed").is_dir()], ids=name_of
)
def test_a_fix_leaves_what_the_case_shows(case: Path, tmp_path: Path, git: Git) -> None:
    root = build(case, tmp_path / "case", git)
    outcome = Registry.open(root).check(fix=True)
    assert case.parent.name not in {diagnostic.code for diagnostic in outcome.diagnostics}
    assert case.parent.name in {diagnostic.code for diagnostic in outcome.fixed}
    for file in sorted(path for path in (case / "fixed").rglob("*") if path.is_file()):
        name = file.relative_to(case / "fixed")
        files = [
            line
            for line in (root / name).read_text("utf-8").splitlines()
            if not line.startswith("updated_at:")
        ]
        assert files == file.read_text("utf-8").splitlines(), name
