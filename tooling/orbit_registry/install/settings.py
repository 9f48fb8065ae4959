"""Formats of agents' settings: our entries in JSON, edited as text so that all other bytes stay, or our own file.

A member that is ours as a whole begins with a line break before its first entry; one that existed, empty, does not. So
removal gives back the earlier text.
"""

import json
import re
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from orbit_registry import agents
from orbit_registry.agents.agent import CommandFile, JsonHooks, SettingsFile
from orbit_registry.errors import RefusedError

_SPACE = " \t\r\n"
_DECODER = json.JSONDecoder()
_COMMENT = re.compile(r'"(?:[^"\\]|\\.)*"|//[^\r\n]*|/\*.*?\*/', re.DOTALL)
_BLACK = re.compile(r"[^\r\n]")


@dataclass(frozen=True, slots=True)
class Item:
    """A member of an object, or an element of an array (without key), with its positions."""

    key: str | None
    start: int
    value_start: int
    end: int
    value: Any


@dataclass(frozen=True, slots=True)
class Container:
    """An object or an array in a text: the positions of its brackets, and its items."""

    start: int
    end: int
    items: tuple[Item, ...]

    def get(self, key: str) -> Item | None:
        """Return the last member of a key, which counts for every JSON reader."""
        return next((item for item in reversed(self.items) if item.key == key), None)


def parse(text: str, what: str) -> Any:
    """Return the value of a JSON text; `what` names the file in errors."""
    try:
        return json.loads(text.removeprefix("\ufeff"))
    except json.JSONDecodeError as error:
        message = f"{what}:{error.lineno}:{error.colno}: no valid JSON: {error.msg}"
        raise RefusedError(message, hint="correct it there, then run the command again; nothing was changed") from None
    except RecursionError:
        raise RefusedError(f"{what}: nested too deeply", hint="see what the file holds; nothing was changed") from None


def container(text: str, start: int | None = None) -> Container:
    """Return the object or array that begins at a position of a valid JSON text, by default at its first bracket."""
    start = _skip(text, 1 if text.startswith("\ufeff") else 0) if start is None else start
    keyed = text[start] == "{"
    items: list[Item] = []
    at = _skip(text, start + 1)
    while text[at] not in "}]":
        begin, key = at, None
        if keyed:
            key, at = _DECODER.raw_decode(text, at)
            at = _skip(text, _skip(text, at) + 1)
        value, end = _DECODER.raw_decode(text, at)
        items.append(Item(key, begin, at, end, value))
        at = _skip(text, end)
        if text[at] == ",":
            at = _skip(text, at + 1)
    return Container(start, at + 1, tuple(items))


def appended(text: str, into: Container, added: str) -> str:
    """Return the text with one more item at a container's end, spaced like the last one."""
    if not into.items:
        at = into.start + 1
        return f"{text[:at]}{added}{text[at:]}"
    last = into.items[-1]
    begin = last.start
    while text[begin - 1] in _SPACE:
        begin -= 1
    return f"{text[: last.end]},{text[begin : last.start]}{added}{text[last.end :]}"


def removed(text: str, source: Container, item: Item, plain: str) -> str:
    """Return the text without an item and its separator; comments stay. `plain` is the text with blanked comments."""
    position = source.items.index(item)
    if position:
        start, end = source.items[position - 1].end, item.start
        return text[:start] + _comments(text, plain, start, end) + text[item.end :]
    if len(source.items) > 1:
        second = source.items[1].start
        return text[: item.start] + _comments(text, plain, item.end, second) + text[second:]
    start = source.start + 1
    return text[:start] + _comments(text, plain, start, item.start) + text[item.end :]


def _comments(text: str, plain: str, start: int, end: int) -> str:
    """Return the text between two positions without its comma if it has a comment; else nothing."""
    if text[start:end] == plain[start:end]:
        return ""
    comma = plain.find(",", start, end)
    return text[start:end] if comma < 0 else text[start:comma] + text[comma + 1 : end]


def without_comments(text: str) -> str:
    """Return a text of the same length with spaces in place of `//` and `/* */` comments."""
    return _COMMENT.sub(lambda match: match[0] if match[0][0] == '"' else _BLACK.sub(" ", match[0]), text)


def is_first_on_a_line(text: str, source: Container) -> bool:
    """Say whether a line break precedes a container's first item."""
    return text[source.start + 1] in _SPACE


def _skip(text: str, at: int) -> int:
    while text[at : at + 1] and text[at] in _SPACE:
        at += 1
    return at


HOOKS = "hooks"
MARK = "# orbit hook"
"""End of our command, a comment for a shell: it is found again by this."""
COMMAND = "ORBIT_COMMAND"  # placeholder of the command in the template of a command file


def format_of(file: SettingsFile) -> "JsonSettings | CommandFileSettings":
    """Return the format of a settings file; `what` names the file in its errors."""
    return JsonSettings(file.format) if isinstance(file.format, JsonHooks) else CommandFileSettings(file.format)


@dataclass(frozen=True, slots=True)
class JsonSettings:
    """Entries in the `hooks` member of JSON settings."""

    spec: JsonHooks

    def with_entries(self, text: str | None, command: str, what: str) -> str:
        """Return the settings with our entries; None means no file."""
        entries = self._made(command)
        if text is None:
            content = {HOOKS: {event: [entry] for event, entry in entries.items()}, **self.spec.head}
            return json.dumps(content, indent=2, ensure_ascii=False) + "\n"
        remaining = self.without_entries(text, what)
        if remaining is None:
            return self.with_entries(None, command, what)
        text, top = remaining, self._top(remaining)
        self._demand_head(top, what)
        if top.get(HOOKS) is None:
            content = {event: [entry] for event, entry in entries.items()}
            return appended(text, top, f'"{HOOKS}": {json_text(content, 1)}')
        for event, entry in entries.items():
            inside = self._hooks(text)
            existing = inside.get(event)
            if existing is None:
                text = appended(text, inside, f'"{event}": {json_text([entry], 2)}')
            else:
                text = appended(text, self._inside(text, existing), json_text(entry, 3))
        return text

    def without_entries(self, text: str, what: str) -> str | None:
        """Return the settings without our entries; None if the file held nothing else."""
        if not self.commands(text, what):
            return text
        top, hooks = self._top(text), self._hooks(text)
        whole_member = is_first_on_a_line(text, hooks)
        whole_file = whole_member and top.items[0].key == HOOKS and is_first_on_a_line(text, top)
        for event in list(dict.fromkeys(str(item.key) for item in hooks.items)):
            text = self._without_in(text, event)
        if self._hooks(text).items or not whole_member:
            return text
        text = self._removed(text, self._top(text), _item(self._top(text), HOOKS))
        remaining = {str(item.key): item.value for item in self._top(text).items}
        return None if whole_file and remaining == self.spec.head and self._plain(text) == text else text

    def commands(self, text: str, what: str) -> list[str]:
        """Return our commands, in the order of the text."""
        return [command for _, _, command in self._installed(text, what)]

    def is_current(self, text: str, command: str, what: str) -> bool:
        """Say whether our entries are exactly those that would be installed today."""
        expected = {(event, json.dumps(entry, sort_keys=True), command) for event, entry in self._made(command).items()}
        installed = self._installed(text, what)
        entries = {(event, json.dumps(entry, sort_keys=True), command) for event, entry, command in installed}
        return len(installed) == len(expected) and entries == expected

    def _installed(self, text: str, what: str) -> list[tuple[str, object, str]]:
        data = parse(self._plain(text), what)
        if not isinstance(data, dict):
            raise RefusedError(f"{what} is not an object", hint="correct it there; nothing was changed")
        hooks = data.get(HOOKS, {})
        if not isinstance(hooks, dict) or not all(isinstance(hooks.get(event, []), list) for event in self.spec.events):
            message = f"{what} is not settings with `{HOOKS}` as an object that holds a list for each event"
            raise RefusedError(message, hint="correct it there; nothing was changed")
        return [
            (event, entry, handler[self.spec.key])
            for event, listed in hooks.items()
            for entry in (listed if isinstance(listed, list) else [])
            for handler in self._handlers(entry)
            if self._is_ours(handler)
        ]

    def _without_in(self, text: str, event: str) -> str:
        member = _item(self._hooks(text), event)
        if not isinstance(member.value, list):
            return text
        had = self._inside(text, member)
        is_ours = is_first_on_a_line(text, had)
        for position in reversed(range(len(had.items))):
            handlers = self._handlers(had.items[position].value)
            if handlers and all(map(self._is_ours, handlers)):
                now = self._event(text, event)
                text = self._removed(text, now, now.items[position])
                continue
            for number in reversed(range(len(handlers))):
                if self._is_ours(handlers[number]):
                    group = self._inside(text, self._event(text, event).items[position])
                    listed = self._inside(text, _item(group, HOOKS))
                    text = self._removed(text, listed, listed.items[number])
        if had.items and not self._event(text, event).items and is_ours:
            inside = self._hooks(text)
            text = self._removed(text, inside, _item(inside, event))
        return text

    def _made(self, command: str) -> dict[str, dict[str, object]]:
        handler = {**self.spec.handler, self.spec.key: command}
        entries: dict[str, dict[str, object]] = {}
        for event, matcher in self.spec.events.items():
            start: dict[str, object] = {"matcher": matcher} if matcher else {}
            entries[event] = {**start, HOOKS: [handler]} if self.spec.grouped else {**start, **handler}
        return entries

    def _demand_head(self, top: Container, what: str) -> None:
        for key, value in self.spec.head.items():
            item = top.get(key)
            if item is None or item.value != value:
                message = f'{what} has no `"{key}": {json.dumps(value)}`, without which its agent reads none of it'
                raise RefusedError(message, hint="add it there; nothing was changed")

    def _handlers(self, entry: object) -> list[Any]:
        if not self.spec.grouped:
            return [entry]
        listed = entry.get(HOOKS) if isinstance(entry, dict) else None
        return listed if isinstance(listed, list) else []

    def _is_ours(self, handler: object) -> bool:
        command = handler.get(self.spec.key) if isinstance(handler, dict) else None
        return isinstance(command, str) and command.endswith(MARK)

    def _plain(self, text: str) -> str:
        return without_comments(text) if self.spec.comments else text

    def _top(self, text: str) -> Container:
        return container(self._plain(text))

    def _hooks(self, text: str) -> Container:
        return self._inside(text, _item(self._top(text), HOOKS))

    def _event(self, text: str, event: str) -> Container:
        return self._inside(text, _item(self._hooks(text), event))

    def _inside(self, text: str, item: Item) -> Container:
        return container(self._plain(text), item.value_start)

    def _removed(self, text: str, source: Container, item: Item) -> str:
        return removed(text, source, item, self._plain(text))


def json_text(value: object, depth: int) -> str:
    """Return a value as JSON over several lines, at a depth of a file."""
    return json.dumps(value, indent=2, ensure_ascii=False).replace("\n", "\n" + "  " * depth)


def _item(source: Container, key: str) -> Item:
    item = source.get(key)
    if item is None:
        raise KeyError(key)
    return item


@dataclass(frozen=True, slots=True)
class CommandFileSettings:
    """A file that holds the hook's command and nothing of the user's."""

    spec: CommandFile

    def with_entries(self, text: str | None, command: str, what: str) -> str:
        """Return the file with a command; our earlier one is replaced."""
        self._refuse(text, what)
        return self._template().replace(COMMAND, self._quoted(command))

    def without_entries(self, text: str, what: str) -> str | None:
        """Return None: the file is ours, as a whole."""
        self._refuse(text, what)
        return None

    def commands(self, text: str, what: str) -> list[str]:
        """Return the command in the file."""
        self._refuse(text, what)
        before, _, after = next(line for line in self._template().splitlines() if COMMAND in line).partition(COMMAND)
        lines = [line for line in text.splitlines() if line.startswith(before) and line.endswith(after)]
        try:
            return [self._unquoted(line[len(before) : len(line) - len(after)]) for line in lines]
        except ValueError:
            return []

    def is_current(self, text: str, command: str, what: str) -> bool:
        """Say whether the file is the one that would be written today."""
        return text == self.with_entries(text, command, what)

    def _template(self) -> str:
        return Path(agents.__file__).with_name(self.spec.template).read_text("utf-8")

    def _refuse(self, text: str | None, what: str) -> None:
        begin = self._template().splitlines()[:2]
        if text is not None and not all(line in text.splitlines()[:3] for line in begin):
            raise RefusedError(f"{what} is not ours", hint="move it away, or leave it: the hook needs its own file")

    def _quoted(self, command: str) -> str:
        if self.spec.language == "shell":
            return shlex.quote(command)
        return json.dumps(command, ensure_ascii=True)[1:-1]

    def _unquoted(self, text: str) -> str:
        return " ".join(shlex.split(text)) if self.spec.language == "shell" else str(json.loads(f'"{text}"'))
