"""Texts made to be slow to read, by what they repeat; a reader whose cost grows with the square shows it here."""

from __future__ import annotations

from collections.abc import Mapping

DOCUMENTS: Mapping[str, str] = {
    "brackets": "[" * 4000,
    "links": "[a](" * 4000,
    "headings": "## ADR-1 — x\n" * 1000,
    "statuses": "Status: superseded by ADR-1, " * 1000,
    "wrapped": "# T\n\nStatus: accepted\n" + "more words\n" * 2000,
    "bold": "**Context.** " * 2000,
    "paragraphs": "**Context.** x\n\n" * 1000,
    "rules": "# T\n\n## ADR-1 — x\n\n" + "---\n\n" * 1000,
    "front matter": "---\nstatus: [" + "a, " * 4000 + "\n---\n# x\n",
    "keys": "---\n" + "key: value\n" * 1000 + "---\n# x\n\n## Decision\n",
    "citations": "ADR-1, " * 4000,
    "plurals": "ADRs " + "1, " * 4000,
    "slashes": "a/" * 8000,
    "spaces": "# T\n\nStatus:" + " " * 16000 + "\n",
    "verbs": "superseded by " * 4000,
    "table": "| Status | a |\n|---|---|\n" + "| x | y |\n" * 1000,
    "comments": "<!-- " * 4000,
    "parentheses": "# T\n\nStatus: " + "(" * 8000,
    "line ends": "\r" * 8000,
}
"""For the reader of decision documents and of citations."""

SECRETS: Mapping[str, str] = {
    "sk-": "sk-" * 40_000,
    "eyJ": "eyJ" + "a" * 100_000,
    "passwords": "://a:" * 30_000,
    "keys": "-----BEGIN " * 20_000,
    "glpat-": "glpat-" + "a" * 90_000,
}
"""For the search for secrets: beginnings without ends."""
