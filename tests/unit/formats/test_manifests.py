"""Manifests that a regular expression reads: each finds what its example names, and no comment."""

from collections.abc import Mapping
from contextlib import suppress
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


LONG = 100_000


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("package.json", '{"' + '\\"' * LONG),
        ("requirements.txt", "\n " * LONG),
        ("pom.xml", "<dependency>" * LONG),
        ("packages.config", "<package " * LONG),
        ("package.swift", ".package(" * LONG),
        ("podfile", "\n" * LONG),
        ("cartfile", "\n" * LONG),
        ("cpanfile", "\n" * LONG),
        ("pyproject.toml", "a" + ".a" * LONG + " = 1"),
    ],
)
@pytest.mark.timeout(20)
def test_a_hostile_text_costs_no_more_than_its_length(path: str, text: str) -> None:
    with suppress(manifests.ManifestError):
        assert list(manifests.dependencies(path, text)) == []


def test_many_packages_keep_their_lines() -> None:
    rows = "".join(f"implementation 'a:b{number}:1'\n" for number in range(20_000))

    lines = [row.line for row in manifests.dependencies("build.gradle", rows)]
    assert lines == list(range(1, 20_001))


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("x.versions.toml", "[libraries]\nx = {module = 5}\n"),
        ("x.versions.toml", "[libraries]\nx = {group = 1, name = 5}\n"),
        ("Cargo.toml", "[dependencies]\nx = {package = [5]}\n"),
        ("vcpkg.json", '{"dependencies": [5]}'),
        ("pnpm-workspace.yaml", "catalog: {1: 2}\n"),
        ("setup.py", "-" * LONG + "1"),
    ],
)
def test_what_its_tool_refuses_is_one_error(path: str, text: str) -> None:
    with pytest.raises(manifests.ManifestError):
        list(manifests.dependencies(path, text))
