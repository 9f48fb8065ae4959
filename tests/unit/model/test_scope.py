"""Symbols name a file from the root and something in it."""

from __future__ import annotations

import pytest

from orbit_registry.model.scope import symbol_problem


@pytest.mark.parametrize(
    "symbol", ["app.py::main", "src/a b/x.rs::Foo::bar", "src/x.py::Class.method", ".ci/run::main"]
)
def test_a_path_and_a_name_are_a_symbol(symbol: str) -> None:
    """The first two colons part them, so that a name may hold more."""
    assert symbol_problem(symbol) is None


@pytest.mark.parametrize(
    "symbol",
    ["", "main", "app.py:main", "::main", "app.py::", "/app.py::main", "../app.py::main", "a/../../b.py::main",
     "~/app.py::main", "C:\\app.py::main", "a\\b.py::main", "a//b.py::main", "./a.py::main",
     " a.py::main", "a.py::x\ny"],
)  # fmt: skip
def test_anything_else_is_none(symbol: str) -> None:
    """Another form, or a path that leads out of the root or is written in a second way."""
    assert symbol_problem(symbol)
