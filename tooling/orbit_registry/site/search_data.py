"""Data of the search box: titles of records,
and what words count in records and in sections of pages.
"""

import json
import re
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from html import unescape
from operator import sub
from pathlib import Path
from typing import NamedTuple

from orbit_registry.formats.markdown import content_start
from orbit_registry.formats.sentences import paragraphs
from orbit_registry.hook.words import STOP_WORDS
from orbit_registry.matching.teaser import sentence_of
from orbit_registry.model.record import Record
from orbit_registry.search.index import norm_of
from orbit_registry.search.text import stem
from orbit_registry.search.texts import Fields, terms_of
from orbit_registry.site.language import status_word
from orbit_registry.site.prose import EXCLUDED, Heading
from orbit_registry.site.sanitize import unmarked
from orbit_registry.site.sitemap import url_of
from orbit_registry.site.words import status_css, title_of

TITLES, WORDS = "search/titles.json", "search/words.json"
"""What the box reads when it gets the focus, and what it reads at the first key."""
GENERATED = (
    "search/search_index.json",
    "search.json",
)  # where MkDocs and Zensical write the sections of pages
LONGEST_LEAD = 160
_as_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_TAG = re.compile(r"<[^>]*>")


def line_of(record: Record, prose: str) -> str:
    """Return what lists print below a record's title, as plain text; empty if nothing says it.

    Of a decision it is what was decided, of another record how its text begins.
    """
    if record.kind.in_document:
        return unmarked(sentence_of(record, prose))

    return lead(prose)


class Section(NamedTuple):
    """A part of a page below one heading, as the generator's search has it."""

    page: str
    anchor: str
    title: str
    text: str


def sections_of(generated: Path, excluded: Container[str]) -> list[Section]:
    """Return the sections of the generator's pages, but for `excluded` ones, by address."""
    file = next(filter(Path.is_file, (generated / name for name in GENERATED)), None)
    content = json.loads(file.read_text("utf-8")) if file is not None else {}
    entries = (
        (entry, *entry["location"].split("#", 1))
        for entry in content.get("docs") or content.get("items") or ()
    )

    return [
        Section(page, anchor[0] if anchor else "", _plain(entry["title"]), _plain(entry["text"]))
        for entry, page, *anchor in entries
        if page not in excluded
    ]


def sections_in(html: str, headings: Iterable[Heading], page: str, title: str) -> Iterator[Section]:
    """Yield the sections of a text that we rendered: its beginning, and what follows each of its
    headings, without those that another page is found by.
    """
    anchor = ""
    name: str | None = title
    at = 0
    for heading in headings:
        start = html.find(f'<h{heading.level} id="{heading.id}"', at)
        end = html.find(f"</h{heading.level}>", start)
        if start < 0 or end < 0:
            continue  # one that the page does not have: what follows belongs to the one above

        if name is not None:
            yield Section(page, anchor, name, _plain(html[at:start]))

        opening = html[start : html.find(">", start)]
        at, anchor = end + len("</h1>"), heading.id
        name = None if EXCLUDED in opening else heading.text

    if name is not None:
        yield Section(page, anchor, name, _plain(html[at:]))


def _plain(html: str) -> str:
    return " ".join(unescape(_TAG.sub(" ", html)).split())


def titles(records: Sequence[Record], successors: Callable[[Record], Sequence[Record]]) -> str:
    """Return the file of titles: records as [id, title, number of the look, numbers of successors,
    address].

    The last two are left out where they say nothing new. A look is a status in the folder of a
    kind. Records are in the order of equal hits.
    """
    numbers = {record.path: number for number, record in enumerate(records)}
    names: defaultdict[str, list[int]] = defaultdict(list)
    looks: dict[tuple[object, ...], int] = {}
    rows = []

    for number, record in enumerate(records):
        for name in record.legacy_ids:
            names[name.lower()].append(number)

        status, folder = record.status, f"{record.kind.plural}/"
        shown = status_word(status), status_css(status)
        look = (*shown, folder, status.searched, record.phase == "closed")
        heirs = [numbers[later.path] for later in successors(record) if later.path in numbers]
        url = url_of(record)
        row: list[object] = [
            record.id,
            title_of(record),
            looks.setdefault(look, len(looks)),
            heirs,
            url,
        ]
        if url == f"{folder}{record.id}/":
            del row[4 if heirs else 3 :]

        rows.append(row)

    keys = ("word", "css", "folder", "searched", "closed")
    return _as_json(
        {
            "records": rows,
            "looks": [dict(zip(keys, look, strict=True)) for look in looks],
            "names": names,
        }
    )


Packed = Sequence[str]
"""What a text counts: its terms, each with its count, then the words whose term is another one,
then its names.
"""


def packed(fields: Fields) -> Packed:
    """Return what a text counts as three texts: a cache of 10,000 records holds them in a fifth of
    the memory.
    """
    counts, forms, names = terms_of(fields)
    terms = " ".join(f"{term} {count}" for term, count in counts.items())
    return terms, " ".join(forms), " ".join(names)


def words(
    records: Sequence[Record], counts: Mapping[str, Sequence[Packed]], sections: Sequence[Section]
) -> str:
    """Return the file of words: what each counts in the texts of records and in sections of pages.

    `records` are in the order of `titles`. `counts` are `packed`, by path: of a record's own text,
    then of its chunks.
    """
    numbers = {record.path: number for number, record in enumerate(records)}
    texts = []
    for path, parts in sorted(counts.items()):
        texts += [(numbers[path], text) for text in parts]

    pages: dict[str, tuple[int, str]] = {}
    places, section_texts = [], []

    for section in sections:
        number, title = pages.setdefault(section.page, (len(pages), section.title))
        above = "" if section.title == title else title
        section_texts.append(packed((section.title, "", f"{above}\n{section.text}")))
        places.append([number, section.anchor, section.title])

    content = {
        "common": sorted(STOP_WORDS),
        "records": {"owners": [owner for owner, _ in texts], **_table([text for _, text in texts])},
        "pages": {
            "pages": [[url, title] for url, (_, title) in pages.items()],
            "sections": places,
            **_table(section_texts),
        },
    }
    return _as_json(content)


def _table(texts: Sequence[Packed]) -> dict[str, object]:
    """Return packed texts as the box reads them: of each term the steps from text to text that has
    it, and its counts; of each identifier the steps alone.

    By way of an `Index` of 1,000 decisions it would take a sixth of a build after one edit.
    """
    terms: defaultdict[str, list[int]] = defaultdict(list)
    names: defaultdict[str, list[int]] = defaultdict(list)
    lengths: list[int] = []
    forms: dict[str, None] = {}
    for slot, (counted, other, identifiers) in enumerate(texts):
        parts = counted.split()
        numbers = [*map(int, parts[1::2])]
        for term, count in zip(parts[::2], numbers, strict=True):
            terms[term] += (slot, count)
        for name in identifiers.split():
            names[name].append(slot)

        forms |= dict.fromkeys(other.split())
        lengths.append(sum(numbers))

    for steps in terms.values():
        slots = steps[::2]
        steps[::2] = map(sub, slots, (0, *slots))

    for slots in names.values():
        slots[:] = map(sub, slots, (0, *slots))

    return {
        "norm": norm_of(lengths),
        "lengths": lengths,
        "words": {word: stem(word) for word in forms},
        "terms": terms,
        "names": names,
    }


def lead(prose: str) -> str:
    """Return the first paragraph of a text that says something, without its Markdown:
    whole words, 160 characters.
    """
    text = next(paragraphs(prose[content_start(prose) :]), "")
    if len(text) <= LONGEST_LEAD:
        return text

    return text[:LONGEST_LEAD].rpartition(" ")[0] + " …"
