"""Lists of the pages for agents: `llms.txt` (llmstxt.org), the whole text in one file,
and a bundle for each folder.
"""

import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from orbit_registry.errors import plural
from orbit_registry.formats.globs import GlobIndex, readable_globs
from orbit_registry.model.kind import Kind
from orbit_registry.model.record import Record
from orbit_registry.site.sitemap import url_of
from orbit_registry.site.twins import INDEX, Twin
from orbit_registry.site.urls import linked, safe_segment
from orbit_registry.site.words import date_of, tags_of, title_of

FULL, FOLDER, BUNDLES = "llms-full.txt", "llms/", "by-path/"
OPTIONAL = "Optional"  # the section that llmstxt.org lets readers skip: pages that list other pages
# bytes of a list or a bundle at most: tools that fetch pages for agents cut what is longer
LARGEST = 48_000
_HEADINGS = 3000  # bytes of these that the headings of a list may have
_LONGEST_LINE, _LONGEST_ABOUT = 200, 1200
_MOST_NAMES = 6  # tags that a list is named after


@dataclass(frozen=True, slots=True)
class Section:
    """A part of `llms.txt`, and the folder of its lists on a site with many pages."""

    title: str
    folder: str
    twins: Sequence[Twin]


def sections_of(
    groups: Mapping[str, Sequence[str]],
    kinds: Iterable[Kind],
    records: Sequence[Record],
    documents: Sequence[str],
    twins: Mapping[str, Twin],
) -> list[Section]:
    """Return the parts of `llms.txt`: the repository's own pages in `groups`, records by kind,
    documents, other pages.

    Pages are named by their URLs.
    """
    remaining = dict(twins)
    sections = []

    def take(title: str, folder: str, urls: Iterable[str]) -> None:
        sections.append(
            Section(title, folder, [remaining.pop(url) for url in urls if url in remaining])
        )

    for title, urls in groups.items():
        take(title, f"{FOLDER}{safe_segment(title.lower())}/", urls)

    for kind in kinds:
        same = [record for record in records if record.kind.name == kind.name]
        same.sort(key=lambda record: record.phase != "live")
        groups_by_path = _groups(same)
        for record in same:
            url = url_of(record)
            if url in remaining:
                entry = record_entry(record, remaining[url])
                remaining[url] = replace(entry, group=groups_by_path[record.path])

        take(kind.labels, f"{kind.plural}/", map(url_of, same))

    take("Design documents", "documents/", documents)
    take(OPTIONAL, f"{FOLDER}optional/", list(remaining))
    return sections


def lists(
    title: str, summary: str, sections: Iterable[Section], base_url: str | None
) -> Iterator[tuple[str, str]]:
    """Yield `llms.txt` and its parts by their path:
    if it is too long, the longest sections have their own lists.
    """
    sections = [section for section in sections if section.twins]
    lines = [_lines(INDEX, section.twins, base_url) for section in sections]
    for number in sorted(range(len(sections)), key=lambda number: -len("".join(lines[number]))):
        size = sum(len(line.encode()) + 1 for line in chain.from_iterable(lines))
        if size + _HEADINGS < LARGEST:
            break

        section, lines[number] = sections[number], []
        for path, name, twins in _parts(section, base_url):
            yield (
                path,
                _list(
                    f"{title}: {section.title}",
                    summary,
                    [(section.title, _lines(path, twins, base_url))],
                ),
            )

            part = Twin(path, f"{section.title}: {name}", _about(twins))
            lines[number] += _lines(INDEX, [part], base_url, _LONGEST_ABOUT)

    yield (
        INDEX,
        _list(
            title,
            summary,
            [(section.title, part) for section, part in zip(sections, lines, strict=True)],
        ),
    )


def _list(title: str, summary: str, parts: Iterable[tuple[str, Sequence[str]]]) -> str:
    texts = ["\n".join([f"## {_plain(name)}", "", *lines]) for name, lines in parts]
    return "\n\n".join([f"# {_plain(title)}", f"> {_plain(summary)}", *texts]) + "\n"


def _lines(
    origin: str, twins: Iterable[Twin], base_url: str | None, longest: int = _LONGEST_LINE
) -> list[str]:
    lines = []
    for twin in twins:
        description = "" if twin.description == twin.title else twin.description
        if len(description) > longest:
            description = description[:longest].rpartition(" ")[0] + " …"
        after = f": {_plain(description)}" if description else ""
        lines.append(f"- [{_plain(twin.title)}]({linked(base_url, origin, twin.path)}){after}")
    return lines


def _plain(text: str) -> str:
    """Return a text that no reader of Markdown takes for a link or a tag."""
    return " ".join(text.split()).translate({ord("["): "\\[", ord("]"): "\\]", ord("<"): "\\<"})


def _about(twins: Sequence[Twin]) -> str:
    """Return what is in a part: how many pages, and what some of them decide."""
    sentences = [twin.sentence for twin in twins if twin.sentence]
    count = plural(len(twins), "page")
    return f"{count}. {' '.join(sentences)}" if sentences else count


def _groups(records: Sequence[Record]) -> dict[str, str]:
    """Return the year of each record, by its path; its first tag, where all are of one year."""
    years = {record.path: date_of(record)[:4] for record in records}
    if len(set(years.values())) > 1:
        return years

    return {record.path: next(iter(tags_of(record)), "") for record in records}


def _parts(section: Section, base_url: str | None) -> Iterator[tuple[str, str, list[Twin]]]:
    """Yield the lists that a section is divided into, each small enough: its file, its name, and
    its pages.
    """
    by_group: dict[str, list[Twin]] = defaultdict(list)
    for twin in section.twins:
        by_group[twin.group].append(twin)

    previous = ""
    for number, (names, twins) in enumerate(_chunks(section.folder, by_group, base_url), 1):
        file = INDEX if number == 1 else f"llms-{number}.txt"
        name = _name(names, twins)
        yield f"{section.folder}{file}", name + ", continued" * (name == previous), twins
        previous = name


def _chunks(
    folder: str, by_group: Mapping[str, Sequence[Twin]], base_url: str | None
) -> Sequence[tuple[list[str], list[Twin]]]:
    """Return the groups in parts that are small enough; only a large group is divided."""
    chunks: list[tuple[list[str], list[Twin]]] = []
    room, whole = 0, LARGEST - _HEADINGS
    for group in sorted(by_group, reverse=True):
        lines = _lines(f"{folder}{INDEX}", by_group[group], base_url)
        sizes = [len(line.encode()) + 1 for line in lines]
        if room < sum(sizes) <= whole:
            room = 0

        for twin, size in zip(by_group[group], sizes, strict=True):
            if size > room:
                chunks.append(([], []))
                room = whole

            names, twins = chunks[-1]
            names += [] if group in names else [group]
            twins.append(twin)
            room -= size

    return chunks


def _name(groups: Sequence[str], twins: Sequence[Twin]) -> str:
    """Return what a part is called: by its years or tags, else by its first and last page."""
    names = [group for group in groups if group]
    if not names:
        return f"{twins[0].title} to {twins[-1].title}"
    if all(name.isdecimal() for name in names):
        return names[0] if len(names) == 1 else f"{names[-1]} to {names[0]}"

    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return ", ".join(names[:_MOST_NAMES]) + more


def joined(out: Path, twins: Iterable[Twin], limit: int = sys.maxsize) -> tuple[str, list[Twin]]:
    """Return the Markdown of pages as one text of so many bytes at most,
    and the pages that are left out for it.
    """
    texts: list[str] = []
    left_out: list[Twin] = []
    for twin in twins:
        data = b"" if left_out else (out / twin.path).read_bytes()
        limit -= len(data)
        if left_out or limit < 0:
            left_out.append(twin)
        else:
            texts.append(data.decode("utf-8", "surrogatepass"))

    return "\n---\n\n".join(texts), left_out


def record_entry(record: Record, twin: Twin) -> Twin:
    """Return a record's page as a list names it:
    its id, title, status and day before the description.
    """
    status = ", ".join(filter(None, [record.status.word, date_of(record)[:10]]))
    text = "" if twin.description == title_of(record) else f". {twin.description}"
    sentence = twin.description if text and record.kind.in_document else ""
    return Twin(twin.path, f"{record.id} {record.title}", f"{status}{text}", sentence=sentence)


def by_folder(records: Iterable[Record], files: Iterable[str]) -> dict[str, list[str]]:
    """Return for each top folder the URLs of the live records whose scope has one of its files,
    in their order.
    """
    live = [record for record in records if record.phase == "live" and record.globs]
    index = GlobIndex((number, readable_globs(record.globs)) for number, record in enumerate(live))
    numbers: dict[str, set[int]] = defaultdict(set)
    for path in files:
        folder, slash, _ = path.partition("/")
        if slash:
            numbers[folder].update(number for number, _ in index.match(path))

    urls = {}
    for folder, chosen in sorted(numbers.items()):
        if chosen:
            urls[folder] = [url_of(live[number]) for number in sorted(chosen)]

    return urls


def bundle_path(folder: str) -> str:
    """Return the file of a top folder's bundle."""
    return f"{BUNDLES}{safe_segment(folder)}.md"


def count_of(chosen: Sequence[object]) -> str:
    """Return how many records apply, in words."""
    return plural(len(chosen), "record applies", "records apply")


def bundle(folder: str, twins: Sequence[Twin], out: Path, base_url: str | None) -> str:
    """Return the records that apply in a folder:
    as many as fit with their text, links to the others.
    """
    path = bundle_path(folder)
    text, left_out = joined(out, twins, LARGEST - 200 * len(twins))
    more = (
        "\n".join(["## More records\n", *_lines(path, left_out, base_url), ""]) if left_out else ""
    )
    head = _head(f"{folder}/", f"{count_of(twins)} to files in this folder.", base_url)
    return "\n".join(filter(None, [head, text, more]))


def full_text(
    title: str, summary: str, sections: Iterable[Section], out: Path, base_url: str | None
) -> str:
    """Return the text of every page but those that list others."""
    texts = (section.twins for section in sections if section.title != OPTIONAL)
    twins = chain.from_iterable(texts)
    return f"{_head(title, summary, base_url)}\n{joined(out, twins)[0]}"


def _head(title: str, summary: str, base_url: str | None) -> str:
    links = "" if base_url else " Links lead from the page that each part names."
    return f"# {_plain(title)}\n\n> {_plain(summary)}{links}\n\n---\n"
