"""Source of the curated pages: start page, indexes, health, shells; no record's text is in it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Mapping, Sequence
from html import escape

from orbit_registry.model.kind import Kind, KindTable
from orbit_registry.site.documents import MirroredDocument, slot, with_front_matter
from orbit_registry.site.urls import TASKS

SHELL = "orbit-shell"
SHELL_DEPTHS = (1, 2, 3)
HIDDEN = ["toc", "footer"]
"""What the theme adds to a page and none of these needs: they are lists, not chapters that follow each other."""
EXPLORE = (
    ("By path", "paths/index.md"),
    ("Map", "map/index.md"),
    ("Task references", f"{TASKS}index.md"),
    ("Ask in SQL", "query/index.md"),
    ("Health", "health/index.md"),
)
"""The pages that show all records in one way, in the order of the navigation."""
MOST_IN_NAV = 80
"""Above this number of documents the navigation names their overview alone: it is repeated on every page."""


def shell_url(depth: int) -> str:
    """Return the URL of the empty page of a depth, of which record pages are filled copies."""
    return "/".join([SHELL, *(str(number) for number in range(1, depth)), ""])


def curated_pages(
    kinds: KindTable, title: str, documents: Sequence[MirroredDocument], listed: Sequence[Kind], *, has_tasks: bool
) -> dict[str, str]:
    """Return the staged pages by their file; `listed` are the kinds that the start page names, if not all."""
    pages = {
        "index.md": _home(listed or list(kinds), title, bool(documents)),
        "health/index.md": _titled("Health", "health", f"What wants attention among the records of {title}"),
        "paths/index.md": _titled("By path", "explorer", f"Which records of {title} apply to a path"),
        "query/index.md": _titled("Ask in SQL", "console", f"The records of {title}, asked in SQL"),
        "map/index.md": _titled("Map", "map", f"What replaced what, and what is linked, in {title}"),
    }
    if has_tasks:
        pages[f"{TASKS}index.md"] = _titled("Task references", "tasks", f"The tasks that records of {title} name")
    for kind in kinds:
        front = {"title": kind.labels, "description": f"All {kind.labels.lower()} of {escape(title)}", "hide": HIDDEN}
        pages[f"{kind.plural}/index.md"] = with_front_matter(front, f"# {kind.labels}\n\n{slot(f'index-{kind.name}')}")
    if documents:
        pages["documents/index.md"] = _titled("Design documents", "documents", f"The design documents of {title}")
    return pages


def shells() -> dict[str, str]:
    """Return the empty pages, one a depth."""
    names = {name: f"@@orbit:{name}@@" for name in ("title", "description")}
    page = with_front_matter({**names, "orbit_shell": True, "search": {"exclude": True}}, "<h1>@@orbit:content@@</h1>")
    return {f"{shell_url(depth)}index.md": page for depth in SHELL_DEPTHS}


def _home(kinds: Sequence[Kind], title: str, has_documents: bool) -> str:
    names = [kind.labels.lower() for kind in kinds]
    listed = f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]
    indexes = ", the ".join(f'<a href="{kind.plural}/">{escape(kind.labels.lower())}</a>' for kind in kinds)
    reasons = ' The reasons are in the <a href="documents/">design documents</a>.' if has_documents else ""
    adds = " and ".join(f"<code>orbit {kind.name} add</code>" for kind in kinds if kind.is_expected)
    ways = {
        "To read": f'Browse the {indexes}, ask <a href="paths/">by path</a>, '
        f'or see on the <a href="map/">map</a> what replaced what.{reasons} '
        '<a href="health/">Health</a> says what wants attention.',
        "To write": f"{adds} make a record, <code>orbit check</code> proves it valid, a pull request reviews it.",
        "For agents": "<code>orbit hook install</code> puts the records that apply before an agent as it works, "
        '<code>orbit brief</code> before it begins. <a href="records.json">records.json</a> lists all for programs, '
        '<a href="query/">the database</a> answers SQL.',
    }
    items = "".join(f"<dt>{name}</dt><dd>{text}</dd>" for name, text in ways.items())
    body = [
        f"# {escape(title)}",
        f"What this project has decided and learned: its {listed}, from the repository's own files.",
        slot("paths"),
        slot("counts"),
        "## Changed last",
        slot("recent"),
        "## Ways in",
        f'<dl class="orbit-ways">{items}</dl>',
    ]
    description = f"What {title} has decided and learned: its {listed}"
    return with_front_matter({"description": escape(description), "hide": HIDDEN}, "\n\n".join(body))


def _titled(title: str, content: str, description: str) -> str:
    front = {"title": title, "description": escape(description), "hide": HIDDEN}
    return with_front_matter(front, f"# {title}\n\n{slot(content)}")


def navigation(kinds: Sequence[Kind], documents: Mapping[str, str], pages: Container[str]) -> list[object]:
    """Return the navigation of the generated pages in groups: decisions, other records, ways to explore them.

    `documents` are staged file → title, in order of their paths; an entry without a page in `pages` is left out.
    """
    records: list[object] = [{kind.labels: _index(kind)} for kind in kinds if not kind.in_document]
    decisions: list[object] = [
        {f"All {kind.labels.lower()}" if documents else kind.labels: _index(kind)} for kind in kinds if kind.in_document
    ]
    if documents:
        decisions.append({"Design documents": _document_nav(documents)})
    first = next((kind.labels for kind in kinds if kind.voted), None)
    groups: dict[str, list[object]] = {
        "Decisions": decisions,
        f"{first} and other records" if first else "Other records": records,
        "Explore": [{title: file} for title, file in EXPLORE if file in pages],
    }
    return [members[0] if len(members) == 1 else {title: members} for title, members in groups.items() if members]


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
            entries.append({escape(group.replace("-", " ").replace("_", " ").capitalize()): members})
        else:
            entries += members
    return entries
