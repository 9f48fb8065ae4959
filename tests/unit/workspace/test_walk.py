"""A walk through a project's folders: what is the project's own, in one order."""

from __future__ import annotations

from pathlib import Path

from orbit_registry.workspace.files import SKIPPED_FOLDERS, walk


def test_only_the_project_s_own_files_are_met(tmp_path: Path) -> None:
    """Folders of tools and packages are left out at every depth, links to folders are not followed."""
    for folder in ("", "src", "src/deep", ".hidden", *SKIPPED_FOLDERS, *(f"src/{name}" for name in SKIPPED_FOLDERS)):
        (tmp_path / folder).mkdir(exist_ok=True)
        (tmp_path / folder / "x.md").write_text("x", "utf-8")
    (tmp_path / "linked").symlink_to(tmp_path / "src")

    assert list(walk(tmp_path)) == ["x.md", ".hidden/x.md", "src/x.md", "src/deep/x.md"]
    assert list(walk(tmp_path, hidden=False)) == ["x.md", "src/x.md", "src/deep/x.md"]
    assert list(walk(tmp_path, "src", without=frozenset({"deep"}))) == ["src/x.md"]
    assert list(walk(tmp_path, tmp_path / "src/deep")) == ["src/deep/x.md"]
    assert not list(walk(tmp_path, "nothing"))
