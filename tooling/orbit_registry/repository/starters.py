"""Files that start Orbit for an agent, a forge or git, and what turns such things off."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from orbit_registry.repository.codec import data_in

_AGENT_FILES = """
.claude/settings.json .codex/config.toml .codex/hooks.json .cursor/hooks.json .cursor/mcp.json
.gemini/settings.json .github/hooks/orbit.json .mcp.json .opencode/plugin/orbit.js opencode.json
.vscode/mcp.json
"""
AGENT_FILES = frozenset(_AGENT_FILES.split())
"""Settings of coding agents that start Orbit."""
_CI_FILES = re.compile(
    r"\.(?:github|forgejo|gitea)/workflows/[^/]+|\.gitlab-ci\.ya?ml|\.circleci/config\.yml"
    r"|\.pre-commit-config\.yaml|lefthook\.ya?ml|\.husky/[^/]+|Jenkinsfile"
    r"|(?:azure|bitbucket)-pipelines\.yml"
)
"""Files by which a forge or git starts Orbit."""
_BUILD_FILES = re.compile(
    r"(?:.*/)?(?:(?:GNUm|M|m)akefile|[Jj]ustfile|Taskfile\.ya?ml|noxfile\.py|tox\.ini|package\.json"
    r"|pyproject\.toml|[^/]+\.(?:sh|bash|mk))|\.github/actions/.+/action\.ya?ml"
)
"""Files in which a forge or git calls what may run Orbit."""
_ORBIT = re.compile(r"(?i)(?<![a-z0-9-])orbit(?:[-_](?:registry|check))?(?![a-z0-9-]|_[a-z0-9])")
_RUNS_ORBIT = re.compile(r"\borbit(?:[-_]registry)?[\"']?,?\s+[\"']?(?:check|hook|mcp|diff)\b")
_SWITCH_NAME = re.compile(r"(?i).*(?:disable|enable|deny|block).*")
"""The name of a setting that may turn off what it names, or all."""
_ENVIRONMENT = re.compile(r"(?i)PATH|ORBIT\w*|GIT_\w*|PYTHON\w*|LD_\w*|BASH_ENV|SHELL")
"""A variable that says which program runs, and on what."""
_STEERING = re.compile(
    r"GITHUB_(?:PATH|ENV)|\bPATH="
    r"|\bgit\b.* (?:checkout|reset|commit|switch|restore|apply|rebase|merge|rm|replace)\b"
)
"""A line of a step before Orbit that gives it other files or another program."""
_ENDING = re.compile(r"set \+e|\b(?:exit|return|trap|alias)\b|\|\| *true|\(\) *\{")
"""A line of a script that may end it before Orbit, or take Orbit's place."""
_SWITCH_IN_LINES = re.compile(
    r"(?i)disable|enable|continue-on-error|allow_failure|\bif:|\bwhen:|set \+e"
)
"""A line that may turn off what it belongs to, in a file of which only lines can be read."""
_SERVERS = frozenset(("mcp", "mcpServers", "mcp_servers", "servers"))
_COLLECTIONS = _SERVERS | {"hooks", "jobs"}
"""Settings whose entries do not depend on each other."""
_STEPS = frozenset(("before_script", "script", "steps"))
"""Lists whose entries come one after the other."""
_OF_ALL_WORDS = (
    "before_script ci default default_stages defaults env exclude fail_fast files include "
    "on variables workflow"
)
_OF_ALL = frozenset(_OF_ALL_WORDS.split())
"""Settings of a whole file that say when or how all in it runs."""
_VARIABLES = ("env", "variables")
_HARMLESS_WORDS = (
    "artifacts concurrency description id name outputs permissions run-name services stage "
    "statusMessage timeout-minutes"
)
_HARMLESS = frozenset(_HARMLESS_WORDS.split())
"""Settings that neither turn off what they belong to nor change what it does."""
_REQUESTS = ("pull_request", "merge_request", "merge_group")
_VERSION = re.compile(r"(?<=[\w.])(?:@[\w.+-]+|[-:=]v?\d[\w.+-]*|[-:]latest)$")
"""The version of a program or a machine, at the end of its name."""
_NOTHING = ""
_COMMENT = ("#", "//")
_YAML = (".yml", ".yaml")

Names = tuple[str | int, ...]
"""What leads to a value: names of mappings, numbers in lists and of lines."""
Row = tuple[Names, str]
Settings = frozenset[str]
"""Values, each after the names that lead to it."""


@dataclass(frozen=True, slots=True)
class Starts:
    """What in a file of settings starts Orbit, and what says when and how."""

    starting: Settings
    around: Settings

    def is_weaker(self, before: Starts) -> bool:
        """Say whether something that started Orbit is not there any more, or starts otherwise."""
        if not before.starting:
            return False
        return not before.starting <= self.starting or before.around != self.around


def is_starter(path: str) -> bool:
    """Say whether a file may start Orbit: for an agent, a forge, git or a build."""
    is_of_agent = any(path == name or path.endswith(f"/{name}") for name in AGENT_FILES)
    return is_of_agent or bool(_CI_FILES.fullmatch(path) or _BUILD_FILES.fullmatch(path))


def starts_in(path: str, text: str) -> Starts:
    """Return what in a file of settings starts Orbit."""
    rows = list(_rows(_value_in(path, text)))
    if _BUILD_FILES.fullmatch(path):
        starting = [row for row in rows if _RUNS_ORBIT.search(row[1])]
        return Starts(_settings(starting), frozenset())

    starting = [row for row in rows if _starts_orbit(*row)]
    ways: dict[Names, set[str | int]] = {}
    for names, _ in starting:
        for end, name in enumerate(names):
            ways.setdefault(names[:end], set()).add(name)

    around = [row for row in rows if ways and _is_around(*row, ways)]
    return Starts(_settings(starting), _settings(map(_without_version, around)))


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
        if part in ({}, []):
            yield (*names, 0), _NOTHING
        elif isinstance(part, Mapping):
            pending += (((*names, str(name)), inner) for name, inner in part.items())
        elif isinstance(part, list):
            pending += (((*names, number), inner) for number, inner in enumerate(part))
        else:
            for number, line in enumerate(str(part).splitlines() or [""]):
                text = line.strip().rstrip(",") if part is not None else _NOTHING
                if not text.startswith(_COMMENT):
                    yield (*names, number), text


def _starts_orbit(names: Names, text: str) -> bool:
    is_allowed = "permissions" in names or _is_switch(names)
    return not is_allowed and (_is_of_server(names) or _ORBIT.search(text) is not None)


def _is_of_server(names: Names) -> bool:
    """Say whether a value belongs to Orbit's own server."""
    return any(
        before in _SERVERS and _ORBIT.fullmatch(str(name)) for before, name in pairwise(names)
    )


def _is_switch(names: Iterable[str | int]) -> bool:
    return any(_SWITCH_NAME.fullmatch(str(name)) for name in names)


def _is_around(names: Names, text: str, ways: Mapping[Names, Collection[str | int]]) -> bool:
    """Say whether a value says when or how Orbit is started: `ways` has what leads there, each with
    the names that lead on.
    """
    if _is_of_server(names) or (_is_switch(names) and _ORBIT.search(text)):
        return True
    if _starts_orbit(names, text):
        return _ENDING.search(text) is not None

    # The last part of the way to Orbit that also leads to this value.
    shared = max(end for end in range(len(names)) if names[:end] in ways)
    parent, name = names[:shared], names[shared]
    if isinstance(name, int):
        return _is_before(names, text, shared, ways[parent])
    if _is_switch([name]):
        return True
    if name in _HARMLESS or (parent and parent[-1] in _COLLECTIONS):
        return False
    if name in _VARIABLES:
        return any(_ENVIRONMENT.fullmatch(str(part)) for part in names[shared + 1 :])
    if name == "on" and not parent:
        event = " ".join(map(str, (*names, text)))
        return any(word in event for word in _REQUESTS)

    return bool(parent) or name in _OF_ALL


def _is_before(names: Names, text: str, shared: int, starting: Collection[str | int]) -> bool:
    """Say whether an entry of a list, or a line of a text, comes before Orbit and steers it."""
    is_of_lines = len(names) == 1
    if is_of_lines and _SWITCH_IN_LINES.search(text):
        return True

    is_line = shared == len(names) - 1
    is_step = shared > 0 and names[shared - 1] in _STEPS
    last = max(place for place in starting if isinstance(place, int))
    if not (is_line or is_step) or int(names[shared]) > last:
        return False

    is_of_script = is_line or (is_step and names[shared - 1] != "steps")
    if is_of_script and _ENDING.search(text):
        return True

    is_checkout = "with" in names and names[-2] in ("ref", "repository")
    return is_checkout or _STEERING.search(text) is not None


def _without_version(row: Row) -> Row:
    names, text = row
    return names, _VERSION.sub("", text)


def _settings(rows: Iterable[Row]) -> Settings:
    """Return values as texts, so that `on: push` and `on: {push: null}` are the same."""
    settings = set()
    for names, text in rows:
        words = [name for name in names if isinstance(name, str)]
        if text != _NOTHING:
            words.append(text)
        settings.add(".".join(words))

    return frozenset(settings)
