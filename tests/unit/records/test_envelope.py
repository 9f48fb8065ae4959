"""The shape of JSON output, and the schema that says it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from orbit_registry.records.diagnostic import Diagnostic, Location, Severity
from orbit_registry.records.envelope import ENVELOPE_SCHEMA, envelope
from orbit_registry.text.position import Position

SCHEMA = Draft202012Validator(json.loads(ENVELOPE_SCHEMA.read_text("utf-8")))
FINDING = Diagnostic("ORB101", Severity.ERROR, "wrong", Location("a.yaml", Position(1)), related=(Location("b"),))


@pytest.mark.parametrize(
    "whole",
    [
        envelope({"id": "x"}),
        envelope([], next_commands=["orbit check"]),
        envelope(None, ok=False, error="no", hint="do"),
        envelope(None, ok=False, error="no"),
        envelope({}, ok=False, diagnostics=[FINDING.as_dict()]),
    ],
)
def test_every_envelope_fits_its_schema(whole: dict[str, object]) -> None:
    """With data, with findings, and with an error: always the four keys, and error with hint where it failed."""
    assert list(SCHEMA.iter_errors(whole)) == []
    assert {"ok", "data", "diagnostics", "next"} <= set(whole)


@pytest.mark.parametrize(
    "whole",
    [
        {},
        {"ok": True, "data": None, "diagnostics": [], "next": [], "extra": 1},
        {"ok": True, "data": None, "diagnostics": [], "next": [], "error": "x", "hint": None},
        {"ok": False, "data": None, "diagnostics": [], "next": [], "error": "x"},
        {"ok": "yes", "data": None, "diagnostics": [], "next": []},
        {"ok": True, "data": None, "diagnostics": [{"code": "ORB101"}], "next": []},
    ],
)
def test_the_schema_refuses_what_is_no_envelope(whole: dict[str, object]) -> None:
    """The schema can fail: other keys, an error that is ok, half a finding."""
    assert list(SCHEMA.iter_errors(whole))


def test_the_published_schema_is_the_package_s() -> None:
    """docs/schemas holds a copy of the one home."""
    published = Path(__file__).parents[3] / "docs" / "schemas" / "envelope.schema.json"

    assert published.read_bytes() == ENVELOPE_SCHEMA.read_bytes()
