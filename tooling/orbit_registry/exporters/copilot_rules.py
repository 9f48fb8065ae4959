"""GitHub Copilot's instructions: `.github/instructions/orbit-*.instructions.md` with `applyTo`.

In VS Code a glob is looked for below any folder; on GitHub and in the terminal it counts from the root. It is said
where no tracked file tells the two apart.
"""

from __future__ import annotations

from collections.abc import Sequence

from orbit_registry.exporters.rule_format import RuleFormat, quoted
from orbit_registry.exporters.rules import EVERYTHING, Language, Unsayable, plain
from orbit_registry.text.globs import Alternative


def _say(alternative: Alternative) -> str | Unsayable:
    text = plain(alternative)
    if any(sign in text for sign in ",{}"):
        return Unsayable("a comma or brace in a name can't be said there")
    if text.startswith("!"):
        return Unsayable("a name with an exclamation mark at its start can't be said there")
    return text


def _wider(alternative: Alternative) -> Sequence[str]:
    text = alternative.text
    return () if text.startswith((EVERYTHING, "{!}")) else (f"{EVERYTHING}/{text}",)


def _head(globs: Sequence[str]) -> str:
    return f"---\napplyTo: {quoted(','.join(globs) or EVERYTHING)}\n---\n"


FORMAT = RuleFormat(
    "copilot", ".github/instructions", "orbit-", ".instructions.md", False, Language(_say, _wider), _head
)
