"""The route through Zensical: the same pages and findings as through MkDocs,
from the same staged tree.
"""

import re
from pathlib import Path

import pytest
from tests.acceptance.site_cases import copied

from orbit_registry.registry import Registry
from orbit_registry.site.build import build_site


def test_the_site_is_the_same_through_zensical(tmp_path: Path) -> None:
    pytest.importorskip("zensical", reason="needs Zensical: `nox -s zensical` brings it")
    results = {}
    for generator in ("mkdocs", "zensical"):
        root = copied("demo", tmp_path / generator / "repo")
        config = root / ".orbit/config.yaml"
        config.write_text(
            f"{config.read_text('utf-8').rstrip()}\n  generator: {generator}\n", "utf-8"
        )
        results[generator] = build_site(
            Registry.open(root), tmp_path / generator / "site", snapshot=False
        )
    first, second = (tmp_path / name / "site" for name in results)
    assert pages(first) == pages(second)
    for page in (
        "adrs/ADR-0002/index.html",
        "learnings/L-7k3fq/index.html",
        "design/core/1_overview/index.html",
    ):
        assert prose(first / page) == prose(second / page)
    findings = [
        sorted((problem.code, str(problem.location)) for problem in result.diagnostics)
        for result in results.values()
    ]
    assert findings[0] == findings[1]


def pages(site: Path) -> set[str]:
    return {path.relative_to(site).as_posix() for path in site.rglob("*.html")}


def prose(page: Path) -> str:
    """Return what a page says in its article, without markup."""
    match = re.search(r"<article.*</article>", page.read_text("utf-8"), re.DOTALL)
    assert match is not None
    return " ".join(re.sub(r"<[^>]*>", " ", match[0]).split())
