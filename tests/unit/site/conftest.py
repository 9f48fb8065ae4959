"""What the site's unit tests share: a site map of a small repository."""

from pathlib import Path

import pytest

from orbit_registry.formats.citations import IdForms
from orbit_registry.formats.hosting import FORMS, Forge
from orbit_registry.site.sitemap import SiteMap


@pytest.fixture
def site(tmp_path: Path) -> SiteMap:
    """Return the map of a repository with two records, two documents,
    a picture and a file of code.
    """
    for name in (
        "docs/design/core/1_overview.md",
        "docs/design/core/4_decisions.md",
        "src/a.py",
        "docs/p.png",
        ".env.png",
    ):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("x", "utf-8")
    mirrored = {
        "docs/design/core/1_overview.md": "design/core/1_overview/",
        "docs/design/core/4_decisions.md": "design/core/4_decisions/",
    }
    return SiteMap(
        root=tmp_path,
        forge=Forge("https://github.com/acme/demo", "main", form=FORMS["github"]),
        forms=IdForms(("ADR-",), ("L-",)),
        records={
            "ADR-0002": "adrs/ADR-0002/",
            "ADR-0003": "adrs/ADR-0003/",
            "L-7k3fq": "learnings/L-7k3fq/",
        },
        legacy={"core/ADR-001": "adrs/ADR-0002/"},
        documents=mirrored,
        mirrored=mirrored,
        shared=frozenset({"ADR-003"}),
        entries={("docs/design/core/4_decisions.md", 2): "adrs/ADR-0002/"},
        names={"TASK-7": "tasks/#task-TASK-7", "L20260517-4": "learnings/L-7k3fq/"},
        labels={"adrs/ADR-0002/": "Use <files> (accepted)", "learnings/L-7k3fq/": "UTC (active)"},
    )
