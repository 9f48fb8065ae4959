"""Finds the ids of records in the blocks that push writes, and takes out of a text what no person and no model said."""

from __future__ import annotations

import re
from collections.abc import Iterator

from orbit_registry.push.render import END, START
from orbit_registry.records.ids import is_safe_id

NEEDLE = re.escape(START.strip("<>")).encode()
"""Stands in every line of a transcript that holds a block, however its brackets are escaped."""
_ITEM = re.compile(r"^- \[([^\]\s]{1,100})\]", re.MULTILINE)
_ESCAPED = (START.replace("<", "&lt;").replace(">", "&gt;"), END.replace("<", "&lt;").replace(">", "&gt;"))
"""How an agent that escapes brackets shows the ends of a block to its model."""

_TOLD = (
    "project-notes|system-reminder|hook_context|environment_context|user_instructions|user-prompt-submit-hook|"
    "local-command-[a-z]+|command-[a-z]+|ide_[a-z]+|skills_instructions|permissions instructions|private|INSTRUCTIONS"
)
_INJECTED = re.compile(
    rf"(?s)(?:<|&lt;)(?P<tag>{_TOLD})\b[^>\n]{{0,200}}?(?:>|&gt;).*?(?:(?:<|&lt;)/(?P=tag)(?:>|&gt;)|\Z)"
    r"|\[project notes\].*?(?:\[end of project notes\]|\Z)|(?m:^)## System Context\n.*?(?=^## |\Z)",
    re.MULTILINE,
)
"""What hosts, hooks and briefs put into a prompt, and what somebody marked as private; unclosed, it goes to the end."""


def without_injected(text: str) -> str:
    """Return a text without what was put into it: blocks of records, reminders of a host, private parts."""
    return _INJECTED.sub(" ", text).strip() if "<" in text or "&lt;" in text or "[" in text or "## S" in text else text


def injected_in(text: str) -> list[str]:
    """Return what was put into a text."""
    return [found[0] for found in _INJECTED.finditer(text)]


def ids_in(text: str) -> list[str]:
    """Return the ids of the records in the blocks of a text, each as often as it stands there."""
    return [one for block in _blocks(text) for one in _ITEM.findall(block) if is_safe_id(one)]


def _blocks(text: str) -> Iterator[str]:
    for start, end in ((START, END), _ESCAPED):
        at = text.find(start)
        while at >= 0:
            close = text.find(end, at)
            yield text[at : close if close >= 0 else len(text)]
            at = text.find(start, close) if close >= 0 else -1
