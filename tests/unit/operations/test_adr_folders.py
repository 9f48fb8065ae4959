"""Folders of decisions are known from the configurations of other tools."""

from pathlib import Path

import pytest

from orbit_registry.operations.adr_folders import named_folders


@pytest.mark.parametrize(
    ("name", "text", "folders"),
    [
        (".adr-dir", "docs/choices\n", ("docs/choices",)),
        (".adr-dir", "./docs/choices/\r\n", ("docs/choices",)),
        (
            ".log4brains.yml",
            "project:\n  name: x\n  adrFolder: ./docs/choices\n"
            "  packages:\n    - name: a\n      adrFolder: ./packages/a/notes\n",
            ("docs/choices", "packages/a/notes"),
        ),
        ("adrs.toml", "adr_dir = 'docs/choices'\n", ("docs/choices",)),
        (".adr.json", '{"language": "en", "path": "docs/choices/"}', ("docs/choices",)),
        ("adrkit.yaml", "adrs:\n  dir: docs/choices\n", ("docs/choices",)),
        (".adr-kit/config.yaml", "decisions: [docs/choices]\n", ("docs/choices",)),
        (".adr-dir", "../elsewhere", ()),
        (".adr-dir", "/etc", ()),
        (".adr-dir", "missing", ()),
        (".adr-dir", ".", ()),
        (".adr.json", "{", ()),
        ("adrs.toml", "adr_dir = [", ()),
        (".log4brains.yml", "- [", ()),
        (".adr-dir", "", ()),
    ],
)
def test_a_configuration_names_its_folders(
    tmp_path: Path, name: str, text: str, folders: tuple[str, ...]
) -> None:
    for folder in ("docs/choices", "packages/a/notes"):
        (tmp_path / folder).mkdir(parents=True)

    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert named_folders(tmp_path) == folders
