"""Statuses in a syntax that is not read: they are quoted, so that no document counts as silent
that states one.
"""

import re

from orbit_registry.formats.untrusted import cut

_KEY = r"(?:status|statut|estado|stato|zustand)"
_HEAD = 6_000  # characters of a decision that may state its status
_QUOTED = 80
_SYNTAXES = tuple(
    (name, re.compile(pattern, re.IGNORECASE | re.MULTILINE))
    for name, pattern in (
        (
            "front matter in TOML",
            rf"\A\ufeff?\+\+\+[ \t]*\r?\n(?:(?!\+\+\+).*\n){{0,80}}?[ \t]*{_KEY}[ \t]*=[ \t]*"
            r"(?P<mark>[\"'])(?P<words>[^\"'\r\n]{1,200})(?P=mark)",
        ),
        (
            "front matter in JSON",
            rf"\A\ufeff?(?:;;;|---json)?\s*\{{[^}}]{{0,2000}}?\"{_KEY}\"\s*:\s*"
            r"\"(?P<words>[^\"\r\n]{1,200})\"",
        ),
        (
            "a table in HTML",
            rf"<t[dh][^>]{{0,200}}>\s*(?:<[^>]{{1,80}}>\s*)?{_KEY}\s*:?\s*(?:</[a-z]{{1,8}}>\s*){{1,3}}"
            r"<t[dh][^>]{0,200}>\s*(?:<[^>]{1,80}>\s*)?(?P<words>[^<\r\n]{1,200})",
        ),
        (
            "a list in HTML",
            rf"<dt[^>]{{0,200}}>\s*{_KEY}\s*:?\s*</dt>\s*<dd[^>]{{0,200}}>\s*"
            r"(?P<words>[^<\r\n]{1,200})",
        ),
        ("a comment", rf"<!--\s*{_KEY}\s*[:=]\s*(?P<words>[^>\r\n]{{1,200}}?)\s*-->"),
        ("a keyword of Org", rf"^#\+{_KEY}:[ \t]*(?P<words>\S[^\r\n]{{0,200}})"),
        ("a field of reStructuredText", rf"^:{_KEY}:[ \t]*(?P<words>\S[^\r\n]{{0,200}})"),
    )
)


def unread_status(text: str) -> tuple[str, str]:
    """Return the words of a status and the syntax that holds them; both are empty without one."""
    head = text[:_HEAD]
    for name, pattern in _SYNTAXES:
        match = pattern.search(head)
        if match is not None and match["words"].strip():
            return cut(" ".join(match["words"].split()), _QUOTED), name

    return "", ""
