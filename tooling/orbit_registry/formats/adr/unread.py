"""Statuses in a syntax that is not read: they are quoted, so that no document counts as silent
that states one.
"""

import re

from orbit_registry.formats.adr.status_line import normalise_status
from orbit_registry.formats.untrusted import cut

_KEY = r"(?:status|statut|estado|stato|zustand)"
_HEAD = 6_000  # characters of a decision that may state its status
_QUOTED = 80
_SYNTAXES = tuple(
    (name, re.compile(pattern, re.IGNORECASE | re.MULTILINE))
    for name, pattern in (
        (
            "front matter in JSON",
            rf"\A\ufeff?(?:;;;|---json)?\s*\{{[^}}]{{0,2000}}?\"{_KEY}\"\s*:\s*"
            r"\"(?P<words>[^\"\r\n]{1,200})\"",
        ),
        ("a comment", rf"<!--\s*{_KEY}\s*[:=]\s*(?P<words>[^>\r\n]{{1,200}}?)\s*-->"),
        ("a keyword of Org", rf"^#\+{_KEY}:[ \t]*(?P<words>\S[^\r\n]{{0,200}})"),
        ("a field of reStructuredText", rf"^:{_KEY}:[ \t]*(?P<words>\S[^\r\n]{{0,200}})"),
        (
            "a component",
            rf"<(?:[A-Z]\w*)?(?:status|badge|tag|chip|label|pill)\w*(?:\s[^<>]{{0,200}}?"
            rf"(?:text|{_KEY}|value|label|title)=[\"'](?P<words>[^\"'<>\r\n]{{1,200}})[\"'])",
        ),
        (
            "a component",
            r"<(?P<tag>(?:[A-Z]\w*)?(?:status|badge|tag|chip|label|pill)\w*)\b[^<>]{0,200}>"
            r"\s*(?P<words>[^<\r\n]{1,200}?)\s*</(?P=tag)>",
        ),
        (
            "an admonition",
            r"^(?:!!!|\?\?\?\+?|:::+)[ \t]*\{?[\w-]{1,20}\}?[ \t]*[\"\[]?"
            r"(?P<words>[^\"\]\r\n]{1,200})",
        ),
        ("a shortcode", rf"\{{\{{[<%][ \t]*{_KEY}[ \t]+[\"']?(?P<words>[^\"'%>\r\n]{{1,80}})"),
    )
)
_ONLY_KNOWN = ("a component", "an admonition", "a shortcode")
"""Syntaxes that pages have for other words too."""


def unread_status(text: str) -> tuple[str, str]:
    """Return the words of a status and the syntax that holds them; both are empty without one."""
    head = text[:_HEAD]
    for name, pattern in _SYNTAXES:
        for match in pattern.finditer(head):
            words = " ".join(match["words"].split())
            is_status = name not in _ONLY_KNOWN or normalise_status(words)[0] != "unknown"
            if words and is_status:
                return cut(words, _QUOTED), name

    return "", ""
