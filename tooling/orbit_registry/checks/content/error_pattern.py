"""ORB408: an `error_pattern` that no error will ever match: it reads as a regular expression, or says too little."""

from __future__ import annotations

import re
from collections.abc import Iterator

from orbit_registry.checks.check import Check
from orbit_registry.checks.context import CheckContext
from orbit_registry.push.failures import FEWEST, compiled
from orbit_registry.records.diagnostic import Diagnostic, Severity

_REGULAR_EXPRESSION = re.compile(
    r"\\[dDsSwWbB.()\[\]+*?|^$/]|\.[*+]|\(\?|\(\w+(?:\|\w+)+\)|\[(?:a-z|A-Z|0-9|\^)|^\^|\w\$$"
)
"""What error messages hardly ever hold and regular expressions are made of; a Windows path (`C:\\data`) is no match
for the letters alone, so only escapes that stand before no word count."""
_PATH = re.compile(r"[A-Za-z]:\\|\\\\\w")


def run(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield each record whose pattern is matched as another text than its author meant."""
    for record in context.records:
        pattern = record.text("error_pattern")
        if not pattern or record.phase == "closed":
            continue
        if not compiled(pattern):
            said = f"holds fewer than {FEWEST} characters beside `*`, so it is looked for in no error"
        elif (found := _REGULAR_EXPRESSION.search(pattern)) and not _PATH.search(pattern):
            said = f"holds `{found[0]}`, which is looked for letter by letter"
        else:
            continue
        message = f"the error_pattern of {record.id} {said}"
        yield CHECK.at(context.at(record, "error_pattern"), message, record=record)


CHECK = Check(
    "ORB408",
    "error-pattern",
    Severity.WARNING,
    "An error pattern can't match the error it was written for.",
    "write the words of the error themselves, with `*` where anything may stand: `* is not a valid *`",
    run,
)
