"""JUnit XML: one suite, one test case a check and file, so that CI systems list findings as failed tests."""

from __future__ import annotations

import re
from collections import defaultdict
from xml.etree import ElementTree

from orbit_registry.checks.check import all_checks
from orbit_registry.checks.engine import CheckOutcome
from orbit_registry.checks.report.text import diagnostic_lines, printable
from orbit_registry.model.diagnostic import Diagnostic, Severity

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render(outcome: CheckOutcome) -> str:
    """Return the outcome as XML; errors are failures, warnings and notes are in a passed case's output."""
    names = {check.code: check.name for check in all_checks()}
    cases: dict[tuple[str, str], list[Diagnostic]] = defaultdict(list)
    for diagnostic in outcome.diagnostics:
        cases[diagnostic.location.path, diagnostic.code].append(diagnostic)
    failed = sum(any(finding.severity is Severity.ERROR for finding in group) for group in cases.values())
    total = max(len(cases), 1)
    counts = {"tests": str(total), "failures": str(failed), "errors": "0", "skipped": "0"}
    root = ElementTree.Element("testsuites", {"name": "orbit check", **counts})
    suite = ElementTree.SubElement(root, "testsuite", {"name": "orbit check", **counts})
    for (path, code), group in cases.items():
        name = f"{code} {names.get(code, '')}".strip()
        case = ElementTree.SubElement(suite, "testcase", {"classname": _xml(path), "name": name, "file": _xml(path)})
        _add_result(case, group)
    if not cases:
        name = f"{outcome.checked_count} records checked"
        ElementTree.SubElement(suite, "testcase", {"classname": ".orbit", "name": name})
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="unicode", xml_declaration=False)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _add_result(case: ElementTree.Element, group: list[Diagnostic]) -> None:
    errors = [diagnostic for diagnostic in group if diagnostic.severity is Severity.ERROR]
    text = "\n".join(line for diagnostic in group for line in diagnostic_lines(diagnostic))
    if errors:
        message = {"message": _xml(printable(errors[0].message)), "type": errors[0].code}
        ElementTree.SubElement(case, "failure", message).text = _xml(text)
    else:
        ElementTree.SubElement(case, "system-out").text = _xml(text)


def _xml(text: str) -> str:
    """Return a text without the characters that XML can't hold."""
    return _NOT_XML.sub("�", text)
