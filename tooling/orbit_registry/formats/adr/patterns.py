"""Patterns of `patterns.yaml`: how decision documents write things, and what that means."""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, cast

from orbit_registry.formats import yaml
from orbit_registry.formats.adr.vocabulary import VOCABULARY, word_forms

_PART = re.compile(r"%\{(?P<name>\w+)\}")


class _Pattern:
    """A pattern that is compiled when something is asked of it: few runs read a document."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        value = getattr(re.compile(_text(self._name)), attribute)
        setattr(self, attribute, value)  # the next time it is there
        return value


@cache
def pattern(name: str) -> re.Pattern[str]:
    """Return a pattern by its name; `%{name}` in it is another one, or a list of the vocabulary."""
    return cast("re.Pattern[str]", _Pattern(name))


@cache
def patterns() -> Mapping[str, Mapping[str, Any]]:
    """Return what the file says of each pattern: its text, and what it matches."""
    text = Path(__file__).with_name("patterns.yaml").read_text("utf-8")
    # A file of this package has no tags to refuse, though its patterns look like some.
    return cast(Mapping[str, Mapping[str, Any]], yaml.reader.loads(text))


def _text(name: str) -> str:
    if name not in patterns():
        return _words(name)

    parts = patterns()[name]["pattern"]
    return expanded(parts if isinstance(parts, str) else "".join(parts))


def expanded(text: str) -> str:
    """Return a pattern with each `%{name}` in it replaced."""
    return _PART.sub(lambda part: _text(part["name"]), text)


def _words(name: str) -> str:
    """Return a list of the vocabulary as alternatives, the longest word first; of several lists
    each is a group.
    """
    listed = VOCABULARY[name]
    if isinstance(listed, Mapping):
        return "|".join(f"(?P<{group}>{expanded('|'.join(listed[group]))})" for group in listed)

    if not isinstance(listed, str):
        return "|".join(listed)

    words = sorted(word_forms(name), key=len, reverse=True)
    return "|".join(map(re.escape, words))
