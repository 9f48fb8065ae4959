"""Pages of tags and of a kind's own columns: the records that share a word."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from markupsafe import Markup

from orbit_registry.model.kind import Kind
from orbit_registry.model.record import Record
from orbit_registry.site import language
from orbit_registry.site.filling import macros
from orbit_registry.site.language import column_label, labels_of
from orbit_registry.site.urls import relative, safe_segment
from orbit_registry.site.words import PHASES, items_html, own_columns, tags_of, texts_of

TAGS = "tags/"
MOST_PAGES = (
    2000  # words beyond these, the rarest, have no page of their own: the filters find them
)


def tag_url(tag: str) -> str:
    """Return the URL of a tag's page."""
    return f"{TAGS}{safe_segment(tag)}/"


def column_url(kind: Kind, column: str, word: str) -> str:
    """Return the URL of the page of a word in a kind's own column: `adrs/feature/core/`."""
    return f"{kind.plural}/{safe_segment(column)}/{safe_segment(word)}/"


@dataclass(frozen=True, slots=True)
class GroupPage:
    """One page, and the kind whose records it lists."""

    url: str
    kind: Kind | None
    title: str
    html: str
    records: Sequence[Record] = ()
    """Those that share a word; none on the overview of tags."""


@dataclass
class Groups:
    """Which words have a page, and which records are on it."""

    tags: dict[str, list[Record]] = field(default_factory=dict)
    columns: dict[tuple[str, str], dict[str, list[Record]]] = field(
        default_factory=dict
    )  # by kind and column

    def tag_link(self, tag: str, page: str) -> str | None:
        """Return how a page names a tag's page; None where it has none."""
        if tag in self.tags:
            return relative(page, tag_url(tag))

        return None

    def column_words(self, record: Record, column: str, page: str) -> list[dict[str, str | None]]:
        """Return the words of a record's column, each with how a page names theirs;
        None where it has none.
        """
        kind, words = record.kind, texts_of([record], column)
        groups = self.columns.get((kind.name, column), {})
        links = (
            (word, relative(page, column_url(kind, column, word)) if word in groups else None)
            for word in words
        )
        return [{"word": word, "url": url} for word, url in links]

    def pages(self, kinds: Sequence[Kind]) -> Iterator[GroupPage]:
        """Yield every page."""
        if self.tags:
            yield GroupPage(TAGS, None, language.word("list.tags"), _overview(self.tags, kinds))

        for tag, records in self.tags.items():
            above = (language.word("list.tags"), TAGS)
            yield _page(tag_url(tag), None, f"{column_label('tag')}: {tag}", records, above)

        for kind in kinds:
            for column in own_columns(kind):
                for word, records in self.columns.get((kind.name, column), {}).items():
                    title = f"{column_label(column)}: {word}"
                    above = (labels_of(kind), f"{kind.plural}/")
                    yield _page(column_url(kind, column, word), kind, title, records, above)


def groups_of(records: Sequence[Record]) -> Groups:
    """Return the groups of a site's records."""
    tags: dict[str, list[Record]] = defaultdict(list)
    columns: dict[tuple[str, str], dict[str, list[Record]]] = defaultdict(lambda: defaultdict(list))
    for record in records:
        for tag in tags_of(record):
            tags[tag].append(record)
        for column in own_columns(record.kind):
            for word in dict.fromkeys(texts_of([record], column)):
                columns[record.kind.name, column][word].append(record)

    return Groups(_most(tags), {key: _most(groups) for key, groups in columns.items()})


def _most(groups: Mapping[str, list[Record]]) -> dict[str, list[Record]]:
    """Return the groups with the most records, by name;
    of names that differ only in case the first has the page.
    """
    largest: dict[str, list[Record]] = {}
    segments: set[str] = set()
    for word in sorted(groups, key=lambda word: (-len(groups[word]), word)):
        if len(largest) < MOST_PAGES and word and safe_segment(word).lower() not in segments:
            segments.add(safe_segment(word).lower())
            largest[word] = groups[word]

    return dict(sorted(largest.items()))


def _overview(tags: Mapping[str, Sequence[Record]], kinds: Sequence[Kind]) -> str:
    tagged = {record.kind.name for record in chain.from_iterable(tags.values())}
    indexes = []
    for kind in kinds:
        if kind.name in tagged:
            indexes.append((relative(TAGS, f"{kind.plural}/"), labels_of(kind)))

    rows = [(relative(TAGS, tag_url(tag)), tag, len(records)) for tag, records in tags.items()]
    return str(macros("groups.html").overview(indexes, rows))


def _page(
    url: str, kind: Kind | None, title: str, records: Sequence[Record], above: tuple[str, str]
) -> GroupPage:
    name, parent = above
    items = items_html(((record, "") for record in sorted(records, key=_live_first)), url)
    shared = macros("groups.html").shared
    html = str(shared(relative(url, parent), name, title, len(records), Markup(items)))
    return GroupPage(url, kind, title, html, records)


def _live_first(record: Record) -> tuple[int, tuple[object, ...]]:
    return PHASES.index(record.phase), record.sort_key
