"""Reports of the gate in each format, from plain text to SARIF."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING
from urllib.parse import quote

from orbit_registry.checks.check import Check, all_checks
from orbit_registry.checks.context import grouped
from orbit_registry.checks.engine import CheckOutcome
from orbit_registry.checks.lines import diagnostic_lines, printable
from orbit_registry.errors import plural
from orbit_registry.formats.position import Position
from orbit_registry.formats.untrusted import json_text
from orbit_registry.model.diagnostic import Diagnostic, Location, Severity

if TYPE_CHECKING:
    from xml.etree import ElementTree

MOST_OF_A_CODE = 5
MOST = 1_000
"""Findings that text lists where one code was asked for:
a hundred thousand would be 20 MB of a CI log.
"""


def _text(outcome: CheckOutcome, most: int = MOST_OF_A_CODE) -> str:
    return "".join(f"{line}\n" for line in _lines(outcome, most))


def _lines(outcome: CheckOutcome, most: int) -> Iterator[str]:
    severities = list(Severity)
    printed: Counter[str] = Counter()
    listed = [
        row
        for row in outcome.diagnostics
        if most == MOST or not row.check or row.severity is not Severity.NOTE
    ]
    totals = Counter(diagnostic.rule for diagnostic in listed)

    for diagnostic in sorted(listed, key=lambda finding: severities.index(finding.severity)):
        code = diagnostic.rule
        printed[code] += 1

        if printed[code] <= most:
            yield from diagnostic_lines(diagnostic)
        elif printed[code] == totals[code]:
            more = "orbit check --format json" if most == MOST else f"orbit check --code {code}"
            yield f"    … and {totals[code] - most:,} more {code}: `{more}`"

    if len(listed) < len(outcome.diagnostics):
        count = plural(len(outcome.diagnostics) - len(listed), "note", "notes")
        yield f"{count} from checks at level advice: `orbit check --code ORB1005`"

    for diagnostic in outcome.fixed:
        yield printable(
            f"fixed: {diagnostic.location.path}: {diagnostic.code} {diagnostic.message}"
        )

    yield _summary(outcome)

    if outcome.baselined:
        older = plural(len(outcome.baselined), "older finding is", "older findings are")
        yield f"{older} baselined: `orbit check --all`"

    if outcome.allowed:
        allowed = plural(len(outcome.allowed), "place is", "places are")
        yield f"{allowed} allowed by a comment with a reason"

    if outcome.resolved:
        resolved = plural(len(outcome.resolved), "baselined finding is", "baselined findings are")
        yield f"{resolved} gone: `orbit baseline update`"


def _summary(outcome: CheckOutcome) -> str:
    counts = Counter(diagnostic.severity for diagnostic in outcome.diagnostics)
    counted = [
        plural(counts[each], each.value, f"{each.value}s") for each in Severity if counts[each]
    ]
    result = ", ".join(counted) or "nothing found"
    if outcome.fixed:
        result += f"; {len(outcome.fixed)} fixed"

    fixable = sum(diagnostic.fixable for diagnostic in outcome.diagnostics)
    if fixable:
        result += f"; {fixable} can be fixed: `orbit check --fix`"

    checked = plural(outcome.checked_count, outcome.subject, f"{outcome.subject}s")
    return f"{checked} checked: {result}"


def counts(outcome: CheckOutcome) -> dict[str, object]:
    """Return how many findings there are of each severity, and what was fixed."""
    of_severity = Counter(diagnostic.severity for diagnostic in outcome.diagnostics)
    return {
        "checked": outcome.checked_count,
        "errors": of_severity[Severity.ERROR],
        "warnings": of_severity[Severity.WARNING],
        "notes": of_severity[Severity.NOTE],
        "baselined": len(outcome.baselined),
        "gone": len(outcome.resolved),
        "fixed": [diagnostic.as_dict() for diagnostic in outcome.fixed],
        "base": outcome.base,
    }


def next_commands(outcome: CheckOutcome) -> list[str]:
    """Return the commands that make sense after a report."""
    commands = []
    if any(diagnostic.fixable for diagnostic in outcome.diagnostics):
        commands.append("orbit check --fix")
    if outcome.baselined:
        commands.append("orbit check --all")
    if outcome.resolved:
        commands.append("orbit baseline update")
    return commands


_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


def _github(outcome: CheckOutcome) -> str:
    return "".join(
        f"{line}\n" for line in (*map(_annotation, outcome.diagnostics), _summary(outcome))
    )


def _annotation(diagnostic: Diagnostic) -> str:
    position = diagnostic.location.position or Position(1)
    properties = {
        "file": diagnostic.location.path,
        "line": str(position.line),
        "col": str(position.column),
        "title": diagnostic.rule,
    }
    joined = ",".join(f"{name}={_escaped_property(value)}" for name, value in properties.items())
    message = "\n".join(printable(text) for text in (diagnostic.message, diagnostic.hint) if text)
    return f"::{_COMMANDS[diagnostic.severity]} {joined}::{_escaped(message)}"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _escaped_property(text: str) -> str:
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")


_NOT_XML = "[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"


def _junit(outcome: CheckOutcome) -> str:
    """Return the outcome as XML; errors are failures,
    warnings and notes are in a passed case's output.
    """
    from xml.etree import ElementTree  # only JUnit needs it

    names = {check.code: check.name for check in all_checks()}
    cases = grouped(outcome.diagnostics, lambda row: (row.location.path, row.rule))
    errors = [row for row in outcome.diagnostics if row.severity is Severity.ERROR]
    failed = len({(error.location.path, error.rule) for error in errors})
    total = max(len(cases), 1)
    counts = {"tests": str(total), "failures": str(failed), "errors": "0", "skipped": "0"}
    root = ElementTree.Element("testsuites", {"name": "orbit check", **counts})
    suite = ElementTree.SubElement(root, "testsuite", {"name": "orbit check", **counts})

    for (path, code), group in cases.items():
        name = f"{code} {names.get(code, '')}".strip()
        case = ElementTree.SubElement(
            suite, "testcase", {"classname": _xml(path), "name": name, "file": _xml(path)}
        )
        _add_result(case, group)

    if not cases:
        name = f"{plural(outcome.checked_count, 'record')} checked"
        ElementTree.SubElement(suite, "testcase", {"classname": ".orbit", "name": name})

    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="unicode", xml_declaration=False)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _add_result(case: ElementTree.Element, group: list[Diagnostic]) -> None:
    from xml.etree import ElementTree

    errors = [diagnostic for diagnostic in group if diagnostic.severity is Severity.ERROR]
    text = "\n".join(chain.from_iterable(map(diagnostic_lines, group)))
    if errors:
        message = {"message": _xml(printable(errors[0].message)), "type": errors[0].rule}
        ElementTree.SubElement(case, "failure", message).text = _xml(text)
    else:
        ElementTree.SubElement(case, "system-out").text = _xml(text)


def _xml(text: str) -> str:
    return re.sub(_NOT_XML, "�", text)  # compiled here, in 4 ms that only JUnit needs


SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
ROOT = "%SRCROOT%"


def _sarif(outcome: CheckOutcome) -> str:
    return json_text(_log(outcome)) + "\n"


def _log(outcome: CheckOutcome) -> dict[str, object]:
    rules = [
        *map(_rule, all_checks()),
        *(_decision_rule(name, *text) for name, text in outcome.says.items()),
    ]
    numbers = {str(rule["id"]): number for number, rule in enumerate(rules)}
    counts = Counter[str]()
    results = [
        _result(diagnostic, numbers, counts, None)
        for diagnostic in (*outcome.diagnostics, *outcome.allowed)
    ]
    results += [
        _result(diagnostic, numbers, counts, "unchanged") for diagnostic in outcome.baselined
    ]

    driver = {"name": "orbit-registry", "rules": rules}
    run = {
        "tool": {"driver": driver},
        "originalUriBaseIds": {ROOT: {"description": {"text": "The root of the repository"}}},
        "columnKind": "unicodeCodePoints",
        "results": results,
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(check: Check) -> dict[str, object]:
    """Return a check as a rule; its page is named in the help,
    for `helpUri` takes absolute addresses only.
    """
    return {
        "id": check.code,
        "name": "".join(word.capitalize() for word in check.name.split("-")),
        "shortDescription": {"text": check.summary},
        "help": {"text": f"What to do: {check.hint}. More: {check.docs}"},
        "defaultConfiguration": {"level": check.severity.value},
        "properties": {"docs": check.docs},
    }


def _decision_rule(name: str, say: str, address: str) -> dict[str, object]:
    rule: dict[str, object] = {"id": name, "shortDescription": {"text": say}}
    if address:
        rule["helpUri"] = address

    record = name.partition("/")[0]
    text = f"{record} asks for this. To read it: `orbit show {record}`. To change it: supersede it."
    rule["help"] = {"text": text}
    return rule


def _fingerprint(diagnostic: Diagnostic, counts: Counter[str]) -> str:
    """Return a hash of a finding without its line, and a count that tells equal ones apart."""
    value = hashlib.sha256(diagnostic.fingerprint.encode("utf-8", "surrogatepass")).hexdigest()[:32]
    counts[value] += 1
    return f"{value}:{counts[value]}"


def _result(
    diagnostic: Diagnostic, numbers: dict[str, int], counts: Counter[str], state: str | None
) -> dict[str, object]:
    message = diagnostic.message
    if diagnostic.hint is not None:
        message += f"\n{diagnostic.hint}"

    result: dict[str, object] = {
        "ruleId": diagnostic.rule,
        "level": diagnostic.severity.value,
        "message": {"text": message},
        "locations": [_sarif_place(diagnostic.location)],
        "partialFingerprints": {"orbit/v1": _fingerprint(diagnostic, counts)},
    }
    if diagnostic.rule in numbers:
        result["ruleIndex"] = numbers[diagnostic.rule]

    if diagnostic.related:
        result["relatedLocations"] = [
            {"id": number, **_sarif_place(location)}
            for number, location in enumerate(diagnostic.related, start=1)
        ]

    if state is not None:
        result["baselineState"] = state
        result["suppressions"] = [{"kind": "external", "justification": "in .orbit/baseline.yaml"}]

    if diagnostic.allowed is not None:
        result["suppressions"] = [{"kind": "inSource", "justification": diagnostic.allowed}]

    return result


def _sarif_place(location: Location) -> dict[str, object]:
    physical: dict[str, object] = {
        "artifactLocation": {
            "uri": quote(location.path.encode("utf-8", "surrogatepass")),
            "uriBaseId": ROOT,
        }
    }
    if location.position is not None:
        physical["region"] = {
            "startLine": location.position.line,
            "startColumn": location.position.column,
        }

    return {"physicalLocation": physical}


_WEIGHTS = {Severity.ERROR: "critical", Severity.WARNING: "minor", Severity.NOTE: "info"}


def _gitlab(outcome: CheckOutcome) -> str:
    counts = Counter[str]()
    rows = []
    for diagnostic in outcome.diagnostics:
        position = diagnostic.location.position or Position(1)
        row = {
            "description": diagnostic.message,
            "check_name": diagnostic.rule,
            "fingerprint": _fingerprint(diagnostic, counts),
            "severity": _WEIGHTS[diagnostic.severity],
            "location": {
                "path": diagnostic.location.path,
                "lines": {"begin": position.line},
            },
        }
        rows.append(row)

    return json_text(rows) + "\n"


FORMATS: Mapping[str, Callable[[CheckOutcome], str]] = {
    "github": _github,
    "gitlab": _gitlab,
    "junit": _junit,
    "sarif": _sarif,
}
"""What a report can be for other programs."""


def with_codes(outcome: CheckOutcome, codes: Sequence[str]) -> CheckOutcome:
    """Return the outcome with the findings of these codes alone, or of these checks of records."""
    names = {code.upper() for code in codes}
    chosen = tuple(row for row in outcome.diagnostics if {row.code, row.rule.upper()} & names)
    return replace(outcome, diagnostics=chosen)


def render_codes(name: str, outcome: CheckOutcome, part: CheckOutcome, command: str) -> str:
    """Return the report of a part of an outcome; `command` lists all of it."""
    if name != "text":
        return render(name, part)

    text = _text(part, MOST)
    others = len(outcome.diagnostics) - len(part.diagnostics)
    if others:
        counted = plural(others, "finding has another code", "findings have other codes")
        text += f"{counted}: `{command}`\n"

    return text


def render(name: str, outcome: CheckOutcome) -> str:
    """Return the outcome in a format, with a line break at its end."""
    text = _text(outcome) if name == "text" else FORMATS[name](outcome)
    return text.encode("utf-8", "backslashreplace").decode("utf-8")  # names need not be UTF-8
