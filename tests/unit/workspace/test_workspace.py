"""Finding the workspace around a folder, and the user's own folders."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.files import make_workspace, write

from orbit_registry.errors import (
    ConfigError,
    ForeignWorkspaceError,
    UsageError,
    WorkspaceNotFoundError,
)
from orbit_registry.hook.other_paths import place_of
from orbit_registry.model.kind import load_kinds
from orbit_registry.operations.init import setup_workspace
from orbit_registry.workspace.workspace import (
    find_workspace,
    git_folder,
    open_workspace,
    path_from_root,
    project_path,
    user_cache,
    user_home,
)

KINDS = Path(__file__).parents[2] / "cases" / "kinds"


def test_the_search_ends_at_a_repository(workspace_root: Path) -> None:
    inner = workspace_root / "vendor"
    (inner / ".git").mkdir(parents=True)

    with pytest.raises(WorkspaceNotFoundError) as caught:
        find_workspace(inner)

    assert caught.value.hint == "run `orbit init` first"


def test_the_nearest_workspace_wins(workspace_root: Path) -> None:
    inner = workspace_root / "inner"
    shutil.copytree(workspace_root / ".orbit", inner / ".orbit")

    assert find_workspace(inner).root == inner


def test_a_root_is_absolute(workspace_root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(workspace_root)
    assert open_workspace(Path()).root == workspace_root


@pytest.mark.parametrize("make", ["file", "link", "broken link"])
def test_an_orbit_that_is_no_folder_is_said(tmp_path: Path, make: str) -> None:
    orbit = tmp_path / ".orbit"
    if make == "file":
        orbit.write_text("x", "utf-8")
    else:
        (tmp_path / "other").mkdir()
        orbit.symlink_to(tmp_path / ("other" if make == "link" else "nothing"))

    with pytest.raises(WorkspaceNotFoundError, match=r"is not a folder|is a link to"):
        find_workspace(tmp_path)


def test_a_link_in_the_place_of_the_folder_is_named_with_what_to_type(tmp_path: Path) -> None:
    make_workspace(tmp_path / "real records")
    project = tmp_path / "project"
    project.mkdir()
    (project / ".orbit").symlink_to("../real records/.orbit")

    with pytest.raises(WorkspaceNotFoundError, match="is a link to") as caught:
        find_workspace(project)

    commands = re.findall("`([^`]+)`", caught.value.hint or "")
    for command in commands:
        subprocess.run(["sh", "-c", command], cwd=project, check=True)
    assert find_workspace(project).root == project


def test_a_submodule_names_the_project_around_it(git_repo: Path) -> None:
    make_workspace(git_repo)
    inner = git_repo / "vendor/my lib"
    inner.mkdir(parents=True)
    subprocess.run(["git", "init", "-q", str(inner)], check=True)

    with pytest.raises(WorkspaceNotFoundError) as caught:
        find_workspace(inner)

    assert f"{git_repo}, which has records: `orbit -C" in (caught.value.hint or "")


def test_an_orbit_without_a_configuration_is_foreign(tmp_path: Path) -> None:
    (tmp_path / ".orbit/state").mkdir(parents=True)
    with pytest.raises(ForeignWorkspaceError) as caught:
        find_workspace(tmp_path)
    assert caught.value.hint == "run `orbit init`"

    (tmp_path / ".orbit/adrs").mkdir()
    with pytest.raises(ForeignWorkspaceError) as caught:
        find_workspace(tmp_path)
    assert "orbit init" not in caught.value.hint
    assert "git restore .orbit/config.yaml" in caught.value.hint
    assert "orbit import" in caught.value.hint


def test_records_without_a_configuration_get_a_new_one(tmp_path: Path) -> None:
    setup_workspace(tmp_path, load_kinds())
    (tmp_path / ".orbit/config.yaml").unlink()
    record = tmp_path / ".orbit/learnings/L-7k3fq/learning.yaml"
    record.parent.mkdir(parents=True)
    record.write_text("schema_version: 1\nid: L-7k3fq\n", "utf-8")
    with pytest.raises(ForeignWorkspaceError):
        setup_workspace(tmp_path, load_kinds())

    record.write_text("schema_version: 1\nid: L-7k3fq\nuid: abc\n", "utf-8")
    setup_workspace(tmp_path, load_kinds())
    assert find_workspace(tmp_path).root == tmp_path


def test_kinds_of_its_own_belong_to_the_workspace(workspace_root: Path) -> None:
    shutil.copytree(KINDS / "experiment", workspace_root / ".orbit/kinds/experiment")
    assert [kind.name for kind in open_workspace(workspace_root).kinds] == [
        *(kind.name for kind in load_kinds()),
        "experiment",
    ]

    write(workspace_root, ".orbit/kinds/broken/kind.yaml", "kind: broken\n")
    with pytest.raises(ConfigError, match=r"broken/kind\.yaml"):
        open_workspace(workspace_root)


NOWHERE = Path("/nonexistent")


@pytest.mark.parametrize(
    ("environment", "home"),
    [({"HOME": "/home/ada"}, Path("/home/ada")), ({"HOME": "home/ada"}, NOWHERE)],
)
def test_a_home_is_a_whole_path(
    environment: dict[str, str], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A relative one would be a folder of whatever project the command runs in."""
    monkeypatch.setenv("HOME", environment["HOME"])
    monkeypatch.setenv("XDG_CACHE_HOME", "also/relative")

    assert (user_home(), user_cache()) == (home, home / ".cache/orbit-registry")


@pytest.mark.skipif(os.getuid() != 0, reason="needs the superuser: it may become another user")
def test_an_unknown_user_has_no_home() -> None:
    script = (
        "import os; from pathlib import Path; from orbit_registry.errors import "
        "WorkspaceNotFoundError\n"
        "from orbit_registry.workspace.workspace import checkout_cache, user_home\n"
        "from orbit_registry.workspace.workspace import find_workspace\n"
        "os.setuid(54321)\n"
        "try: find_workspace(Path('/tmp'))\n"
        "except WorkspaceNotFoundError: print(user_home(), checkout_cache(Path('/')))"
    )
    environment = {
        name: value for name, value in os.environ.items() if name not in ("HOME", "XDG_CACHE_HOME")
    }
    completed = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True
    )

    assert (completed.stdout, completed.stderr) == (f"{NOWHERE} None\n", "")


@pytest.mark.parametrize("path", ["\0", "src/a\0.py", "src/\0/a.py"])
def test_a_path_with_a_zero_byte_is_refused_in_words(workspace_root: Path, path: str) -> None:
    with pytest.raises(UsageError, match="zero byte"):
        project_path(path)

    with pytest.raises(UsageError, match="zero byte"):
        path_from_root(workspace_root, workspace_root, path)


def test_a_link_is_no_folder_of_kinds(tmp_path: Path) -> None:
    """A change of what it leads to would be none of the project's settings."""
    setup_workspace(tmp_path, load_kinds())
    root = tmp_path
    (tmp_path / "elsewhere").mkdir()
    (root / ".orbit/kinds").symlink_to(tmp_path / "elsewhere")

    with pytest.raises(ConfigError, match="is a symbolic link"):
        open_workspace(root)


@pytest.mark.parametrize("text", ["gitdir: /nowhere\n", "gitdir:\n", "other\n", "", "\0"])
def test_a_pointer_to_nothing_leads_to_no_folder_of_git(tmp_path: Path, text: str) -> None:
    for name in ("one", "two"):
        write(tmp_path, f"{name}/.git", text)

    one, two = tmp_path / "one", tmp_path / "two"
    assert git_folder(one) is None
    assert place_of(str(one), f"{two}/src/a.py") == ""
