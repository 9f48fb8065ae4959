"""Votes on the site: numbers for programs, a drawing with words for people, under the policy of every page."""

from __future__ import annotations

import json
import re
from pathlib import Path

from tests.acceptance.site_cases import copied

from orbit_registry.registry import Registry
from orbit_registry.site.build import build_site


def test_programs_and_people_see_votes_by_month(tmp_path: Path) -> None:
    """`records.json` has the last 24 months, the page draws them and says them; the policy allows nothing for that."""
    root, out = copied("demo", tmp_path / "repo"), tmp_path / "site"
    registry = Registry.open(root)
    registry.vote("L-7k3fq", "T9")
    build_site(registry, out, snapshot=False)

    rows = {row["id"]: row for row in json.loads((out / "records.json").read_text("utf-8"))["records"]}
    assert rows["ADR-0001"]["votes"] is None
    votes = rows["L-7k3fq"]["votes"]
    assert (votes["count"], len(votes["months"]), votes["months"][-1]) == (2, 24, 1)
    page = (out / "learnings/L-7k3fq/index.html").read_text("utf-8")
    (label,) = re.findall(r'<svg class="orbit-sparkline" role="img" aria-label="([^"]*)"', page)
    assert label.startswith("Votes a month, the last 24 months: ")
    assert label.endswith(f"1 in {votes['until']}")
    other = (out / "adrs/ADR-0001/index.html").read_text("utf-8")
    assert "orbit-sparkline" not in other
    policy = re.compile(r'http-equiv="Content-Security-Policy" content="([^"]*)"')
    assert policy.findall(page) == policy.findall(other) != []
