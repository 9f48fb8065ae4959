"""Two versions of one record, merged by field."""

from orbit_registry.formats.yaml import load
from orbit_registry.model.kind import load_kinds
from orbit_registry.operations.merge.texts import merge_records

RECORD = """schema_version: 1
id: ADR-0001
uid: 01890a5dac96774bbcceb302099a8057
title: Log in JSON
status: accepted
created_at: 2026-01-01T00:00:00Z
updated_at: 2026-01-01T00:00:00Z
freshness:
  verified_at: 2026-01-0{day}T00:00:00Z
"""
INPUT = "  fingerprint:\n  - input: a.py\n    hash: " + "0" * 16 + "\n"


def test_an_input_that_both_sides_removed_is_gone() -> None:
    base, ours, theirs = RECORD.format(day=1) + INPUT, RECORD.format(day=2), RECORD.format(day=3)
    path = ".orbit/adrs/ADR-0001/adr.yaml"
    merged = merge_records(base, ours, theirs, load_kinds()["adr"], path)
    assert load(merged) == load(theirs)
