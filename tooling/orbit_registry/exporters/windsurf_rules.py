"""Windsurf's rules: `.windsurf/rules/orbit-*.md` with `trigger: glob`, or `always_on`; of 12,000 characters at most.

The limit needs no code: a rule holds a thousand tokens of notes.
"""

from __future__ import annotations

from collections.abc import Sequence

from orbit_registry.exporters.rule_format import BARE_LINE, RuleFormat


def _head(globs: Sequence[str]) -> str:
    return f"---\ntrigger: glob\nglobs: {','.join(globs)}\n---\n" if globs else "---\ntrigger: always_on\n---\n"


FORMAT = RuleFormat("windsurf", ".windsurf/rules", "orbit-", ".md", False, BARE_LINE, _head)
