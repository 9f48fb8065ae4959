"""Finds the block of metadata at the head of a text; what stands in it is for others to read."""

from __future__ import annotations

import re

from orbit_registry.text.position import Span
from orbit_registry.text.structure import TextLines

_MAPPING_LINE = re.compile(r"""["']?[\w.-]+["']?[ \t]*:(?:[ \t]|$)""")
_FENCE_LIMIT = 4096  # lines a front matter may have before it is taken for ordinary text


def find_front_matter(text: str, lines: TextLines) -> tuple[Span | None, int]:
    """Return the span between the `---` fences and the number of the first line after them (0: none).

    An opening fence that someone lost is forgiven where every line down to the closing one is an entry.
    """
    first = text[lines.starts[0] : lines.ends[0]].removeprefix("\ufeff")
    fenced = first.rstrip(" \t") == "---"
    if not fenced and _MAPPING_LINE.match(first) is None:
        return None, 0
    mappings, others = 0, 0
    for number in range(1 if fenced else 0, min(len(lines), _FENCE_LIMIT)):
        line = text[lines.starts[number] : lines.ends[number]] if number else first
        if line.rstrip(" \t") in ("---", "..."):
            if (others and not mappings) or (not fenced and (others or mappings < 2)):
                return None, 0
            start = lines.starts[1] if fenced else text.startswith("\ufeff")
            return Span(int(start), lines.starts[number]), number + 1
        if not fenced and not line.strip():
            return None, 0
        if line.strip() and not line.startswith((" ", "\t", "#", "- ")):
            matched = _MAPPING_LINE.match(line) is not None
            mappings, others = mappings + matched, others + (not matched)
    return None, 0
