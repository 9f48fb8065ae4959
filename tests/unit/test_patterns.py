"""Patterns that are compiled late are those that would be compiled early."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

from orbit_registry import patterns

HOME = Path(patterns.__file__).parent


def late() -> dict[str, re.Pattern[str]]:
    """Return every pattern of our modules that is compiled at its first use, by the name it has there."""
    found: dict[str, re.Pattern[str]] = {}
    for file in sorted(HOME.rglob("*.py")):
        if "patterns import lazy" in file.read_text("utf-8"):
            name = ".".join(file.relative_to(HOME.parent).with_suffix("").parts)
            members = vars(importlib.import_module(name)).items()
            found |= {f"{name}.{member}": one for member, one in members if type(one) is patterns.lazy}
    return found


def test_every_late_pattern_compiles() -> None:
    """A pattern that is none would be told at its first use, which may be a rare one."""
    found = late()
    assert len(found) > 20
    assert [name for name, one in found.items() if not isinstance(one.pattern, str)] == []


@pytest.mark.parametrize("make", [patterns.lazy, re.compile])
def test_a_late_pattern_is_asked_as_any(make: type) -> None:
    """Flags count, methods can be taken along, and a second question is answered as the first."""
    one = make("(?P<word>[a-z]+)!", re.IGNORECASE)
    assert [*map(one.sub, ("<>", "<>"), ("AB! c!", "d"))] == ["<> <>", "d"]
    assert [found["word"] for found in one.finditer("Ab! c!")] == ["Ab", "c"]
    assert (one.pattern, one.fullmatch("a!")["word"], one.fullmatch("a")) == ("(?P<word>[a-z]+)!", "a", None)


def test_a_text_that_is_no_pattern_is_told_when_it_is_asked() -> None:
    """The error is that of the standard library."""
    with pytest.raises(re.error, match="unterminated"):
        patterns.lazy("[").search("a")
