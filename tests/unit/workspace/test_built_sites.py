"""Files of a built site, which no one wrote by hand, are not among the files of a project."""

from pathlib import Path

from orbit_registry.workspace.built_sites import without_sites


def test_pages_of_a_built_site_are_not_among_the_files(tmp_path: Path) -> None:
    paths = ["site.md", "site/.orbit-site.json", "site/adrs/ADR-0001/index.md", "src/a.py"]
    paths += ["manual/search/search_index.json", "manual/adr/0001-use-x/index.html", "manual/notes.md"]
    paths += ["manual/404.html", "docs/search/search_index.json", "docs/adr/0001-use-x.md"]
    assert without_sites(paths, tmp_path) == ["site.md", "src/a.py", *paths[-2:]]


def test_the_site_that_mkdocs_names_is_a_built_one(tmp_path: Path) -> None:
    (tmp_path / "mkdocs.yml").write_text("site_name: X\nsite_dir: './public'  # of pages\n", "utf-8")

    assert without_sites(["public/index.html", "public/adr/0001-a.md", "a.md"], tmp_path) == ["a.md"]
    assert without_sites(["public/adr/0001-a.md", "a.md"], tmp_path) == ["public/adr/0001-a.md", "a.md"]
