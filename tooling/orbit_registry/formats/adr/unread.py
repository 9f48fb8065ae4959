"""Statuses in a syntax that is not read: they are quoted, so that no document counts as silent
that states one.
"""

import re

from orbit_registry.formats.adr.patterns import pattern
from orbit_registry.formats.adr.status_line import normalise_status
from orbit_registry.formats.untrusted import cut

_HEADING = re.compile(r"\n#{1,6}[ ]")
_HEAD = 6_000  # characters of a decision that may state its status
_QUOTED = 80
ALONE = "a line without a key"
_SYNTAXES = (
    ("front matter in JSON", pattern("status_in_json")),
    ("front matter that is not TOML", pattern("status_in_toml")),
    ("a comment", pattern("status_in_comment")),
    ("a definition of a link", pattern("status_in_definition")),
    ("a keyword of Org", pattern("status_in_org")),
    ("a field of reStructuredText", pattern("status_in_rst")),
    ("a component", pattern("status_in_attribute")),
    ("a component", pattern("status_in_component")),
    ("an admonition", pattern("status_in_admonition")),
    ("a shortcode", pattern("status_in_shortcode")),
    ("a shortcode", pattern("status_in_liquid")),
    (ALONE, pattern("status_alone")),
)
_ONLY_KNOWN = ("a component", "an admonition", "a shortcode", "a definition of a link", ALONE)
"""Syntaxes that pages have for other words too."""


def unread_status(text: str) -> tuple[str, str]:
    """Return the words of a status and the syntax that holds them; both are empty without one."""
    head = text[:_HEAD]
    top = "\n".join(_HEADING.split(f"\n{head}")[:2])  # what is above the first section
    for name, form in _SYNTAXES:
        for match in form.finditer(top if name == ALONE else head):
            words = " ".join(match["words"].split())
            is_status = name not in _ONLY_KNOWN or normalise_status(words)[0] != "unknown"
            if words and is_status:
                return cut(words, _QUOTED), name

    return "", ""
