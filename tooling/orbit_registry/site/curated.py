"""The pages that the navigation names: start page, indexes, health. The generator gets them empty,
and an empty page for each depth.
"""

from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import NamedTuple

from orbit_registry.model.kind import Kind
from orbit_registry.model.record import Record
from orbit_registry.seams import Page, add, extras, load
from orbit_registry.site.documents import MirroredDocument, with_front_matter
from orbit_registry.site.language import labels_of, things_of, word, word_or

SHELL = "orbit-shell"
SHELL_DEPTHS = (1, 2, 3)
HIDDEN = ("toc", "footer")
"""What the theme adds to a page and none of these needs:
they are lists, not chapters that follow each other.
"""


class Besides(NamedTuple):
    """A page besides indexes: its title, the part that it shows, what it is of a site."""

    title: str
    part: str
    description: str


PAGES = {
    "paths": Besides("By path", "explorer", "Which records of {} apply to a path"),
    "map": Besides("Map", "map", "What replaced what, and what is linked, in {}"),
    "documents": Besides("Design documents", "documents", "The design documents of {}"),
    "tasks": Besides("Task references", "tasks", "The tasks that records of {} name"),
    "query": Besides("Ask in SQL", "console", "The records of {}, asked in SQL"),
    "health": Besides("Health", "health", "What wants attention among the records of {}"),
}
"""The pages besides indexes, by their folder, in the order of the navigation."""
LAST = ("query", "health")
"""Pages that come after those of extras."""
MOST_IN_NAV = 80
"""Above this number of documents the navigation names their overview alone:
it is repeated on every page.
"""


@dataclass(frozen=True, slots=True)
class EmptyPage:
    """A page that the generator makes empty: what the navigation and the page's head say of it."""

    url: str
    title: str
    description: str
    lead: str = ""
    """What the start page says below its heading."""
    hide: tuple[str, ...] = HIDDEN


def extra_pages() -> dict[str, Page]:
    """Return the pages of the extras, by their folder."""
    pages: dict[str, Page] = {}
    taken: dict[str, object] = dict(PAGES)
    for extra in extras():
        add(taken, extra.pages, "page", extra.name)
        pages |= extra.pages

    return pages


def pages_besides() -> dict[str, Besides]:
    """Return all pages besides indexes, by their folder, in the order of the navigation."""
    pages = {name: page for name, page in PAGES.items() if name not in LAST}
    for name, page in extra_pages().items():
        pages[name] = Besides(page.title, name, page.description)

    return pages | {name: PAGES[name] for name in LAST}


def mark(name: str) -> str:
    """Return the text that is replaced by what a page has under this name."""
    return f"@@orbit:{name}@@"


def shell_url(depth: int) -> str:
    """Return the URL of the empty page of a depth, of which record pages are filled copies."""
    return "/".join([SHELL, *(str(number) for number in range(1, depth)), ""])


def pages_with_content(
    records: Sequence[Record],
    documents: Sequence[MirroredDocument],
    *,
    has_tasks: bool,
    has_console: bool,
    has_citations: Callable[[], bool],
) -> list[str]:
    """Return the pages besides indexes that have something to show, by their folder,
    in the order of the navigation.

    Texts are read for citations only where no field joins records.
    """
    ids = {record.id for record in records}
    are_joined = any(not ids.isdisjoint(_related(record)) for record in records)
    present = {
        "paths": bool(records),
        "map": are_joined or has_citations(),
        "documents": bool(documents),
        "tasks": has_tasks,
        "health": bool(records),
        "query": bool(records) and has_console,
    }
    for name, page in extra_pages().items():
        present[name] = bool(load(page.wanted)(records))

    return [name for name in pages_besides() if present[name]]


def _related(record: Record) -> Iterator[str]:
    yield from record.supersedes
    yield from record.superseded_by
    yield from (link.to for link in record.links)


def curated_pages(
    kinds: Sequence[Kind], title: str, about: str, names: Sequence[str]
) -> dict[str, EmptyPage]:
    """Return the pages by their staged file: the start page, the indexes of `kinds`, and the pages
    with these names. `about` says in a sentence what the project is, "" for none.
    """
    pages = {"index.md": _home(kinds, title, about)}
    for name in names:
        page = pages_besides()[name]
        description = word_or(f"about.{name}", page.description).replace("{}", title)
        pages[f"{name}/index.md"] = EmptyPage(f"{name}/", _title(name), description)

    for kind in kinds:
        # A page of the repository may be called as the kind is.
        name = word("record.all", labels=things_of(kind))
        pages[_index(kind)] = EmptyPage(
            f"{kind.plural}/", name, word("about.kind", name=name, title=title)
        )

    return pages


def _title(name: str) -> str:
    return word_or(f"nav.{name}", pages_besides()[name].title)


def _home(kinds: Sequence[Kind], title: str, about: str) -> EmptyPage:
    labels = [things_of(kind) for kind in kinds] or [word("record.records")]
    listed = labels[0]
    if labels[1:]:
        listed = word("map.and", first=", ".join(labels[:-1]), last=labels[-1])

    return EmptyPage("", "", about or word("about.home", things=listed, title=title), about)


def staged_page(page: EmptyPage) -> str:
    """Return the source of a page that the generator makes empty."""
    front = {"title": escape(page.title)} if page.title else {}
    return _empty(front | {"description": mark("description"), "hide": list(page.hide)})


def shells(depths: Iterable[int]) -> dict[str, str]:
    """Return the sources of the empty pages, one a depth."""
    front = {name: mark(name) for name in ("title", "description")}
    source = _empty({**front, "search": {"exclude": True}})
    return {f"{shell_url(depth)}index.md": source for depth in depths}


def _empty(front: Mapping[str, object]) -> str:
    # The heading is for a theme without our template: without one it would add its own.
    content = f"<div>{mark('content')}<h1></h1>{mark('end')}</div>"
    return with_front_matter({**front, "orbit_shell": True}, content)


def navigation(
    kinds: Sequence[Kind], documents: Mapping[str, str], pages: Container[str]
) -> list[object]:
    """Return the navigation of the generated pages in groups: decisions, other records, ways to
    explore them.

    `documents` are staged file → title, in order of their paths; an entry without a page in `pages`
    is left out.
    """
    records: list[object] = [
        {labels_of(kind): _index(kind)} for kind in kinds if not kind.in_document
    ]
    decisions: list[object] = [
        {word("record.all", labels=things_of(kind)) if documents else labels_of(kind): _index(kind)}
        for kind in kinds
        if kind.in_document
    ]
    if documents:
        decisions.append({_title("documents"): _document_nav(documents)})

    first = next((labels_of(kind) for kind in kinds if kind.voted), None)
    groups: dict[str, list[object]] = {
        word("nav.decisions"): decisions,
        word("nav.others.first", first=first) if first else word("nav.others"): records,
        word("nav.explore"): [
            {_title(name): file}
            for name in pages_besides()
            if name != "documents" and (file := f"{name}/index.md") in pages
        ],
    }

    return [
        members[0] if len(members) == 1 else {title: members}
        for title, members in groups.items()
        if members
    ]


def _index(kind: Kind) -> str:
    return f"{kind.plural}/index.md"


def _document_nav(documents: Mapping[str, str]) -> list[object]:
    entries: list[object] = ["documents/index.md"]
    if len(documents) > MOST_IN_NAV:
        return entries

    groups: dict[str, list[object]] = defaultdict(list)
    for staged, title in documents.items():
        parts = staged.split("/")
        group = parts[1] if len(parts) > 2 else ""
        groups[group].append({escape(title): staged})

    for group, members in groups.items():
        if group:
            entries.append(
                {escape(group.replace("-", " ").replace("_", " ").capitalize()): members}
            )
        else:
            entries += members

    return entries
