"""What source files say of records: the cases of `tests/cases/source_citations.yaml`, imports, and
how often a file is read.
"""

import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.files import commit, make_workspace, write, write_learning, write_record

from orbit_registry.formats.sources import DATA_LIMIT, SOURCE_LIMIT, is_readable_source, is_source
from orbit_registry.formats.yaml import load
from orbit_registry.repository.reader import read_collection
from orbit_registry.search.source_files import MANY, SourceFiles
from orbit_registry.workspace.workspace import open_workspace

CASES: Any = load((Path(__file__).parents[2] / "cases/source_citations.yaml").read_text("utf-8"))
FILES = {"ADR-": ("adrs", "adr"), "L-": ("learnings", "learning"), "R-": ("rules", "rule")}
FIELDS = {
    "adr": {"status": "accepted"},
    "learning": {"status": "active"},
    "rule": {"status": "approved", "rationale": "So."},
}


def write_case_record(root: Path, record_id: str, document: str | None, names: list[str]) -> None:
    plural, kind = FILES[record_id.partition("-")[0] + "-"]
    headline = "summary" if kind == "learning" else "title"
    fields: dict[str, object] = {**FIELDS[kind], headline: record_id, "legacy_ids": names}
    if document is not None:
        path, _, heading = document.partition("#")
        fields["source"] = {"path": path, **({"heading": heading} if heading else {})}
        write(root, path, f"# {record_id}\n")
    if kind == "rule":
        fields["approval"] = {"approved_by": "Ada", "approved_at": "2026-01-01T00:00:00Z"}
    write_record(root, f".orbit/{plural}/{record_id}/{kind}.yaml", **fields)


def sources_in(root: Path) -> SourceFiles:
    workspace = open_workspace(root)
    records = [*read_collection(workspace).records]
    return SourceFiles(workspace, records, workspace.git.tracked() or [])


@pytest.fixture(scope="module")
def cited(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """Return the ids that each file of the table cites."""
    root = make_workspace(tmp_path_factory.mktemp("citing"))
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    address = "https://example.org/acme/shop.git"
    subprocess.run(["git", "remote", "add", "origin", address], cwd=root, check=True)
    for record in CASES["records"]:
        write_case_record(root, *record)
    for path, text, _ in CASES["cited"]:
        write(root, path, text)
    subprocess.run(["git", "add", "-Af"], cwd=root, check=True)

    found = sources_in(root).cited
    return {path: [record.id for record in records] for path, records in found.items()}


@pytest.mark.parametrize(("path", "text", "ids"), CASES["cited"])
def test_files_of_code_and_configuration_cite(
    cited: dict[str, list[str]], path: str, text: str, ids: list[str]
) -> None:
    assert cited.get(path, []) == ids


@pytest.mark.parametrize(("path", "expected"), CASES["sources"])
def test_code_is_told_by_its_name(path: str, expected: bool | None) -> None:
    assert is_source(path) is expected


@pytest.mark.parametrize(
    ("path", "content", "expected"),
    [
        ("a.py", b"x\n" * 10_000, True),
        ("a.py", b"x" * (SOURCE_LIMIT + 1), False),
        ("a.json", b"{}\n" * (DATA_LIMIT // 3), True),
        ("a.json", b"{}\n" * DATA_LIMIT, False),
        ("a.js", b"var x;" * 10_000, False),
        ("a.py", b"x\0y", False),
        ("run", b"#!/bin/sh\n", True),
        ("run", b"ADR-0012\n", False),
    ],
)
def test_dumps_minified_texts_and_data_are_not_read(
    path: str, content: bytes, expected: bool
) -> None:
    assert is_readable_source(path, content) is expected


IMPORTS = [
    # prefixes of names, in the language's own form
    ("a.py", "import redis\n", ["redis"]),
    ("b.py", "import redis.asyncio as r\n", ["redis"]),
    ("c.py", "from redis import Redis\n", ["redis"]),
    ("d.py", "import redislite, myredis, redis_lock\n", []),
    ("e.py", "from django.db.models import Model\n", ["django.db"]),
    ("f.py", "from django import (\n    db,  # the store\n)\n", ["django.db"]),
    ("g.py", "from django import http\nimport django.dbx\n", []),
    ("h.py", "try:\n    import os; import redis\nexcept ImportError:\n    pass\n", ["redis"]),
    ("i.py", "if TYPE_CHECKING:\n    from redis import Redis\n", ["redis"]),
    ("j.py", '"""\nimport redis\n"""\n# import redis\nx = "import redis"\n', []),
    ("k.py", "def f(:\n    import redis\n", ["redis"]),
    ("src/django/core/l.py", "from ..db import models\n", ["django.db"]),
    ("a.ts", "import Redis from 'redis';\n", ["redis"]),
    ("b.ts", "import x from 'redis/client';\n", ["redis"]),
    ("c.js", "const x = require('redis-mock');\n", []),
    ("d.js", "const x = require(`redis`);\n", ["redis"]),
    ("e.tsx", "export * from '@acme/ui';\n", ["@acme/ui"]),
    (
        "f.tsx",
        "import { B } from '@acme/ui/button';\nimport c from '@acme/ui-kit';\n",
        ["@acme/ui"],
    ),
    ("g.mjs", "await import('lodash/fp')\n", ["lodash/fp"]),
    ("h.mjs", "import _ from 'lodash'\n", []),
    ("i.go", 'package a\nimport "github.com/redis/go-redis/v9"\n', ["github.com/redis/go-redis"]),
    (
        "j.go",
        'package a\nimport (\n\tr "github.com/redis/go-redis"\n)\n',
        ["github.com/redis/go-redis"],
    ),
    ("k.rs", "use redis::{Client, aio::Connection};\n", ["redis"]),
    ("L.java", "import org.springframework.data.redis.core.X;\n", ["org.springframework.data"]),
    ("m.sql", "-- import redis\n", []),
    ("n.md", "import redis\n", []),
]


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """Return what each file of the table imports of what three records use."""
    pytest.importorskip("ast_grep_py")
    root = make_workspace(tmp_path_factory.mktemp("importing"))
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    names = ["redis", "django.db", "@acme/ui", "lodash/fp"]
    write_learning(root, 1, scope={"uses": names})
    write_learning(root, 2, scope={"uses": ["github.com/redis/go-redis", "redis"]})
    write_learning(root, 3, scope={"uses": ["org.springframework.data"]}, status="retired")
    write_learning(root, 4, scope={"uses": ["org.springframework.data"]})
    write_learning(root, 5, scope={"uses": ["os"]}, status="retired")
    for path, text, _ in IMPORTS:
        write(root, path, text)
    subprocess.run(["git", "add", "-Af"], cwd=root, check=True)
    return {path: [*found] for path, found in sources_in(root).imported.items()}


@pytest.mark.parametrize(("path", "text", "names"), IMPORTS)
def test_files_import_the_packages_that_open_records_name(
    imported: dict[str, list[str]], path: str, text: str, names: list[str]
) -> None:
    assert imported.get(path, []) == names


def test_a_line_is_that_of_the_file_as_it_is_now(git_repo: Path) -> None:
    root = make_workspace(git_repo)
    write_case_record(root, "ADR-0012", "docs/adr/0012-use-redis.md", [])
    write(root, "src/a.py", "\n# ADR-0012\n")
    commit(root)
    path = ".orbit/adrs/ADR-0012/adr.yaml"
    assert sources_in(root).lines("src/a.py") == {path: 2}

    write(root, "src/a.py", "\n\n\n# ADR-0012, see docs/adr/0012-use-redis.md\n# ADR-0012\n")
    assert sources_in(root).lines("src/a.py") == {path: 4}
    assert sources_in(root).lines("README.md") == sources_in(root).lines("src/gone.py") == {}


def test_a_folder_that_became_a_link_is_not_followed(git_repo: Path) -> None:
    root = make_workspace(git_repo)
    write_case_record(root, "ADR-0012", "docs/adr/0012-use-redis.md", [])
    write(root, "src/a.py", "# ADR-0012\n")
    commit(root)
    (root / "src").rename(root / "elsewhere")
    (root / "src").symlink_to("elsewhere")
    assert sources_in(root).cited == {}


def test_files_that_the_configuration_excludes_cite_nothing(git_repo: Path) -> None:
    settings = 'citations: ["**/*.md", "!tests/**"]\ncode: ["src/**", "!src/demo.py"]\n'
    root = make_workspace(git_repo, settings)
    write_case_record(root, "ADR-0012", "docs/adr/0012-use-redis.md", [])
    for path in ("src/a.py", "src/demo.py", "tests/a.py", "lib/a.py"):
        write(root, path, "# ADR-0012\n")
    commit(root)
    assert sorted(sources_in(root).cited) == ["lib/a.py", "src/a.py"]


def test_of_many_files_those_that_git_lists_as_changed_are_read_again(git_repo: Path) -> None:
    root = make_workspace(git_repo)
    write_case_record(root, "ADR-0007", None, [])
    for number in range(MANY):
        write(root, f"src/{number % 50}/{number}.py", "")
    write(root, "src/0/0.py", "# as in ADR-0007\n")
    write(root, "src/1/1.py", "# as in ADR-0007\n")
    commit(root, "Many files")

    def citing() -> list[str]:
        return [*sources_in(root).cited]

    assert citing() == ["src/0/0.py", "src/1/1.py"]

    write(root, "src/0/0.py", "")
    write(root, "src/2/2.py", "# as in ADR-0007\n")
    (root / "src/1/1.py").unlink()
    assert citing() == ["src/2/2.py"]

    write(root, "src/1/1.py", "# as in ADR-0007\n")
    assert citing() == ["src/1/1.py", "src/2/2.py"]

    commit(root, "Edits")
    write(root, "src/3/3.py", "# as in ADR-0007\n")
    assert citing() == ["src/1/1.py", "src/2/2.py", "src/3/3.py"]

    write(root, "src/3/3.py", "")
    assert citing() == ["src/1/1.py", "src/2/2.py"]
