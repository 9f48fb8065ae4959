"""However records replace each other, no surface calls a closed one current,
and each names what took its place.
"""

from __future__ import annotations

import contextlib
import io
import json
import shutil
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from orbit_loop.pitch import pitch
from orbit_loop.plan import plan_brief, plan_text
from orbit_registry.doors.answers.call import Caller
from orbit_registry.doors.cli.main import run
from orbit_registry.doors.mcp.dispatch import reply
from orbit_registry.doors.mcp.prompts import START, prompt_text, resource_page, resource_text
from orbit_registry.exchange.exporters.rules import plan
from orbit_registry.formats.hosting import Forge
from orbit_registry.hook.context import Context
from orbit_registry.hook.render import render
from orbit_registry.hook.select import select
from orbit_registry.injection import LearningsContextInjector
from orbit_registry.matching.match import current_index
from orbit_registry.model.kind import load_kinds
from orbit_registry.model.reach import PROMPT, SESSION, TOOL
from orbit_registry.model.record import Record
from orbit_registry.registry import Registry
from orbit_registry.site import explorer, feeds, search_data
from orbit_registry.site.groups import groups_of
from orbit_registry.site.record_page import article
from orbit_registry.site.relations import Relations
from orbit_registry.site.sitemap import SiteMap, url_of
from orbit_registry.site.views import card_html, listing, record_view
from orbit_registry.site.words import items_html
from orbit_registry.snapshot.rows import RouteRows

KINDS = load_kinds()
NO_ROUTES: RouteRows = {"imports": [], "code_citations": []}
WORDS = [
    "amber",
    "basalt",
    "cobalt",
    "dahlia",
    "ember",
    "fjord",
    "garnet",
    "heron",
    "indigo",
    "jasper",
    "kestrel",
    "lichen",
    "mangrove",
    "nectar",
    "opal",
    "pumice",
    "quartz",
    "russet",
    "sienna",
    "topaz",
    "umber",
    "verdigris",
]
TIME = "2026-01-01T00:00:00Z"
CALLER = Caller("some-agent", "")


@dataclass(frozen=True)
class Made:
    """A record that an example has: what it is, what replaced it, and which ends say so."""

    number: int
    kind: str
    status: str
    replaced_by: tuple[int, ...]
    ends: str
    """`old`, `new` or `both`."""

    @property
    def id(self) -> str:
        return name_of(self.kind, self.number)

    @property
    def title(self) -> str:
        return f"{WORDS[2 * self.number].capitalize()} and {WORDS[2 * self.number + 1]}"

    @property
    def phase(self) -> str:
        return KINDS[self.kind].status(self.status).phase

    @property
    def shown(self) -> str:
        return KINDS[self.kind].status(self.status).word

    @property
    def path(self) -> str:
        return f".orbit/{KINDS[self.kind].plural}/{self.id}/{self.kind}.yaml"


def name_of(kind: str, number: int) -> str:
    """Return the id of a record by its number."""
    return f"ADR-{number:04}" if kind == "adr" else f"L-{'abcdefghjkm'[number] * 5}"


@st.composite
def collections(draw: st.DrawFn) -> list[Made]:
    """Return records of one kind: chains, forks, circles, successors that are closed,
    pending or missing.
    """
    kind = draw(st.sampled_from(["adr", "learning"]))
    number = draw(st.integers(3, 10))
    live = [name for name, status in KINDS[kind].statuses.items() if status.phase == "live"]
    statuses = st.sampled_from([*KINDS[kind].statuses, *["superseded"] * 6, *live * 6])
    records = []
    for at in range(number):
        status = draw(statuses)
        later = st.lists(
            st.integers(0, number).filter(lambda other, at=at: other != at), max_size=2, unique=True
        )
        replaced_by = tuple(draw(later)) if status == "superseded" else ()
        records.append(
            Made(at, kind, status, replaced_by, draw(st.sampled_from(["old", "new", "both"])))
        )
    return records


class World:
    """A workspace with the records of an example."""

    def __init__(self, root: Path, records: list[Made]) -> None:
        self.root, self.records = root, records
        for kind in KINDS:
            shutil.rmtree(root / ".orbit" / kind.plural, ignore_errors=True)
        for record in records:
            self._write(record)
        (root / "src/common.py").parent.mkdir(exist_ok=True)
        (root / "src/common.py").write_text("", "utf-8")

    def _write(self, record: Made) -> None:
        number, headline = record.number, KINDS[record.kind].headline
        supersedes = [
            old.id for old in self.records if number in old.replaced_by and old.ends != "old"
        ]
        data: dict[str, object] = {
            "schema_version": 1,
            "id": record.id,
            "uid": f"{number:032x}",
            headline: record.title,
            "status": record.status,
            "created_at": TIME,
            "updated_at": TIME,
            "scope": {"paths": ["src/common.py", f"src/only{number}.py"], "tags": ["payments"]},
        }
        if supersedes:
            data["supersedes"] = supersedes
        if record.replaced_by and record.ends != "new":
            data["superseded_by"] = [name_of(record.kind, other) for other in record.replaced_by]
        if record.kind == "learning":
            data["body"] = "Seen twice in payments."
        file = self.root / record.path
        file.parent.mkdir(parents=True)
        file.write_text(
            "".join(f"{key}: {json.dumps(value)}\n" for key, value in data.items()), "utf-8"
        )
        if record.kind == "adr":
            (file.parent / "body.md").write_text(
                "## Decision\n\nSo payments work.\n\n- Cost: some.\n", "utf-8"
            )

    @cached_property
    def registry(self) -> Registry:
        return Registry.open(self.root)

    def heirs(self, record: Made) -> set[str]:
        """Return the ids of the live records at the ends of what replaced a record."""
        by_number = {other.number: other for other in self.records}
        ends: set[str] = set()
        ahead, visited = list(record.replaced_by), {record.number}
        while ahead:
            later = by_number.get(ahead.pop())
            if later is not None and later.number not in visited:
                visited.add(later.number)
                if later.phase == "live":
                    ends.add(later.id)
                else:
                    ahead += later.replaced_by
        return ends


Surface = Callable[[World, str], str]


def cli(*arguments: str) -> Surface:
    """Return a surface of the command line; `{}` is what is asked for."""

    def ask(world: World, query: str) -> str:
        (world.root / "task.txt").write_text(f"Look at {query or 'how payments work'}", "utf-8")
        with contextlib.chdir(world.root), contextlib.redirect_stdout(io.StringIO()) as out:
            run([argument.replace("{}", query) for argument in arguments])
        return out.getvalue()

    return ask


def mcp(tool: str, **arguments: object) -> Surface:
    """Return a tool of the MCP server; `{}` is what is asked for."""

    def ask(world: World, query: str) -> str:
        filled = json.loads(json.dumps(arguments).replace('"{}"', json.dumps(query)))
        return reply(tool, filled, CALLER, lambda: world.registry).text

    return ask


def hook(surface: str, *, text: bool = False, path: bool = False) -> Surface:
    """Return what a hook shows on one of its surfaces;
    it is asked for by a prompt's text or by a path.
    """

    def ask(world: World, query: str) -> str:
        paths = [query] if path else []
        context = Context(
            surface, time.time(), paths=paths, text=f"Please look at {query}" if text else ""
        )
        return render(select(current_index(world.registry.workspace), context))

    return ask


def sql(statement: str) -> Surface:
    """Return a question to the snapshot."""
    return lambda world, query: world.registry.query(statement.replace("{}", query), "csv")


UNASKED: Mapping[str, Surface] = {
    "orbit list": cli("list"),
    "orbit search": cli("search", "payments"),
    "orbit search by tag": cli("search", "--tag", "payments"),
    "orbit match": cli("match", "src/common.py"),
    "orbit brief": cli("brief", "--text", "task.txt", "--path", "src/common.py"),
    "orbit brief --for plan": lambda world, _: plan_text(
        plan_brief(world.registry.workspace, world.registry.records, datetime.now(UTC))
    ),
    "orbit pitch": lambda world, _: json.dumps(
        pitch(world.registry.workspace, world.registry.records, datetime.now(UTC)).as_data()
    ),
    "mcp list": mcp("list"),
    "mcp search": mcp("search", query="payments"),
    "mcp match": mcp("match", paths=["src/common.py"]),
    "mcp brief": mcp("brief", text="Change how payments work", paths=["src/common.py"]),
    "mcp resources": lambda world, _: json.dumps(resource_page(world.registry, 0)),
    "mcp prompt": lambda world, _: prompt_text(
        "brief", world.registry, CALLER, {"task": "Change how payments work"}
    ),
    "hook at a tool call": lambda world, _: hook(TOOL, path=True)(world, "src/common.py"),
    "hook at a prompt": lambda world, _: hook(PROMPT, text=True)(
        world, "how payments are a kestrel or a heron"
    ),
    "hook at the start": hook(SESSION),
    "injection": lambda world, _: str(
        LearningsContextInjector(world.registry).fetch_learnings(["general"])
    ),
    "rule files": lambda world, _: "\n".join(
        content.decode()
        for export in plan(
            world.registry.workspace, ["claude", "cursor", "copilot", "windsurf", "agents-md"]
        )
        for content in (change.content or b"" for change in export.changes)
    ),
    "sql ranked": sql("FROM ranked()"),
    "sql search": sql("FROM search('payments')"),
    "sql system_knowledge": sql("FROM system_knowledge"),
}
"""Surfaces that choose records by themselves: none says a word of a closed one."""

BY_ID: Mapping[str, Surface] = {
    "orbit show": cli("show", "{}"),
    "orbit search": cli("search", "{}"),
    "orbit related": cli("related", "{}"),
    "orbit search --all": cli("search", "--all", "{}"),
    "mcp show": mcp("show", id="{}"),
    "mcp search": mcp("search", query="{}"),
    "mcp related": mcp("related", id="{}"),
    "mcp resource": lambda world, record_id: resource_text(
        world.registry, f"{START}{record_id}", CALLER
    ),
    "mcp prompt": lambda world, record_id: prompt_text(
        "review", world.registry, CALLER, {"id": record_id}
    ),
}
BY_TITLE: Mapping[str, Surface] = {
    "orbit search": cli("search", "{}"),
    "orbit search --all": cli("search", "--all", "{}"),
    "mcp search": mcp("search", query="{}"),
}
"""Surfaces that are asked for one record: of a closed one they say first that it is closed,
and what replaced it.
"""
PUSHED_BY_ID: Mapping[str, Surface] = {
    "hook at a prompt": hook(PROMPT, text=True),
    "orbit brief": cli("brief", "--text", "task.txt"),
    "mcp brief": mcp("brief", text="{}"),
}
PUSHED_BY_TITLE: Mapping[str, Surface] = {
    **PUSHED_BY_ID,
    "sql search": sql("SELECT id FROM search('{}')"),
}
PUSHED_BY_PATH: Mapping[str, Surface] = {
    "hook at a tool call": hook(TOOL, path=True),
    "orbit match": cli("match", "{}"),
    "mcp match": mcp("match", paths=["{}"]),
    "orbit brief": cli("brief", "--path", "{}"),
}
"""Surfaces that choose for a text or a path:
of a superseded record they show what replaced it, of others nothing.
"""


def box_row(world: World, record: Record, relations: Relations) -> str:
    """Return the row of a record in the search box,
    with its look and the ids of what took its place.
    """
    box = json.loads(search_data.titles(relations.records, relations.successors))
    row = next(row for row in box["records"] if row[0] == record.id)
    return json.dumps(
        [row, box["looks"][row[2]], [box["records"][heir][0] for heir in (*row[3:], [])[0]]]
    )


def explorer_row(world: World, record: Record, relations: Relations) -> str:
    """Return the row of a record in the path explorer, with its heading in words."""
    rows = json.loads(explorer.data(relations.records, 180.0, NO_ROUTES))["records"]
    return json.dumps(next(row for row in rows if row["id"] == record.id))


def page_top(world: World, record: Record, relations: Relations) -> str:
    """Return a record's page up to its text."""
    shared = list(relations.records)
    site = SiteMap(
        world.root,
        Forge("", ""),
        KINDS.id_forms,
        {other.id: url_of(other) for other in shared},
        {},
        {},
    )
    view = record_view(record, url_of(record), relations, site, groups_of(shared))
    return article(record.kind, view, "").partition('<div class="orbit-prose">')[0]


SITE: Mapping[str, Callable[[World, Record, Relations], str]] = {
    "search box": box_row,
    "path explorer": explorer_row,
    "page": page_top,
    "records.json": lambda world, record, relations: json.dumps(listing(record, relations)),
    "feed": lambda world, record, relations: feeds.atom([record], "T", None, lambda _: "L"),
    "preview": lambda world, record, relations: card_html(record, url_of(record), ""),
    "list": lambda world, record, relations: items_html([(record, "")], ""),
}
"""Parts of the site that name a closed record: each has its status."""
WITH_SUCCESSORS = ("search box", "page", "records.json")


def sentence(world: World, record: Made) -> str:
    """Return what is said of a closed record."""
    if heirs := world.heirs(record):
        return f"{record.id} was superseded by {' and '.join(sorted(heirs))}"
    if record.status == "superseded":
        return f"{record.id} was superseded, and no live record replaces it"
    return f"{record.id} is {record.status}"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a workspace, which each example fills anew."""
    folder = tmp_path_factory.mktemp("world")
    (folder / ".orbit").mkdir()
    (folder / ".orbit/config.yaml").write_text(
        "format: orbit-registry\nschema_version: 1\n", "utf-8"
    )
    return folder


def unasked_faults(world: World, closed: Iterable[Made]) -> Iterable[str]:
    """Yield what surfaces do wrong that are asked for no record."""
    for name, surface in UNASKED.items():
        text = surface(world, "")
        yield from (
            f"{name} shows {record.id}:\n{text}" for record in closed if record.title in text
        )


def asked_faults(world: World, closed: Made) -> Iterable[str]:
    """Yield what surfaces do wrong that are asked for a closed record."""
    heirs, words = world.heirs(closed), sentence(world, closed)
    for query, surfaces in ((closed.id, BY_ID), (closed.title, BY_TITLE)):
        for name, surface in surfaces.items():
            text = surface(world, query)
            before = text.partition(closed.title)[0]
            if words not in before:
                yield f"{name} {query!r} does not say first that {words}:\n{text}"
    relations = Relations(world.registry.records)
    record = world.registry.get(closed.id)
    for name, part in SITE.items():
        text = part(world, record, relations)
        if closed.shown not in text.lower() or (
            name in WITH_SUCCESSORS and not all(heir in text for heir in heirs)
        ):
            yield f"{name} does not say that {words}:\n{text}"
    for query, surfaces in (
        (closed.id, PUSHED_BY_ID),
        (closed.title, PUSHED_BY_TITLE),
        (closed.path, PUSHED_BY_PATH),
    ):
        for name, surface in surfaces.items():
            text = surface(world, query)
            if closed.title in text:
                yield f"{name} {query!r} shows {closed.id}:\n{text}"
            if not all(heir in text for heir in heirs):
                yield f"{name} {query!r} does not show all of {sorted(heirs)}:\n{text}"
            elif heirs and "superseded" not in text and name != "sql search":
                yield f"{name} {query!r} does not say whose place was taken:\n{text}"


@settings(
    max_examples=settings().max_examples // 5,
    suppress_health_check=[HealthCheck.too_slow],
    phases=[
        Phase.explicit,
        Phase.reuse,
        Phase.generate,
    ],  # an example takes a second, and shrinking many
)
@given(st.data())
def test_no_surface_calls_a_closed_record_current(root: Path, data: st.DataObject) -> None:
    """Where nothing is asked for, closed records are not shown;
    one that is asked for is said to be closed.
    """
    world = World(root, data.draw(collections()))
    closed = [record for record in world.records if record.phase == "closed"]
    assert list(unasked_faults(world, closed)) == []
    most = sorted(closed, key=lambda record: len(world.heirs(record)))[
        -1:
    ]  # random graphs have few live ends
    for record in (*most, *([data.draw(st.sampled_from(closed))] if closed else [])):
        assert list(asked_faults(world, record)) == []
