"""The shape of JSON output, and the schema that says it."""

from pathlib import Path

from orbit_registry.model.diagnostic import ENVELOPE_SCHEMA


def test_the_published_schema_is_the_package_s() -> None:
    published = Path(__file__).parents[3] / "docs" / "schemas" / "envelope.schema.json"

    assert published.read_bytes() == ENVELOPE_SCHEMA.read_bytes()
