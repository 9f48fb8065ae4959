"""Source of the curated pages: start page, indexes, health, shells; no record's text is in it."""

from collections import defaultdict
from collections.abc import Container, Iterator, Mapping, Sequence
from html import escape

from orbit_registry.model.kind import Kind
from orbit_registry.model.record import Record
from orbit_registry.site import search_page
from orbit_registry.site.documents import MirroredDocument, slot, with_front_matter
from orbit_registry.site.language import word

SHELL = "orbit-shell"
SHELL_DEPTHS = (1, 2, 3)
HIDDEN = ["toc", "footer"]
"""What the theme adds to a page and none of these needs:
they are lists, not chapters that follow each other.
"""
PAGES = {
    "paths": ("By path", "explorer", "Which records of {} apply to a path"),
    "map": ("Map", "map", "What replaced what, and what is linked, in {}"),
    "documents": ("Design documents", "documents", "The design documents of {}"),
    "tasks": ("Task references", "tasks", "The tasks that records of {} name"),
    "enforced": ("Enforcement", "enforced", "Which decisions of {} are enforced by checks"),
    "query": ("Ask in SQL", "console", "The records of {}, asked in SQL"),
    "health": ("Health", "health", "What wants attention among the records of {}"),
}
"""Title, slot and description of the pages besides indexes, by their folder,
in the order of the navigation.
"""
MOST_IN_NAV = 80
"""Above this number of documents the navigation names their overview alone:
it is repeated on every page.
"""


def shell_url(depth: int) -> str:
    """Return the URL of the empty page of a depth, of which record pages are filled copies."""
    return "/".join([SHELL, *(str(number) for number in range(1, depth)), ""])


def pages_with_content(
    records: Sequence[Record],
    documents: Sequence[MirroredDocument],
    *,
    has_tasks: bool,
    has_console: bool,
) -> list[str]:
    """Return the pages besides indexes that have something to show, by their folder,
    in the order of the navigation.
    """
    ids = {record.id for record in records}
    present = {
        "paths": bool(records),
        "map": any(not ids.isdisjoint(_related(record)) for record in records),
        "documents": bool(documents),
        "tasks": has_tasks,
        "enforced": any("checks" in record.data for record in records),
        "health": bool(records),
        "query": bool(records) and has_console,
    }
    return [name for name in PAGES if present[name]]


def _related(record: Record) -> Iterator[str]:
    yield from record.supersedes
    yield from record.superseded_by
    yield from (link.to for link in record.links)


def curated_pages(
    kinds: Sequence[Kind], title: str, about: str, names: Sequence[str]
) -> dict[str, str]:
    """Return the staged pages by their file: the start page, the indexes of `kinds`,
    and the pages with these names. `about` says in a sentence what the project is, "" for none.
    """
    pages = {"index.md": _home(kinds, title, about, names)}
    for name in names:
        page_title, content, description = PAGES[name]
        pages[f"{name}/index.md"] = _titled(page_title, content, description.format(title))

    pages[f"{search_page.URL}index.md"] = with_front_matter(
        {"title": word("search.title"), "hide": HIDDEN, "search": {"exclude": True}},
        f"# {word('search.title')}\n\n{slot('search')}",
    )

    for kind in kinds:
        name = f"All {kind.labels.lower()}"  # a page of the repository may be called as the kind is
        front = {"title": name, "description": f"{name} of {escape(title)}", "hide": HIDDEN}
        pages[f"{kind.plural}/index.md"] = with_front_matter(
            front, f"# {kind.labels}\n\n{slot(f'index-{kind.name}')}"
        )

    return pages


def shells() -> dict[str, str]:
    """Return the empty pages, one a depth."""
    names = {name: f"@@orbit:{name}@@" for name in ("title", "description")}
    page = with_front_matter(
        {**names, "orbit_shell": True, "search": {"exclude": True}}, "<h1>@@orbit:content@@</h1>"
    )
    return {f"{shell_url(depth)}index.md": page for depth in SHELL_DEPTHS}


def _home(kinds: Sequence[Kind], title: str, about: str, names: Sequence[str]) -> str:
    labels = [kind.labels.lower() for kind in kinds]
    listed = (
        f"{', '.join(labels[:-1])} and {labels[-1]}"
        if len(labels) > 1
        else "".join(labels) or "records"
    )

    lead = about or f"The {listed} of this project, from the repository's own files."
    body = [f"# {escape(title)}", f'<p class="orbit-about">{escape(lead)}</p>']
    if "paths" in names:
        body.append(slot("paths"))

    body += [slot("home"), slot("counts")]
    description = about or f"The {listed} of {title}"
    return with_front_matter(
        {"description": escape(description), "hide": HIDDEN}, "\n\n".join(body)
    )


def _titled(title: str, content: str, description: str) -> str:
    front = {"title": title, "description": escape(description), "hide": HIDDEN}
    return with_front_matter(front, f"# {title}\n\n{slot(content)}")


def navigation(
    kinds: Sequence[Kind], documents: Mapping[str, str], pages: Container[str]
) -> list[object]:
    """Return the navigation of the generated pages in groups: decisions, other records, ways to
    explore them.

    `documents` are staged file → title, in order of their paths; an entry without a page in `pages`
    is left out.
    """
    records: list[object] = [{kind.labels: _index(kind)} for kind in kinds if not kind.in_document]
    decisions: list[object] = [
        {f"All {kind.labels.lower()}" if documents else kind.labels: _index(kind)}
        for kind in kinds
        if kind.in_document
    ]
    if documents:
        decisions.append({"Design documents": _document_nav(documents)})

    first = next((kind.labels for kind in kinds if kind.voted), None)
    groups: dict[str, list[object]] = {
        "Decisions": decisions,
        f"{first} and other records" if first else "Other records": records,
        "Explore": [
            {title: file}
            for name, (title, _, _) in PAGES.items()
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
