"""What is there for feed readers and search engines:
whole by its formats, and worth reading without the site.
"""

import json
import re
from pathlib import Path
from xml.etree import ElementTree

from tests.acceptance.conftest import ADDRESS, DemoSite
from tests.acceptance.site_cases import site_of

SITEMAP = "{http://www.sitemaps.org/schemas/sitemap/0.9}"
ATOM = "{http://www.w3.org/2005/Atom}"


def test_every_page_of_the_sitemap_describes_itself(demo_site: DemoSite) -> None:
    site = demo_site(every_kind=True, has_address=True)
    listed = ElementTree.parse(site / "sitemap.xml").getroot()
    dates = {
        entry.findtext(f"{SITEMAP}loc", ""): entry.findtext(f"{SITEMAP}lastmod") for entry in listed
    }
    for address in dates:
        html = (site / address.removeprefix(ADDRESS) / "index.html").read_text("utf-8")
        metadata = dict(re.findall(r'<meta (?:property|name)="([a-z:]+)" content="([^"]*)"', html))
        assert metadata["description"] == metadata["og:description"] != "", address
        assert metadata["og:title"], address
        assert f'<link rel="canonical" href="{address}">' in html
        assert metadata["og:url"] == address
    rows = json.loads((site / "records.json").read_text("utf-8"))["records"]
    assert {ADDRESS + row["url"]: row["updated_at"] for row in rows}.items() <= dates.items()
    assert not [address for address in dates if "legacy" in address or "shell" in address]
    assert f"Sitemap: {ADDRESS}sitemap.xml" in (site / "robots.txt").read_text("utf-8")
    overview = (site / "design/core/1_overview/index.html").read_text("utf-8")
    assert '<meta name="description" content="See ADR-0' in overview


def test_an_address_is_written_as_formats_ask_for_it(tmp_path: Path) -> None:
    site = site_of("demo", tmp_path, "https://exämple.org/ü b/%20c")
    address = "https://xn--exmple-cua.org/%C3%BC%20b/%20c/"
    assert ElementTree.parse(site / "feed.xml").findtext(f"{ATOM}id") == address
    assert json.loads((site / "feed.json").read_text("utf-8"))["home_page_url"] == address
    listed = [
        entry.findtext(f"{SITEMAP}loc", "")
        for entry in ElementTree.parse(site / "sitemap.xml").getroot()
    ]
    assert f"{address}adrs/ADR-0002/" in listed
    assert all(url.startswith(address) and url.isascii() and " " not in url for url in listed)


def test_a_feed_without_an_address_has_a_valid_id(demo_site: DemoSite) -> None:
    site = demo_site()
    assert ElementTree.parse(site / "feed.xml").findtext(f"{ATOM}id") == "urn:orbit:Demo%20project"
