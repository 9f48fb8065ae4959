"""Indexes: the filter in a real browser and its state in the address;
timeline and drawings, which need no script.
"""

import json
import re
from collections.abc import Callable, Iterator
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from tests.acceptance import browsing
from tests.acceptance.conftest import DemoSite
from tests.acceptance.site_cases import copied

from orbit_registry.registry import Registry
from orbit_registry.site.build import build_site

Look = Callable[[str], tuple[str, str]]
ROW = re.compile(r'<tr class="orbit-row-[a-z]+">(.*?)</tr>', re.DOTALL)


@pytest.fixture
def site(synthetic_site: Path) -> Path:
    return synthetic_site


@pytest.fixture(scope="module")
def served(synthetic_site: Path) -> Iterator[str]:
    with browsing.served(synthetic_site) as url:
        yield url


def rows(html: str) -> list[list[str]]:
    cells_by_row = []
    for row in ROW.findall(html):
        cells = re.findall(r"<td[^>]*>(.*?)</td>", row, re.DOTALL)
        cells_by_row.append([unescape(re.sub(r"<[^>]+>", "", cell)) for cell in cells])
    return cells_by_row


def records(site: Path, kind: str) -> list[dict[str, Any]]:
    listed = json.loads((site / "records.json").read_text("utf-8"))["records"]
    return [row for row in listed if row["kind"] == kind]


def words(row: dict[str, Any]) -> str:
    return " ".join(
        [row["id"], row["title"], *row["tags"], *row["legacy_ids"], *row["fields"].values()]
    ).lower()


def test_a_filter_in_the_address_is_applied(site: Path, served: str, look: Look) -> None:
    listed = records(site, "learning")
    tag = max(
        (tag for record in listed for tag in record["tags"]),
        key=lambda tag: sum(tag in record["tags"] for record in listed),
    )
    active = [record for record in listed if tag in record["tags"] and record["status"] == "active"]
    word = active[0]["title"].split()[0].lower()
    expected = [record["id"] for record in active if word in words(record)]

    dom, console = look(f"{served}learnings/?tag={quote(tag)}&status=active&find={word}")

    assert console == ""
    assert 0 < len(expected) < len(active)
    assert [row[0] for row in rows(dom)] == expected
    assert re.search(rf'<output aria-live="polite">{len(expected)} found</output>', dom)
    assert re.search(r'name="status" value="active" aria-pressed="true"', dom)


def test_the_filter_lists_the_rows_of_the_index(site: Path, served: str, look: Look) -> None:
    for kind in ("adr", "learning"):
        statuses = "&".join(
            sorted({f"status={record['status']}" for record in records(site, kind)})
        )
        plain = rows((site / f"{kind}s/index.html").read_text("utf-8"))
        assert rows(look(f"{served}{kind}s/?{statuses}")[0]) == plain


def test_filtered_rows_have_the_code_and_links_of_the_index(look: Look, tmp_path: Path) -> None:
    root = copied("demo", tmp_path / "repo")
    record = root / ".orbit/adrs/ADR-0001/adr.yaml"
    title = "title: Keep `sessions` in **memory**, as [before](0001.md)"
    record.write_text(re.sub("(?m)^title: .*$", title, record.read_text("utf-8")), "utf-8")
    build_site(Registry.open(root), tmp_path / "site", snapshot=False)

    def marks(html: str) -> list[tuple[str, ...]]:
        superseded = next(row for row in ROW.findall(html) if "superseded" in row)
        return re.findall(
            r'href="(?:[^"]*/)?(ADR-\d+)/"|(<code>.*</strong>, as before<)', superseded
        )

    with browsing.served(tmp_path / "site") as url:
        filtered = marks(look(f"{url}adrs/?status=superseded")[0])
    marked = "<code>sessions</code> in <strong>memory</strong>, as before<"
    assert filtered == marks((tmp_path / "site/adrs/index.html").read_text("utf-8"))
    assert filtered == [("ADR-0001", ""), ("ADR-0001", ""), ("", marked), ("ADR-0002", "")]


def test_an_index_says_how_often_a_record_is_cited(look: Look, demo_site: DemoSite) -> None:
    site = demo_site()
    cited = {record["id"]: str(record["cited_by"] or "") for record in records(site, "adr")}
    assert any(cited.values())
    html = (site / "adrs/index.html").read_text("utf-8")
    assert {row[0]: row[-1] for row in rows(html)} == cited
    with browsing.served(site) as url:
        dom, _ = look(f"{url}adrs/?find=a")
    assert {row[0]: row[-1] for row in rows(dom)} == cited


def test_each_page_of_a_long_index_has_its_own_title(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("orbit_registry.site.lists.ROWS_A_PAGE", 2)
    root, site = copied("demo", tmp_path / "repo"), tmp_path / "site"
    build_site(Registry.open(root), site, snapshot=False)
    pages = [site / "adrs/index.html", *sorted(site.glob("adrs/page/*/index.html"))]
    titles = [
        unescape(re.findall(r"<title>(.*?)</title>", page.read_text("utf-8"))[0]) for page in pages
    ]
    assert len(titles) > 2
    assert len(set(titles)) == len(titles)
