"""Every error of the package says what to do next: none can be made without a hint, and none has an empty one."""

import inspect
import re
from pathlib import Path

import pytest

from orbit_registry import errors

PACKAGE = Path(errors.__file__).parent
TREE = [error for error in vars(errors).values() if isinstance(error, type) and issubclass(error, errors.OrbitError)]


@pytest.mark.parametrize("error", TREE, ids=lambda error: str(error.__name__))
def test_no_error_is_made_without_a_hint(error: type[errors.OrbitError]) -> None:
    assert inspect.signature(error).parameters["hint"].default is inspect.Parameter.empty


def test_no_hint_is_empty() -> None:
    texts = {file.relative_to(PACKAGE): file.read_text("utf-8") for file in PACKAGE.rglob("*.py")}
    assert [file for file, text in texts.items() if re.search(r"""\bhint=(""|'')[,)\n]""", text)] == []
