"""The site of a lake: repositories, decisions and the answers of the report,
with texts of strangers as texts.
"""

import html
import json
from pathlib import Path

import pytest
from tests.acceptance.cli.conftest import answer
from tests.acceptance.conftest import orbit
from tests.extras.fleet.conftest import MakeRepository, push
from tests.files import commit, write_record

from orbit_fleet.report import questions

pytest.importorskip("fsspec", reason="the fleet extra is not installed")
pytest.importorskip("material", reason="the site extra is not installed")
HOSTILE = "<img src=x onerror=alert(1)> | [x](javascript:alert(2)) `{{ 7*7 }}` **b**"


def test_a_site_shows_a_lake_and_runs_nothing_of_it(
    make_repository: MakeRepository, tmp_path: Path
) -> None:
    shop, lake, site = make_repository("shop"), tmp_path / "lake", tmp_path / "site"
    write_record(shop, ".orbit/adrs/ADR-0002/adr.yaml", title=HOSTILE, status="accepted")
    commit(shop)
    push(shop, lake)
    push(make_repository("cart"), lake)
    data = json.loads(
        orbit(tmp_path, "fleet", "site", "site", "--lake", str(lake), "--format", "json")
    )
    assert (data["diagnostics"], list(answer("fleet site").iter_errors(data["data"]))) == ([], [])
    pages = {
        page: (site / page / "index.html").read_text("utf-8")
        for page in ("", "decisions", "repeated-decisions", "repositories/shop")
    }
    assert {file.parent.name for file in site.glob("*/index.html")} >= questions().keys() - {
        "states",
        "members",
    }
    assert HOSTILE in html.unescape(pages["repositories/shop"])
    assert 'href="../repositories/shop/"' in pages["decisions"]
    assert not any(
        text in page for page in pages.values() for text in ("<img src=x", 'href="javascript')
    )
    assert "<td>shop</td>" in pages[""]
    assert "ADR-0001 Use PostgreSQL" in pages["repositories/shop"]
    assert "Use PostgreSQL" in pages["repeated-decisions"]


def test_a_title_that_is_too_long_is_refused(tmp_path: Path) -> None:
    words = ("fleet", "site", "out", "--lake", str(tmp_path), "--title", "x" * 300)
    assert "the title has 300 characters" in orbit(tmp_path, *words, code=2)
