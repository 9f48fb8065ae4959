"""The code that a hook runs, kept in one file: it is used where it fits, and nothing but the time tells whether."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from orbit_registry.push import bundle

BARE = [sys.executable, "-I", "-S", "-E"]


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """Return a copy of what hooks run, with its code kept."""
    package = tmp_path / "lib/orbit_registry"
    shutil.copytree(Path(bundle.__file__).parent, package / "push", ignore=shutil.ignore_patterns("*.pyc"))
    shutil.copy(Path(bundle.__file__).parents[1] / "__init__.py", package)
    (package / "push/__pycache__").mkdir(exist_ok=True)
    assert renewed(package)
    return package


def renewed(package: Path) -> bool:
    """Return whether code had to be kept anew."""
    said = f"import sys; sys.path.insert(0, {str(package.parent)!r}); from orbit_registry.push import bundle as kept"
    return subprocess.check_output([*BARE, "-c", f"{said}; print(kept.renew())"], text=True) == "True\n"


@pytest.fixture
def asked(package: Path, tmp_path: Path) -> Callable[[str], tuple[str, set[str]]]:
    """Return what calls a hook in a project without an index: its reply, and which of our modules it imported."""
    root = tmp_path / "project"
    for inbox in ("L-00001", "L-00002"):
        (root / ".orbit/state/inbox/learnings" / inbox).mkdir(parents=True)
    (root / ".orbit/config.yaml").touch()

    def ask(agent: str) -> tuple[str, set[str]]:
        payload = {"hook_event_name": "SessionStart", "session_id": "s", "cwd": str(root), "source": "startup"}
        done = subprocess.run(
            [*BARE, "-X", "importtime", str(package / "push/launch.py"), agent], input=json.dumps(payload), text=True,
            capture_output=True, env={"ORBIT_HOOK_DEADLINE_MS": "60000"}, check=True,
        )  # fmt: skip
        names = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
        return done.stdout, {name for name in names if name.startswith("orbit_registry")}

    return ask


def kept_file(package: Path) -> Path:
    """Return the file of code."""
    (file,) = (package / "push/__pycache__").glob("calls.*.pyc")
    return file


def test_a_call_imports_no_module_that_is_kept(package: Path, asked: Callable[[str], tuple[str, set[str]]]) -> None:
    """All that a call needs comes from one file, in an order in which none of it asks for what is not made yet."""
    reply, imported = asked("claude")

    assert "2 records await review" in reply
    assert not imported & {f"orbit_registry.{name}".rstrip(".") for name in bundle.MODULES}
    assert "orbit_registry.push.dialects.claude" not in imported
    assert not renewed(package)


@pytest.mark.parametrize("fault", ["touched", "longer", "cut off", "no code", "gone"])
def test_what_does_not_fit_is_not_used(package: Path, asked: Callable[[str], tuple[str, set[str]]], fault: str) -> None:
    """A hook answers from the sources that are there, whatever was kept of others or of none."""
    file, source = kept_file(package), package / "push/client.py"
    if fault == "touched":
        source.touch()
    elif fault == "longer":
        source.write_text(source.read_text("utf-8") + "\n", "utf-8")
    elif fault == "gone":
        file.unlink()
    else:
        file.write_bytes(file.read_bytes()[:5000] if fault == "cut off" else b"i\x01\x00\x00\x00")

    reply, imported = asked("claude")

    assert "2 records await review" in reply
    assert "orbit_registry.push.client" in imported
    assert renewed(package)


def test_every_dialect_is_kept() -> None:
    """No agent that has a dialect of its own is slower for being forgotten here."""
    files = (Path(bundle.__file__).parent / "dialects").glob("*.py")
    assert {file.stem for file in files} - {"__init__", "opencode"} == set(bundle.DIALECTS)
