"""Cursor's rules: `.cursor/rules/orbit/*.mdc` with bare `globs`, or `alwaysApply` where there are none."""

from __future__ import annotations

from collections.abc import Sequence

from orbit_registry.exporters.rule_format import BARE_LINE, RuleFormat


def _head(globs: Sequence[str]) -> str:
    always = "false" if globs else "true"
    return f"---\ndescription:\nglobs: {','.join(globs)}".rstrip() + f"\nalwaysApply: {always}\n---\n"


FORMAT = RuleFormat("cursor", ".cursor/rules/orbit", "", ".mdc", True, BARE_LINE, _head)
