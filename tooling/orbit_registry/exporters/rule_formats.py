"""The formats of agents' rule files: where they stand, what stands above the notes, how the agent reads globs.

Cursor and Windsurf read globs as one bare line, parted by commas. How they match is published by neither, so a glob may
be looked for below any folder, and what matches a folder may take all below it: it is said where no tracked file tells
these readings apart. The line is no YAML, so that only names which need no quotes can stand in it, and no space may
follow a comma. Windsurf's limit of 12,000 characters needs no code: a rule holds a thousand tokens of notes.

Copilot in VS Code looks for a glob below any folder; on GitHub and in the terminal it counts from the root. It is said
where no tracked file tells the two apart.

Claude Code reads `paths` as `.gitignore` does, after a `/**` at the end is taken away (seen in 2.1.110, and in
2.1.330): a name without a slash matches at any depth, so that every glob is anchored; what matches a folder takes all
below it; letter case does not count. HTML comments are cut out before the model sees a rule.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from orbit_registry.exporters.rules import EVERYTHING, Language, Rule, Unsayable, plain
from orbit_registry.push.context import Choice, Selection
from orbit_registry.push.opened import MARK
from orbit_registry.push.reader import ID
from orbit_registry.push.render import render
from orbit_registry.text.globs import Alternative

_BARE = re.compile(r"[\w.*][\w./*?@+~=()!^$%\[\]-]*")
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")


@dataclass(frozen=True, slots=True)
class RuleFormat:
    """One agent's rule files: `folder/prefix + name + suffix`; `head` gives what stands above the notes.

    `own_folder` says that nobody else's files stand in the folder.
    """

    agent: str
    folder: str
    prefix: str
    suffix: str
    own_folder: bool
    language: Language
    head: Callable[[Sequence[str]], str]

    def path(self, rule: Rule) -> str:
        """Return where a rule stands, from the project's root."""
        return f"{self.folder}/{self.prefix}{rule.name}{self.suffix}"

    def text(self, rule: Rule) -> str:
        """Return a rule's whole file."""
        ids = " ".join(one for row in rule.rows if _ID.fullmatch(one := row.values[ID]))
        mark = f"<!-- {MARK} --agent {self.agent}`: changes are lost. Records: {ids} -->"
        notes = render(Selection([Choice(row, []) for row in rule.rows], rule.omitted, []))
        return f"{self.head(rule.globs)}{mark}\n\n{notes}\n"


def quoted(text: str) -> str:
    """Return a text in double quotes, as YAML and JSON both read it."""
    return json.dumps(text, ensure_ascii=False)


def _bare(alternative: Alternative) -> str | Unsayable:
    text = plain(alternative)
    return text if _BARE.fullmatch(text) else Unsayable("a name with such signs can't be said there")


def _anywhere(alternative: Alternative) -> Sequence[str]:
    text = alternative.text
    anywhere = text if text.startswith((EVERYTHING, "{!}")) else f"{EVERYTHING}/{text}"
    return (anywhere,) if text.endswith(EVERYTHING) else (anywhere, f"{anywhere}/**")


BARE_LINE = Language(_bare, _anywhere)


def _cursor_head(globs: Sequence[str]) -> str:
    always = "false" if globs else "true"
    return f"---\ndescription:\nglobs: {','.join(globs)}".rstrip() + f"\nalwaysApply: {always}\n---\n"


CURSOR = RuleFormat("cursor", ".cursor/rules/orbit", "", ".mdc", True, BARE_LINE, _cursor_head)


def _windsurf_head(globs: Sequence[str]) -> str:
    return f"---\ntrigger: glob\nglobs: {','.join(globs)}\n---\n" if globs else "---\ntrigger: always_on\n---\n"


WINDSURF = RuleFormat("windsurf", ".windsurf/rules", "orbit-", ".md", False, BARE_LINE, _windsurf_head)


def _copilot_say(alternative: Alternative) -> str | Unsayable:
    text = plain(alternative)
    if any(sign in text for sign in ",{}"):
        return Unsayable("a comma or brace in a name can't be said there")
    if text.startswith("!"):
        return Unsayable("a name with an exclamation mark at its start can't be said there")
    return text


def _copilot_wider(alternative: Alternative) -> Sequence[str]:
    text = alternative.text
    return () if text.startswith((EVERYTHING, "{!}")) else (f"{EVERYTHING}/{text}",)


def _copilot_head(globs: Sequence[str]) -> str:
    return f"---\napplyTo: {quoted(','.join(globs) or EVERYTHING)}\n---\n"


_COPILOT = Language(_copilot_say, _copilot_wider)
COPILOT = RuleFormat("copilot", ".github/instructions", "orbit-", ".instructions.md", False, _COPILOT, _copilot_head)


def _claude_say(alternative: Alternative) -> str | Unsayable:
    text = plain(alternative)
    if any(sign in text for sign in ",{}"):
        return Unsayable("a comma or brace in a name can't be said there")
    return text if text.startswith(EVERYTHING) else f"/{text}"


def _claude_wider(alternative: Alternative) -> Sequence[str]:
    folder = alternative.text.removesuffix("/**")  # what is left of it there matches a file too
    return (folder if folder != alternative.text else f"{folder}/**",)


def _claude_head(globs: Sequence[str]) -> str:
    if not globs:
        return ""
    return "".join(("---\npaths:\n", *(f"  - {quoted(glob)}\n" for glob in globs), "---\n"))


CLAUDE = RuleFormat(
    "claude", ".claude/rules/orbit", "", ".md", True, Language(_claude_say, _claude_wider), _claude_head
)
