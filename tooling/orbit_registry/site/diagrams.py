"""Mermaid, which draws the diagrams of a page in the browser; npm fetches it where a page has one.

Without it, and without scripts, a diagram stays a block of code.
"""

import time

from orbit_registry.model.diagnostic import Diagnostic, Location, Severity
from orbit_registry.site.npm import Archive
from orbit_registry.site.stamps import stamp_of

MISSING = "SITE399"
_FOLDER = "assets/orbit/mermaid/"
_ENTRY = "mermaid.tiny.js"
_NONE = b""  # what the page loads in place of Mermaid
MERMAID = Archive(
    "@mermaid-js/tiny",
    "12.0.0",
    "656f585f2fb7b522cfb1c053f8d9d03b42b4a981fb046112e6713197a4a7a328"
    "1ecbbc5dd8dd1c3bb36adf437993fbbb808798a02ae5772572f954c2316acd0d",
    {f"package/dist/{_ENTRY}": _ENTRY, "package/LICENSE": "LICENSE.txt"},
)
"""One file of 0.8 MB, which draws all but mind maps and architecture diagrams; all of Mermaid is 26 MB."""
FETCHING = "fetch Mermaid, 0.8 MB"


def key() -> list[object]:
    """Return what tells the archive in the user's cache from others; without one, it is tried again each time."""
    return [MERMAID.sha512, stamp_of(str(MERMAID.path)) if MERMAID.path.is_file() else time.time_ns()]


def files(*, allowed: bool) -> tuple[dict[str, bytes], Diagnostic | None]:
    """Return what draws diagrams, by its path in the site, and why it is missing although it is `allowed`."""
    problem = MERMAID.fetched() if allowed else ""
    if not allowed or problem:
        message = f"diagrams are shown as source: {problem}"
        where = Location(".orbit/config.yaml")
        note = Diagnostic(MISSING, Severity.NOTE, message, where, MERMAID.hint) if problem else None
        return {f"{_FOLDER}{_ENTRY}": _NONE}, note
    return {f"{_FOLDER}{name}": content for name, content in MERMAID.unpacked()}, None
