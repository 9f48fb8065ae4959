"""What files name is read once and then comes from the cache."""

from typing import Any

from orbit_registry.snapshot.rows import References, citing_references


def test_what_a_file_names_comes_from_the_cache(project: Any) -> None:
    (project.root / "docs").mkdir()
    (project.root / "docs/guide.md").write_text("As ADR-0001 says, see [the log](log.md).\n", "utf-8")
    first = citing_references(project.workspace, ["docs/guide.md"])
    assert first["docs/guide.md"] == References((("ADR-0001", 1),), (("log.md", 1),))
    cache = project.workspace.cache
    assert cache._rows("SELECT path FROM files WHERE namespace LIKE 'citing %'") == [("docs/guide.md",)]
    assert citing_references(project.workspace, ["docs/guide.md"]) == first
