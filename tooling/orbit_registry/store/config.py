"""Owns `.orbit/config.yaml`: its defaults, its form and its values; nothing else reads it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from orbit_registry.errors import ConfigError, ForeignWorkspaceError, OrbitError
from orbit_registry.kinds.schema import read_schema
from orbit_registry.kinds.table import KindTable
from orbit_registry.store.files import read_text
from orbit_registry.store.learnings_config import SECTION, LearningsConfig, learnings_config
from orbit_registry.store.publish_config import PublishConfig, publish_config, publish_problems
from orbit_registry.text.yaml import load, locate
from orbit_registry.text.yaml_problem import YamlProblemError

FORMAT = "orbit-registry"
CONFIG_VERSION = 1
CONFIG_SCHEMA = Path(__file__).with_name("config.schema.json")
_INIT = "`orbit init` writes a new one"
_CORRECT = "correct the setting there, or take it out to get its default"
IMPORT_HINT = "it is another tool's; `orbit import PATH` takes its records over"


@dataclass(frozen=True, slots=True)
class AdrConfig:
    """How decisions are written: one file each, or entries of a log."""

    style: Literal["file", "log"] = "file"
    folder: str = "docs/adr"
    folders: tuple[str, ...] = ()
    """Every folder with adopted decision documents, `folder` beside them."""


@dataclass(frozen=True, slots=True)
class TasksConfig:
    """Where tasks are, and the project's own programs, lists of words: one finds a task, one classifies it."""

    url: str = ""
    """The address of a task, `{id}` in place of its id."""
    command: tuple[str, ...] = ()
    classifier: tuple[str, ...] = ()
    timeout_seconds: float = 10


@dataclass(frozen=True, slots=True)
class Config:
    """The configuration, defaults filled in."""

    project: str = ""
    schemas: str = ".orbit/schemas"
    adr: AdrConfig = field(default_factory=AdrConfig)
    design: str = "docs/design"
    inbox: Literal["local", "committed"] = "local"
    citations: tuple[str, ...] = ("**/*.md",)
    code: tuple[str, ...] = ()
    site: Mapping[str, Any] = field(default_factory=dict)
    publish: PublishConfig = field(default_factory=PublishConfig)
    duplicates: Mapping[str, float] = field(default_factory=lambda: {"error": 0.80, "warning": 0.55})
    learnings: LearningsConfig = field(default_factory=LearningsConfig)
    tasks: TasksConfig = field(default_factory=TasksConfig)
    raw: Mapping[str, Any] = field(default_factory=dict)

    def setting(self, section: str, name: str, default: object = None) -> Any:
        """Return one key of one section as the file states it."""
        value = self.raw.get(section)
        return value.get(name, default) if isinstance(value, Mapping) else default


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
        raise ForeignWorkspaceError(f"{path} is not an {FORMAT} configuration", hint=IMPORT_HINT)
    version = data.get("schema_version")
    if isinstance(version, int) and version > CONFIG_VERSION:
        raise ConfigError(
            f"{path}: schema_version {version} is newer than this tool knows ({CONFIG_VERSION})",
            hint="upgrade: `pip install --upgrade orbit-registry`",
        )
    problems = read_schema(CONFIG_SCHEMA).problems(data) or list(publish_problems(_section(data), kinds))
    if problems:
        place = locate(text, problems[0].pointer)
        said = "; ".join(dict.fromkeys(problem.message for problem in problems))
        raise ConfigError(f"{path}:{place.line}:{place.column}: {said}", hint=problems[0].hint or _CORRECT)
    return _config_from(data)


def _section(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what is said of publishing."""
    site = data.get("site", {})
    return site.get("publish", {}) if isinstance(site, dict) else {}


def _config_from(data: Mapping[str, Any]) -> Config:
    default = Config()
    adr, tasks = data.get("adr", {}), data.get("tasks", {})
    return Config(
        project=data.get("project", default.project),
        schemas=data.get("schemas", default.schemas),
        adr=AdrConfig(
            style=adr.get("style", default.adr.style),
            folder=adr.get("folder", default.adr.folder).strip("/"),
            folders=tuple(folder.strip("/") for folder in adr.get("folders", ())),
        ),
        design=data.get("design", default.design).strip("/"),
        inbox=data.get("inbox", default.inbox),
        citations=tuple(data.get("citations", default.citations)),
        code=tuple(data.get("code", default.code)),
        site=data.get("site", {}),
        publish=publish_config(_section(data)),
        duplicates={**default.duplicates, **data.get("duplicates", {})},
        learnings=learnings_config(data.get(SECTION, {})),
        tasks=TasksConfig(
            tasks.get("url", default.tasks.url),
            tuple(tasks.get("command", default.tasks.command)),
            tuple(tasks.get("classifier", default.tasks.classifier)),
            tasks.get("timeout_seconds", default.tasks.timeout_seconds),
        ),
        raw=data,
    )
