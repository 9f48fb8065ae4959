"""JSON Schemas of what agents take as an answer: the least of it that we use, closed against everything else.

They hold no key that decides about a permission or changes a tool's input, so that an answer of ours which had one
would not pass.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

TEXT: Mapping[str, Any] = {"type": "string", "minLength": 1}
SPECIFIC = ("hookSpecificOutput", "additionalContext")
"""The way to the text in a nested answer."""


def nested(events: Iterable[str], **further: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Return the schema of `{"hookSpecificOutput": {"hookEventName", "additionalContext"}}` for each event."""
    return {
        event: closed(
            hookSpecificOutput=closed(
                required=("hookEventName", "additionalContext"), hookEventName={"const": event}, additionalContext=TEXT
            ),
            **further,
        )
        for event in events
    }


def flat(events: Iterable[str], key: str, **further: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Return the schema of an object whose member `key` is the text, for each event."""
    return {event: closed(**{key: TEXT}, **further) for event in events}


def closed(required: Iterable[str] = (), **properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of an object that has these members and no other."""
    return {
        "type": "object",
        "additionalProperties": False,
        "required": list(required),
        "minProperties": 1,
        "properties": properties,
    }
