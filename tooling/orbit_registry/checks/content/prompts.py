"""ORB403: a prompt of the template was left where an answer belongs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from orbit_registry.checks.check import Check
from orbit_registry.checks.context import CheckContext, binding
from orbit_registry.records.diagnostic import Diagnostic, Severity
from orbit_registry.text.adr import template_from

_PLACEHOLDER = re.compile(
    r"\{[A-Za-z][^{}\":;()\n]{0,300}[ |][^{}\":;()\n]{1,300}\}|\[(?:short title|[Dd]escribe|[Ii]nsert) [^\]\n]{0,200}\]"
    r"|TBD\.?|TODO(?:[ :].{0,200})?"
)
_FENCE = re.compile(r"[ \t>]{0,8}(?:```|~~~)")
_INDENTED = re.compile(r"(?: {4}|\t)")
_DRESS = re.compile(r"^[ \t>]*(?:[-*+][ \t]+|\d{1,3}[.)][ \t]+)?")
_WHOLE = (
    "# ADR-0001 — A\n\nStatus: Accepted\n\n## Context\n\nA.\n\n"
    "## Decision Drivers\n\nA.\n\n## Considered Options\n\nA.\n\n"
    "## Decision\n\nA.\n\n## Consequences\n\nA.\n\n### Positive\n\nA.\n\n### Negative\n\nA.\n\n## Rationale\n\nA.\n"
)
"""A decision with every section that a template made from it gives a prompt for."""


def run(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield each record with prompts in it, at the first one."""
    for record in context.records:
        if record.phase == "closed" or not record.prose:
            continue
        known = prompts_of(record.kind.folder, record.kind.in_document)
        found = [offset for offset, line in _lines(record.prose) if is_prompt(line, known)]
        if found:
            more = f" ({len(found)} of them)" if len(found) > 1 else ""
            message = f"{record.id} still holds a prompt of its template{more}"
            severity = binding(record, Severity.WARNING)
            yield CHECK.at(context.in_prose(record, found[0]), message, severity=severity, record=record)


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines outside code, with their offsets."""
    at, fenced = 0, False
    for line in text.split("\n"):
        if _FENCE.match(line):
            fenced = not fenced
        elif not fenced and not _INDENTED.match(line):
            yield at, line
        at += len(line) + 1


def is_prompt(line: str, known: frozenset[str]) -> bool:
    """Say whether a line is one of the `known` prompts, or looks like one of a common template."""
    bare = _DRESS.sub("", line).strip()
    return bool(bare) and (bare in known or _PLACEHOLDER.fullmatch(bare) is not None)


@cache
def prompts_of(folder: Path, in_document: bool) -> frozenset[str]:
    """Return the lines that the templates in a kind's folder put where a person is to write."""
    files = (folder / name for name in ("new.md", "entry.md"))
    texts = [file.read_text(encoding="utf-8") for file in files if file.is_file()]
    if in_document:
        texts.append(template_from(_WHOLE, "docs/adr/0001-a.md") or "")
    lines = (_DRESS.sub("", line).strip() for text in texts for line in text.split("\n"))
    return frozenset(line for line in lines if line and "$" not in line and not line.startswith("#") and " " in line)


CHECK = Check(
    "ORB403",
    "template-prompt",
    Severity.WARNING,
    "A prompt of the template was left in a record's text.",
    "write the answer in its place, or delete the line",
    run,
)
