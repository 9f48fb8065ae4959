"""Statuses in a syntax that is not read: they are quoted, so that no document counts as silent
that states one.
"""

import re
from itertools import islice

from orbit_registry.formats.adr.patterns import pattern
from orbit_registry.formats.adr.status_line import normalise_status
from orbit_registry.formats.untrusted import cut

_HEADING = re.compile(r"\n#{1,6}[ ]")
_HEAD = 6_000  # characters of a decision that may state its status
_QUOTED = 80
_IN_TITLE = pattern("status_in_title")
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
    ("a block of keys", pattern("status_in_block")),
    ("brackets", pattern("status_in_brackets")),
    ("the title", _IN_TITLE),
    (ALONE, pattern("status_alone")),
)
_AT_TOP = (ALONE, "a block of keys", "brackets", "the title")
_SURE = (
    "front matter in JSON",
    "front matter that is not TOML",
    "a comment",
    "a keyword of Org",
    "a field of reStructuredText",
)
"""Syntaxes that state nothing else; the other ones pages have for other words too."""


def title_status(title: str) -> str:
    """Return the word in brackets that a title begins or ends with: `Use x (superseded)`."""
    match = _IN_TITLE.search(f"# {title}")
    return match["words"] if match else ""


def unread_status(text: str) -> tuple[str, str]:
    """Return the words of a status and the syntax that holds them; both are empty without one."""
    head = text[:_HEAD]
    sections = (match.start() for match in islice(_HEADING.finditer(f"\n{head}"), 1, None))
    top = head[: next(sections, len(head))]  # what is above the first section
    for name, form in _SYNTAXES:
        for match in form.finditer(top if name in _AT_TOP else head):
            words = " ".join(match["words"].split())
            is_status = name in _SURE or normalise_status(words)[0] != "unknown"
            if words and is_status:
                return cut(words, _QUOTED), name

    return "", ""
