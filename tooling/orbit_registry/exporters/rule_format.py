"""What a format of rule files is, and what all have in common: the mark and the block of notes; it is no format."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from orbit_registry.exporters.rules import Language, Rule
from orbit_registry.push.native import MARK
from orbit_registry.push.reader import ID
from orbit_registry.push.render import render
from orbit_registry.push.select import Choice, Selection

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
