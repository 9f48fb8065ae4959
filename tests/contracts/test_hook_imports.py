"""What stands between an agent and its tool starts bare: the modules it loads, and those it must never load."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

TOOLING = Path(__file__).resolve().parents[2] / "tooling"
MODULES = sorted(
    ".".join(path.relative_to(TOOLING).with_suffix("").parts).removesuffix(".__init__")
    for path in (TOOLING / "orbit_registry/hook").rglob("*.py")
    if path.stem != "launch"
)
COSTLY = {"re", "json", "typing", "dataclasses", "pathlib", "os", "enum", "datetime", "collections", "functools"}


def loaded(module: str) -> set[str]:
    """Return what a bare interpreter has loaded after importing a module."""
    program = f"import sys; sys.path.insert(0, {str(TOOLING)!r}); import {module}; print(*sys.modules)"
    bare = [sys.executable, "-I", "-S", "-E", "-c", program]
    return set(subprocess.run(bare, capture_output=True, text=True, check=True).stdout.split())


@pytest.mark.parametrize("module", MODULES)
def test_a_module_of_push_starts_without_site(module: str) -> None:
    """Each one can be imported by `python -I -S -E`: it needs no installed library."""
    assert module in loaded(module)


def test_the_client_loads_nothing_costly() -> None:
    """The hook starts without regular expressions, JSON, types, paths or even `os`."""
    found = loaded("orbit_registry.hook.client")
    assert found & COSTLY == set()
    assert {name for name in found if name.startswith("orbit_registry.")} <= {"orbit_registry.hook", *MODULES}


def test_a_call_loads_one_agents_dialect() -> None:
    """The client alone loads none, and naming an agent loads its module and no other."""
    folder = "orbit_registry.hook.dialects."
    assert not [name for name in loaded("orbit_registry.hook.client") if name.startswith(folder)]
    program = "import orbit_registry.hook.client as client; client.dialect('claude')"
    found = {name for name in loaded("sys; " + program) if name.startswith(folder)}
    assert found == {f"{folder}claude"}
