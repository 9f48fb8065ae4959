"""ORB403: a prompt of the template was left where an answer belongs."""

from __future__ import annotations

from collections.abc import Iterator

from orbit_registry.checks.check import Check
from orbit_registry.checks.context import CheckContext, binding
from orbit_registry.checks.prompt_lines import is_prompt, lines_outside_code, may_hold_prompts, prompts_of
from orbit_registry.records.diagnostic import Diagnostic, Severity


def run(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield each record with prompts in it, at the first one."""
    for record in context.records:
        if record.phase == "closed" or not record.prose:
            continue
        known = prompts_of(record.kind.folder, record.kind.in_document)
        if not may_hold_prompts(record.prose, known):
            continue
        found = [offset for offset, line in lines_outside_code(record.prose) if is_prompt(line, known)]
        if found:
            more = f" ({len(found)} of them)" if len(found) > 1 else ""
            message = f"{record.id} still holds a prompt of its template{more}"
            severity = binding(record, Severity.WARNING)
            yield CHECK.at(context.in_prose(record, found[0]), message, severity=severity, record=record)


CHECK = Check(
    "ORB403",
    "template-prompt",
    Severity.WARNING,
    "A prompt of the template was left in a record's text.",
    "write the answer in its place, or delete the line",
    run,
)
