"""Paths through links and in other work trees, as the hook tries globs on them."""

import subprocess
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML
from tests.files import commit, write

from orbit_registry.hook.call import Call
from orbit_registry.hook.payload import take_prompt
from orbit_registry.hook.project import project_paths

TABLE: dict[str, Any] = YAML(typ="safe").load(
    Path(__file__).parents[2] / "cases/push/other_paths.yaml"
)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("base").resolve()
    for path in TABLE["files"]:
        write(base, path)
    for name in ("repo", "other"):
        subprocess.run(["git", "init", "-q", str(base / name)], check=True)

    commit(base / "repo")
    for tree in ("../tree", ".trees/inner"):
        command = ["git", "worktree", "add", "-q", "--detach", tree]
        subprocess.run(command, cwd=base / "repo", check=True)
    for link, target in TABLE["links"].items():
        (base / link).symlink_to(target.replace("BASE", str(base)))

    return base


@pytest.mark.parametrize("case", TABLE["cases"], ids=lambda case: str(case["name"]))
def test_a_file_is_matched_by_its_own_path(base: Path, case: dict[str, Any]) -> None:
    def placed(text: str) -> str:
        return text.replace("BASE", str(base))

    root = placed(case.get("root", "BASE/repo"))
    folder = placed(case.get("folder", root))
    call = Call("PreToolUse", "tool")
    call.paths = [placed(case["path"])]
    if folder.startswith(f"{base}/alias"):
        root = folder

    assert project_paths(root, folder, call)[0] == case["paths"]


def test_a_prompt_leads_into_no_folder_outside(base: Path) -> None:
    """One of a network may not answer."""
    call = Call("UserPromptSubmit", "prompt")
    take_prompt(call, f"look at {base}/tree/src/a.py and link/a.py")

    assert project_paths(f"{base}/repo", f"{base}/repo", call)[0] == ["src/a.py", "link/a.py"]
