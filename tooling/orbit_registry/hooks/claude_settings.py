"""Claude Code's settings: our entries in them, put in and taken out by text; it opens no file and runs nothing.

Everything else in a text keeps its bytes, and taking out gives back the text of before. Where a whole member is ours,
its first entry begins on a line of its own; in one that was there, empty, it does not. So the two can be told apart.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from orbit_registry.errors import RefusedError
from orbit_registry.hooks.json_spans import (
    Container,
    Item,
    appended,
    container,
    is_first_on_a_line,
    parse,
    removed,
)

MARK = "# orbit hook"
"""How our command ends, for a shell a comment: by this it is found again."""
TIMEOUT_SECONDS = 5
EVENTS: Mapping[str, str] = {
    "SessionStart": "",
    "UserPromptSubmit": "",
    "PreToolUse": "Read|Edit|Write|MultiEdit|NotebookEdit|Bash",
}
"""Which events are asked for, and for which tools."""


def with_entries(text: str | None, command: str, what: str) -> str:
    """Return the settings with our entries; None stands for a file that is not there.

    Raises:
        RefusedError: the text is no settings; `what` names the file.
    """
    if text is None:
        return json.dumps({"hooks": _groups(command)}, indent=2, ensure_ascii=False) + "\n"
    left = without_entries(text, what)
    if left is None:
        return with_entries(None, command, what)
    text, top = left, container(left)
    hooks = top.get("hooks")
    if hooks is None:
        return appended(text, top, f'"hooks": {_dumped(_groups(command), 1)}')
    for event, groups in _groups(command).items():
        inside = container(text, _member(text, "hooks").value_start)
        held = inside.get(event)
        if held is None:
            text = appended(text, inside, f'"{event}": {_dumped(groups, 2)}')
        else:
            text = appended(text, container(text, held.value_start), _dumped(groups[0], 3))
    return text


def without_entries(text: str, what: str) -> str | None:
    """Return the settings without our entries; None where nothing but ours was in the file, so that it is ours too.

    Raises:
        RefusedError: as `with_entries`.
    """
    _refuse(parse(text, what), what)
    top = container(text)
    hooks = top.get("hooks")
    if hooks is None or not installed(text, what):
        return text
    whole_file, whole_member = (
        is_first_on_a_line(text, top),
        is_first_on_a_line(text, container(text, hooks.value_start)),
    )
    for event in list(dict.fromkeys(str(item.key) for item in container(text, hooks.value_start).items)):
        text = _without_in(text, event)
    if container(text, _member(text, "hooks").value_start).items or not whole_member:
        return text
    text = removed(text, container(text), _member(text, "hooks"))
    return None if whole_file and not container(text).items else text


def installed(text: str, what: str) -> dict[str, list[tuple[str, str]]]:
    """Return our entries in the settings: matchers and commands, by event.

    Raises:
        RefusedError: as `with_entries`.
    """
    data = parse(text, what)
    _refuse(data, what)
    found: dict[str, list[tuple[str, str]]] = {}
    for event, groups in data.get("hooks", {}).items():
        for group in groups:
            for handler in filter(_is_ours, _handlers(group)):
                found.setdefault(event, []).append((str(group.get("matcher", "")), handler["command"]))
    return found


def is_current(found: Mapping[str, list[tuple[str, str]]], command: str) -> bool:
    """Say whether entries are those that would be put in today."""
    return found == {event: [(matcher, command)] for event, matcher in EVENTS.items()}


def _without_in(text: str, event: str) -> str:
    """Take our handlers out of one event: handler by handler, then groups and the event itself where only ours was."""

    def groups() -> Container:
        inside = container(text, _member(text, "hooks").value_start)
        return container(text, _item(inside, event).value_start)

    had = groups()
    whole = is_first_on_a_line(text, had)
    for place in reversed(range(len(had.items))):
        handlers = _handlers(had.items[place].value)
        if handlers and all(map(_is_ours, handlers)):
            now = groups()
            text = removed(text, now, now.items[place])
            continue
        for number in reversed(range(len(handlers))):
            if _is_ours(handlers[number]):
                group = container(text, groups().items[place].value_start)
                listed = container(text, _item(group, "hooks").value_start)
                text = removed(text, listed, listed.items[number])
    if had.items and not groups().items and whole:
        inside = container(text, _member(text, "hooks").value_start)
        text = removed(text, inside, _item(inside, event))
    return text


def _groups(command: str) -> dict[str, list[dict[str, object]]]:
    handler = {"type": "command", "command": command, "timeout": TIMEOUT_SECONDS}
    return {
        event: [{**({"matcher": matcher} if matcher else {}), "hooks": [handler]}] for event, matcher in EVENTS.items()
    }


def _dumped(value: object, depth: int) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False).replace("\n", "\n" + "  " * depth)


def _member(text: str, key: str) -> Item:
    return _item(container(text), key)


def _item(source: Container, key: str) -> Item:
    found = source.get(key)
    if found is None:
        raise KeyError(key)
    return found


def _handlers(group: object) -> list[Any]:
    listed = group.get("hooks") if isinstance(group, dict) else None
    return listed if isinstance(listed, list) else []


def _is_ours(handler: object) -> bool:
    said = handler.get("command") if isinstance(handler, dict) else None
    return isinstance(said, str) and said.endswith(MARK)


def _refuse(data: object, what: str) -> None:
    hooks = data.get("hooks", {}) if isinstance(data, dict) else None
    lists: Iterable[object] = hooks.values() if isinstance(hooks, dict) else [None]
    if not all(isinstance(groups, list) for groups in lists):
        place = "an object" if not isinstance(data, dict) else "`hooks` as an object that holds a list for each event"
        raise RefusedError(f"{what} is not {place}", hint="correct it there; nothing was changed")
