"""Every error of the package says what to do next: none can be made without a hint, and none has an empty one."""

import ast
import inspect
from pathlib import Path

import pytest

from orbit_registry import errors

PACKAGE = Path(errors.__file__).parent
TREE = [error for error in vars(errors).values() if isinstance(error, type) and issubclass(error, errors.OrbitError)]


@pytest.mark.parametrize("error", TREE, ids=lambda error: str(error.__name__))
def test_no_error_is_made_without_a_hint(error: type[errors.OrbitError]) -> None:
    assert inspect.signature(error).parameters["hint"].default is inspect.Parameter.empty


def test_no_hint_is_empty() -> None:
    empty = [
        f"{file.relative_to(PACKAGE)}:{call.lineno}"
        for file in PACKAGE.rglob("*.py")
        for call in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(call, ast.Call)
        for keyword in call.keywords
        if keyword.arg == "hint" and isinstance(keyword.value, ast.Constant) and keyword.value.value == ""
    ]
    assert empty == []
