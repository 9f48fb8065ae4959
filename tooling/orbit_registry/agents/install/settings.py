"""Formats of agents' settings: our entries in JSON, edited as text so that all other bytes stay, or
our own file.

A member that is ours as a whole begins with a line break before its first entry; one that existed,
empty, does not. So removal gives back the earlier text.
"""

import json
import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from orbit_registry import agents
from orbit_registry.agents.agent import CommandFile, JsonHooks, SettingsFile
from orbit_registry.errors import RefusedError

ItemPath = tuple[str | int, ...]
"""Keys and positions that lead to an item of a JSON text."""
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

    def get(self, key: str | int) -> Item | None:
        """Return an element by its position, or the last member of a key,
        which counts for every JSON reader.
        """
        if isinstance(key, int):
            if not 0 <= key < len(self.items):
                return None
            return self.items[key]

        return next((item for item in reversed(self.items) if item.key == key), None)


def parse(text: str, what: str) -> Any:
    """Return the value of a JSON text; `what` names the file in errors."""
    try:
        return json.loads(text.removeprefix("\ufeff"))
    except json.JSONDecodeError as error:
        message = f"{what}:{error.lineno}:{error.colno}: no valid JSON: {error.msg}"
        raise RefusedError(
            message, hint="correct it there, then run the command again; nothing was changed"
        ) from None
    except RecursionError:
        raise RefusedError(
            f"{what}: nested too deeply", hint="see what the file holds; nothing was changed"
        ) from None


def container(text: str, start: int | None = None) -> Container:
    """Return the object or array that begins at a position of a valid JSON text,
    by default at its first bracket.
    """
    if start is None:
        start = _skip(text, int(text.startswith("\ufeff")))

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


def without_comments(text: str) -> str:
    """Return a text of the same length with spaces in place of `//` and `/* */` comments."""
    return _COMMENT.sub(_without_comment, text)


def _without_comment(match: re.Match[str]) -> str:
    if match[0][0] == '"':
        return match[0]
    return _BLACK.sub(" ", match[0])


def _skip(text: str, at: int) -> int:
    while text[at : at + 1] and text[at] in _SPACE:
        at += 1
    return at


END = -1  # in a path: behind the last element of a list


class JsonText:
    """A JSON text whose items are added and removed by their path; all other bytes stay.

    With `comments` it may have some. `what` names the file in errors.
    """

    def __init__(self, text: str, what: str, *, comments: bool) -> None:
        self.text, self._what, self._comments = text, what, comments
        self._plain = without_comments(text) if comments else text

    def value(self) -> Any:
        """Return the value of the text."""
        return parse(self._plain, self._what)

    def get(self, path: ItemPath) -> Item | None:
        """Return an item; None if there is none."""
        parents = self._parents(path)
        if len(parents) < len(path):
            return None
        return parents[-1].get(path[-1])

    def with_item(self, path: ItemPath, value: object) -> "JsonText":
        """Return the text with an item that it does not have,
        and with the objects and lists on the way to it.
        """
        parents = self._parents(path)
        first, *rest = path[len(parents) - 1 :]
        for key in reversed(rest):
            value = [value] if key == END else {key: value}

        added = json.dumps(value, indent=2, ensure_ascii=False)
        added = added.replace("\n", "\n" + "  " * len(parents))
        if first != END:
            added = f"{json.dumps(first)}: {added}"

        into = parents[-1]
        if not into.items:
            return self._replaced(into.start + 1, into.start + 1, added)

        # It goes below the last item, as far to the right.
        last = into.items[-1]
        begin = last.start
        while self.text[begin - 1] in _SPACE:
            begin -= 1

        space = self.text[begin : last.start]
        return self._replaced(last.end, last.end, f",{space}{added}")

    def without(
        self, path: ItemPath, head: Mapping[str, object] = MappingProxyType({})
    ) -> "JsonText | None":
        """Return the text without an item; None if the file held nothing else but `head`.

        What was made to hold the item goes too: an object or list without other items that begins
        with a line break.
        """
        source = self._parents(path)[-1]
        item = source.get(path[-1])
        if item is None:
            return self

        others = {other.key: other.value for other in source.items if other is not item}
        is_ours = item is source.items[0] and self.text[source.start + 1] in _SPACE
        if path[1:]:
            if is_ours and not others:
                return self.without(path[:-1], head)
        elif is_ours and others == head and self._plain == self.text:
            return None

        before = source.items[: source.items.index(item)]
        behind = source.items[len(before) + 1 :]
        start = item.start
        end = item.end
        if before:
            start = before[-1].end
        elif behind:
            end = behind[0].start
        else:
            start = source.start + 1

        comments = self._comments_in(start, item.start) + self._comments_in(item.end, end)
        return self._replaced(start, end, comments)

    def _parents(self, path: ItemPath) -> list[Container]:
        """Return the objects and lists on the way to an item, the whole file's first,
        as far as they exist.
        """
        value = self.value()
        parents = list[Container]()
        start = None
        for key in path:
            form = dict if isinstance(key, str) else list
            if not isinstance(value, form):
                name = f"object `{path[len(parents) - 1]}`" if parents else "object"
                raise RefusedError(
                    f"{self._what} has no {name}", hint="correct it there; nothing was changed"
                )

            parents.append(container(self._plain, start))
            item = parents[-1].get(key)
            if item is None:
                break

            value = item.value
            start = item.value_start

        return parents

    def _comments_in(self, start: int, end: int) -> str:
        """Return the text between two positions without its comma if it has a comment;
        else nothing.
        """
        text = self.text[start:end]
        plain = self._plain[start:end]
        if text == plain:
            return ""

        comma = plain.find(",")
        if comma < 0:
            return text

        return text[:comma] + text[comma + 1 :]

    def _replaced(self, start: int, end: int, new: str) -> "JsonText":
        """Return the text with another one between two positions."""
        text = self.text[:start] + new + self.text[end:]
        return JsonText(text, self._what, comments=self._comments)


HOOKS = "hooks"
MARK = "# orbit hook"
"""End of our command, a comment for a shell: it is found again by this."""
COMMAND = "ORBIT_COMMAND"  # placeholder of the command in the template of a command file


def format_of(file: SettingsFile) -> "JsonSettings | CommandFileSettings":
    """Return the format of a settings file; `what` names the file in its errors."""
    if isinstance(file.format, JsonHooks):
        return JsonSettings(file.format)
    return CommandFileSettings(file.format)


@dataclass(frozen=True, slots=True)
class JsonSettings:
    """Entries in the `hooks` member of JSON settings."""

    spec: JsonHooks

    def with_entries(self, text: str | None, command: str, what: str) -> str:
        """Return the settings with our entries; None means no file."""
        entries = self._created(command)
        remaining = None if text is None else self.without_entries(text, what)
        if remaining is None:
            hooks = {event: [entry] for event, entry in entries.items()}
            content = {HOOKS: hooks, **self.spec.head}
            return json.dumps(content, indent=2, ensure_ascii=False) + "\n"

        edited = self._read(remaining, what)
        self._demand_head(edited.value(), what)

        for event, entry in entries.items():
            edited = edited.with_item((HOOKS, event, END), entry)

        return edited.text

    def without_entries(self, text: str, what: str) -> str | None:
        """Return the settings without our entries; None if the file held nothing else."""
        paths: dict[ItemPath, None] = {}
        for path, entry, _ in self._installed(text, what):
            is_whole = all(map(self._is_ours, self._handlers(entry)))
            paths[path[:3] if is_whole else path] = None

        edited: JsonText | None = self._read(text, what)
        for path in reversed(paths):
            if edited is not None:
                edited = edited.without(path, self.spec.head)

        if edited is None:
            return None

        return edited.text

    def commands(self, text: str, what: str) -> list[str]:
        """Return our commands, in the order of the text."""
        return [command for _, _, command in self._installed(text, what)]

    def is_current(self, text: str, command: str, what: str) -> bool:
        """Say whether our entries are exactly those that would be installed today."""
        expected = [(event, entry, command) for event, entry in self._created(command).items()]
        installed = [
            (path[1], entry, present) for path, entry, present in self._installed(text, what)
        ]
        if len(installed) != len(expected):
            return False

        return all(entry in installed for entry in expected)

    def switched_off(self, text: str, what: str) -> str:
        """Return the member that switches all hooks off, as a reader knows it; empty if none."""
        if self.spec.off is None:
            return ""

        keys, value = self.spec.off
        item = self._read(text, what).get(keys)
        if item is None or item.value is not value:
            return ""

        return f"`{'.'.join(keys)}: {json.dumps(value)}`"

    def _read(self, text: str, what: str) -> JsonText:
        return JsonText(text, what, comments=self.spec.comments)

    def _installed(self, text: str, what: str) -> Iterator[tuple[ItemPath, object, str]]:
        """Yield the path of each handler that starts our hook, the entry that holds it,
        and its command.
        """
        data = self._read(text, what).value()
        if not isinstance(data, dict):
            raise RefusedError(
                f"{what} is not an object", hint="correct it there; nothing was changed"
            )

        hooks = data.get(HOOKS, {})
        if not isinstance(hooks, dict) or not all(
            isinstance(hooks.get(event, []), list) for event in self.spec.events
        ):
            message = (
                f"{what} is not settings with `{HOOKS}` as an object that holds a list "
                f"for each event"
            )
            raise RefusedError(message, hint="correct it there; nothing was changed")

        for event, entries in hooks.items():
            if not isinstance(entries, list):
                continue

            for position, entry in enumerate(entries):
                for number, handler in enumerate(self._handlers(entry)):
                    if self._is_ours(handler):
                        path = (HOOKS, event, position, HOOKS, number)
                        yield path, entry, handler[self.spec.key]

    def _created(self, command: str) -> dict[str, dict[str, object]]:
        handler = {**self.spec.handler, self.spec.key: command}
        entries: dict[str, dict[str, object]] = {}
        for event, matcher in self.spec.events.items():
            entry: dict[str, object] = {}
            if matcher:
                entry["matcher"] = matcher

            if self.spec.grouped:
                entry[HOOKS] = [handler]
            else:
                entry |= handler

            entries[event] = entry

        return entries

    def _demand_head(self, settings: Mapping[str, object], what: str) -> None:
        for key, value in self.spec.head.items():
            if settings.get(key) != value:
                message = (
                    f'{what} has no `"{key}": {json.dumps(value)}`, without which its '
                    f"agent reads none of it"
                )
                raise RefusedError(message, hint="add it there; nothing was changed")

    def _handlers(self, entry: object) -> list[Any]:
        if not self.spec.grouped:
            return [entry]
        if not isinstance(entry, dict):
            return []

        handlers = entry.get(HOOKS)
        if isinstance(handlers, list):
            return handlers

        return []

    def _is_ours(self, handler: object) -> bool:
        if not isinstance(handler, dict):
            return False

        command = handler.get(self.spec.key)
        return isinstance(command, str) and command.endswith(MARK)


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
        template = next(line for line in self._template().splitlines() if COMMAND in line)
        before, _, after = template.partition(COMMAND)
        lines = [
            line for line in text.splitlines() if line.startswith(before) and line.endswith(after)
        ]
        quoted = (line.removeprefix(before).removesuffix(after) for line in lines)
        try:
            return list(map(self._unquoted, quoted))
        except ValueError:
            return []

    def switched_off(self, text: str, what: str) -> str:
        """Return that nothing switches it off: it holds nothing but the command."""
        return ""

    def is_current(self, text: str, command: str, what: str) -> bool:
        """Say whether the file is the one that would be written today."""
        return text == self.with_entries(text, command, what)

    def _template(self) -> str:
        return Path(agents.__file__).with_name(self.spec.template).read_text("utf-8")

    def _refuse(self, text: str | None, what: str) -> None:
        begin = self._template().splitlines()[:2]
        if text is not None and not all(line in text.splitlines()[:3] for line in begin):
            raise RefusedError(
                f"{what} is not ours", hint="move it away, or leave it: the hook needs its own file"
            )

    def _quoted(self, command: str) -> str:
        if self.spec.language == "shell":
            return shlex.quote(command)
        return json.dumps(command, ensure_ascii=True)[1:-1]

    def _unquoted(self, text: str) -> str:
        if self.spec.language == "shell":
            return " ".join(shlex.split(text))
        return str(json.loads(f'"{text}"'))
