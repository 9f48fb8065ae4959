"""Mermaid, which draws the diagrams of a page in the browser; npm fetches it where a page has one.

Without it, and without scripts, a diagram stays a block of code.
"""

from __future__ import annotations

import time

from orbit_registry.model.diagnostic import Diagnostic, Location, Severity
from orbit_registry.site.npm import Archive
from orbit_registry.site.stamps import stamp_of

MISSING = "SITE399"
_FOLDER = "assets/orbit/mermaid/"
_ENTRY = "mermaid.esm.min.mjs"
_NONE = b"export default null;\n"
"""What the page loads in place of Mermaid."""
MERMAID = Archive(
    "mermaid",
    "12.3.0",
    "e35d774dd5de2c0b0caee27bf4ea452f93bcf8b4c55e142a676eb4ac5ded8149"
    "a2340b519b852e99ed3823eeb93d137ac99ebd2787fcad56165bccd193ae5463",
    {
        f"package/dist/{_ENTRY}": _ENTRY,
        "package/dist/chunks/mermaid.esm.min/": "chunks/mermaid.esm.min/",
        "package/LICENSE": "LICENSE.txt",
    },
)


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
