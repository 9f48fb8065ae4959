"""Manifests that a regular expression reads: each finds what its example names, and no comment."""

from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml

from orbit_registry.formats import manifests

ROWS = yaml.safe_load(Path(manifests.__file__).with_name("manifests.yaml").read_text("utf-8"))
FILES = {
    r".*\.gradle(\.kts)?": "build.gradle.kts",
    r".*\.(cs|fs|vb)proj|directory\.(packages|build)\.props": "app.csproj",
    r"gemfile|gems\.rb": "Gemfile",
    r"conanfile\.(txt|py)": "conanfile.txt",
    r"deps\.edn|bb\.edn": "deps.edn",
}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["files"])
def test_an_example_is_read(row: Mapping[str, str]) -> None:
    plain = row["files"].replace(r".*\.", "x.").replace("\\", "")
    path = FILES.get(row["files"], plain)
    text = f"\n{row['example']}\n"

    names = [(found.name, found.line) for found in manifests.dependencies(path, text)]
    assert [name.rpartition(":")[2].rpartition("/")[2] for name, _ in names] == ["acme"]
    assert names[0][1] == text[: text.index("acme")].count("\n") + 1
