"""The tasks that records name: by whom each is named, and how it is looked up; it asks no tracker."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from urllib.parse import quote

from orbit_registry.records.record import Record
from orbit_registry.site.sanitize import headline
from orbit_registry.site.sitemap import SiteMap, task_url, url_of
from orbit_registry.site.urls import TASKS, relative

_NUMBERS = re.compile(r"([0-9]+)")
MOST_WITH_TITLES = 1000
_NAMING = frozenset({"tasks", "scope", "evidence"})
_WAYS = ("", "holds only for it", "as evidence")


@dataclass(frozen=True, slots=True)
class TaskPlaces:
    """How the configuration says that a task is looked up; `{id}` stands for the task in each."""

    url: str = ""
    files: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    leaves_out: Callable[[str], bool] | None = None
    """Says of which files not even the name may be read; None where all may."""

    def address(self, task: str) -> str | None:
        """Return where a browser finds a task."""
        return self.url.replace("{id}", quote(task, safe="")) if self.url else None

    def file(self, task: str, site: SiteMap) -> tuple[str, str | None] | None:
        """Return the file of the repository that holds a task, with its address or site URL."""
        for pattern in self.files:
            path = pattern.replace("{id}", task)
            if self.leaves_out is not None and self.leaves_out(path):
                continue
            meaning = site.target("", f"/{path}")
            if not meaning.broken:
                return path, meaning.url if meaning.outside or meaning.url is None else relative(TASKS, meaning.url)
        return None


@dataclass(frozen=True, slots=True)
class Tasks:
    """The tasks in their natural order, each with the records that name it and what for; and where tasks are."""

    named: Mapping[str, Sequence[tuple[Record, str]]] = field(default_factory=dict)
    places: TaskPlaces = field(default_factory=TaskPlaces)

    @property
    def has_titles(self) -> bool:
        """Whether the list says the titles of records; a very long one would be made again for each that changes."""
        return len(self.named) <= MOST_WITH_TITLES


def tasks_of(records: Iterable[Record], places: TaskPlaces) -> Tasks:
    """Return the tasks that records name."""
    found: dict[str, dict[str, tuple[Record, str]]] = {}
    for record in records:
        if _NAMING.isdisjoint(record.data):
            continue
        scope = record.data.get("scope")
        scoped = record.scope.tasks if isinstance(scope, dict) and "tasks" in scope else ()
        evidence = [text for kind, text in record.evidence if kind == "task"] if "evidence" in record.data else ()
        for way, tasks in zip(_WAYS, (record.words("tasks"), scoped, evidence), strict=True):
            for task in tasks:
                found.setdefault(task, {}).setdefault(record.path, (record, way))
    return Tasks({task: list(found[task].values()) for task in sorted(found, key=_natural)}, places)


def _natural(task: str) -> tuple[list[tuple[int, str]], str]:
    parts = _NUMBERS.split(task.lower())
    return [(int(part) if at % 2 else 0, "" if at % 2 else part) for at, part in enumerate(parts)], task


def tasks_html(tasks: Tasks, site: SiteMap) -> str:
    """Return the list of tasks: the ways to look one up, then a row each."""
    rows = "".join(_row(task, held, tasks, site) for task, held in tasks.named.items())
    caption = f"<caption>{len(tasks.named):,} {'task' if len(tasks.named) == 1 else 'tasks'}</caption>"
    head = '<thead><tr><th scope="col">Task</th><th scope="col">Named by</th></tr></thead>'
    table = f'<table class="orbit-tasks">{caption}{head}<tbody>{rows}</tbody></table>'
    return f'<p class="orbit-note">{_how(tasks.places)}</p><div class="orbit-scroll">{table}</div>'


def _how(places: TaskPlaces) -> str:
    ways = []
    if places.url:
        ways.append("Each leads to the task itself.")
    if places.files:
        ways.append(f"Tasks stand in {', '.join(f'<code>{escape(one)}</code>' for one in places.files)}.")
    if places.command:
        words = " ".join("{id}" if word == "{id}" else shlex.quote(word) for word in places.command)
        ways.append(f"To look one up: <code>{escape(words)}</code>")
    return (
        " ".join(ways)
        or "Where tasks stand is not known here: set <code>tasks.url</code> in <code>.orbit/config.yaml</code>."
    )


def _row(task: str, held: Sequence[tuple[Record, str]], tasks: Tasks, site: SiteMap) -> str:
    address, file = tasks.places.address(task), tasks.places.file(task, site)
    name = f"<code>{escape(task)}</code>"
    if address:
        name = f'<a href="{escape(address)}" rel="noopener noreferrer">{name}</a>'
    if file:
        path, url = file
        said = f'<a href="{escape(url)}">{escape(path)}</a>' if url else escape(path)
        name += f"<br><small>{said}</small>"
    items = "".join(_item(record, way, with_title=tasks.has_titles) for record, way in held)
    anchor = escape(task_url(task).partition("#")[2])
    return f'<tr id="{anchor}"><th scope="row">{name}</th><td><ul>{items}</ul></td></tr>'


def _item(record: Record, way: str, *, with_title: bool) -> str:
    href = escape(relative(TASKS, url_of(record)))
    said = ", ".join(word for word in (way, "" if record.phase == "live" else record.status.word) if word)
    note = f" <small>({escape(said)})</small>" if said else ""
    title = f" {headline(record.title)}" if with_title else ""
    return f'<li><a class="orbit-id" href="{href}">{escape(record.id)}</a>{title}{note}</li>'
