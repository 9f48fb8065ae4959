"""Statuses in a syntax that is not read: they are quoted, so that no document counts as silent
that states one.
"""

import re
from itertools import islice

from orbit_registry.formats.adr.patterns import pattern
from orbit_registry.formats.adr.status_line import states_status
from orbit_registry.formats.untrusted import cut

_HEADING = re.compile(r"\n#{1,6}[ ]")
_HEAD = 6_000  # characters of a decision that may state its status
_QUOTED = 80
_IN_TITLE = pattern("status_in_title")
_SURE = {
    pattern("status_in_json"): "front matter in JSON",
    pattern("status_in_toml"): "front matter that is not TOML",
    pattern("status_in_comment"): "a comment",
    pattern("status_in_org"): "a keyword of Org",
    pattern("status_in_rst"): "a field of reStructuredText",
    pattern("status_in_picture"): "a picture",
}
"""Patterns that find nothing but a status, and the syntax of each."""
_ONLY_KNOWN = {
    pattern("status_in_definition"): "a definition of a link",
    pattern("status_in_attribute"): "a component",
    pattern("status_in_component"): "a component",
    pattern("status_in_admonition"): "an admonition",
    pattern("status_below_admonition"): "an admonition",
    pattern("status_in_shortcode"): "a shortcode",
    pattern("status_in_liquid"): "a shortcode",
    pattern("status_in_tag"): "a tag of the front matter",
    pattern("status_in_change_log"): "a list of changes",
}
"""Those of syntaxes that pages have for other words too."""
_AT_TOP = {
    pattern("status_in_block"): "a block of keys",
    pattern("status_in_brackets"): "brackets",
    pattern("status_in_title"): "the title",
    pattern("status_beside_title"): "the title",
    pattern("status_alone"): "a line without a key",
}
"""Those that state one above the first section only."""


def title_status(title: str) -> str:
    """Return the words in brackets that a title begins or ends with: `Use x (superseded)`."""
    match = _IN_TITLE.search(f"# {title}")
    if match:
        return match["words"]

    return ""


def unread_status(text: str) -> tuple[str, str]:
    """Return the words of a status and the syntax that holds them; both are empty without one."""
    head = text[:_HEAD]
    sections = (match.start() for match in islice(_HEADING.finditer(f"\n{head}"), 1, None))
    top = head[: next(sections, len(head))]
    for syntaxes, where in ((_SURE, head), (_ONLY_KNOWN, head), (_AT_TOP, top)):
        for form, syntax in syntaxes.items():
            words = _words_in(where, form, only_known=syntaxes is not _SURE)
            if words:
                return cut(words, _QUOTED), syntax

    return "", ""


def _words_in(text: str, form: re.Pattern[str], *, only_known: bool) -> str:
    for match in form.finditer(text):
        words = " ".join(match["words"].split())
        if not only_known or states_status(words):
            return words

    return ""
