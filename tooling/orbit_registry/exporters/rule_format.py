"""What a format of rule files is, and what several share: the mark, the notes, globs on a bare line; it is no format.

Cursor and Windsurf read globs as one bare line, parted by commas. How they match is published by neither, so a glob may
be looked for below any folder, and what matches a folder may take all below it: it is said where no tracked file tells
these readings apart. The line is no YAML, so that only names which need no quotes can stand in it, and no space may
follow a comma.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from orbit_registry.exporters.rules import EVERYTHING, Language, Rule, Unsayable, plain
from orbit_registry.push.native import MARK
from orbit_registry.push.reader import ID
from orbit_registry.push.render import render
from orbit_registry.push.select import Choice, Selection
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
