"""A feed is XML, whatever stands in a title."""

from xml.etree import ElementTree

from orbit_registry.site.feeds import ATOM, files

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
