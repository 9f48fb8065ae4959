"""What stands between an agent and its tool starts bare:
the modules it loads, and those it must never load.
"""

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
AGENTS = sorted(
    f"orbit_registry.agents.{path.stem}"
    for path in (TOOLING / "orbit_registry/agents").glob("*.py")
    if "def read(" in path.read_text("utf-8")
    or "import SURFACES, read, reply" in path.read_text("utf-8")
)
WORDS = {"orbit_registry.model", "orbit_registry.model.fields", "orbit_registry.model.reach"}
COSTLY = {
    "re",
    "json",
    "typing",
    "dataclasses",
    "pathlib",
    "os",
    "enum",
    "datetime",
    "collections",
    "functools",
}


def loaded(module: str) -> set[str]:
    program = (
        f"import sys; sys.path.insert(0, {str(TOOLING)!r}); import {module}; print(*sys.modules)"
    )
    bare = [sys.executable, "-I", "-S", "-E", "-c", program]
    return set(subprocess.run(bare, capture_output=True, text=True, check=True).stdout.split())


@pytest.mark.parametrize("module", MODULES)
def test_a_module_of_the_hook_starts_without_site(module: str) -> None:
    assert module in loaded(module)


def test_the_client_loads_nothing_costly() -> None:
    modules = loaded("orbit_registry.hook.client")
    assert modules & COSTLY == set()
    assert {name for name in modules if name.startswith("orbit_registry.")} <= {
        "orbit_registry.hook",
        *MODULES,
        *WORDS,
    }


def test_a_prompt_loads_nothing_costly() -> None:
    assert loaded("orbit_registry.hook.question") & COSTLY == set()


@pytest.mark.parametrize("module", AGENTS)
def test_an_agent_loads_nothing_costly(module: str) -> None:
    program = (
        f"sys; import orbit_registry.hook.client as client; "
        f"client.load_agent({module.rpartition('.')[2]!r})"
    )
    modules = loaded(program)
    assert modules & COSTLY == set()
    assert "orbit_registry.agents.agent" not in modules
    others = {name for name in modules if name.startswith("orbit_registry.agents.")} - {module}
    assert others == ({"orbit_registry.agents.generic"} if module.endswith("opencode") else set())
