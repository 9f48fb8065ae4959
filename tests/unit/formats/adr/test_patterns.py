"""Patterns that say what a document means: each finds its examples, and the code uses each."""

import re
from pathlib import Path

import pytest

from orbit_registry.formats.adr.patterns import pattern, patterns

CODE = Path(__file__).parents[4] / "tooling/orbit_registry"
PART = re.compile(r"%\{(\w+)\}")
USE = re.compile(r'pattern\(\s*"(\w+)"\s*\)')


@pytest.mark.parametrize("name", patterns())
def test_a_pattern_finds_its_examples(name: str) -> None:
    examples = patterns()[name]["matches"]
    assert examples
    assert [text for text in examples if pattern(name).search(text) is None] == []


def test_each_pattern_is_used() -> None:
    texts = [file.read_text("utf-8") for file in CODE.rglob("*.py")]
    used = {name for text in texts for name in USE.findall(text)}
    of_others = {name for entry in patterns().values() for name in PART.findall(str(entry))}
    of_others.update(PART.findall((CODE / "formats/adr/vocabulary.yaml").read_text("utf-8")))
    assert set(patterns()) - used - of_others == set()
    assert used - set(patterns()) == set()
