"""Claude Code's rules: `.claude/rules/orbit/*.md` with a list of `paths`; without one a rule is always loaded.

It reads `paths` as `.gitignore` does, after a `/**` at the end is taken away (seen in 2.1.110, and in 2.1.330): a name
without a slash matches at any depth, so that every glob is anchored; what matches a folder takes all below it; letter
case does not count. HTML comments are cut out before the model sees a rule.
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
    return text if text.startswith(EVERYTHING) else f"/{text}"


def _wider(alternative: Alternative) -> Sequence[str]:
    folder = alternative.text.removesuffix("/**")  # what is left of it there matches a file too
    return (folder if folder != alternative.text else f"{folder}/**",)


def _head(globs: Sequence[str]) -> str:
    if not globs:
        return ""
    return "".join(("---\npaths:\n", *(f"  - {quoted(glob)}\n" for glob in globs), "---\n"))


FORMAT = RuleFormat("claude", ".claude/rules/orbit", "", ".md", True, Language(_say, _wider), _head)
