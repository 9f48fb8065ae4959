"""The words of an operation, read from its docstring: help, examples, arguments, words of a door.

A docstring is the help of the command. The sections `Args:`, `Of a kind:` and `Agents:` follow it:
a line of `Args:` is `name --flag METAVAR: what it is`, of which flag and metavar may be missing.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

_SECTIONS = re.compile(r"(?m)^(Args|Of a kind|Agents):\n")
_ARGUMENT = re.compile(
    r"^(?P<name>\w+)(?P<flags>(?: -[-\w/]+)*)(?: (?P<metavar>(?:[^:]|:\S)*?))?: (?P<help>.*)$"
)


@dataclass(frozen=True, slots=True)
class ArgumentWords:
    """How an argument is written at the command line, and what it is."""

    help: str
    flags: tuple[str, ...] = ()
    metavar: str = ""


@dataclass(frozen=True, slots=True)
class Words:
    """Help of a command; that of a kind's command and of a tool where they differ."""

    help: str
    arguments: Mapping[str, ArgumentWords]
    of_kind: str = ""
    agents: str = ""


@cache
def words_of(docstring: str) -> Words:
    """Return the words of a docstring by section."""
    head, *parts = _SECTIONS.split(inspect.cleandoc(docstring))
    sections = {
        title: inspect.cleandoc(body) for title, body in zip(parts[::2], parts[1::2], strict=True)
    }
    return Words(
        head.strip(),
        dict(_argument_lines(sections.get("Args", ""))),
        sections.get("Of a kind", "").strip(),
        sections.get("Agents", "").strip(),
    )


def _argument_lines(text: str) -> list[tuple[str, ArgumentWords]]:
    """Return the arguments of a section; an indented line continues the one before."""
    joined = re.sub(r"\n +", " ", text)
    lines: list[tuple[str, ArgumentWords]] = []
    for line in joined.splitlines():
        match = _ARGUMENT.match(line)
        if match is None:
            raise ValueError(f"not `name --flag METAVAR: help`: {line!r}")

        words = ArgumentWords(match["help"], tuple(match["flags"].split()), match["metavar"] or "")
        lines.append((match["name"], words))

    return lines
