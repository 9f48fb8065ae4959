"""A feed is XML, whatever stands in a title."""

import json
from xml.etree import ElementTree

from orbit_registry.model.kind import load_kinds
from orbit_registry.model.record import Record
from orbit_registry.site.feeds import ATOM, JSON_FEED, files

ADR = load_kinds()["adr"]
MOMENT = "2026-11-30T10:00:00Z"
ADOPTED = {"name": "Ada", "role": "import"}
COMMON = {"uid": "0" * 32, "status": "accepted", "created_by": ADOPTED, "created_at": MOMENT}
TITLE = "{http://www.w3.org/2005/Atom}title"


def may_be_in_xml(character: str) -> bool:
    """Say what XML 1.0 says of a character, in its production 2, but for a carriage return."""
    code = ord(character)
    return (
        code in (0x9, 0xA) or 0x20 <= code <= 0xD7FF or 0xE000 <= code <= 0xFFFD or code >= 0x10000
    )


def test_a_feed_holds_only_valid_xml_characters() -> None:
    title = "".join(map(chr, range(0x10000))) + "\U0001f6f0"
    feed = dict(files([], title, "https://example.org/", lambda record: ""))[ATOM]
    read = ElementTree.fromstring(feed.encode("utf-8"))
    assert read.findtext(TITLE) == "".join(filter(may_be_in_xml, title))


def test_an_adopted_decision_has_its_own_day() -> None:
    dates = ("2021-05-04", "2021-05", "")
    records = [
        Record(
            ADR,
            {"id": f"ADR-{number:04}", "title": "T", "date": date, "updated_at": MOMENT, **COMMON},
            "x",
        )
        for number, date in enumerate(dates, 1)
    ]
    edited = Record(ADR, {**records[0].data, "id": "ADR-0009", "updated_at": "2026-12-01"}, "y")
    feed = json.loads(dict(files([*records, edited], "T", None, lambda record: ""))[JSON_FEED])
    days = [(item["title"][:8], item["date_modified"][:10]) for item in feed["items"]]
    assert days == [
        ("ADR-0009", "2026-12-01"),
        ("ADR-0003", "2026-11-30"),
        ("ADR-0002", "2026-11-30"),
        ("ADR-0001", "2021-05-04"),
    ]
