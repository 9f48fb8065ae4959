"""Rule files that agents load by path: front matter and the glob language of each agent.

Cursor and Windsurf read globs as one bare line with commas, which is no YAML: only names that need
no quotes can be written, and no space may follow a comma. Windsurf's limit of 12,000 characters
needs no code: a rule has at most a thousand tokens.

Claude Code reads `paths` as `.gitignore` does, after a `/**` at the end is removed (seen in
2.1.110, 2.1.330): a name without a slash matches at any depth, so every glob is anchored. HTML
comments are removed before the model sees a rule.
"""

import json
import re
from collections.abc import Sequence

from orbit_registry.exchange.exporters.rules import EVERYTHING, RuleFormat, UnsupportedError, plain
from orbit_registry.formats.globs import Alternative

_BARE = re.compile(r"[\w.*][\w./*?@+~=()!^$%\[\]-]*")


def quoted(text: str) -> str:
    """Return a text in double quotes, as YAML and JSON both read it."""
    return json.dumps(text, ensure_ascii=False)


def _bare(alternative: Alternative) -> str:
    text = plain(alternative)
    if not _BARE.fullmatch(text):
        raise UnsupportedError("a name with such signs can't be said there")
    return text


def _cursor_head(globs: Sequence[str]) -> str:
    always = "false" if globs else "true"
    line = f"globs: {','.join(globs)}".rstrip()
    return f"---\ndescription:\n{line}\nalwaysApply: {always}\n---\n"


CURSOR = RuleFormat("cursor", ".cursor/rules/orbit", "", ".mdc", True, _bare, _cursor_head)


def _windsurf_head(globs: Sequence[str]) -> str:
    if not globs:
        return "---\ntrigger: always_on\n---\n"

    return f"---\ntrigger: glob\nglobs: {','.join(globs)}\n---\n"


WINDSURF = RuleFormat("windsurf", ".windsurf/rules", "orbit-", ".md", False, _bare, _windsurf_head)


def _without_braces(alternative: Alternative) -> str:
    text = plain(alternative)
    if any(sign in text for sign in ",{}"):
        raise UnsupportedError("a comma or brace in a name can't be said there")
    return text


def _copilot_spell(alternative: Alternative) -> str:
    text = _without_braces(alternative)
    if text.startswith("!"):
        raise UnsupportedError("a name with an exclamation mark at its start can't be said there")
    return text


def _copilot_head(globs: Sequence[str]) -> str:
    return f"---\napplyTo: {quoted(','.join(globs) or EVERYTHING)}\n---\n"


COPILOT = RuleFormat(
    "copilot",
    ".github/instructions",
    "orbit-",
    ".instructions.md",
    False,
    _copilot_spell,
    _copilot_head,
)


def _claude_spell(alternative: Alternative) -> str:
    text = _without_braces(alternative)
    if text.startswith(EVERYTHING):
        return text

    return f"/{text}"


def _claude_head(globs: Sequence[str]) -> str:
    if not globs:
        return ""

    lines = "".join(f"  - {quoted(glob)}\n" for glob in globs)
    return f"---\npaths:\n{lines}---\n"


CLAUDE = RuleFormat("claude", ".claude/rules/orbit", "", ".md", True, _claude_spell, _claude_head)

EXPORTERS = (CLAUDE, CURSOR, COPILOT, WINDSURF)
