"""The prompts that templates put where a person is to write, and how a line is known to be one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

_PLACEHOLDER = re.compile(
    r"\{[A-Za-z][^{}\":;()\n]{0,300}[ |][^{}\":;()\n]{1,300}\}|\[(?:short title|[Dd]escribe|[Ii]nsert) [^\]\n]{0,200}\]"
    r"|TBD\.?|TODO(?:[ :].{0,200})?|…"
)
_FENCE = re.compile(r"[ \t>]{0,8}(?:```|~~~)")
_INDENTED = re.compile(r"(?: {4}|\t)")
_SIGNS = ("{", "[", "TBD", "TODO", "…")
"""What such a placeholder begins with."""
_DRESS = re.compile(r"^[ \t>]*(?:[-*+][ \t]+|\d{1,3}[.)][ \t]+)?")
_BARE = re.compile(rf"{_DRESS.pattern}(.*)", re.MULTILINE)


def lines_outside_code(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines outside code, with their offsets."""
    offset, fenced = 0, False
    for line in text.split("\n"):
        if _FENCE.match(line):
            fenced = not fenced
        elif not fenced and not _INDENTED.match(line):
            yield offset, line
        offset += len(line) + 1


def may_hold_prompts(text: str, prompts: frozenset[str]) -> bool:
    """Say quickly whether a text may hold a prompt: false only where `is_prompt` says so of each of its lines."""
    if any(map(text.__contains__, _SIGNS)):
        return True
    return bool(prompts) and not prompts.isdisjoint(map(str.strip, _BARE.findall(text)))


def is_prompt(line: str, prompts: frozenset[str]) -> bool:
    """Say whether a line is one of the `prompts` prompts, or looks like one of a common template."""
    bare = _DRESS.sub("", line).strip()
    return bool(bare) and (bare in prompts or _PLACEHOLDER.fullmatch(bare) is not None)


def first_prompt(text: str, prompts: frozenset[str]) -> tuple[int, str] | None:
    """Return the offset and the text of the first prompt; None where a text holds none."""
    if not may_hold_prompts(text, prompts):
        return None
    return next(((offset, line.strip()) for offset, line in lines_outside_code(text) if is_prompt(line, prompts)), None)


@cache
def prompts_of(folder: Path, in_document: bool) -> frozenset[str]:
    """Return the lines that the templates in a kind's folder put where a person is to write."""
    files = (folder / name for name in ("new.md", "entry.md"))
    texts = [file.read_text(encoding="utf-8") for file in files if file.is_file()]
    if in_document:
        from orbit_registry.formats.adr.templates import prompts_in
        from orbit_registry.formats.adr.vocabulary import languages

        texts += [text for language in (None, *languages()) for text in prompts_in(language).values()]
    lines = (_DRESS.sub("", line).strip() for text in texts for line in text.split("\n"))
    return frozenset(
        line for line in lines if line and "$" not in line and not line.startswith("#") and _is_sentence(line)
    )


def _is_sentence(line: str) -> bool:
    """Say whether a line is a sentence and no bare word, which somebody might write; some scripts have no spaces."""
    return " " in line or not line.isascii()
