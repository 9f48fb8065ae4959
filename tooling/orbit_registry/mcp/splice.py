"""Adds to a tool's result within the bytes of its message; every byte that was there stays as it was.

A message is never written anew: numbers, the order of keys, spaces and escapes are its sender's. Knows no process.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

META = "dev.orbit/learnings"
FIELD = "learnings"
_DECODER = json.JSONDecoder()
_SPACE = re.compile(r"[ \t\n\r]*")
_OPEN_SCHEMA = frozenset(
    (
        "$defs", "$id", "$schema", "additionalProperties", "definitions", "description", "examples", "properties",
        "required", "title", "type",
    )
)  # fmt: skip
"""What may stand in a schema that we can read to its end; any other word of it may forbid a field."""


class UnreadableError(ValueError):
    """A message is not what it seemed to be; it passes as it is."""


class Member:
    """One member of an object: its value, and where the value stands in the text."""

    __slots__ = ("end", "start", "value")

    def __init__(self, value: object, start: int, end: int) -> None:
        self.value, self.start, self.end = value, start, end


def members(text: str, start: int = 0) -> dict[str, Member]:
    """Return the members of the object that begins at a place; at 0 the text has to end with it.

    Raises:
        UnreadableError: there is none, or a key stands in it twice.
        ValueError: it is no JSON.
    """
    found: dict[str, Member] = {}
    at = _after_space(text, start)
    if text[at : at + 1] != "{":
        raise UnreadableError("no object")
    at = _after_space(text, at + 1)
    while text[at : at + 1] != "}":
        if found:
            if text[at : at + 1] != ",":
                raise UnreadableError("no comma")
            at = _after_space(text, at + 1)
        if text[at : at + 1] != '"':
            raise UnreadableError("no key")
        key, at = _DECODER.raw_decode(text, at)
        at = _after_space(text, at)
        if text[at : at + 1] != ":" or key in found:
            raise UnreadableError("no value, or a second one")
        begin = _after_space(text, at + 1)
        value, at = _DECODER.raw_decode(text, begin)
        found[key] = Member(value, begin, at)
        at = _after_space(text, at)
    if start == 0 and _after_space(text, at + 1) != len(text):
        raise UnreadableError("more than one value")
    return found


class Places:
    """Where something can be added to a tool's result."""

    def __init__(self, text: str, result: Member) -> None:
        """Look at the result in a message.

        Raises:
            UnreadableError: it has no list of content, or holds learnings already.
        """
        inner = members(text, result.start)
        content, meta = inner.get("content"), inner.get("_meta")
        if content is None or not isinstance(content.value, list):
            raise UnreadableError("no content")
        if meta is not None and (not isinstance(meta.value, dict) or META in meta.value):
            raise UnreadableError("metadata of another kind, or with learnings")
        self._text, self._content, self._meta, self._held = text, content, meta, inner.get("structuredContent")

    def filled(self, block: str, learnings: Sequence[Mapping[str, str]], *, structured: bool) -> str:
        """Return the message with a block more in its result's content, and the records in its metadata.

        `structured` says that they may stand in the structured content too, where that is an object.
        """
        data = json.dumps(learnings)
        said = json.dumps({"type": "text", "text": block, "annotations": {"audience": ["assistant"], "priority": 0.9}})
        inserts = [_into(self._content, said)]
        if self._meta is None:
            inserts.append((self._content.end, f', "_meta": {{"{META}": {data}}}'))
        else:
            inserts.append(_into(self._meta, f'"{META}": {data}'))
        held = self._held
        if structured and held is not None and isinstance(held.value, dict) and FIELD not in held.value:
            inserts.append(_into(held, f'"{FIELD}": {data}'))
        text = self._text
        for place, piece in sorted(inserts, reverse=True):
            text = text[:place] + piece + text[place:]
        return text


def _into(held: Member, piece: str) -> tuple[int, str]:
    """Return where and how something becomes the last of a list or an object."""
    return held.end - 1, f", {piece}" if held.value else piece


def admits_field(schema: object) -> bool:
    """Say whether an output schema surely lets a field more stand in its object; no schema lets anything stand."""
    if schema is None:
        return True
    if not isinstance(schema, Mapping) or not _OPEN_SCHEMA.issuperset(schema):
        return False
    named = schema.get("properties")
    open_end = schema.get("additionalProperties", True)
    return open_end is True and not (isinstance(named, Mapping) and FIELD in named)


def _after_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found is not None else at
