"""Symbols, and the weight of versions."""

import pytest

from orbit_registry.model.scope import symbol_problem, version_factor


@pytest.mark.parametrize(
    "symbol", ["app.py::main", "src/a b/x.rs::Foo::bar", "src/x.py::Class.method", ".ci/run::main"]
)
def test_a_path_and_a_name_are_a_symbol(symbol: str) -> None:
    """The first two colons part them, so that a name may hold more."""
    assert symbol_problem(symbol) is None


@pytest.mark.parametrize(
    "symbol",
    [
        "",
        "main",
        "app.py:main",
        "::main",
        "app.py::",
        "/app.py::main",
        "../app.py::main",
        "a/../../b.py::main",
        "~/app.py::main",
        "C:\\app.py::main",
        "a\\b.py::main",
        "a//b.py::main",
        "./a.py::main",
        " a.py::main",
        "a.py::x\ny",
    ],
)
def test_anything_else_is_none(symbol: str) -> None:
    assert symbol_problem(symbol)


@pytest.mark.parametrize(
    ("versions", "requested", "factor"),
    [
        ({"2", "3"}, {"2", "3"}, 1.0),
        ({"2", "3", "4"}, {"2", "3"}, 0.95),
        ({"3"}, {"2", "3"}, 0.85),
        ({"2", "4"}, {"2", "3"}, 0.75),
        ({"unversioned"}, {"2", "3"}, 0.70),
        (set(), {"2", "3"}, 0.70),
        ({"1"}, {"2", "3"}, 0.0),
        ({"unversioned"}, {"unversioned"}, 1.0),
        ({"1"}, {"unversioned"}, 0.0),
        ({"1"}, set(), 1.0),
        ({"unversioned"}, set(), 1.0),
        (set(), set(), 1.0),
    ],
)
def test_versions_that_overlap_more_are_worth_more(
    versions: set[str], requested: set[str], factor: float
) -> None:
    assert version_factor(versions, requested) == factor
