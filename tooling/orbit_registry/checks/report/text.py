"""The report that people read: `path:line:col: severity CODE message`, a hint, and one line that counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from orbit_registry.checks.engine import CheckOutcome
from orbit_registry.model.diagnostic import Diagnostic, Severity

MOST = 1_000
"""So many findings are listed, the gravest: a hundred thousand would be 20 MB of a CI log."""


def render(outcome: CheckOutcome) -> str:
    """Return the report as text without colour."""
    return "".join(f"{line}\n" for line in lines(outcome))


def lines(outcome: CheckOutcome) -> Iterator[str]:
    """Yield the report line by line."""
    listed, unlisted = _gravest(outcome.diagnostics)
    for diagnostic in listed:
        yield from diagnostic_lines(diagnostic)
    if unlisted:
        codes = ", ".join(
            f"{code} {count:,}" for code, count in Counter(finding.code for finding in unlisted).most_common()
        )
        yield f"{_count(len(unlisted), 'finding is', 'findings are')} not listed ({codes}): `orbit check --format json`"
    for diagnostic in outcome.fixed:
        yield printable(f"fixed: {diagnostic.location.path}: {diagnostic.code} {diagnostic.message}")
    yield summary(outcome)
    if outcome.baselined:
        older = _count(len(outcome.baselined), "older finding is", "older findings are")
        yield f"{older} baselined: `orbit check --all`"
    if outcome.resolved:
        resolved = _count(len(outcome.resolved), "baselined finding is", "baselined findings are")
        yield f"{resolved} gone: `orbit baseline update`"


def _gravest(diagnostics: Sequence[Diagnostic]) -> tuple[Sequence[Diagnostic], Sequence[Diagnostic]]:
    """Return the findings that are listed, and those that are not, each in the order they came in."""
    if len(diagnostics) <= MOST:
        return diagnostics, ()
    weights = list(Severity)
    indexes = sorted(range(len(diagnostics)), key=lambda index: weights.index(diagnostics[index].severity))
    listed = set(indexes[:MOST])
    unlisted = [diagnostic for index, diagnostic in enumerate(diagnostics) if index not in listed]
    return [diagnostics[index] for index in sorted(listed)], unlisted


def diagnostic_lines(diagnostic: Diagnostic) -> Iterator[str]:
    """Yield a finding and what to do about it."""
    where = printable(str(diagnostic.location))
    yield f"{where}: {diagnostic.severity} {diagnostic.code} {printable(diagnostic.message)}"
    if diagnostic.hint:
        yield f"    {printable(diagnostic.hint)}{' (--fix does it)' if diagnostic.fixable else ''}"


def summary(outcome: CheckOutcome) -> str:
    """Return the line that counts."""
    counts = Counter(diagnostic.severity for diagnostic in outcome.diagnostics)
    counted = [
        _count(counts[severity], severity.value, f"{severity.value}s") for severity in Severity if counts[severity]
    ]
    fixable = sum(diagnostic.fixable for diagnostic in outcome.diagnostics)
    result = ", ".join(counted) if counted else "nothing found"
    fixed = f"; {len(outcome.fixed)} fixed" if outcome.fixed else ""
    more = f"; {fixable} can be fixed: `orbit check --fix`" if fixable else ""
    return f"{_count(outcome.checked_count, outcome.subject, f'{outcome.subject}s')} checked: {result}{fixed}{more}"


def printable(text: str) -> str:
    """Return a text in one line that no terminal acts on: control and direction characters are shown as escapes."""
    if text.isprintable():  # nearly all are, and ten thousand findings have millions of characters
        return text
    return "".join(character if character.isprintable() else f"\\u{ord(character):04x}" for character in text)


def _count(number: int, singular: str, plural: str) -> str:
    return f"{number:,} {singular if number == 1 else plural}"
