"""A file of ours that holds the hook's command and nothing of its owner: a plugin, a script. It opens no file."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from orbit_registry.errors import RefusedError

PLACE = "ORBIT_COMMAND"
"""Stands in the template where the command comes."""


@dataclass(frozen=True, slots=True)
class CommandFile:
    """A template beside this module, and how a command is quoted in it; `unquoted` undoes `quoted`."""

    template: str
    quoted: Callable[[str], str]
    unquoted: Callable[[str], str]

    def with_entries(self, text: str | None, command: str, what: str) -> str:
        """Return the file with a command; an earlier one of ours is replaced.

        Raises:
            RefusedError: somebody else's file stands there; `what` names it.
        """
        self._refuse(text, what)
        return self._template().replace(PLACE, self.quoted(command))

    def without_entries(self, text: str, what: str) -> str | None:
        """Return None: the file is ours, as a whole.

        Raises: as `with_entries`.
        """
        self._refuse(text, what)
        return None

    def commands(self, text: str, what: str) -> list[str]:
        """Return the command in the file.

        Raises: as `with_entries`.
        """
        self._refuse(text, what)
        before, _, after = next(line for line in self._template().splitlines() if PLACE in line).partition(PLACE)
        lines = [line for line in text.splitlines() if line.startswith(before) and line.endswith(after)]
        try:
            return [self.unquoted(line[len(before) : len(line) - len(after)]) for line in lines]
        except ValueError:
            return []

    def is_current(self, text: str, command: str, what: str) -> bool:
        """Say whether the file is the one that would be written today."""
        return text == self.with_entries(text, command, what)

    def _template(self) -> str:
        return Path(__file__).with_name(self.template).read_text("utf-8")

    def _refuse(self, text: str | None, what: str) -> None:
        begin = self._template().splitlines()[:2]
        if text is not None and not all(line in text.splitlines()[:3] for line in begin):
            raise RefusedError(
                f"{what} is not ours", hint="move it away, or leave it: the hook needs a file of its own"
            )


def in_javascript(command: str) -> str:
    """Return a text as it stands between the quotes of JavaScript."""
    return json.dumps(command, ensure_ascii=True)[1:-1]


def of_javascript(text: str) -> str:
    """Return what `in_javascript` was given.

    Raises:
        ValueError: it was given nothing.
    """
    command = json.loads(f'"{text}"')
    return str(command)


def in_shell(command: str) -> str:
    """Return a text as one word of a shell."""
    return shlex.quote(command)


def of_shell(text: str) -> str:
    """Return what `in_shell` was given.

    Raises:
        ValueError: it was given nothing.
    """
    return " ".join(shlex.split(text))
