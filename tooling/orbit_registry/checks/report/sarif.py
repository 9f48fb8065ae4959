"""SARIF 2.1.0, for code scanning: rules with their help, results with places, fingerprints and what was baselined."""

from __future__ import annotations

import hashlib
import json
from urllib.parse import quote

from orbit_registry.checks.check import Check, all_checks
from orbit_registry.checks.engine import CheckOutcome
from orbit_registry.formats.untrusted import inert_json
from orbit_registry.model.diagnostic import Diagnostic, Location

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
ROOT = "%SRCROOT%"


def render(outcome: CheckOutcome) -> str:
    """Return the outcome as one SARIF log."""
    return inert_json(json.dumps(log(outcome), ensure_ascii=False, indent=2)) + "\n"


def log(outcome: CheckOutcome) -> dict[str, object]:
    """Return the outcome as the values that the log holds."""
    checks = all_checks()
    numbers = {check.code: number for number, check in enumerate(checks)}
    counts: dict[str, int] = {}
    results = [_result(diagnostic, numbers, counts, None) for diagnostic in outcome.diagnostics]
    results += [_result(diagnostic, numbers, counts, "unchanged") for diagnostic in outcome.baselined]
    driver = {"name": "orbit-registry", "rules": [_rule(check) for check in checks]}
    run = {
        "tool": {"driver": driver},
        "originalUriBaseIds": {ROOT: {"description": {"text": "The root of the repository"}}},
        "columnKind": "unicodeCodePoints",
        "results": results,
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(check: Check) -> dict[str, object]:
    """Return a check as a rule; its page is named in the help, for `helpUri` takes absolute addresses only."""
    return {
        "id": check.code,
        "name": "".join(word.capitalize() for word in check.name.split("-")),
        "shortDescription": {"text": check.summary},
        "help": {"text": f"What to do: {check.hint}. More: {check.docs}"},
        "defaultConfiguration": {"level": check.severity.value},
        "properties": {"docs": check.docs},
    }


def _result(
    diagnostic: Diagnostic, numbers: dict[str, int], counts: dict[str, int], state: str | None
) -> dict[str, object]:
    message = diagnostic.message if diagnostic.hint is None else f"{diagnostic.message}\n{diagnostic.hint}"
    fingerprint = hashlib.sha256(diagnostic.fingerprint.encode("utf-8", "surrogatepass")).hexdigest()[:32]
    counts[fingerprint] = counts.get(fingerprint, 0) + 1
    result: dict[str, object] = {
        "ruleId": diagnostic.code,
        "level": diagnostic.severity.value,
        "message": {"text": message},
        "locations": [_place(diagnostic.location)],
        "partialFingerprints": {"orbit/v1": f"{fingerprint}:{counts[fingerprint]}"},
    }
    if diagnostic.code in numbers:
        result["ruleIndex"] = numbers[diagnostic.code]
    if diagnostic.related:
        result["relatedLocations"] = [
            {"id": number, **_place(location)} for number, location in enumerate(diagnostic.related, start=1)
        ]
    if state is not None:
        result["baselineState"] = state
        result["suppressions"] = [{"kind": "external", "justification": "in .orbit/baseline.yaml"}]
    return result


def _place(location: Location) -> dict[str, object]:
    physical: dict[str, object] = {
        "artifactLocation": {"uri": quote(location.path.encode("utf-8", "surrogatepass")), "uriBaseId": ROOT}
    }
    if location.position is not None:
        physical["region"] = {"startLine": location.position.line, "startColumn": location.position.column}
    return {"physicalLocation": physical}
