"""A stranger's repository: its site holds no secret and no file from elsewhere,
and nothing outside is touched.
"""

import shutil
import subprocess
from pathlib import Path

import pytest
from tests.files import write

from orbit_registry.errors import RefusedError
from orbit_registry.registry import Registry
from orbit_registry.search.query import Query
from orbit_registry.site.build import build_site
from orbit_registry.site.output import SiteResult

DEMO = Path(__file__).parents[1] / "cases" / "site" / "demo"
SECRET = "ghp_" + "a8Kd93LmQz71XvBn" + "T5yRw2Ep6UcHs4Gj9fZo"
KEPT = (
    "schema_version",
    "id",
    "uid",
    "summary",
    "status",
    "created_at",
    "updated_at",
    "created_by",
)
OUTSIDE = "text that stands outside"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return a repository, beside a folder with files of someone else."""
    shutil.copytree(DEMO, tmp_path / "repo")
    (tmp_path / "repo/dot_orbit").rename(tmp_path / "repo/.orbit")
    (tmp_path / "elsewhere").mkdir()
    for name in ("1_note.md", "p.png", "index.html"):
        (tmp_path / "elsewhere" / name).write_text(f"# Note\n\n{OUTSIDE}\n", "utf-8")
    return tmp_path / "repo"


def build(root: Path) -> SiteResult:
    """Build the site of a repository, without the database."""
    return build_site(Registry.open(root), root / "site", snapshot=False)


def holders(root: Path, text: str) -> list[str]:
    tops = (root / "site", root / ".orbit/state/cache/site")
    return [
        str(file)
        for top in tops
        for file in top.rglob("*")
        if file.is_file() and text.encode() in file.read_bytes()
    ]


@pytest.mark.parametrize("is_own", [False, True])
def test_no_secret_is_published_or_kept(root: Path, is_own: bool) -> None:
    if is_own:
        (root / "mkdocs.yml").write_text("site_name: x\ntheme: material\n", "utf-8")
    (root / "docs/page.md").write_text(f"# Page\n\nkey {SECRET} [x](gone-{SECRET}.md)\n", "utf-8")
    (root / "docs/data.json").write_text(f'{{"key": "{SECRET}"}}', "utf-8")
    files = [*root.glob("docs/design/*/*.md"), *root.glob(".orbit/*/*/*.yaml")]
    for file in files:
        text = file.read_text("utf-8")
        text = (
            text.replace("title: ", f"title: {SECRET} ", 1)
            if file.suffix == ".yaml"
            else f"{text}\nkey {SECRET}\n"
        )
        file.write_text(text, "utf-8")
    write(root, ".orbit/adrs/ADR-0009/adr.yaml", f"{SECRET}: [")
    result = build(root)
    assert result.pages
    assert holders(root, SECRET) == []
    assert holders(root, "redacted: ")
    assert not any(SECRET in problem.message for problem in result.diagnostics)


def test_no_derived_file_holds_a_secret(root: Path) -> None:
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    for file in root.glob(".orbit/learnings/*/learning.yaml"):
        secrets = (
            f"\nbody: |\n  key {SECRET} here\nevidence:\n  - kind: file\n    reference: "
            f"{SECRET}/x.py\n"
        )
        glob = f"scope:\n  paths:\n    - {SECRET}/**\n"
        lines = [line for line in file.read_text("utf-8").split("\n") if line.split(":")[0] in KEPT]
        file.write_text("\n".join(lines) + secrets + glob, "utf-8")
    for _ in range(2):
        registry = Registry.open(root)
        assert any(
            problem.code == "ORB406" for problem in registry.check(everything=True).diagnostics
        )
        registry.freshness()
        registry.sync()
        registry.match(["src/x.py"])
        registry.search(Query("key here"))
    state = [file for file in (root / ".orbit/state").rglob("*") if file.is_file()]
    assert len(state) > 3
    assert [str(file) for file in state if SECRET.encode() in file.read_bytes()] == []


@pytest.mark.parametrize("link", ["docs/design", "docs/design/core"])
def test_documents_from_elsewhere_are_not_published(root: Path, link: str) -> None:
    shutil.rmtree(root / link)
    (root / link).symlink_to(root.parent / "elsewhere")
    result = build(root)
    assert holders(root, OUTSIDE) == []
    assert link != "docs/design" or any(problem.code == "SITE392" for problem in result.diagnostics)


def test_a_picture_from_elsewhere_is_not_published(root: Path) -> None:
    (root / "docs/img").symlink_to(root.parent / "elsewhere")
    with (root / "docs/design/core/1_overview.md").open("a", encoding="utf-8") as file:
        file.write("\n![p](../../img/p.png)\n")
    build(root)
    assert holders(root, OUTSIDE) == []


@pytest.mark.parametrize(
    "link",
    [
        "source",
        "source/docs",
        "source/link",
        "source/overrides",
        "generated",
        "generated/index.html",
        "build.lock",
        ".",
    ],
)
def test_a_planted_link_in_the_cache_is_refused(root: Path, link: str) -> None:
    planted = root / ".orbit/state/cache/site" / link
    planted.parent.mkdir(parents=True, exist_ok=True)
    target = root.parent / "elsewhere"
    planted.symlink_to(target / "index.html" if "." in link and link != "." else target)
    before = {file: file.read_bytes() for file in target.iterdir()}
    with pytest.raises(RefusedError, match="symbolic link"):
        build(root)
    assert {file: file.read_bytes() for file in target.iterdir()} == before


def test_a_module_of_the_repository_does_not_run(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "markdown.py").write_text("from pathlib import Path\nPath('ran').touch()\n", "utf-8")
    monkeypatch.chdir(root)
    build(root)
    assert not (root / "ran").exists()
