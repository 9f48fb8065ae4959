"""Settings of `.orbit/config.yaml`, checked by `config.schema.json`,
and numbers of the environment.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import chain
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
    "yours: `git restore .orbit/config.yaml` brings it back; another tool's: `orbit "
    "import PATH` takes its records over"
)
PUBLISH = ("site", "publish")
_PUBLISH_KEY = ".".join(PUBLISH)
CHOICES = ("kinds", "statuses", "tags")
LEARNINGS, MAPPING = "learnings_config", "agent_category_mapping"
GENERAL = "general"  # the category for every agent, and the only one for unknown agents
_AS_WRITTEN = ("project", "schemas", "inbox", "site", "duplicates")
"""Keys that are taken as they are."""
_LONGEST_PLAIN_NAME = 100  # a length far below the schema's limit
_SEPARATORS = re.compile(r"[\s_]+")
_PASSWORD = re.compile(r"(\b\w*pass\w*\s*=\s*)(?:'(?:[^'\\]|\\.)*(?:'|$)|\S+)", re.IGNORECASE)
_POSTGRES = re.compile(r"(ducklake:postgres(?:ql)?:).*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class NameFilter:
    """Names to include and to exclude: `internal` and `!internal`; case makes no difference."""

    only: frozenset[str] = frozenset()
    never: frozenset[str] = frozenset()

    def admits(self, names: Iterable[str]) -> bool:
        """Say whether something with these names passes the filter."""
        folded = {name.casefold() for name in names}
        return not folded & self.never and (not self.only or bool(folded & self.only))


@dataclass(frozen=True, slots=True)
class PublishConfig:
    """The section `site.publish`; without one everything on the site is published."""

    kinds: NameFilter = field(default_factory=NameFilter)
    statuses: NameFilter = field(default_factory=NameFilter)
    tags: NameFilter = field(default_factory=NameFilter)
    redact: tuple[re.Pattern[str], ...] = ()
    is_set: bool = False  # whether the section has any limit


def _publish_config(data: Mapping[str, Any]) -> PublishConfig:
    chosen = {name: _name_filter(data.get(name, ())) for name in CHOICES}
    patterns = tuple(re.compile(pattern) for pattern in data.get("redact", ()))
    is_set = any(data.get(name) for name in (*CHOICES, "redact"))
    return PublishConfig(**chosen, redact=patterns, is_set=is_set)


def _name_filter(names: Iterable[str]) -> NameFilter:
    folded = [name.strip().casefold() for name in names]
    never = frozenset(name[1:].strip() for name in folded if name.startswith("!"))
    return NameFilter(frozenset(name for name in folded if not name.startswith("!")), never)


def _publish_problems(
    data: Mapping[str, Any], kinds: KindTable | None = None
) -> Iterator[SchemaProblem]:
    """Yield what the schema can't find: bad patterns and, given the kinds, misspelt ones,
    which would publish.
    """
    for index, pattern in enumerate(data.get("redact", ())):
        message = _pattern_problem(pattern)
        if message:
            hint = (
                "write a regular expression of Python's that matches what must not be read: "
                "`(?i)project falcon`"
            )
            yield SchemaProblem(
                (*PUBLISH, "redact", index), f"{_PUBLISH_KEY}.redact: {pattern!r} {message}", hint
            )

    if kinds is None:
        return

    statuses = set[str]().union(*(kind.statuses for kind in kinds))
    for name, existing in (("kinds", {kind.name for kind in kinds}), ("statuses", statuses)):
        for index, choice in enumerate(data.get(name, ())):
            if choice.removeprefix("!").strip().casefold() not in existing:
                message = f"{_PUBLISH_KEY}.{name}: there is no {choice.removeprefix('!')!r}"
                yield SchemaProblem(
                    (*PUBLISH, name, index), message, f"known are {', '.join(sorted(existing))}"
                )


_PATTERN_TOKEN = re.compile(
    r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|(?P<open>\((?P<atomic>\?>)?)|(?P<close>\))"
    r"|(?P<many>(?:[*+]|\{\d*,(?:\d{2,})?\}|\{\d{2,}\})(?P<possessive>\+)?)|.",
    re.DOTALL,
)
"""An escape, a set, a bracket or a repetition of ten and more times of a regular expression."""


def _pattern_problem(pattern: str) -> str | None:
    try:
        matches_nothing = re.compile(pattern).search("")
    except (re.error, OverflowError, RecursionError) as error:
        return f"is not a regular expression: {error}"

    if matches_nothing:
        return "matches the empty text, so it would strike out everything"

    if part := _nested_repetition(pattern):
        return (
            f"repeats a repetition in {part!r}, which some texts keep busy for ever; `[\\w "
            f"]+` does for `(\\w+ ?)+`"
        )

    return None


def _nested_repetition(pattern: str) -> str | None:
    """Return the first repeated group with a repetition in it, `(a+)+`,
    which some texts take exponential time in.
    """
    groups = [[0, False, False]]  # start, has a repetition, is never tried again
    repeated: int | None = None
    for token in _PATTERN_TOKEN.finditer(pattern):
        closed, repeated = repeated, None
        if token["open"]:
            groups.append([token.start(), False, token["atomic"] is not None])
        elif token["close"] and len(groups) > 1:
            start, has_repetition, is_atomic = groups.pop()
            if has_repetition and not is_atomic:
                groups[-1][1], repeated = True, start
        elif token["many"] and not token["possessive"]:
            if closed is not None:
                return pattern[closed : token.end()]
            groups[-1][1] = True

    return None


@dataclass(frozen=True, slots=True)
class Categories:
    """The categories an agent is briefed with;
    `is_mapped` says whether a mapping names the agent.
    """

    names: tuple[str, ...]
    is_mapped: bool


def agent_name(name: str) -> str:
    """Return an agent's name in the form in which names are compared."""
    return _SEPARATORS.sub("-", name.strip()).casefold()


@cache
def config_schema() -> RecordSchema:
    """Return the schema of the configuration."""
    return read_schema(CONFIG_SCHEMA)


@cache
def defaults() -> Mapping[str, Any]:
    """Return every key with its default from the schema, sections as mappings."""
    return _defaults(config_schema().document["properties"])


def _defaults(forms: Mapping[str, Any]) -> dict[str, Any]:
    sections = {
        name: _defaults(form["properties"]) for name, form in forms.items() if "properties" in form
    }
    return {
        **sections,
        **{name: form["default"] for name, form in forms.items() if "default" in form},
    }


def default_mapping() -> Mapping[str, tuple[str, ...]]:
    """Return the built-in table of agents and their categories."""
    return _mapping(defaults()[LEARNINGS][MAPPING])


def _mapping(table: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    return {agent_name(name): tuple(dict.fromkeys(names)) for name, names in table.items()}


@dataclass(frozen=True, slots=True)
class LearningsConfig:
    """The section `learnings_config`, with the built-in agents added."""

    mapping: Mapping[str, tuple[str, ...]]
    per_category: int
    tokens: int
    ttl_seconds: float

    def categories_for(self, agent: str) -> Categories | None:
        """Return the categories of an agent; None without a name.

        Case and separators make no difference.
        """
        name = agent_name(agent)
        if not name:
            return None

        mapped = self.mapping.get(name)
        if mapped is None:
            return Categories((GENERAL,), False)
        return Categories(mapped, True)


@dataclass(frozen=True, slots=True)
class AdrConfig:
    """How decisions are written: one file each, or entries of a log."""

    style: Literal["file", "log"]
    folder: str
    folders: tuple[str, ...] = ()  # every folder with adopted decision documents, besides `folder`
    log: str = ""  # the log for new decisions; empty where they are files


@dataclass(frozen=True, slots=True)
class Extension:
    """One entry of `extends`: whose records are inherited, under which name."""

    name: str  # `org` in `org:ADR-0007`
    address: str  # a repository; a lake if `repository` is given
    repository: str = ""
    digest: str = ""  # of the copy here; empty before the first `orbit fleet update`
    through: tuple[str, ...] = ()  # sources that pass it on; none for one that is named here

    @property
    def public_address(self) -> str:
        """The address without a user's name and token."""
        return without_user(self.address)


def without_user(text: str) -> str:
    """Return a text without passwords and without the user and token of an address;
    both may hold `@` and `/`.
    """
    # A mistake in an address of PostgreSQL may show a password.
    if match := _POSTGRES.fullmatch(text):
        return f"{match[1]}…"
    return _PASSWORD.sub(r"\1…", re.sub(r"(?<=//)\S*@", "", text))


@dataclass(frozen=True, slots=True)
class TasksConfig:
    """Where tasks are, and the commands that find and classify a task."""

    url: str  # the address of a task, `{id}` in place of its id
    command: tuple[str, ...]
    classifier: tuple[str, ...]
    timeout_seconds: float


@dataclass(frozen=True, slots=True)
class Config:
    """The configuration with defaults; `config_of({})` is the default one."""

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
    extends: tuple[Extension, ...]
    raw: Mapping[str, Any]  # the content of the file

    def setting(self, section: str, name: str) -> Any:
        """Return one key of a section: from the file, else the default."""
        values = self.raw.get(section)
        if isinstance(values, Mapping) and name in values:
            return values[name]
        return defaults().get(section, {}).get(name)

    def names_of(self, tag: str) -> tuple[str, ...]:
        """Return a tag and its aliases."""
        aliases: Mapping[str, str] = self.setting("tags", "aliases")
        canonical = aliases.get(tag, tag)
        return tuple(
            dict.fromkeys(
                (tag, canonical, *(name for name, of in aliases.items() if of == canonical))
            )
        )

    def publishes(self, kind: str, status: str, tags: Iterable[str]) -> bool:
        """Say whether `site.publish` lets others read a record of a kind, with a status and with
        tags and labels, each of which counts by all its names.
        """
        aliases: Mapping[str, str] = self.setting("tags", "aliases")
        words = [*map(str, chain.from_iterable(aliases.items()))]
        names: list[str] = []
        for tag in map(str.casefold, tags):
            names.append(tag)
            for word in words:
                if word.casefold() == tag:
                    names += self.names_of(word)

        publish = self.publish
        return (
            publish.kinds.admits([kind])
            and publish.statuses.admits([status])
            and publish.tags.admits(names)
        )

    def is_tagged(self, own_tags: Collection[str], tags: Iterable[str]) -> bool:
        """Say whether some tags, by any of their aliases and in any letter case, are all among
        `own_tags`.
        """
        own = {tag.casefold() for tag in own_tags}
        return all(not own.isdisjoint(map(str.casefold, self.names_of(tag))) for tag in tags)


def refuse_line_break(path: Path) -> None:
    """Refuse a configuration in a folder with a line break: git reads one query a line,
    and reports name one path a line.
    """
    if "\n" in str(path):
        raise ConfigError(
            f"the path {str(path)!r} has a line break", hint="rename the folder that has it"
        )


def read_config(path: Path, kinds: KindTable | None = None) -> Config:
    """Return the configuration in a file; where the kinds are given, it may name no others."""
    refuse_line_break(path)
    try:
        text = read_text(path)
        data = load(text)
    except YamlProblemError as error:
        raise ConfigError(
            error.problem.at(str(path)), hint=error.problem.hint or _CORRECT
        ) from None
    except ConfigError:
        raise
    except OrbitError as error:
        hint = error.hint if path.exists() else _INIT
        raise ConfigError(error.message, hint=hint) from None

    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise ForeignWorkspaceError(f"{path} is not an {FORMAT} configuration", hint=FOREIGN_HINT)

    version = data.get("schema_version")
    if isinstance(version, int) and version > CONFIG_VERSION:
        raise ConfigError(
            f"{path}: schema_version {version} is newer than this tool knows ({CONFIG_VERSION})",
            hint="upgrade orbit-registry as it was installed",
        )

    problems = [] if _is_plain(data) else config_schema().problems(data)
    problems = problems or [*_publish_problems(_section(data), kinds), *_extends_problems(data)]
    if problems:
        raise _problems_of(path, text, problems)

    return config_of(data)


def _problems_of(path: Path, text: str, problems: Iterable[SchemaProblem]) -> ConfigError:
    """Return the error that names each setting that can't be used, with its line and its remedy."""
    by_pointer = {(problem.pointer, problem.message): problem for problem in problems}
    placed = [(position_of(text, problem.pointer), problem) for problem in by_pointer.values()]
    placed.sort(key=lambda each: (each[0].line, each[0].column))

    position, first = placed[0]
    message = f"{path}:{position.line}:{position.column}: {first.message}"
    if len(placed) == 1:
        return ConfigError(message, hint=first.hint or _CORRECT)

    message += _remedy(first)
    for position, problem in placed[1:]:
        message += f"; line {position.line}: {problem.message}{_remedy(problem)}"

    return ConfigError(message, hint=_CORRECT)


def _remedy(problem: SchemaProblem) -> str:
    if problem.hint:
        return f" ({problem.hint})"

    return ""


def _is_plain(data: Mapping[str, Any]) -> bool:
    """Say whether a configuration needs no validation, whose import costs a tenth of a start."""
    project = data.get("project", "")
    return (
        data.keys() <= {"format", "schema_version", "project"}
        and type(data.get("schema_version")) is int
        and data["schema_version"] == CONFIG_VERSION
        and isinstance(project, str)
        and len(project) <= _LONGEST_PLAIN_NAME
    )


def _extends_problems(data: Mapping[str, Any]) -> Iterator[SchemaProblem]:
    names = [entry["name"] for entry in data.get("extends", ())]
    for index, name in enumerate(names):
        if name in names[:index]:
            yield SchemaProblem(
                ("extends", index, "name"),
                f"extends: {name} is there twice",
                "give each its own name",
            )


def _section(data: Mapping[str, Any]) -> Mapping[str, Any]:
    site = data.get("site", {})
    return site.get("publish", {}) if isinstance(site, dict) else {}


def config_of(raw: Mapping[str, Any]) -> Config:
    """Return the configuration of a valid mapping, defaults added."""
    values: dict[str, Any] = {}
    for name, default in defaults().items():
        values[name] = raw.get(name, default)
        if isinstance(default, dict):
            values[name] = {**default, **values[name]}

    adr = values["adr"]
    learnings = values[LEARNINGS]
    tasks = values["tasks"]
    folders = tuple(folder.strip("/") for folder in adr["folders"])
    command = tuple(tasks["command"])
    classifier = tuple(tasks["classifier"])
    learnings_config = LearningsConfig(
        {**default_mapping(), **_mapping(learnings[MAPPING])},
        learnings["max_learnings_per_category"],
        learnings["max_total_tokens"],
        learnings["cache_ttl_seconds"],
    )

    decisions = AdrConfig(adr["style"], adr["folder"].strip("/"), folders, adr["log"])
    publish = _publish_config(values["site"]["publish"])
    extends = (
        Extension(
            entry["name"],
            entry["from"],
            entry.get("repository", ""),
            entry.get("digest", ""),
            tuple(entry.get("through", ())),
        )
        for entry in values["extends"]
    )
    as_written = {name: values[name] for name in _AS_WRITTEN}

    return Config(
        **as_written,
        adr=decisions,
        design=values["design"].strip("/"),
        citations=tuple(values["citations"]),
        code=tuple(values["code"]),
        publish=publish,
        learnings=learnings_config,
        tasks=TasksConfig(tasks["url"], command, classifier, tasks["timeout_seconds"]),
        extends=tuple(extends),
        raw=raw,
    )


def number_in(text: str, most: float) -> float | None:
    """Return the number from 0 to `most` in a text of the environment; None where it is none."""
    try:
        number = float(text)
    except ValueError:
        return None
    if 0 <= number <= most:
        return number

    return None
