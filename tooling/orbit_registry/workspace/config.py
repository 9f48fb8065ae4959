"""Owns `.orbit/config.yaml`: its values, by the form and defaults of `config.schema.json`; nothing else reads it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal

from orbit_registry.errors import ConfigError, ForeignWorkspaceError, OrbitError
from orbit_registry.formats.position import YamlProblemError
from orbit_registry.formats.yaml import load, position_of
from orbit_registry.model.kind import KindTable
from orbit_registry.model.schema import RecordSchema, SchemaProblem, read_schema
from orbit_registry.workspace.files import read_text

FORMAT = "orbit-registry"
CONFIG_VERSION = 1
CONFIG_SCHEMA = Path(__file__).with_name("config.schema.json")
_INIT = "`orbit init` writes a new one"
_CORRECT = "correct the setting there, or take it out to get its default"
FOREIGN_HINT = (
    "if it was yours, `git restore .orbit/config.yaml` brings it back; "
    "`orbit import PATH` takes the records of another tool over"
)
PUBLISH = ("site", "publish")
_PUBLISH_KEY = ".".join(PUBLISH)
CHOICES = ("kinds", "statuses", "tags")
LEARNINGS, MAPPING = "learnings_config", "agent_category_mapping"
GENERAL = "general"
"""The category of what is for everybody: what an agent that nobody knows is briefed with."""
_SHORT = 100
"""A name of a project that no limit of the schema is near."""
_APART = re.compile(r"[\s_]+")


@dataclass(frozen=True, slots=True)
class Choice:
    """Names that are wanted, and names that are never: `internal` and `!internal`; case makes no difference."""

    only: frozenset[str] = frozenset()
    never: frozenset[str] = frozenset()

    def admits(self, names: Iterable[str]) -> bool:
        """Say whether something with these names is wanted; where none is asked for, all are."""
        held = {name.casefold() for name in names}
        return not held & self.never and (not self.only or bool(held & self.only))


@dataclass(frozen=True, slots=True)
class PublishConfig:
    """The section `site.publish`; without one everything that the site shows is published."""

    kinds: Choice = field(default_factory=Choice)
    statuses: Choice = field(default_factory=Choice)
    tags: Choice = field(default_factory=Choice)
    redact: tuple[re.Pattern[str], ...] = ()
    stated: bool = False
    """Whether anything is said at all."""


def publish_config(data: Mapping[str, Any]) -> PublishConfig:
    """Return the values of a section in which `publish_problems` found nothing."""
    chosen = {name: _choice(data.get(name, ())) for name in CHOICES}
    patterns = tuple(re.compile(pattern) for pattern in data.get("redact", ()))
    stated = any(data.get(name) for name in (*CHOICES, "redact"))
    return PublishConfig(**chosen, redact=patterns, stated=stated)


def _choice(names: Iterable[str]) -> Choice:
    held = [name.strip().casefold() for name in names]
    never = frozenset(name[1:].strip() for name in held if name.startswith("!"))
    return Choice(frozenset(name for name in held if not name.startswith("!")), never)


def publish_problems(data: Mapping[str, Any], kinds: KindTable | None = None) -> Iterator[SchemaProblem]:
    """Yield what is wrong with a section that the schema accepts.

    A misspelt kind or status would publish what it was to keep back; where the kinds are given, that is a problem.
    """
    for place, pattern in enumerate(data.get("redact", ())):
        said = _refused(pattern)
        if said:
            hint = "write a regular expression of Python's that matches what must not be read: `(?i)project falcon`"
            yield SchemaProblem((*PUBLISH, "redact", place), f"{_PUBLISH_KEY}.redact: {pattern!r} {said}", hint)
    if kinds is None:
        return
    statuses = {status for kind in kinds for status in kind.statuses}
    for name, known in (("kinds", {kind.name for kind in kinds}), ("statuses", statuses)):
        for place, written in enumerate(data.get(name, ())):
            if written.removeprefix("!").strip().casefold() not in known:
                said = f"{_PUBLISH_KEY}.{name}: there is no {written.removeprefix('!')!r}"
                yield SchemaProblem((*PUBLISH, name, place), said, f"known are {', '.join(sorted(known))}")


def _refused(pattern: str) -> str | None:
    try:
        matches_nothing = re.compile(pattern).search("")
    except (re.error, OverflowError, RecursionError) as error:
        return f"is no regular expression: {error}"
    if matches_nothing:
        return "matches the empty text, so it would strike out everything"
    from orbit_registry.formats.repetition import endless  # most projects strike nothing out

    part = endless(pattern)
    if part:
        return f"repeats a repetition in {part!r}, which some texts keep busy for ever; `[\\w ]+` does for `(\\w+ ?)+`"
    return None


@dataclass(frozen=True, slots=True)
class Categories:
    """The categories an agent is briefed with; `known` says whether a mapping names the agent."""

    names: tuple[str, ...]
    known: bool


def agent_name(said: str) -> str:
    """Return an agent's name in the one form in which names are compared."""
    return _APART.sub("-", said.strip()).casefold()


@cache
def config_schema() -> RecordSchema:
    """Return the form of the configuration."""
    return read_schema(CONFIG_SCHEMA)


@cache
def defaults() -> Mapping[str, Any]:
    """Return every key with its default, sections as mappings: the schema is the one place where defaults stand."""
    return _defaults(config_schema().document["properties"])


def _defaults(forms: Mapping[str, Any]) -> dict[str, Any]:
    found = {name: _defaults(form["properties"]) for name, form in forms.items() if "properties" in form}
    return {**found, **{name: form["default"] for name, form in forms.items() if "default" in form}}


def default_mapping() -> Mapping[str, tuple[str, ...]]:
    """Return the table that is shipped: an agent's name, its categories."""
    return _mapping(defaults()[LEARNINGS][MAPPING])


def _mapping(said: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    return {agent_name(name): tuple(dict.fromkeys(names)) for name, names in said.items()}


@dataclass(frozen=True, slots=True)
class LearningsConfig:
    """The section `learnings_config`, defaults filled in: agents of the shipped table that it does not name too."""

    mapping: Mapping[str, tuple[str, ...]]
    per_category: int
    tokens: int
    ttl_seconds: float

    def categories_for(self, agent: str) -> Categories | None:
        """Return what an agent is briefed with; None where nobody says which agent it is: nothing is narrowed then.

        Case, and whether words are parted by `-`, `_` or a space, make no difference.
        """
        name = agent_name(agent)
        if not name:
            return None
        named = self.mapping.get(name)
        return Categories((GENERAL,), False) if named is None else Categories(named, True)


@dataclass(frozen=True, slots=True)
class AdrConfig:
    """How decisions are written: one file each, or entries of a log."""

    style: Literal["file", "log"]
    folder: str
    folders: tuple[str, ...] = ()
    """Every folder with adopted decision documents, `folder` beside them."""
    log: str = ""
    """The one log that new decisions become entries of; empty where there is none."""


@dataclass(frozen=True, slots=True)
class TasksConfig:
    """Where tasks are, and the project's own programs, lists of words: one finds a task, one classifies it."""

    url: str
    """The address of a task, `{id}` in place of its id."""
    command: tuple[str, ...]
    classifier: tuple[str, ...]
    timeout_seconds: float


@dataclass(frozen=True, slots=True)
class Config:
    """The configuration, defaults filled in; `config_of({})` is one in which nothing is said."""

    project: str
    schemas: str
    adr: AdrConfig
    design: str
    inbox: Literal["local", "committed"]
    citations: tuple[str, ...]
    code: tuple[str, ...]
    site: Mapping[str, Any]
    publish: PublishConfig
    duplicates: Mapping[str, float]
    learnings: LearningsConfig
    tasks: TasksConfig
    raw: Mapping[str, Any]
    """What the file itself says."""

    def setting(self, section: str, name: str) -> Any:
        """Return one key of one section: what the file says, else the default, None for a key that is the user's."""
        said = self.raw.get(section)
        if isinstance(said, Mapping) and name in said:
            return said[name]
        return defaults().get(section, {}).get(name)

    def names_of(self, tag: str) -> tuple[str, ...]:
        """Return a tag, and its other names by `tags.aliases`."""
        aliases: Mapping[str, str] = self.setting("tags", "aliases")
        meant = aliases.get(tag, tag)
        return tuple(dict.fromkeys((tag, meant, *(name for name, of in aliases.items() if of == meant))))

    def is_tagged(self, own: Collection[str], tags: Iterable[str]) -> bool:
        """Say whether something with these tags of its own has all of some others, by whichever of their names."""
        return all(any(name in own for name in self.names_of(tag)) for tag in tags)


def read_config(path: Path, kinds: KindTable | None = None) -> Config:
    """Return the configuration in a file; where the kinds are given, it can name no others.

    Raises:
        ForeignWorkspaceError: the file is not ours.
        ConfigError: it is unreadable, invalid or from a newer version; the message names line and column.
    """
    try:
        text = read_text(path)
        data = load(text)
    except YamlProblemError as error:
        place = error.problem.position
        where = f"{path}:{place.line}:{place.column}" if place else str(path)
        raise ConfigError(f"{where}: {error.problem.message}", hint=error.problem.hint or _CORRECT) from None
    except ConfigError:
        raise
    except OrbitError as error:
        raise ConfigError(error.message, hint=error.hint if path.exists() else _INIT) from None
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise ForeignWorkspaceError(f"{path} is not an {FORMAT} configuration", hint=FOREIGN_HINT)
    version = data.get("schema_version")
    if isinstance(version, int) and version > CONFIG_VERSION:
        raise ConfigError(
            f"{path}: schema_version {version} is newer than this tool knows ({CONFIG_VERSION})",
            hint="upgrade orbit-registry as it was installed",
        )
    problems = [] if _is_plain(data) else config_schema().problems(data)
    problems = problems or list(publish_problems(_section(data), kinds))
    if problems:
        place = position_of(text, problems[0].pointer)
        said = "; ".join(dict.fromkeys(problem.message for problem in problems))
        raise ConfigError(f"{path}:{place.line}:{place.column}: {said}", hint=problems[0].hint or _CORRECT)
    return config_of(data)


def _is_plain(data: Mapping[str, Any]) -> bool:
    """Say whether a configuration says hardly more than `orbit init` writes: valid, and loading what validates costs a
    tenth of a start."""
    named = data.get("project", "")
    return (
        data.keys() <= {"format", "schema_version", "project"}
        and type(data.get("schema_version")) is int
        and data["schema_version"] == CONFIG_VERSION
        and isinstance(named, str)
        and len(named) <= _SHORT
    )


def _section(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what is said of publishing."""
    site = data.get("site", {})
    return site.get("publish", {}) if isinstance(site, dict) else {}


def config_of(said: Mapping[str, Any]) -> Config:
    """Return what a mapping that is valid by the schema means, with the defaults of what it does not say."""
    held: dict[str, Any] = {
        name: {**default, **said.get(name, {})} if isinstance(default, dict) else said.get(name, default)
        for name, default in defaults().items()
    }
    adr, learnings, tasks = held["adr"], held[LEARNINGS], held["tasks"]
    folders = tuple(folder.strip("/") for folder in adr["folders"])
    return Config(
        project=held["project"],
        schemas=held["schemas"],
        adr=AdrConfig(adr["style"], adr["folder"].strip("/"), folders, adr["log"]),
        design=held["design"].strip("/"),
        inbox=held["inbox"],
        citations=tuple(held["citations"]),
        code=tuple(held["code"]),
        site=held["site"],
        publish=publish_config(held["site"]["publish"]),
        duplicates=held["duplicates"],
        learnings=LearningsConfig(
            {**default_mapping(), **_mapping(learnings[MAPPING])},
            learnings["max_learnings_per_category"],
            learnings["max_total_tokens"],
            learnings["cache_ttl_seconds"],
        ),
        tasks=TasksConfig(tasks["url"], tuple(tasks["command"]), tuple(tasks["classifier"]), tasks["timeout_seconds"]),
        raw=said,
    )
