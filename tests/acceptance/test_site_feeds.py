"""The feeds of what changed last: whole by their formats, and worth reading without the site."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from xml.etree import ElementTree

from tests.acceptance.site_cases import site_of

ATOM = "{http://www.w3.org/2005/Atom}"


def test_both_feeds_are_whole_and_say_the_same(tmp_path: Path) -> None:
    """Every entry has a name of its own, a time and an absolute address, and says status and how the text begins."""
    site = site_of("demo", tmp_path, "https://example.org/d/", every_kind=True)
    feed = ElementTree.parse(site / "feed.xml").getroot()
    entries = feed.findall(f"{ATOM}entry")
    for element in (feed, *entries):  # what RFC 4287 asks of each; an author is enough in the feed
        for name in ("id", "title", "updated"):
            assert len(element.findall(f"{ATOM}{name}")) == 1
        datetime.fromisoformat(element.findtext(f"{ATOM}updated", ""))
    assert feed.find(f"{ATOM}author/{ATOM}name") is not None
    links = [link.get("href", "") for one in entries for link in one.findall(f"{ATOM}link")]
    assert all((site / link.removeprefix("https://example.org/d/") / "index.html").is_file() for link in links)
    assert len({one.findtext(f"{ATOM}id") for one in entries}) == len(entries) > 8

    other = json.loads((site / "feed.json").read_text("utf-8"))
    assert other["version"] == "https://jsonfeed.org/version/1.1"
    said = [(one["id"], one["url"], one["content_text"]) for one in other["items"]]
    assert said == [
        (one.findtext(f"{ATOM}id"), link, one.findtext(f"{ATOM}summary"))
        for one, link in zip(entries, links, strict=True)
    ]
    texts = {url.rstrip("/").rpartition("/")[2]: text for _, url, text in said}
    assert texts["ADR-0002"].startswith("In force: We need it, see ADR-0003")
