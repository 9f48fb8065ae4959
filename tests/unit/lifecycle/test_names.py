"""Names that are looked for in code."""

from orbit_registry.lifecycle.names import forms_of


def test_the_forms_of_a_name_have_one_order() -> None:
    assert forms_of("snapshot.duckdb") == ["snapshot.duckdb", "duckdb"]
    assert forms_of("io-classes") == ["io-classes", "io_classes", "ioclasses"]
