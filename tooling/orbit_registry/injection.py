"""Learnings for programs that write agents' prompts, as a template variable.

    injector = LearningsContextInjector("path/to/project")
    AgentRenderer(jinja_environment, injector).render_agent("engineer")

`hook.select` chooses from a cached push index at every call; the cache holds only what that index
holds, which has no secrets.
"""

from __future__ import annotations

import hashlib
import logging
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar, overload

from orbit_registry.hook.context import Context, Match, Selection, working_project
from orbit_registry.hook.events import Event, append
from orbit_registry.hook.files import stamp
from orbit_registry.hook.render import render
from orbit_registry.hook.select import select
from orbit_registry.hook.session import SessionLog, tokens
from orbit_registry.matching.index import Index
from orbit_registry.matching.match import current_index
from orbit_registry.model.fields import CATEGORY, ID, KIND, PATH
from orbit_registry.model.reach import BRIEF
from orbit_registry.registry import Registry
from orbit_registry.workspace.config import GENERAL, Categories, LearningsConfig, agent_name
from orbit_registry.workspace.files import write_error

VARIABLE = "learnings"
SURFACE = "inject"
Held = TypeVar("Held")
_LOG = logging.getLogger(__name__)


class LearningsCache(Generic[Held]):
    """Cache of the index that each category was read from, for `ttl_seconds`; 0 disables it.

    `clock` returns seconds. An entry counts only for the content stamp it was read with, so a new
    learning is seen at once.
    """

    def __init__(
        self, ttl_seconds: float = 300, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.ttl_seconds = ttl_seconds
        self._clock = clock
        self._entries: dict[str, tuple[float, str, Held]] = {}

    @property
    def ttl(self) -> float:
        """The same as `ttl_seconds`."""
        return self.ttl_seconds

    def get(self, category: str, stamp: str = "") -> Held | None:
        """Return a category's entry; None if missing, expired or of another stamp."""
        entry = self._entries.get(category)
        if entry is None:
            return None

        at, read_stamp, learnings = entry
        if read_stamp == stamp and self._clock() - at < self.ttl_seconds:
            return learnings

        self._entries.pop(category, None)
        return None

    def set(self, category: str, learnings: Held, stamp: str = "") -> None:
        """Cache what a category was read from."""
        if self.ttl_seconds > 0:
            self._entries[category] = (self._clock(), stamp, learnings)

    def clear(self) -> None:
        """Drop all entries."""
        self._entries.clear()


@dataclass(frozen=True, slots=True)
class Learning:
    """Record as shown: `text` is escaped and without secrets, `path` is from the root."""

    id: str
    kind: str
    category: str
    text: str
    path: str


@dataclass(frozen=True, slots=True)
class Learnings(Sequence[Learning]):
    """Template variable: as text the whole block, iterated the records, false if empty."""

    items: tuple[Learning, ...] = ()
    omitted: int = 0
    block: str = ""

    def __str__(self) -> str:
        return self.block

    def __len__(self) -> int:
        return len(self.items)

    @overload
    def __getitem__(self, index: int) -> Learning: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Learning, ...]: ...
    def __getitem__(self, index: int | slice) -> Learning | tuple[Learning, ...]:
        return self.items[index]


class LearningsContextInjector:
    """The learnings of a project for its agents.

    Args:
        registry: an open registry, or a path in the project.
        cache: what keeps answers; without one, `cache_ttl_seconds` of the configuration says how
            long.
    """

    def __init__(
        self, registry: Registry | str | Path = ".", cache: LearningsCache[Index] | None = None
    ) -> None:
        if not isinstance(registry, Registry):
            registry = Registry.open(registry)

        self.registry = registry
        self._stated = self._stamp_of_configuration()
        if cache is None:
            cache = LearningsCache(self._limits.ttl_seconds)

        self.cache = cache

    @property
    def _limits(self) -> LearningsConfig:
        """Current configuration: it may change while a program runs."""
        current = self._stamp_of_configuration()
        if current != self._stated:
            self.registry = Registry.open(self.registry.workspace.root)
            self._stated = current

        return self.registry.workspace.config.learnings

    def _stamp_of_configuration(self) -> str:
        return stamp(str(self.registry.workspace.orbit / "config.yaml"))

    def get_categories_for_agent(self, agent: str) -> tuple[str, ...]:
        """Return an agent's categories, by the project's mapping or the shipped one.

        An unmapped agent gets `general` and a warning is logged. Without a name: all categories of
        live records.
        """
        categories = self._limits.categories_for(agent)
        if categories is None:
            index = current_index(self.registry.workspace)
            names = {index.row(number).values[CATEGORY] for number in range(index.pushed)}
            return (*sorted(names - {"", GENERAL}), GENERAL)

        if not categories.is_mapped:
            _LOG.warning(
                "no mapping names the agent %s: it gets `%s` alone",
                agent_name(agent)[:100],
                GENERAL,
            )

        return tuple(categories.names)

    def fetch_learnings(
        self, categories: Sequence[str], *, agent: str = "", session: str = ""
    ) -> Learnings:
        """Return the learnings of categories within the configured limits, and log the event.

        `agent` leaves out records for other agents. With a `session`, nothing is repeated.

        Raises:
            SnapshotError: the index can't be built.
            WriteError: the session log can't be written.
        """
        started = time.monotonic()
        limits = self._limits
        workspace = self.registry.workspace
        event = Event(SURFACE, time.time())
        ledger = None
        if session:
            ledger = SessionLog(str(workspace.root), session)
            event.session = ledger.name

        context = Context(
            BRIEF, event.at, agent=agent_name(agent), categories=tuple(dict.fromkeys(categories))
        )
        context.project = working_project()
        context.per_category = limits.per_category
        context.per_call = 0
        context.tokens = limits.tokens

        selection = Selection([], 0, [], "nothing asked")
        try:
            if categories:
                selection = select(self._index(categories), context, ledger)
        except OSError as error:
            raise write_error(workspace.state / "log", error) from None

        block = render(selection)
        event.set_selection(selection, tokens(block))
        event.agent = context.agent[:100]
        event.details = _details(context, limits.categories_for(agent))
        event.ms = (time.monotonic() - started) * 1000

        append(str(workspace.root), event)
        items = tuple(map(_learning, selection.matches))
        return Learnings(items, selection.omitted, block)

    def learnings_for(self, agent: str, *, session: str = "") -> Learnings:
        """Return the learnings of an agent's categories."""
        categories = self.get_categories_for_agent(agent)
        return self.fetch_learnings(categories, agent=agent, session=session)

    def _index(self, categories: Sequence[str]) -> Index:
        content = content_stamp(self.registry.workspace.root)
        cached = [self.cache.get(category, content) for category in categories]
        index = cached[0]
        if index is None or None in cached:
            index = current_index(self.registry.workspace)
            for category in categories:
                self.cache.set(category, index, content)

        return index


class HasTemplates(Protocol):
    """Environment like Jinja's."""

    def get_template(self, name: str) -> Any:
        """Return the template of a name."""
        ...


Template = Callable[[str, dict[str, Any]], str]


@dataclass(frozen=True)
class AgentRenderer:
    """Renderer of agents' prompts with their learnings in the variable `learnings`.

    `templates` is a Jinja environment or a function of an agent's name and a context; `file` is the
    pattern of template names; `context` is passed for every agent.
    """

    templates: HasTemplates | Template
    injector: LearningsContextInjector
    file: str = "{name}.j2"
    context: Mapping[str, Any] = field(default_factory=dict)

    def render_agent(
        self,
        agent_name: str,
        additional_context: Mapping[str, Any] | None = None,
        inject_learnings: bool = True,
    ) -> str:
        """Return an agent's prompt; the caller's context wins over what is injected.

        Raises:
            SnapshotError: the index can't be built.
        """
        variables = dict(additional_context or {})
        learnings = Learnings()
        # What would not be seen is not fetched: it would count as shown.
        if inject_learnings and VARIABLE not in variables:
            learnings = self.injector.learnings_for(agent_name)

        all_variables = {**self.context, VARIABLE: learnings, **variables}

        if callable(self.templates):
            return self.templates(agent_name, all_variables)

        template = self.templates.get_template(self.file.format(name=agent_name))
        text: str = template.render(all_variables)
        return text


AgentRegistry = AgentRenderer


def content_stamp(root: Path) -> str:
    """Return a stamp of the records' files, without opening them."""
    digest = hashlib.sha256()
    orbit = f"{root}/.orbit"
    for folder, folders, names in os.walk(orbit):
        folders[:] = sorted(
            name for name in folders if folder != orbit or name not in ("state", "inbox")
        )
        for name in sorted(names):
            path = f"{folder}/{name}"
            try:
                status = os.lstat(path)
            except OSError:
                continue  # it went meanwhile

            row = f"{path}\0{status.st_mtime_ns}\0{status.st_size}\0{status.st_ino}\0"
            digest.update(row.encode("utf-8", "surrogateescape"))

    return digest.hexdigest()


def _learning(match: Match) -> Learning:
    values = match.row.values
    return Learning(values[ID], values[KIND], values[CATEGORY], match.text, values[PATH])


def _details(context: Context, mapping: Categories | None) -> dict[str, list[str]]:
    notes = []
    if context.agent and (mapping is None or not mapping.is_mapped):
        notes.append(f"no mapping names the agent: it gets `{GENERAL}` alone")

    return {"categories": list(context.categories), "notes": notes}
