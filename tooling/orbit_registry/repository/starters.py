"""Files that start Orbit for an agent, a forge or git, and what turns such things off."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from orbit_registry.repository.codec import data_in

_AGENT_FILES = """
.claude/settings.json .codex/config.toml .codex/hooks.json .cursor/hooks.json .cursor/mcp.json
.gemini/settings.json .github/hooks/orbit.json .mcp.json .opencode/plugin/orbit.js opencode.json
"""
AGENT_FILES = frozenset(_AGENT_FILES.split())
"""Settings of coding agents that start Orbit."""
_CI_FILES = re.compile(
    r"\.(?:github|forgejo|gitea)/workflows/[^/]+|\.gitlab-ci\.ya?ml|\.circleci/config\.yml"
    r"|\.pre-commit-config\.yaml|lefthook\.ya?ml|\.husky/[^/]+|Jenkinsfile"
    r"|(?:azure|bitbucket)-pipelines\.yml"
)
"""Files by which a forge or git starts Orbit."""
_ORBIT = re.compile(r"\b(?i:orbit)(?![a-z])")
_SWITCH_NAME = re.compile(
    r"(?i).*(?:disable|enable).*|continue-on-error|allow_failure|if|when|rules|only|except|skip"
)
"""The name of a setting that turns off what it belongs to."""
_SWITCH_LINE = "set +e"
"""What a line of a script says before commands that may fail."""
_SWITCH_IN_LINES = re.compile(
    r"(?i)disable|enable|continue-on-error|allow_failure|\bif:|\bwhen:|set \+e"
)
"""The same in a file of which only lines can be read."""
_COMMENT = ("#", "//")
_YAML = (".yml", ".yaml")

Names = tuple[str | int, ...]
"""What leads to a value: names of mappings, numbers in lists and of lines."""
Settings = frozenset[tuple[str, str]]
"""Values, each with the names that lead to it."""


@dataclass(frozen=True, slots=True)
class Starts:
    """What in a file of settings starts Orbit, and what turns such things off."""

    starting: Settings
    switches: Settings

    def is_weaker(self, before: Starts) -> bool:
        """Say whether something that started Orbit is not there any more, or may be off."""
        if not before.starting:
            return False
        return not before.starting <= self.starting or before.switches != self.switches


def is_starter(path: str) -> bool:
    """Say whether a file may start Orbit: for an agent, a forge or git."""
    return path in AGENT_FILES or _CI_FILES.fullmatch(path) is not None


def starts_in(path: str, text: str) -> Starts:
    """Return what in a file of settings starts Orbit."""
    rows = list(_rows(_value_in(path, text)))
    starting = [row for row in rows if _names_orbit(*row)]
    around: set[Names] = set()
    for names, _ in starting:
        around.update(names[:end] for end in range(len(names)))

    switches = [row for row in rows if _is_switch(*row, around)]
    return Starts(_settings(starting), _settings(switches))


def _value_in(path: str, text: str) -> object:
    """Return the value in a file of settings; the lines of a file of another form."""
    value: object = None
    if path.endswith(_YAML):
        value = data_in(text)
    else:
        try:
            value = tomllib.loads(text) if path.endswith(".toml") else json.loads(text)
        except (ValueError, RecursionError):
            value = None

    return text if value is None else value


def _rows(value: object) -> Iterator[tuple[Names, str]]:
    """Yield the values inside of a value, each line of a text as one."""
    pending: list[tuple[Names, object]] = [((), value)]
    while pending:
        names, part = pending.pop()
        if isinstance(part, Mapping):
            pending += (((*names, str(name)), inner) for name, inner in part.items())
        elif isinstance(part, list):
            pending += (((*names, number), inner) for number, inner in enumerate(part))
        else:
            for number, line in enumerate(str(part).splitlines()):
                text = line.strip().rstrip(",")
                if not text.startswith(_COMMENT):
                    yield (*names, number), text


def _names_orbit(names: Names, text: str) -> bool:
    return any(_ORBIT.search(str(part)) for part in (*names, text))


def _is_switch(names: Names, text: str, around: Collection[Names]) -> bool:
    """Say whether a value may turn off what starts Orbit: `around` has the names that lead there.

    A condition of another job or step is none.
    """
    if not around:
        return False

    shared = max(end for end in range(len(names)) if names[:end] in around)
    parts = names if _names_orbit(names, text) else names[shared : shared + 1]
    if any(_SWITCH_NAME.fullmatch(str(name)) for name in parts):
        return True

    if not any(isinstance(name, str) for name in names):
        return _SWITCH_IN_LINES.search(text) is not None
    return _SWITCH_LINE in text and _without_numbers(names) in around


def _without_numbers(names: Names) -> Names:
    """Return the names up to the list or the text whose entries or lines the last numbers count."""
    end = len(names)
    while end and isinstance(names[end - 1], int):
        end -= 1

    return names[:end]


def _settings(rows: Collection[tuple[Names, str]]) -> Settings:
    settings = set()
    for names, text in rows:
        words = [name for name in names if isinstance(name, str)]
        settings.add((".".join(words), text))

    return frozenset(settings)
